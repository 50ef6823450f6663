"""The next page, fetched while this one is published."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from cdc_bridge.pages import GapError, Page, PagesAhead
from murmuration_testkit.waiting import eventually


class Counted:
    """Pages of one number each; a gap after the third."""

    def __init__(self):
        self.read_after = []

    def read(self, after):
        self.read_after.append(after)
        if len(self.read_after) > 3:
            raise GapError("trimmed")
        return Page([len(self.read_after)], last=False)


@pytest.fixture
def pages():
    return Counted()


@pytest.fixture
def thread():
    with ThreadPoolExecutor(1) as executor:
        yield executor


def test_a_page_is_fetched_once_and_given_in_its_turn(pages, thread):
    """With the time when it was asked for, which is earlier than when it was given."""
    now = [0]
    ahead = PagesAhead(pages, thread, lambda: now[0])
    assert ahead.read(None) == (Page([1], last=False), 0)
    now[0] = 1
    ahead.fetch("1")
    eventually(lambda: len(pages.read_after) == 2)
    now[0] = 2
    assert ahead.read("1") == (Page([2], last=False), 1)
    assert ahead.read("2") == (Page([3], last=False), 2)
    assert pages.read_after == [None, "1", "2"]


def test_what_no_thread_was_free_for_is_read_by_whoever_needs_it(pages, thread):
    """So that threads that wait for pages never wait for each other."""
    over = threading.Event()
    thread.submit(over.wait)
    ahead = PagesAhead(pages, thread, lambda: 0)
    ahead.fetch(None)
    assert ahead.read(None) == (Page([1], last=False), 0)
    over.set()


def test_an_error_comes_out_when_the_page_is_asked_for(pages, thread):
    """Until then the page before it is published."""
    ahead = PagesAhead(pages, thread, lambda: 0)
    for _ in range(3):
        ahead.read(None)
    ahead.fetch("3")
    eventually(lambda: len(pages.read_after) == 4)
    with pytest.raises(GapError):
        ahead.read("3")
