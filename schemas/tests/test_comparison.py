"""A change is held against what is deployed: who breaks and who must go first, by name."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.comparison import compare
from contracts.service_contracts import Part, ServiceContracts, contracts_of
from contracts.topic import Version

from .small_contracts import KNOCKED

FIRST = json.loads(KNOCKED.latest.schema)
NOTE = {"name": "note", "type": "string", "default": ""}
WRITTEN = "and version 1 is what the deployed doorkeeper 1 writes"
WHY = {"name": "why", "type": "string"}


def plus(field):
    return FIRST | {"fields": [*FIRST["fields"], field]}


def without(name):
    return FIRST | {"fields": [field for field in FIRST["fields"] if field["name"] != name]}


def knocked(*schemas):
    """Knocked, with these versions."""
    versions = (Version(number, "", "", json.dumps(each)) for number, each in enumerate(schemas, 1))
    return replace(KNOCKED, versions=tuple(versions))


def service(name, topic, version="1", tables=None):
    """A service of one of the commits that have this topic."""
    return replace(contracts_of(name, version, {"Knocked": topic}, {}), tables=tables or {})


def compared(new, topic, deployed):
    return compare(new, {"Knocked": topic}, deployed)


OLD = knocked(FIRST)
NAMES = ("butler", "cook", "doorkeeper")
THREE = [service(name, OLD) for name in NAMES]
table = {"guests": {"name": Part("S", False, True)}}


@given(st.lists(st.sampled_from(["butler", "cook", "doorkeeper", "gardener"])), st.sampled_from(NAMES))
def test_a_change_of_nothing_is_in_nobodys_way(deployed, new):
    """Whoever is deployed."""
    same = knocked(FIRST, plus(NOTE))
    found = compared([service(new, same, "2")], same, [service(name, same) for name in deployed])
    assert (found.breaks, found.must_go_first) == ((), ())


@given(
    st.lists(st.sampled_from([FIRST, plus(NOTE), without("occurred_at"), plus(WHY)]), min_size=1, max_size=4), st.data()
)
def test_an_order_in_which_consumers_go_first_is_never_refused(schemas, data):
    """As long as every version reads every other: each consumer in any order, then the producer."""
    topic = knocked(*[each for each in schemas if each != plus(WHY)] or [FIRST])
    since = data.draw(st.integers(1, len(topic.versions)))
    deployed = {
        name: service(name, knocked(*(json.loads(it.schema) for it in topic.versions[:since]))) for name in NAMES
    }
    compatible = without("occurred_at") not in schemas
    for name in [*data.draw(st.permutations(["butler", "cook"])), "doorkeeper"]:
        found = compared([service(name, topic, "2")], topic, deployed.values())
        assert found.must_go_first == ()
        assert not (compatible and found.breaks)
        deployed[name] = service(name, topic, "2")


@given(st.sets(st.sampled_from(["butler", "cook"])))
def test_a_producer_waits_for_each_consumer_that_is_behind(done):
    """They would not see the new field; nobody breaks."""
    new = knocked(FIRST, plus(NOTE))
    deployed = [service(name, new if name in done else OLD) for name in NAMES]
    found = compared([service("doorkeeper", new, "2")], new, deployed)
    assert found.breaks == ()
    assert found.must_go_first == tuple(
        f"{name} 1 must go before doorkeeper 2: it knows Knocked up to version 1, and would not see version 2"
        for name in ("butler", "cook")
        if name not in done
    )


@pytest.mark.parametrize(
    ("schema", "new", "sentences"),
    [
        (
            without("visitor_id"),
            "doorkeeper",
            [
                f"Knocked: the deployed {name} 1 breaks: it reads version 1, and doorkeeper 2 would write version 2: "
                "visitor_id is not written, and has no default"
                for name in ("butler", "cook")
            ],
        ),
        (without("visitor_id"), "cook", []),
        (
            plus(WHY),
            "cook",
            [f"Knocked: cook 2 breaks: it reads version 2, {WRITTEN}: why is not written, and has no default"],
        ),
        (plus(WHY), "doorkeeper", []),
    ],
)
def test_an_incompatible_schema_names_the_field_and_who_breaks(schema, new, sentences):
    """In the direction in which it is read."""
    topic = knocked(FIRST, schema)
    assert list(compared([service(new, topic, "2")], topic, THREE).breaks) == sentences


def test_what_lies_in_kafka_is_read_too():
    """Although everybody who is deployed writes something else by now."""
    topic = knocked(FIRST, without("visitor_id"), plus(WHY))
    found = compared([service("cook", topic)], topic, [service("doorkeeper", knocked(*[plus(WHY)] * 2))])
    assert "Knocked: cook 1 breaks: it reads version 3, and version 1 is what still lies in Kafka: why is not" in (
        "\n".join(found.breaks)
    )


def test_a_released_schema_that_changed_breaks_whoever_has_it():
    """Even its own earlier release: both would register it."""
    topic = knocked(plus(NOTE))
    found = compared([service("cook", topic, "2")], topic, [service("cook", OLD), service("gardener", OLD)])
    assert len(found.breaks) == 1
    assert "Knocked: version 1 of cook 2 is another schema (" in found.breaks[0]
    assert "that of the deployed cook 1 (" in found.breaks[0]


def test_an_older_image_may_come_back():
    """A version that it does not know was judged where it was made."""
    deployed = [service(name, knocked(FIRST, plus(NOTE)), "2") for name in NAMES]
    for name in NAMES:
        found = compared([service(name, OLD)], OLD, deployed)
        assert (found.breaks, found.must_go_first) == ((), ())


def test_a_consumer_that_does_not_know_the_topic_goes_before_its_producer():
    """As when a topic has grown into a new one."""
    found = compared([service("doorkeeper", OLD)], OLD, [ServiceContracts("cook", "0", {}, {})])
    assert found.must_go_first == (
        "cook 0 must go before doorkeeper 1: it does not read Knocked yet, and would not see version 1",
    )


def test_a_whole_change_says_who_goes_first():
    """All services at once: the producer last."""
    new = knocked(FIRST, plus(NOTE))
    found = compared([service(name, new, "2") for name in NAMES], new, THREE)
    assert found.breaks == ()
    assert [sentence.split(" must go before ") for sentence in found.must_go_first] == [
        [f"{name} 1", "doorkeeper 2: it knows Knocked up to version 1, and would not see version 2"]
        for name in ("butler", "cook")
    ]


def guests(**attributes):
    return {"guests": attributes}


READS, WRITES = Part("S", True, False), Part("S", False, True)


@pytest.mark.parametrize(
    ("new", "deployed", "sentence"),
    [
        (
            guests(),
            [("cook", guests(name=WRITES)), ("butler", guests(name=READS))],
            "the deployed butler 1 breaks: it reads name, which cook 1 writes and cook 2 would not; first",
        ),
        (
            guests(),
            [("cook", guests(name=WRITES)), ("butler", guests(name=READS)), ("doorkeeper", guests(name=WRITES))],
            None,
        ),
        (guests(), [("cook", guests(name=WRITES))], None),
        (guests(name=WRITES), [("cook", guests()), ("butler", guests(name=READS))], None),
        (
            guests(name=Part("N", False, True)),
            [("butler", guests(name=READS))],
            "table guests: name is N for cook 2 and S for the deployed butler 1",
        ),
        (
            guests(name=Part("N", True, False)),
            [("cook", guests(name=WRITES))],
            "table guests: name is N for cook 2 and S for the deployed cook 1",
        ),
    ],
)
def test_a_table_may_lose_no_attribute_that_somebody_reads_and_change_no_type(new, deployed, sentence):
    """By the names of the table, the attribute and the service."""
    bringing = ServiceContracts("cook", "2", {}, new)
    found = compared([bringing], OLD, [ServiceContracts(name, "1", {}, tables) for name, tables in deployed])
    assert [sentence] * bool(sentence) == [sentence for each in found.breaks if sentence in each]
    assert len(found.breaks) == bool(sentence)


@pytest.mark.parametrize("topics", [{"Knocked": replace(OLD, producers=("gardener",))}, {}], ids=["left", "gone"])
@pytest.mark.parametrize(
    ("deployed", "readers"), [(NAMES, ("butler", "cook")), (("doorkeeper",), ()), ((*NAMES, "porter"), ())]
)
def test_a_topic_that_somebody_reads_goes_on_being_written(topics, deployed, readers):
    """Whether the change has the topic still or not; another writer will do."""
    running = [service(name, OLD if name != "porter" else replace(OLD, producers=("porter",))) for name in deployed]
    found = compare([contracts_of("doorkeeper", "2", topics, {})], topics, running)
    assert found.breaks == tuple(
        f"Knocked: the deployed {name} 1 breaks: it reads the topic, which doorkeeper 1 writes and doorkeeper 2 would "
        f"not; first deploy a {name} that does without"
        for name in readers
    )
