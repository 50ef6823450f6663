"""The JSON schemas of an API's models, as components of its OpenAPI document. Pure.

Rule: a model is what requests are checked by, or what answers are made of, so its schema is true. An answer's schema
leaves room for new fields; a problem has a schema of its own for each code.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from pydantic import BaseModel, Field, TypeAdapter

from murmuration_edge.operations import Operation
from murmuration_edge.problems import Problem

Schema = dict[str, Any]
REF = "#/components/schemas/{model}"
TIME = "Milliseconds since 1970"


class Fault(BaseModel):
    """One thing that was wrong with a request: what, and in which field, parameter or header."""

    pointer: str = ""
    parameter: str = ""
    header: str = ""
    detail: str


class ProblemDetails(BaseModel):
    """What was wrong (RFC 9457). Code and type name the kind and never change; the page at its type explains it."""

    type: str
    code: str
    title: str
    status: Annotated[int, Field(ge=400, le=599)]
    detail: str
    request_id: str
    errors: list[Fault] = []


class Schemas:
    """The schemas of all models of some operations, each under its name."""

    def __init__(self, operations: Iterable[Operation], patterns: Mapping[str, str]) -> None:
        """patterns: what texts look like, by the names of their fields."""
        models: dict[tuple[Any, Any], Any] = {(ProblemDetails, "serialization"): ProblemDetails}
        for operation in operations:
            if operation.body:
                models[operation.body, "validation"] = operation.body
            for answer in operation.answers.values():
                if answer.model:
                    models[answer.model, "serialization"] = answer.model
        made, definitions = TypeAdapter.json_schemas(
            [(key, mode, TypeAdapter(model)) for (key, mode), model in models.items()], ref_template=REF
        )
        self._made = made
        self.components = {name: _completed(schema, patterns) for name, schema in definitions["$defs"].items()}
        self._problems: dict[str, set[Problem]] = defaultdict(set)  # by code

    def of_body(self, model: Any) -> Schema:
        """Return what stands for a model of bodies: a reference to its schema."""
        return _without_title(self._made[model, "validation"])

    def of_answer(self, model: Any) -> Schema:
        """Return what stands for a type of answers: a reference to its schema, if it has a name."""
        return _without_title(self._made[model, "serialization"])

    def of_problem(self, problem: Problem) -> Schema:
        """Return what stands for one kind of problem: as all problems, with this code and type and its statuses."""
        name = name_of(problem.code)
        self._problems[problem.code].add(problem)
        self.components[name] = one_kind(self.components, *self._problems[problem.code])
        return {"$ref": REF.format(model=name)}


def name_of(code: str) -> str:
    """Return the name of the schema of problems with this code."""
    return "".join(word.capitalize() for word in code.split("-")) + "Problem"


def statuses_of(schema: Schema) -> list[int]:
    """Return the statuses of problems with such a schema; none if it is no problem's."""
    status = schema.get("properties", {}).get("status", {})
    return [status["const"]] if "const" in status else list(status.get("enum", ()))


def one_kind(components: Mapping[str, Schema], *same_code: Problem) -> Schema:
    """Return the schema of problems with one code, whose statuses may differ."""
    general = components[ProblemDetails.__name__]
    code, statuses = same_code[0].code, sorted({each.status for each in same_code})
    own = {
        "type": {"type": "string", "const": f"/problems/{code}"},
        "code": {"type": "string", "const": code},
        "status": {"type": "integer", **({"const": statuses[0]} if len(statuses) == 1 else {"enum": statuses})},
    }
    return {
        **general,
        "description": f"Explained at /problems/{code}.",
        "properties": {**general["properties"], **own},
    }


def _completed(schema: Schema, patterns: Mapping[str, str]) -> Schema:
    """Return a model's schema with what pydantic does not know of it, and without what says nothing."""
    completed = _without_title(schema)
    if "properties" not in completed:
        return completed
    completed["properties"] = {name: _without_title(each) for name, each in completed["properties"].items()}
    for name, described in completed["properties"].items():
        if described.get("type") == "integer" and "maximum" not in described:
            described["format"] = "int64"
        if described.get("default") in ("", []):  # it stands for: left out
            del described["default"]
        if name in patterns:
            described["pattern"] = f"^{patterns[name]}$"
        if name.endswith("_at"):
            described["description"] = TIME
    return completed


def _without_title(schema: Schema) -> Schema:
    return {key: value for key, value in schema.items() if key != "title"}
