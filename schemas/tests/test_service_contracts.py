"""What a service tells of its contracts is read as it was told."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts import ContractError
from contracts.deployed import AwayError, SilentError, ask, read_build_info
from contracts.image import own
from contracts.service_contracts import Part, ServiceContracts, contracts_of, from_text, services

from .small_contracts import KNOCKED, POSTED

WORD = st.text(string.ascii_letters + string.digits + "_-.", min_size=1, max_size=8)
DEED = st.sampled_from([(True, False), (False, True), (True, True)])
PART = st.builds(lambda value, deed: Part(value, *deed), WORD, DEED)
PARTS = st.dictionaries(WORD, st.dictionaries(WORD, PART, min_size=1, max_size=3), max_size=3)


def metrics(labels):
    told = ",".join(f'{name}="{value}"' for name, value in labels.items())
    return f"# TYPE build_info gauge\nbuild_info{{{told}}} 1.0\nstore_up 1.0\n"


@given(PARTS, PARTS)
def test_whatever_is_told_in_build_info_is_read_there(topics, tables):
    """For any names: a later version must read what an earlier one told."""
    told = ServiceContracts("a-service", "1.2.3", topics, tables)
    labels = {"service": "a-service", "version": "1.2.3", **told.labels()}
    assert read_build_info("http://a", metrics(labels)) == told


def test_the_text_stays_as_it_is():
    """It crosses versions: whoever changes it cuts off the services that are deployed."""
    labels = contracts_of("cook", "1", {"Knocked": KNOCKED, "Posted": POSTED}, {}).labels()
    assert labels == {"topics": "Knocked 1:da5260df82ca<; Posted 1:60a4c74a851c<", "tables": ""}
    assert from_text("t a:S<> b:N>") == {"t": {"a": Part("S", True, True), "b": Part("N", False, True)}}


@pytest.mark.parametrize("text", ["t a", "t a:S<?", "t :S<", "t a:<"])
def test_what_is_no_such_text_is_refused(text):
    """Rather than read as a service that needs nothing."""
    with pytest.raises(ContractError, match="is no version and no attribute"):
        from_text(text)


@pytest.mark.parametrize(
    ("labels", "why"),
    [
        ({}, "http://a is no service of Murmuration"),
        ({"service": "cook", "version": "0.2.0"}, "cook 0.2.0 at http://a is from before services told"),
        ({"service": "cook", "version": "9", "topics": "T 1", "tables": ""}, "cook 9 at http://a tells what is not"),
    ],
)
def test_who_does_not_tell_is_named(labels, why):
    """An old service is not the same as one without contracts."""
    with pytest.raises(SilentError, match=why):
        read_build_info("http://a", metrics(labels))


def test_who_cannot_be_asked_is_away():
    """With the address."""
    with pytest.raises(AwayError, match=r"http://127\.0\.0\.1:1/metrics cannot be read: "):
        ask("http://127.0.0.1:1/")


@pytest.mark.parametrize("service", services())
def test_each_service_has_a_part_in_the_contracts(service):
    """By our own files, and nobody else has."""
    document = own(service).document()
    assert document["topics"] or document["tables"]
    assert own("nobody").document() == {"service": "nobody", "version": "of this change", "topics": {}, "tables": {}}
