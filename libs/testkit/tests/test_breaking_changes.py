"""What breaks clients is named, and nothing else is."""

import copy

import pytest

from murmuration_testkit.breaking_changes import breaking_changes


def problem(code):
    """Return the schema of a problem."""
    return {
        "type": "object",
        "properties": {"code": {"const": code}, "detail": {"type": "string"}},
        "required": ["code"],
    }


RELEASED = {
    "openapi": "3.1.0",
    "security": [{"bearer": []}],
    "servers": [{"url": "/"}],
    "paths": {
        "/v1/things": {
            "get": {
                "operationId": "list_things",
                "parameters": [
                    {"in": "query", "name": "limit", "schema": {"type": "integer", "minimum": 1, "maximum": 200}},
                    {"$ref": "#/components/parameters/Cursor"},
                ],
                "responses": {
                    "200": {
                        "description": "A page",
                        "headers": {"Link": {"$ref": "#/components/headers/Link"}},
                        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Things"}}},
                    },
                    "400": {"$ref": "#/components/responses/Bad"},
                },
            },
            "put": {
                "requestBody": {
                    "required": True,
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/NewThing"}}},
                },
                "responses": {"204": {"description": "Made"}},
            },
            "delete": {"responses": {"204": {"description": "Gone"}}},
        },
    },
    "components": {
        "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}},
        "parameters": {"Cursor": {"in": "query", "name": "cursor", "schema": {"type": "string"}}},
        "headers": {"Link": {"schema": {"type": "string"}}},
        "responses": {
            "Bad": {
                "description": "Bad",
                "headers": {"Retry-After": {"required": True, "schema": {"type": "integer"}}},
                "content": {"application/problem+json": {"schema": {"oneOf": [problem("cursor"), problem("query")]}}},
            }
        },
        "schemas": {
            "Thing": {
                "type": "object",
                "properties": {
                    "name": {"type": "string", "maxLength": 50},
                    "size": {"enum": ["small", "large"]},
                    "made_at": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
                },
                "required": ["name", "size"],
            },
            "Things": {
                "type": "object",
                "properties": {"things": {"type": "array", "items": {"$ref": "#/components/schemas/Thing"}}},
                "required": ["things"],
            },
            "NewThing": {
                "type": "object",
                "properties": {"name": {"type": "string", "maxLength": 50}, "size": {"enum": ["small", "large"]}},
                "required": ["name"],
                "additionalProperties": False,
            },
        },
    },
}


def things(document, method):
    return document["paths"]["/v1/things"][method]


def thing(document, name="Thing"):
    return document["components"]["schemas"][name]


def problems(document):
    return document["components"]["responses"]["Bad"]["content"]["application/problem+json"]["schema"]["oneOf"]


def fields(document, name="Thing"):
    return thing(document, name)["properties"]


