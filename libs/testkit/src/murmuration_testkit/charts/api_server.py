"""As much of a Kubernetes API server as `helm template --dry-run=server` asks: kinds, and some Deployments."""

import json
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from murmuration_testkit.charts.manifests import Resource

NOT_FOUND = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404}


@contextmanager
def api_server(version: str, rendered: Iterable[Resource], live: Mapping[str, Resource]) -> Iterator[str]:
    """Give the address of a server that knows the kinds of what was rendered, and has Deployments by these names."""
    kinds = {(each["apiVersion"], each["kind"]) for each in rendered}
    groups = {api for api, _ in kinds}
    answers: dict[str, Any] = {
        "/version": dict(zip(("major", "minor"), version.split("."), strict=True)) | {"gitVersion": f"v{version}.0"},
        "/api": {"kind": "APIVersions", "versions": ["v1"]},
        "/apis": {"kind": "APIGroupList", "groups": [_group(api) for api in sorted(groups) if "/" in api]},
    }
    for api in groups:
        resources = [_kind(kind) for has, kind in sorted(kinds) if has == api]
        answers[f"/{'apis' if '/' in api else 'api'}/{api}"] = {
            "kind": "APIResourceList",
            "groupVersion": api,
            "resources": resources,
        }

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            """Answer a question about kinds, or about one Deployment of whichever namespace."""
            path = self.path.partition("?")[0]
            name = path.rpartition("/deployments/")[2]
            answer = answers.get(path, live.get(name, NOT_FOUND))
            self.send_response(404 if answer is NOT_FOUND else 200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(answer).encode())

        def log_message(self, *_: Any) -> None:
            """Keep silent."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


def _group(api: str) -> Mapping[str, Any]:
    name, _, version = api.partition("/")
    versions = {"groupVersion": api, "version": version}
    return {"name": name, "versions": [versions], "preferredVersion": versions}


def _kind(kind: str) -> Mapping[str, Any]:
    plural = f"{kind.lower().removesuffix('y')}ies" if kind.endswith("y") else f"{kind.lower()}s"
    return {"name": plural, "singularName": kind.lower(), "namespaced": True, "kind": kind, "verbs": ["get"]}
