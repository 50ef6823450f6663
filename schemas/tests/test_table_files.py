"""The tables' files: what they say is created, a wrong one is refused by name, and the names in Python are theirs."""

import pytest
import yaml

from contracts import ContractError
from contracts.table_files import check, load
from contracts.tables import Table
from contracts.topic import DATA

HOUSES = {
    "description": "Who lives where.",
    "owner": "town-hall",
    "key": ["street", "number"],
    "stream": "NEW_AND_OLD_IMAGES",
    "expires": "until",
    "indexes": {"by_size": {"key": ["street", "size"], "projection": "KEYS_ONLY"}},
    "attributes": {
        "street": {"type": "S", "means": "its street", "written_by": ["town-hall"], "read_by": ["post"]},
        "number": {"type": "N", "means": "its number", "written_by": ["town-hall"], "read_by": ["post"]},
        "size": {"type": "N", "means": "its rooms", "written_by": ["town-hall"], "read_by": []},
        "state": {"type": "S", "means": "how it is", "values": ["new", "old"], "written_by": ["post"], "read_by": []},
        "until": {"type": "N", "means": "when it is torn down", "written_by": ["town-hall"], "read_by": []},
    },
    "access": {"town-hall": {"table": ["PutItem"]}, "post": {"table": ["Query"], "by_size": ["Query"]}},
}


class HOUSE(Table):
    """The names of HOUSES."""

    name = "houses"
    street = "street"
    number = "number"
    size = "size"
    state = "state"
    until = "until"
    by_size = "by_size"
    OLD = "old"


@pytest.fixture
def written(tmp_path):
    """Write the file of houses, changed, and load it."""
    (tmp_path / "tables").mkdir()

    def write(**changes):
        text = yaml.safe_dump({name: value for name, value in (HOUSES | changes).items() if value is not None})
        (tmp_path / "tables/houses.yaml").write_text(text)
        return load(tmp_path)

    return write


def attributes(**changes):
    return {name: it for name, it in (HOUSES["attributes"] | changes).items() if it is not None}


def test_a_file_says_what_is_created(written):
    """In the words of CreateTable."""
    keys = [{"AttributeName": "street", "KeyType": "HASH"}]
    assert written()["houses"].create == {
        "AttributeDefinitions": [
            {"AttributeName": "street", "AttributeType": "S"},
            {"AttributeName": "number", "AttributeType": "N"},
            {"AttributeName": "size", "AttributeType": "N"},
        ],
        "KeySchema": [*keys, {"AttributeName": "number", "KeyType": "RANGE"}],
        "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
        "GlobalSecondaryIndexes": [
            {
                "IndexName": "by_size",
                "KeySchema": [*keys, {"AttributeName": "size", "KeyType": "RANGE"}],
                "Projection": {"ProjectionType": "KEYS_ONLY"},
            }
        ],
    }


def test_what_a_table_lacks_is_not_created(written):
    """DynamoDB refuses an empty list of indexes."""
    create = written(stream=None, indexes=None, access={"town-hall": {}, "post": {}})["houses"].create
    assert create.keys() == {"AttributeDefinitions", "KeySchema"}
    assert len(create["AttributeDefinitions"]) == 2


UPDATERS = {"town-hall": {"table": ["UpdateItem"]}, "post": {"table": ["UpdateItem"]}}
RAISED = attributes(size=HOUSES["attributes"]["size"] | {"written_by": ["post", "town-hall"]})


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"key": None}, "KeyError: 'key'"),
        ({"colour": "blue"}, "colour"),
        ({"key": ["house"]}, "house is not among the attributes"),
        ({"expires": "then"}, "then is not among the attributes"),
        ({"owner": "bank"}, "the owner bank has no access"),
        ({"attributes": attributes(size={"type": "S"})}, "means"),
        ({"attributes": attributes(size=None)}, "size is not among the attributes"),
        ({"attributes": attributes(size=HOUSES["attributes"]["size"] | {"type": "INT"})}, "size has the type INT"),
        (
            {"attributes": attributes(size=HOUSES["attributes"]["size"] | {"read_by": ["bank"]})},
            "size is read or written by bank, with no access",
        ),
        (
            {"attributes": attributes(size=HOUSES["attributes"]["size"] | {"checked_by": ["post"]})},
            "size is checked by post, who does not read it",
        ),
        ({"attributes": attributes(by_size=HOUSES["attributes"]["size"])}, "by_size cannot name an attribute"),
        ({"version": "edition"}, "edition is not among the attributes"),
        ({"version": "size", "access": UPDATERS}, "size is not raised by post, who writes other attributes"),
        ({"version": "size", "attributes": RAISED}, "town-hall may PutItem, which would begin size anew"),
        ({"access": HOUSES["access"] | {"post": {"by_colour": ["Query"]}}}, "by_colour, which is no part"),
    ],
)
def test_a_wrong_file_is_refused_by_name(written, changes, named):
    """The error names the file and what is wrong with it."""
    with pytest.raises(ContractError, match=r"tables/houses\.yaml") as refused:
        written(**changes)
    assert named in str(refused.value)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"attributes": attributes(garden=HOUSES["attributes"]["size"])}, "differ by garden"),
        ({"attributes": attributes(state=None)}, "differ by state"),
        (
            {"attributes": attributes(state=HOUSES["attributes"]["state"] | {"values": ["new"]})},
            r"houses\.yaml has no value old",
        ),
    ],
)
def test_a_class_that_differs_from_its_file_is_refused(written, changes, named):
    """By what differs: an attribute too many or too few, or a value that no attribute has."""
    with pytest.raises(ContractError, match=named):
        check(written(**changes), {"houses": HOUSE})


def test_a_table_without_a_class_is_refused(written):
    """And so is a class without a file."""
    check(written(), {"houses": HOUSE})
    with pytest.raises(ContractError, match="by the table houses"):
        check(written(), {})


def test_every_table_has_services_that_exist():
    """Owners, readers and writers are services of this repository; `deploy` is the tables' own command."""
    for table in load(DATA).values():
        for service in table.access.keys() - {"deploy"}:
            assert (DATA.parents[3] / service / "pyproject.toml").is_file(), service
