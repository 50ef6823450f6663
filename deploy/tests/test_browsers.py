"""What pages of other origins may ask and read: a gateway that lists an origin."""

import pytest

from murmuration_edge.headers import OF_ANSWERS

pytestmark = pytest.mark.stack(shared=False)
APP = "https://app.example"


def test_a_preflight_of_a_known_origin_is_answered_here_without_a_token(gateway):
    """Browsers send no token with it; any edge would refuse it."""
    asked = {"Origin": APP, "Access-Control-Request-Method": "PUT", "Access-Control-Request-Headers": "authorization"}
    answer = gateway.ask("OPTIONS", "/v1/users/me", **asked)
    assert answer.status == 204
    assert answer.headers["Access-Control-Allow-Origin"] == APP
    assert {"GET", "HEAD", "POST", "PUT", "DELETE"} == {*answer.headers["Access-Control-Allow-Methods"].split(", ")}
    allowed = answer.headers["Access-Control-Allow-Headers"].lower()
    assert {"authorization", "content-type", "idempotency-key", "if-none-match", "traceparent"} <= {
        *allowed.split(", ")
    }
    assert "Origin" in answer.headers["Vary"]
    strange = gateway.ask("OPTIONS", "/v1/users/me", **asked | {"Origin": "https://evil.example"})
    assert strange.json["method"] == "OPTIONS", "the edge answers it, as any OPTIONS"
    assert strange.headers["Access-Control-Allow-Origin"] is None
    assert gateway.ask("OPTIONS", "/v1/users/me", Origin=APP).json["method"] == "OPTIONS"


@pytest.mark.parametrize("path", ["/v1/users/a", "/v1/timeline", "/nothing"])
def test_a_known_origin_may_read_every_answer_and_its_headers(gateway, path):
    """Problems, too; caches are told that answers differ by origin."""
    answer = gateway.ask("GET", path, Origin=APP)
    assert answer.headers["Access-Control-Allow-Origin"] == APP
    exposed = {*answer.headers["Access-Control-Expose-Headers"].split(", ")}
    assert exposed == {*OF_ANSWERS}
    assert answer.headers["Vary"] == "Origin"
    for origin in ("https://evil.example", f"{APP}.evil.example", "null", None):
        answer = gateway.ask("GET", path, **({"Origin": origin} if origin else {}))
        assert answer.headers["Access-Control-Allow-Origin"] is None
        assert answer.headers["Vary"] == "Origin"
