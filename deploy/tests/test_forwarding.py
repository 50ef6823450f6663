"""What an edge is told of a request by the gateway, and the log."""

import json

import pytest

from .own_gateway import own_gateway

pytestmark = pytest.mark.stack(shared=False)


def test_the_edge_is_told_no_host_but_one_that_was_asked_for_rightly(gateway):
    """Of two hosts the one of the request line counts; the other must not find its way into a link."""
    told = gateway.send(
        b"GET http://API.example:80/v1/users/a HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n"
    )
    assert told.json["headers"]["Host"] == "api.example"
    told = gateway.ask("GET", "/v1/users/a", X_Forwarded_Host="evil.example").json["headers"]
    assert "evil.example" not in told.values()


def test_without_a_list_any_host_is_answered(tmp_path):
    """HOSTS is a setting; a gateway that has none is behind somebody who knows."""
    with own_gateway(tmp_path) as running:
        assert running.ask("GET", "/v1/users/a", Host="anything.example").status == 200


def test_a_request_and_its_trace_have_their_ids_at_the_edge_and_in_the_log(tmp_path):
    """Both ids lead from the client's complaint to the edge's lines."""
    trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    with own_gateway(tmp_path) as running:
        parent = f"00-{trace}-00f067aa0ba902b7-01"
        told = running.ask("GET", "/v1/users/a?q=1", traceparent=parent, X_Request_ID="abc-1").json["headers"]
        assert (told["traceparent"], told["X-Request-ID"]) == (parent, "abc-1")
        running.ask("GET", "/v1/users/b", traceparent='"evil"')
        running.ask("GET", "/v1/users/" + "c" * 8000)
    lines = [json.loads(line) for line in running.said.splitlines() if line.startswith("{")]
    found = {line["path"][:20]: line for line in lines}
    assert (found["/v1/users/a"]["trace_id"], found["/v1/users/a"]["request_id"]) == (trace, "abc-1")
    assert found["/v1/users/b"]["trace_id"] == ""
    assert max(len(line["path"]) for line in lines) == 300
