"""A service's OpenAPI description, held to its routes."""

from typing import Any

Operations = set[tuple[str, str]]


def described(http: Any) -> Operations:
    """Return path and method of every operation that /openapi.json describes; http is Flask's test client."""
    paths = http.get("/openapi.json").json["paths"]
    return {
        (path.replace("{", "<").replace("}", ">"), method.upper())
        for path, operations in paths.items()
        for method in operations
    }


def served(http: Any) -> Operations:
    """Return path and method of every operation under /v1 that the application serves."""
    return {
        (rule.rule, method)
        for rule in http.application.url_map.iter_rules()
        for method in rule.methods - {"HEAD", "OPTIONS"}
        if rule.rule.startswith("/v1")
    }
