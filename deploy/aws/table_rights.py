"""What each service may do in DynamoDB, as statements of IAM, by schemas/tables and schemas/migrations. Pure.

Rule: an action is allowed on the table, index or streams that the file names it for. A write may name only attributes
that the service writes or checks: nobody but count-aggregator can write counts. A read of another service's table must
name attributes (dynamodb:Select), and only those that the file lets the service read. The owner may read whole rows.
Reads of several tables share a statement where none of them has an attribute that only another lets be read.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from contracts.migrations import BACKFILL, CONTRACT, Migration
from contracts.table_files import TableFile

READS = {"BatchGetItem", "GetItem", "Query", "Scan"}
SELECTS = {"Query", "Scan"}
WRITES = {"ConditionCheckItem", "DeleteItem", "PutItem", "UpdateItem"}
TABLES_JOB = "deploy"  # as schemas/tables calls `deploy/tables.py`
MAKES_TABLES = {"CreateTable", "DescribeTable"}
LETS_EXPIRE = {"DescribeTimeToLive", "UpdateTimeToLive"}
CHANGES_ROWS = {"GetItem", "Scan", "UpdateItem"}
MOVES_ROWS = {"DeleteItem", "PutItem"}  # from one key to another
ATTRIBUTES = "dynamodb:Attributes"
Condition = tuple[tuple[str, str, tuple[str, ...]], ...]  # operator, key, values
Group = tuple[Condition, tuple[str, ...]]  # and the actions that are allowed under it
Named = tuple[Group, list[str]]  # and the resources


class Right(NamedTuple):
    """One action on one part of a table, under a condition."""

    condition: Condition
    resource: str
    action: str


def statements(service: str, files: Mapping[str, TableFile], migrations: Mapping[str, Migration]) -> list[Any]:
    """Return the statements of a service's policy, each with all actions and resources that go together."""
    rights = {right for file in files.values() for right in _rights(service, file)}
    if service == TABLES_JOB:
        rights |= {*_of_tables_job(files, migrations)}
    actions = defaultdict(set)
    for right in rights:
        actions[right.condition, right.resource].add(right.action)
    resources = defaultdict(list)
    for (condition, resource), allowed in sorted(actions.items()):
        resources[condition, tuple(sorted(allowed))].append(resource)
    places = {_resource(file, part): file for file in files.values() for part in _parts(file)}
    return [
        {
            "Effect": "Allow",
            "Action": [f"dynamodb:{action}" for action in allowed],
            "Resource": [{"Fn::Sub": resource} for resource in named],
            **({"Condition": _words(condition)} if condition else {}),
        }
        for (condition, allowed), named in sorted(_together(resources, places).items(), key=str)
    ]


def _together(alone: Mapping[Group, list[str]], files: Mapping[str, TableFile]) -> dict[Group, list[str]]:
    """Put reads into one statement that differ only in attributes, where none of the tables has another's."""
    found: dict[Group, list[str]] = {}
    for group, resources in sorted(alone.items()):
        other = next((each for each in found if _may_share((group, resources), (each, found[each]), files)), group)
        names = tuple(sorted(_attributes(group) | _attributes(other)))
        condition = tuple((*rule[:2], names) if rule[1] == ATTRIBUTES else rule for rule in group[0])
        found[condition, group[1]] = sorted([*resources, *found.pop(other, ())])
    return found


def _may_share(one: Named, other: Named, files: Mapping[str, TableFile]) -> bool:
    both = _attributes(one[0]) | _attributes(other[0])
    alike = one[0][1] == other[0][1] and _silent(one[0]) == _silent(other[0]) and {*one[0][1]} <= READS
    return alike and all(
        both & {*files[place].attributes} <= _attributes(group) for group, places in (one, other) for place in places
    )


def _attributes(group: Group) -> set[str]:
    return {name for _, key, names in group[0] if key == ATTRIBUTES for name in names}


def _silent(group: Group) -> list[Any]:
    """Return its condition without the attributes that it names."""
    return [rule[:2] if rule[1] == ATTRIBUTES else rule for rule in group[0]]


def _parts(file: TableFile) -> Iterator[str]:
    yield from ("table", "stream", *file.every_index)


def _rights(service: str, file: TableFile) -> Iterator[Right]:
    for part, actions in file.access.get(service, {}).items():
        for action in actions:
            condition: Condition = ()
            if action in WRITES:
                condition = _writing(service, file)
            elif action in READS and not _sees_all(service, file, part):
                condition = _reading(service, file, part, action)
            yield Right(condition, _resource(file, part), action)


def _of_tables_job(files: Mapping[str, TableFile], migrations: Mapping[str, Migration]) -> Iterator[Right]:
    for file in files.values():
        changes = {"UpdateTable"} if file.indexes or file.stream else set()
        for action in MAKES_TABLES | changes | (LETS_EXPIRE if file.expires else set()):
            yield Right((), _resource(file, "table"), action)
    for migration in migrations.values():
        if migration.change(BACKFILL) or migration.change(CONTRACT):
            for action in CHANGES_ROWS if migration.reads else CHANGES_ROWS | MOVES_ROWS:
                yield Right((), _resource(files[migration.table], "table"), action)


def _resource(file: TableFile, part: str) -> str:
    table = f"arn:${{AWS::Partition}}:dynamodb:${{AWS::Region}}:${{AWS::AccountId}}:table/${{TablePrefix}}{file.name}"
    return table + {"table": "", "stream": "/stream/*"}.get(part, f"/index/{part}")


def _sees_all(service: str, file: TableFile, part: str) -> bool:
    """Say whether it may ask for whole rows: it owns the table, or may read whatever this part of it shows."""
    index = file.every_index.get(part)
    shown = {*_keys(file, part)} if index and index.projection == "KEYS_ONLY" else {*file.attributes}
    return service == file.owner or shown <= {*_keys(file, part), *_named(service, file, "read_by")}


def _reading(service: str, file: TableFile, part: str, action: str) -> Condition:
    """Insist on Select of queries and scans, whose parameter it is; of reads by key IAM may not be told any."""
    told = "StringEquals" if action in SELECTS else "StringEqualsIfExists"
    named = tuple(sorted({*_keys(file, part), *_named(service, file, "read_by")}))
    return (
        ("ForAllValues:StringEquals", ATTRIBUTES, named),
        (told, "dynamodb:Select", ("COUNT", "SPECIFIC_ATTRIBUTES")),
    )


def _writing(service: str, file: TableFile) -> Condition:
    """Return the condition of a write: its attributes, keys too; only the owner has the row returned: a read."""
    own = {*_named(service, file, "written_by"), *_named(service, file, "checked_by")}
    named = tuple(sorted({*file.key, *own}))
    silent = () if service == file.owner else (("StringEqualsIfExists", "dynamodb:ReturnValues", ("NONE",)),)
    return (("ForAllValues:StringEquals", ATTRIBUTES, named), *silent)


def _keys(file: TableFile, part: str) -> tuple[str, ...]:
    return (*file.key, *(file.every_index[part].key if part in file.every_index else ()))


def _named(service: str, file: TableFile, how: str) -> list[str]:
    return [name for name, attribute in file.attributes.items() if service in getattr(attribute, how)]


def _words(condition: Condition) -> dict[str, dict[str, list[str]]]:
    words: dict[str, dict[str, list[str]]] = defaultdict(dict)
    for operator, key, values in condition:
        words[operator][key] = [*values]
    return dict(words)
