"""The document says what the operations do."""

import pytest
from jsonschema import Draft202012Validator

from .conftest import bearer


@pytest.fixture
def described(http):
    return http.get("/openapi.json").json


def test_every_status_that_can_come_is_listed_with_its_headers(described):
    """The operation's own, and those that its query, body and path bring with them; each problem by its code."""
    get, things, put = (
        described["paths"]["/v1/things/{name}"]["get"],
        described["paths"]["/v1/things"]["get"],
        described["paths"]["/v1/things"]["put"],
    )
    everywhere = {"200", "401", "405", "429", "500", "503"}
    assert get["responses"].keys() == everywhere | {"304", "404", "418"}
    assert things["responses"].keys() == everywhere | {"400"}
    assert put["responses"].keys() == everywhere | {"400", "410", "413", "415"}
    assert {"ETag", "Link"} & things["responses"]["200"]["headers"].keys() == {"Link"}
    due = {"401": "WWW-Authenticate", "405": "Allow", "429": "Retry-After", "503": "Retry-After"}
    for status, header in due.items():
        assert header in get["responses"][status]["headers"]
        assert described["components"]["headers"][header]["required"]
    away = get["responses"]["503"]["content"]["application/problem+json"]["schema"]["oneOf"]
    assert away[0] == {"$ref": "#/components/schemas/CrowdedProblem"}
    kinds = described["components"]["schemas"]
    assert kinds["CrowdedProblem"]["properties"]["code"]["const"] == "crowded"
    assert kinds["TeapotProblem"]["properties"]["status"] == {"type": "integer", "enum": [410, 418]}


def test_what_an_operation_costs_is_said(described):
    """Of which budget, and what a parameter costs besides."""
    things = described["paths"]["/v1/things"]
    assert things["get"]["description"] == "Costs 1 of the budget `calls`, 2 more with cursor, 2 more with expand."
    assert things["put"]["description"] == "Costs 1 of the budget `calls`."


def test_a_parameter_is_described_as_it_is_checked(described, http):
    """A limit has its bounds, and a cursor is never null."""
    by_name = {each["name"]: each for each in described["paths"]["/v1/things"]["get"]["parameters"]}
    assert by_name["limit"]["schema"] == {"type": "integer", "minimum": 1, "maximum": 200, "default": 2}
    assert by_name["cursor"]["schema"] == {"type": "string"}
    assert not by_name["cursor"]["required"]
    for limit, status in {"0": 400, "1": 200, "200": 200, "201": 400, "9" * 4301: 400}.items():
        assert http.get(f"/v1/things?limit={limit}", headers=bearer("alice")).status_code == status


def test_what_is_asked_about_changes_says_so(described):
    """An operation that answers 304 reads If-None-Match, and its answers have the tag; no parameter stands twice."""
    tagged = described["paths"]["/v1/things/{name}"]["get"]
    assert [each["name"] for each in tagged["parameters"]] == ["name", "If-None-Match"]
    assert all("ETag" in tagged["responses"][status]["headers"] for status in ("200", "304"))


def test_a_body_is_described_as_it_is_checked(described, http):
    """What its schema accepts is accepted, and nothing else."""
    schema = described["components"]["schemas"]["Thing"]
    for body in ({"name": "x"}, {"name": "x", "count": 3}, {}, {"name": 1}, {"name": "x", "colour": 1}, {"count": 1}):
        status = http.put("/v1/things", json=body, headers=bearer("alice")).status_code
        assert (status == 200) == Draft202012Validator(schema).is_valid(body)


def test_a_whole_number_has_64_bits_and_an_id_its_pattern(described):
    """What generators of clients ask for; a time says what it counts."""
    seen = described["components"]["schemas"]["Seen"]["properties"]
    assert seen["made_at"] == {"type": "integer", "format": "int64", "description": "Milliseconds since 1970"}
    assert seen["caller"] == {"type": "string", "pattern": "^[a-z]+$"}
