"""No value that one schema allows and the other refuses is missed."""

from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from murmuration_testkit.schema_changes import Change, Document

NAMES = st.sampled_from(["a", "b", "c"])
BOUND = st.integers(0, 3)


def optional(**parts):
    return st.fixed_dictionaries({}, optional=parts)


def typed(name, **parts):
    return optional(**parts).map(lambda rest: {"type": name, **rest})


def objects(schemas):
    def closed(properties, required):
        named = sorted(properties)
        return {
            "type": "object",
            "properties": properties,
            "required": [each for each in named if each in required],
            "additionalProperties": False,
        }

    return st.builds(closed, st.dictionaries(NAMES, schemas, max_size=3), st.sets(NAMES))


LEAVES = st.one_of(
    typed("integer", minimum=BOUND, maximum=BOUND),
    typed("number", minimum=BOUND),
    typed("string", minLength=BOUND, maxLength=BOUND),
    st.just({"type": "null"}),
    st.just({"type": ["string", "null"], "maxLength": 2}),
    st.just({"$ref": "#/components/schemas/Short"}),
    st.lists(st.sampled_from(["", "a", "bb", 1, None]), min_size=1, unique=True).map(lambda each: {"enum": each}),
    st.sampled_from(["", 1]).map(lambda each: {"const": each}),
)
SCHEMAS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        objects(inner),
        inner.map(lambda items: {"type": "array", "items": items}),
        typed("array", minItems=BOUND, maxItems=BOUND),
        st.lists(inner, min_size=1, max_size=3).map(lambda each: {"anyOf": each}),
    ),
    max_leaves=4,
)
VALUES = st.recursive(
    st.one_of(st.none(), BOUND, st.sampled_from(["", "a", "bb", "ccc"])),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=3)),
    max_leaves=4,
)
COMPONENTS = {"schemas": {"Short": {"type": "string", "maxLength": 1}}}
DOCUMENT = Document({"components": COMPONENTS})


def unreadable(sent, read, *, answer):
    return [*Change(DOCUMENT, DOCUMENT, answer=answer).unreadable(sent, read, "here")]


def valid(schema, value):
    return Draft202012Validator({**schema, "components": COMPONENTS}).is_valid(value)


@settings(max_examples=500)
@given(SCHEMAS, SCHEMAS, st.lists(VALUES, min_size=10, max_size=10))
def test_a_value_that_cannot_be_read_is_not_missed(sent, read, values):
    """Of a request, where each field must be known."""
    if any(valid(sent, value) and not valid(read, value) for value in values):
        assert unreadable(sent, read, answer=False)


@given(SCHEMAS)
def test_a_schema_reads_itself(schema):
    """Whoever sends, and whoever reads."""
    assert unreadable(schema, schema, answer=False) == unreadable(schema, schema, answer=True) == []


@given(SCHEMAS, SCHEMAS)
def test_a_further_alternative_is_always_readable_and_never_harmless_when_it_is_new(one, other):
    """What may be sent more widely is read as before; what is answered more widely is named unless it was allowed."""
    wider = {"anyOf": [one, other]}
    assert unreadable(one, wider, answer=False) == []
    assert bool(unreadable(wider, one, answer=False)) == bool(unreadable(other, one, answer=False))
