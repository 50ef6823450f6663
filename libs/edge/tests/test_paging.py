"""Lists in pages."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from murmuration_edge import cursors

from .conftest import bearer


def test_every_page_links_to_the_next(http):
    """With as many rows as were asked for; the last one links to nothing."""
    path, pages = "/v1/things?limit=3", []
    while path:
        page = http.get(path, headers=bearer("alice"))
        pages.append(page.json)
        link = page.headers.get("Link", "")
        assert not link or (link.endswith('; rel="next"') and "limit=3" in link)
        path = link[1 : link.find(">")]
    assert pages == [[0, 1, 2], [3, 4]]


@pytest.mark.parametrize(
    "argument", ["name=bob", "endpoint=x", "_method=DELETE", "_scheme=https", "_external=1", "_anchor=x"]
)
def test_no_argument_of_a_request_changes_where_the_next_page_is(http, argument):
    """E18: what the service does not know is no instruction for it, and is not passed on."""
    headers = bearer("alice") | {"Host": "elsewhere.example"}
    page = http.get(f"/v1/things?limit=3&{argument}", headers=headers)
    assert page.headers["Link"] == '</v1/things?limit=3&cursor=3>; rel="next"'


def test_a_page_has_its_usual_length_unless_it_is_asked_for(http):
    """Two, here."""
    assert len(http.get("/v1/things", headers=bearer("alice")).json) == 2


@pytest.mark.parametrize("limit", ["0", "201", "-1", "x", "", "1.5", "+1", " 1", "1_0", "٣", "9" * 5_000])
def test_a_limit_is_a_whole_number_within_bounds(http, limit):
    """The problem says which."""
    response = http.get(f"/v1/things?limit={limit}", headers=bearer("alice"))
    assert response.status_code == 400
    assert response.json["errors"][0]["parameter"] == "limit"
    assert "Value error" not in response.json["detail"]  # pydantic's word for what our own check says


@given(st.text())
def test_a_cursor_comes_back_as_it_was(text):
    """Whatever is in it, and it needs no quoting in a URL."""
    cursor = cursors.encode(text)
    assert cursor.isascii()
    assert not set(cursor) & set("=+/?&% ")
    assert cursors.decode(cursor) == text


@given(st.text() | st.text("AQgwM=\n!"))
@example("!!!!")
@example("MQ==")
@example("M\nQ")
@example("MR")
def test_a_cursor_is_what_encode_made_and_nothing_else(text):
    """No text breaks the reading, and no second cursor leads to the same place."""
    read = cursors.decode(text)
    assert read is None or cursors.encode(read) == text


def test_a_bad_cursor_says_what_to_send():
    """Each parameter by its name."""
    assert str(cursors.BadCursorError()) == "cursor: Send back a next_cursor exactly as it came, or leave cursor out."
    assert "since: Send back a newest" in str(cursors.BadCursorError("since", "newest"))
    assert [each["parameter"] for each in cursors.BadCursorError("since", "newest").errors] == ["since"]
