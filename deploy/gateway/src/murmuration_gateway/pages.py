"""The pages for people who build on the API: its document, a viewer of it, and what each problem means.

Rule: whatever a browser loads for them comes from here, and it runs no script but these files.
"""

from importlib.metadata import distribution
from pathlib import Path

_HERE = Path(__file__).parent
_VIEWER = distribution("flask-swagger-ui").locate_file("flask_swagger_ui/dist")
_PAGES = (
    ("= /openapi.json", _HERE / "openapi.json", "application/json"),
    ("= /docs", _HERE / "viewer.html", "text/html; charset=utf-8"),
    ("= /docs/viewer.js", _HERE / "viewer.js", "text/javascript; charset=utf-8"),
    *(
        (f"= /docs/{name}", Path(str(_VIEWER)) / name, kind)
        for name, kind in (
            ("swagger-ui-bundle.js", "text/javascript; charset=utf-8"),
            ("swagger-ui.css", "text/css; charset=utf-8"),
            ("LICENSE", "text/plain; charset=utf-8"),
        )
    ),
    ("= /problems", _HERE / "problems.md", "text/plain; charset=utf-8"),
    ("~ ^/problems/[a-z-]+$", _HERE / "problems.md", "text/plain; charset=utf-8"),
)
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def locations() -> str:
    """Return nginx's locations of the pages."""
    return "\n".join(
        f'    location {where} {{ types {{}} default_type "{kind}"; expires 5m; alias {file}; }}'
        for where, file, kind in _PAGES
    )
