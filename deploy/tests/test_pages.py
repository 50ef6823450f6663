"""The pages for people who build on the API, as the gateway serves them; and its routes, held to the API's document."""

import re
from itertools import product

import openapi
import pytest
from murmuration_gateway.configuration import edges
from murmuration_gateway.pages import POLICY

from murmuration_testkit import REPOSITORY

from .own_gateway import own_gateway

ROUTES = [(edge, re.compile(pattern)) for edge, patterns in edges().items() for pattern in patterns]
WORD = re.compile(r"\{[a-z_]+\}")


@pytest.fixture(scope="module")
def gateway(tmp_path_factory):
    with own_gateway(tmp_path_factory.mktemp("gateway")) as running:
        yield running


def routes(path):
    """Return the edges to which the gateway sends this path."""
    return {edge for edge, pattern in ROUTES if pattern.search(path)}


def test_every_path_of_the_document_is_routed_to_the_edge_that_has_it():
    for edge, document in openapi.documents().items():
        for path in document["paths"]:
            assert routes(WORD.sub("somebody", path)) == {edge}, path


def test_no_other_path_is_routed():
    """All paths that can be made of the document's words, and of one that it has not."""
    paths = [path for document in openapi.documents().values() for path in document["paths"]]
    known = re.compile("|".join(WORD.sub("[^/]+", path) for path in paths))
    words = sorted({word for path in paths for word in path.split("/") if word and "{" not in word} | {"other"})
    for length in range(1, 5):
        for chosen in product(words, repeat=length):
            path = "/" + "/".join(chosen)
            assert bool(routes(path)) == bool(known.fullmatch(path)), path
            assert not routes(path + "/"), path


@pytest.mark.stack(shared=False)
def test_the_document_and_the_problems_are_there_for_everybody(gateway):
    """Without a token; each problem's type leads to the page that explains it."""
    document = gateway.ask("GET", "/openapi.json")
    assert (document.status, document.headers["Content-Type"]) == (200, "application/json")
    assert document.body.decode() == openapi.text()
    assert document.headers["ETag"]
    page = (REPOSITORY / "docs/problems.md").read_bytes()
    for path in ("/problems", "/problems/no-route"):
        answer = gateway.ask("GET", path)
        assert (answer.status, answer.headers["Content-Type"]) == (200, "text/plain; charset=utf-8")
        assert answer.body == page
    for path in ("/openapi.json", "/docs", "/problems"):
        refused = gateway.ask("POST", path)
        assert (refused.status, refused.headers["Allow"]) == (405, "GET, HEAD")


@pytest.mark.stack(shared=False)
@pytest.mark.parametrize("part", ["bytes=0-9", "bytes=99999999-"])
def test_a_page_is_sent_whole(gateway, part):
    """Whatever part of it was asked for; HTTP allows that, and nobody needs parts."""
    answer = gateway.ask("GET", "/openapi.json", Range=part)
    assert (answer.status, answer.body.decode()) == (200, openapi.text())
    assert len(answer.headers.get_all("X-Request-ID")) == 1


@pytest.mark.stack(shared=False)
def test_the_viewer_loads_nothing_from_elsewhere_and_runs_nothing_inline(gateway):
    """A policy says so to the browser, and every file that the page names is here."""
    page = gateway.ask("GET", "/docs")
    assert page.headers["Content-Type"] == "text/html; charset=utf-8"
    assert page.headers["Content-Security-Policy"] == POLICY
    assert gateway.ask("GET", "/%64ocs").headers["Content-Security-Policy"] == POLICY, "it is the same page"
    assert "unsafe" not in POLICY
    html = page.body.decode()
    loaded = re.findall(r'(?:src|href)="([^"]+)"', html)
    assert [each for each in loaded if not each.startswith("/docs/")] == ["data:,"]
    assert not re.search(r"<script>|<style|\son\w+=|style=", html)
    kinds = {path: gateway.ask("GET", path).headers["Content-Type"] for path in loaded if path.startswith("/")}
    assert kinds == {
        "/docs/swagger-ui.css": "text/css; charset=utf-8",
        "/docs/swagger-ui-bundle.js": "text/javascript; charset=utf-8",
        "/docs/viewer.js": "text/javascript; charset=utf-8",
    }
    assert b"Apache License" in gateway.ask("GET", "/docs/LICENSE").body
