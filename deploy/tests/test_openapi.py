"""The document of the whole API, as the gateway serves it."""

import copy
import json
import re
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from murmuration_edge.problems import Problem
from murmuration_testkit import REPOSITORY
from murmuration_testkit.services import SERVICES

sys.path.insert(0, str(REPOSITORY / "deploy"))

import openapi

DOCUMENTS = openapi.documents()
PATHS = [(service, path) for service, each in DOCUMENTS.items() for path in each["paths"]]
ROUTES = [(service.name, route) for service in SERVICES.values() for route in service.routes]
PARAMETER = re.compile(r"\{[a-z_]+\}")


def test_the_document_is_up_to_date():
    """After a change of an operation, a model or a problem, `make openapi` was run."""
    assert openapi.FILE.read_text() == openapi.text(), "openapi.json is not up to date: run `make openapi`"


def test_every_schema_is_one_and_every_reference_leads_somewhere():
    """By JSON Schema's own rules, which OpenAPI 3.1 has taken over; no operation names a parameter twice."""
    whole = json.loads(openapi.FILE.read_text())
    for schema in whole["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)
    for reference in re.findall(r'"\$ref": "#/components/(\w+)/([\w-]+)"', openapi.FILE.read_text()):
        assert reference[1] in whole["components"][reference[0]], reference
    for operation in [each for methods in whole["paths"].values() for each in methods.values()]:
        names = [(each["in"], each["name"]) for each in operation.get("parameters", ())]
        assert len(names) == len({*names})
        for parameter in operation.get("parameters", ()):
            Draft202012Validator.check_schema(parameter["schema"])


def test_only_what_is_sent_back_can_be_a_bad_cursor():
    """A route that takes neither a cursor nor a mark has none that could be wrong."""
    for operation in [each for part in DOCUMENTS.values() for path in part["paths"].values() for each in path.values()]:
        taken = {each["name"] for each in operation.get("parameters", ()) if each["in"] == "query"}
        refusals = operation["responses"].get("400", {"description": ""})["description"].split(", ")
        assert ("bad-cursor" in refusals) == bool({"cursor", "since"} & taken), operation["operationId"]


@pytest.mark.parametrize(("service", "path"), PATHS)
def test_every_path_is_routed_to_its_service(service, path):
    """To no other one, whatever its parameters are."""
    for text in ("me", "alice.b:c@d|e~f-1", "9" * 128, "%2e"):
        asked = PARAMETER.sub(text, path)
        assert [name for name, route in ROUTES if re.search(route, asked)] == [service]


@pytest.mark.parametrize(("service", "route"), ROUTES)
@settings(deadline=None)
@given(st.data())
def test_nothing_else_is_routed(service, route, data):
    """Whatever a route matches is a path that its service describes."""
    described = [f"^{PARAMETER.sub('[^/]+', path)}$" for path in DOCUMENTS[service]["paths"]]
    path = data.draw(st.from_regex(route))
    assert any(re.search(each, path) for each in described), f"{service} routes {path}, and does not describe it"


def test_what_the_gateway_refuses_can_come_from_every_operation():
    """By its code, beside what the edge has of that status; a code that comes with several statuses names them all."""
    follow = DOCUMENTS["follow-service"]
    ours = [Problem(400, "bad-request"), Problem(414, "uri-too-long"), Problem(503, "away"), Problem(504, "away")]
    whole = openapi.with_gateway_problems(follow, [*ours, Problem(504, "unavailable")])
    for path, methods in follow["paths"].items():
        for method, operation in methods.items():
            codes = {status: it["description"].split(", ") for status, it in operation["responses"].items()}
            for problem in [*ours, Problem(504, "unavailable")]:
                codes.setdefault(str(problem.status), []).append(problem.code)
            found = whole["paths"][path][method]["responses"]
            refused = {status: it["description"].split(", ") for status, it in found.items() if status >= "400"}
            assert refused == {status: sorted(each) for status, each in codes.items() if status >= "400"}
    statuses = [
        whole["components"]["schemas"][name]["properties"]["status"] for name in ("AwayProblem", "UnavailableProblem")
    ]
    assert statuses == [{"type": "integer", "enum": [503, 504]}] * 2


def test_a_problem_has_all_the_statuses_that_edges_answer_it_with():
    """Nothing else of it may differ."""
    follow = DOCUMENTS["follow-service"]
    other = copy.deepcopy(follow)
    problem = other["components"]["schemas"]["NoUserProblem"]["properties"]
    problem["status"] = {"type": "integer", "const": 410}
    whole = openapi.merged({"a": follow, "b": {**other, "paths": {}}})["components"]["schemas"]["NoUserProblem"]
    assert whole["properties"]["status"] == {"type": "integer", "enum": [404, 410]}
    problem["code"] = {"type": "string"}
    with pytest.raises(openapi.SameNameError, match="NoUserProblem"):
        openapi.merged({"a": follow, "b": {**other, "paths": {}}})


def test_one_name_has_one_meaning():
    """A schema that two edges describe differently, and one operation or one id of two edges, stop the making."""
    follow = DOCUMENTS["follow-service"]
    assert openapi.merged({"a": follow, "b": {**follow, "paths": {}}})["components"] == follow["components"]
    other = copy.deepcopy(follow)
    other["components"]["schemas"]["Display"]["properties"]["followers_count"] = {"type": "integer"}
    with pytest.raises(openapi.SameNameError, match="a and b describe Display differently"):
        openapi.merged({"a": follow, "b": {**other, "paths": {}}})
    with pytest.raises(openapi.SameNameError, match="both have the operation 'PUT /v1/users/me'"):
        openapi.merged({"a": follow, "b": follow})
    moved = {f"/v2{path}": methods for path, methods in follow["paths"].items()}
    with pytest.raises(openapi.SameNameError, match="both have the operationId 'put_me'"):
        openapi.merged({"a": follow, "b": {**follow, "paths": moved}})