BREAKS = {
    "a path": (lambda d: d["paths"].clear(), "GET /v1/things: is no longer there"),
    "a method": (lambda d: d["paths"]["/v1/things"].pop("delete"), "DELETE /v1/things: is no longer there"),
    "a right": (lambda d: d.update(security=[{"bearer": [], "key": []}]), "bearer is no longer enough"),
    "another kind of right": (
        lambda d: d["components"]["securitySchemes"]["bearer"].update(scheme="basic"),
        "the security scheme bearer has changed",
    ),
    "a kind of right": (lambda d: d["components"].pop("securitySchemes"), "the security scheme bearer has changed"),
    "another place": (lambda d: d.update(servers=[{"url": "/api"}]), "the server / is no longer there"),
    "a name": (
        lambda d: things(d, "get").update(operationId="things"),
        "GET /v1/things: is no longer called list_things",
    ),
    "a parameter": (lambda d: things(d, "get")["parameters"].pop(), "query cursor is no longer taken"),
    "a new required parameter": (
        lambda d: things(d, "get")["parameters"].append(
            {"in": "query", "name": "since", "required": True, "schema": {"type": "string"}}
        ),
        "query since is required now",
    ),
    "a parameter that became required": (
        lambda d: d["components"]["parameters"]["Cursor"].update(required=True),
        "query cursor is required now",
    ),
    "a narrower parameter": (
        lambda d: things(d, "get")["parameters"][0]["schema"].update(maximum=100),
        "query limit: maximum 200 in place of 100 is no longer taken",
    ),
    "a pattern": (
        lambda d: d["components"]["parameters"]["Cursor"]["schema"].update(pattern="^a"),
        'query cursor: pattern null in place of "^a" is no longer taken',
    ),
    "a media type that is taken": (
        lambda d: things(d, "put")["requestBody"].update(content={}),
        "a body of application/json is no longer taken",
    ),
    "a body where there was none": (
        lambda d: things(d, "delete").update(requestBody=things(d, "put")["requestBody"]),
        "DELETE /v1/things: a body is required now",
    ),
    "a field of a body": (lambda d: fields(d, "NewThing").pop("size"), "body.size: is no longer taken"),
    "a new required field of a body": (
        lambda d: (fields(d, "NewThing").update(colour={}), thing(d, "NewThing")["required"].append("colour")),
        "body.colour: is required now",
    ),
    "a field of a body that became required": (
        lambda d: thing(d, "NewThing")["required"].append("size"),
        "body.size: is required now",
    ),
    "a narrower field of a body": (
        lambda d: fields(d, "NewThing")["name"].update(maxLength=40),
        "body.name: maxLength 50 in place of 40 is no longer taken",
    ),
    "another type": (
        lambda d: fields(d, "NewThing").update(name={"type": "integer"}),
        "body.name: string in place of integer is no longer taken",
    ),
    "a choice of a body": (
        lambda d: fields(d, "NewThing")["size"]["enum"].pop(),
        'body.size: "large" is no longer taken',
    ),
    "an answer": (lambda d: things(d, "get")["responses"].pop("400"), "400 is no longer answered"),
    "a new success": (
        lambda d: things(d, "put")["responses"].update({"202": {"description": "Later"}}),
        "202 may be answered now",
    ),
    "a media type that is answered": (
        lambda d: d["components"]["responses"]["Bad"].update(content={}),
        "400: application/problem+json is no longer answered",
    ),
    "a header": (
        lambda d: things(d, "get")["responses"]["200"].update(headers={}),
        "200 Link: is no longer there",
    ),
    "another header": (
        lambda d: d["components"]["headers"]["Link"].update(schema={"type": "integer"}),
        "200 Link: integer in place of string may be answered now",
    ),
    "a field of an answer": (lambda d: fields(d).pop("made_at"), "body.things[].made_at: is no longer there"),
    "a field that may be missing": (lambda d: thing(d)["required"].remove("size"), "things[].size: may be missing now"),
    "a wider field of an answer": (
        lambda d: fields(d)["name"].pop("maxLength"),
        "things[].name: maxLength null in place of 50 may be answered now",
    ),
    "a null": (
        lambda d: fields(d)["name"].update(type=["string", "null"]),
        "things[].name: null in place of string may be answered now",
    ),
    "a new choice of an answer": (
        lambda d: fields(d)["size"]["enum"].append("huge"),
        'things[].size: "huge" may be answered now',
    ),
    "a choice that is none any more": (
        lambda d: fields(d).update(size={"type": "string"}),
        'things[].size: what is not ["small", "large"] may be answered now',
    ),
    "a header that may be missing": (
        lambda d: d["components"]["responses"]["Bad"]["headers"]["Retry-After"].update(required=False),
        "400 Retry-After: may be missing now",
    ),
    "a code": (lambda d: problems(d).pop(0), "400: the code cursor is no longer answered"),
    "a field of a problem": (
        lambda d: problems(d)[0]["properties"].pop("detail"),
        "400 cursor.detail: is no longer there",
    ),
}
HARMLESS = {
    "nothing": lambda _: None,
    "words": lambda d: (fields(d)["name"].update(description="Its name"), things(d, "get").update(summary="Look")),
    "words of a right": lambda d: d["components"]["securitySchemes"]["bearer"].update(description="A JWT"),
    "another place beside the first": lambda d: d["servers"].append({"url": "https://api.example/"}),
    "a first name": lambda d: things(d, "put").update(operationId="put_thing"),
    "a path": lambda d: d["paths"].update({"/v1/others": {"get": {"responses": {}}}}),
    "a method": lambda d: d["paths"]["/v1/things"].update(post={"responses": {}}),
    "a parameter": lambda d: things(d, "get")["parameters"].append({"in": "query", "name": "since", "schema": {}}),
    "a wider parameter": lambda d: things(d, "get")["parameters"][0]["schema"].update(maximum=500),
    "a body that need not be": lambda d: things(d, "put")["requestBody"].update(required=False),
    "a field of a body": lambda d: fields(d, "NewThing").update(colour={"type": "string"}),
    "a field that need not be sent": lambda d: thing(d, "NewThing")["required"].clear(),
    "a wider field of a body": lambda d: fields(d, "NewThing")["name"].pop("maxLength"),
    "a choice of a body": lambda d: fields(d, "NewThing")["size"]["enum"].append("huge"),
    "a null in a body": lambda d: fields(d, "NewThing")["name"].update(type=["string", "null"]),
    "a field of an answer": lambda d: fields(d).update(colour={"type": "string"}),
    "a field that is always there": lambda d: thing(d)["required"].append("made_at"),
    "a narrower field of an answer": lambda d: fields(d)["name"].update(maxLength=40),
    "a choice that does not come any more": lambda d: fields(d)["size"]["enum"].pop(),
    "no null any more": lambda d: fields(d).update(made_at={"type": "integer"}),
    "a header": lambda d: things(d, "put")["responses"]["204"].update(headers={"ETag": {"schema": {}}}),
    "a problem": lambda d: things(d, "put")["responses"].update({"409": {"description": "Not now"}}),
    "a code": lambda d: problems(d).append(problem("limit")),
    "what only those are told who ask": lambda d: things(d, "get")["responses"].update(
        {"304": {"description": "Same"}}
    ),
}


def changed(change):
    after = copy.deepcopy(RELEASED)
    change(after)
    return breaking_changes(RELEASED, after)


@pytest.mark.parametrize(("change", "named"), BREAKS.values(), ids=BREAKS)
def test_a_break_is_named(change, named):
    """Where it is, and what is lost."""
    assert [each for each in changed(change) if named in each]


@pytest.mark.parametrize("change", HARMLESS.values(), ids=HARMLESS)
def test_what_a_client_does_not_notice_is_no_break(change):
    """New paths, parameters, fields, headers, problems, and words."""
    assert changed(change) == []
