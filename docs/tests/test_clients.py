"""What the page for builders of apps names is in the OpenAPI document: paths, parameters, headers and codes."""

import json
import os
import re
from pathlib import Path

from follow_service.profiles import LONGEST_NAME
from follow_service.settings import Settings as FollowSettings
from murmuration_edge.texts import BYTES_A_CHARACTER
from murmuration_testkit.tokens import Issuer
from tweet_service import posting
from tweet_service.settings import Settings as TweetSettings

PAGE = (Path(__file__).parents[1] / "clients.md").read_text("utf-8")
DOCUMENT = json.loads(
    (Path(__file__).parents[2] / "deploy/gateway/src/murmuration_gateway/openapi.json").read_text("utf-8")
)
OPERATIONS = {
    (method.upper(), path): operation
    for path, methods in DOCUMENT["paths"].items()
    for method, operation in methods.items()
}
CALL = re.compile(r'(?P<method>GET|PUT|POST|DELETE)"?[ ,]+f?["`]?(?P<path>/v1/[^\s"`?|;]+)(\?(?P<query>[^\s"`]*))?')


def sent(operation, place):
    return {each["name"] for each in operation.get("parameters", []) if each["in"] == place}


def test_every_call_is_described():
    """Also in the examples, where a variable stands for an id; and so are the parameters of its query."""
    calls = [*CALL.finditer(PAGE)]
    assert len(calls) > 20
    for call in calls:
        path = re.sub(r"\$?\{\w+\}", "{}", call["path"].replace("/tweets/1", "/tweets/{tweet_id}"))
        found = [
            each
            for (method, known), each in OPERATIONS.items()
            if (method, re.sub(r"\{\w+\}", "{}", known)) == (call["method"], path)
        ]
        assert found, f"the document has no {call[0]}"
        named = set(re.findall(r"(\w+)=", re.sub(r"\{.*?\}", "", call["query"] or "")))
        assert named <= sent(found[0], "query"), f"{call[0]} has no such parameter"


def test_each_call_costs_what_the_page_says():
    """By what it is: a list, many ids, people whom two have in common, or anything else."""
    assert "Most calls and the home timeline cost 1, other lists 2, many ids, mutual followers and friends 5;" in PAGE
    for call, operation in OPERATIONS.items():
        takes = sent(operation, "query")
        is_common = re.search("/(mutual-followers|friends)\\b", call[1])
        cost = 5 if "id" in takes or is_common else 2 if "cursor" in takes and call != ("GET", "/v1/timeline") else 1
        assert f"Costs {cost} of" in operation["description"], call


def test_the_example_knows_every_field_of_a_fault():
    """So an app can show a fault beside what was typed wrongly."""
    fields = re.search(r"^type Fault = \{(.+)\};$", PAGE, re.MULTILINE)[1]
    assert {*re.findall(r"(\w+)\??:", fields)} == {*DOCUMENT["components"]["schemas"]["Fault"]["properties"]}


def test_texts_have_the_bounds_that_are_checked():
    """In characters, and in bytes."""
    in_bytes = [f"{longest * BYTES_A_CHARACTER:,}" for longest in (posting.LONGEST, LONGEST_NAME)]
    assert f"| {posting.LONGEST} and {LONGEST_NAME} characters" in PAGE
    assert f"; {' and '.join(in_bytes)} bytes |" in PAGE
    problems = (Path(__file__).parents[1] / "problems.md").read_text("utf-8")
    for code, longest in (("bad-name", LONGEST_NAME), ("bad-text", posting.LONGEST)):
        (explained,) = re.findall(rf"^## {code}\n([^#]+)", problems, re.MULTILINE)
        assert f"more than {longest}, more than {longest * BYTES_A_CHARACTER:,} bytes" in explained


def test_the_table_of_headers_is_whole():
    """Those of requests and those of answers, and no other."""
    rows = PAGE.split("## Headers")[1].split("\n## ")[0].splitlines()
    named = {name for row in rows if row.startswith("| `") for name in re.findall("`([^`]+)`", row.split("|")[1])}
    known = set(DOCUMENT["components"]["headers"]).union(*(sent(each, "header") for each in OPERATIONS.values()))
    assert named == known


def test_every_code_is_one_of_the_documents():
    """By the heading that explains it, or where it stands after its status."""
    named = set(re.findall(r"problems\.md#([a-z-]+)", PAGE)) | set(re.findall(r"\b4\d\d\s+`([a-z-]+)`", PAGE))
    schemas = DOCUMENT["components"]["schemas"].values()
    known = {
        each["properties"]["code"]["const"] for each in schemas if "const" in each.get("properties", {}).get("code", {})
    }
    assert len(named) > 10
    assert named <= known


def test_the_table_of_budgets_is_what_the_services_count(monkeypatch):
    """Unless an operator sets something else, as the local stack does; and so is the example of a header."""
    for name in [each for each in os.environ if each.startswith("LIMIT_")]:
        monkeypatch.delenv(name)
    unset = {name: value for name, value in Issuer().edge_settings.items() if not name.startswith("limit_")}
    budgets = {each.name: each for settings in (FollowSettings, TweetSettings) for each in settings(**unset).budgets}
    table = PAGE.split("| budget |")[1].split("\n\n")[0]
    rows = re.findall(r"^\| `(\w+)` \|.*\| ([\d,]+) \| ([\d,]+) a (minute|day) \|$", table, re.MULTILINE)
    named = {name: (int(holds.replace(",", "")), int(fills.replace(",", "")), per) for name, holds, fills, per in rows}
    per = {60: "minute", 86_400: "day"}
    assert named == {name: (each.burst, each.quota, per[each.seconds]) for name, each in budgets.items()}
    calls = budgets["calls"]
    assert f'RateLimit-Policy: "calls";q={calls.burst};w={calls.burst / calls.rate:.0f}`' in PAGE
