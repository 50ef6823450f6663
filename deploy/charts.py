"""Write what is the same in every chart: values.schema.json, and the end of values.yaml. `make charts` runs it.

Rule: a setting's name and type come from the class that the service reads its environment into, everything else from
chart-library/shared. A chart's own values stand above the mark in its values.yaml, their schema in own.schema.yaml.
"""

import importlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from murmuration_gateway import door

from murmuration_testkit.services import SERVICES

if TYPE_CHECKING:
    from pydantic_settings import BaseSettings

REPOSITORY = Path(__file__).parents[1]
SHARED = REPOSITORY / "deploy/chart-library/shared"
MARK = "# ---- The rest is the same in every chart that has it: `make charts` writes it. ----\n"
OF_THE_CHART = {"PORT", "ADMIN_PORT", "BUILD_COMMIT"}  # what the chart, or the image, sets by itself
_SETTINGS = ("properties", "settings", "properties")
BROKEN = [_SETTINGS[:length] for length in range(4)]  # the objects of a schema that stand on several lines
PODS = [
    *("image", "imagePullSecrets", "resources", "settings", "secrets", "files", "serviceAccount", "networkPolicy"),
    *("serviceMonitor", "tests", "tmp"),
    *("podAnnotations", "podLabels", "nodeSelector", "tolerations", "affinity", "priorityClassName"),
]
JOBS = [key for key in PODS if key not in ("serviceMonitor", "tests")]
RUNNING = [
    *("replicas", "pdb", "topologySpread", "rollout", "probes", "preStopSeconds", "terminationGracePeriodSeconds"),
]
WORKER = [key for key in [*PODS, *RUNNING, "contracts", "keda"] if key != "tests"]
EDGE = [*PODS, *RUNNING, "contracts", "autoscaling", "service", "httpRoute", "ingress"]
Schema = dict[str, Any]
AWS: dict[str, Schema] = {"AWS_DEFAULT_REGION": {"type": "string", "pattern": "^[a-z0-9-]+$"}}
URL: Schema = {"type": "string", "pattern": "^https?://.+"}
AWS_DYNAMODB = {**AWS, "AWS_ENDPOINT_URL_DYNAMODB": URL}
TRACES: dict[str, Schema] = {  # what OpenTelemetry's SDK reads by itself
    "OTEL_TRACES_SAMPLER": {"type": "string", "pattern": "^(parentbased_)?(always_on|always_off|traceidratio)$"},
    "OTEL_TRACES_SAMPLER_ARG": {"type": ["number", "string"], "pattern": r"^[0-9.]+$"},
    "OTEL_RESOURCE_ATTRIBUTES": {"type": "string", "pattern": "="},
}
WITHOUT_PASSWORD: Schema = {"not": {"pattern": "@|password="}}  # else it stood in values and in a ConfigMap
AWS_FILES = ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE", "AWS_CA_BUNDLE")


@dataclass(frozen=True)
class Chart:
    """One chart: the values that it shares with others, and the classes of the settings that its processes read."""

    folder: str
    keys: Sequence[str]
    settings: Sequence[str] = ()
    more_settings: Mapping[str, Schema] = field(
        default_factory=lambda: {**AWS_DYNAMODB, **TRACES}
    )  # what libraries read of the environment
    more_files: Sequence[str] = AWS_FILES

    @property
    def name(self) -> str:
        """The name in Chart.yaml."""
        return str(yaml.safe_load((REPOSITORY / self.folder / "Chart.yaml").read_text())["name"])

    def fields(self) -> Iterator[tuple[str, Schema, bool]]:
        """Give each setting's name and schema, and whether it must be set."""
        for path in self.settings:
            module, kind = path.split(":")
            settings: type[BaseSettings] = getattr(importlib.import_module(module), kind)
            schema = settings.model_json_schema()
            for name, told in schema["properties"].items():
                yield name.upper(), _plain(told, schema.get("$defs", {})), name in schema.get("required", ())


EDGE_FILES = [*AWS_FILES, "SSL_CERT_FILE"]  # whom Python's own clients trust: an edge fetches the issuer's keys
AWS_STREAMS = {**AWS_DYNAMODB, **TRACES, "AWS_ENDPOINT_URL_DYNAMODB_STREAMS": URL}

GATEWAY = [key for key in EDGE if key not in ("secrets", "tests", "contracts")]
ADDRESS = {"type": "string", "pattern": r"^[A-Za-z0-9.-]+(:\d+)?$"}
UPSTREAMS = {each.name.replace("-", "_").upper(): ADDRESS for each in SERVICES.values() if each.is_edge}
DOOR: dict[str, Schema] = {  # a number and a truth value may stand there as YAML has them
    name: {"enum": [True, False, "true", "false"]}
    if "true" in pattern
    else {"type": ["string", "integer"] if name in door.NUMBERS else "string", "pattern": pattern, "minimum": 1}
    for name, pattern in door.SETTINGS.items()
}
TLS_FILES = ("TLS_CERTIFICATE_FILE", "TLS_KEY_FILE")

CHARTS = (
    Chart("deploy/gateway/chart", GATEWAY, more_settings=UPSTREAMS | DOOR, more_files=TLS_FILES),
    Chart(
        "follow-service/chart",
        EDGE,
        ["follow_service.settings:Settings", "follow_service.settings:GrpcSettings"],
        more_files=EDGE_FILES,
    ),
    Chart("tweet-service/chart", EDGE, ["tweet_service.settings:Settings"], more_files=EDGE_FILES),
    Chart("timeline-service/chart", EDGE, ["timeline_service.settings:Settings"], more_files=EDGE_FILES),
    Chart("cdc-bridge/chart", WORKER[:-1], ["cdc_bridge.settings:Settings"], AWS_STREAMS),
    Chart("count-aggregator/chart", WORKER, ["murmuration_worker.settings:WorkerSettings"]),
    Chart("fanout-worker/chart", WORKER, ["fanout_worker.settings:Settings"]),
    Chart("suggestions/chart", JOBS, ["murmuration_suggestions.settings:Settings"]),
    Chart("schemas/chart", JOBS, ["contracts.apply_settings:ApplySettings"], AWS),
    Chart("deploy/tables-chart", JOBS, [], {**AWS_DYNAMODB, "TABLE_PREFIX": {"type": "string"}}),
)


def _plain(told: Schema, defined: Mapping[str, Schema]) -> Schema:
    """Return a field's schema without pydantic's titles, and without null: what is not there is not set."""
    if "$ref" in told:
        told = {**defined[told["$ref"].rpartition("/")[2]], **told}
    if "anyOf" in told:
        told = {**next(each for each in told["anyOf"] if each != {"type": "null"})}
    return {key: value for key, value in told.items() if key not in ("title", "default", "$ref", "description")}


def schema(chart: Chart) -> Schema:
    """Return the chart's values.schema.json: nothing that it does not name may be set."""
    shared = yaml.safe_load((SHARED / "schema.yaml").read_text())
    fields = [each for each in chart.fields() if each[0] not in OF_THE_CHART]
    plain = {name: told for name, told, _ in fields if not name.endswith("_FILE") and told.get("format") != "password"}
    in_files = {name for name, _, _ in fields if not name.endswith("_FILE")}
    paths = {name for name, _, _ in fields if name.endswith("_FILE")} | {*chart.more_files}
    keys_of = {name: name.replace("_CERTIFICATE_", "_KEY_") for name in sorted(paths) if "_CERTIFICATE_" in name}
    pairs = {one: [other] for pair in keys_of.items() for one, other in (pair, pair[::-1])}
    plain = {
        name: told | WITHOUT_PASSWORD if "://" in told.get("pattern", "") else told for name, told in plain.items()
    }
    needed = dict.fromkeys(name for name, _, required in fields if required)
    shared |= {
        "settings": _closed(plain | dict(chart.more_settings)),
        "secrets": _closed({name: {"$ref": "#/$defs/fromSecret"} for name in sorted(in_files)}),
        "files": _closed({name: {"$ref": "#/$defs/fromFile"} for name in sorted(paths)}) | {"dependencies": pairs},
        "global": {"type": "object"},
        "murmuration-library": {"type": "object"},
    }
    own = REPOSITORY / chart.folder / "own.schema.yaml"
    of_its_own = yaml.safe_load(own.read_text()) if own.exists() else {}
    keys = [*chart.keys, "global", "murmuration-library"]
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$comment": "Written by `make charts`; the rule stands at the top of deploy/charts.py.",
        **_closed({key: shared[key] for key in keys if key not in of_its_own} | of_its_own),
        "required": [key for key in chart.keys if key in ("image", "resources", "networkPolicy")],
        **({"allOf": [*map(_is_given, needed)]} if needed else {}),
        "$defs": {
            "fromSecret": _reference("existingSecret"),
            "fromFile": _reference("existingSecret", "existingConfigMap"),
        },
    }


def _is_given(setting: str) -> Schema:
    return {"anyOf": [{"properties": {where: {"required": [setting]}}} for where in ("settings", "secrets")]}


def _closed(properties: Mapping[str, Any]) -> Schema:
    return {"type": "object", "additionalProperties": False, "properties": {**properties}}


def _reference(*kinds: str) -> Schema:
    name = {"type": "string", "pattern": r"^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$"}
    key = {"type": "string", "pattern": r"^[A-Za-z0-9._-]+$"}
    return _closed({**dict.fromkeys(kinds, name), "key": key}) | {
        "oneOf": [{"required": [each, "key"]} for each in kinds]
    }


def values(chart: Chart) -> str:
    """Return the chart's values.yaml: its own beginning as it stands, then the shared values that it leaves."""
    file = REPOSITORY / chart.folder / "values.yaml"
    own = file.read_text().partition(MARK)[0].rstrip() + "\n"
    mine = yaml.safe_load(own) or {}
    shared = (SHARED / "values.yaml").read_text().replace("murmuration/CHART", f"murmuration/{chart.name}")
    blocks = re.finditer(r"^(?:#.*\n)*(\w+):.*\n(?: .*\n)*", shared, re.MULTILINE)
    wanted = [block[0] for block in blocks if block[1] in chart.keys and block[1] not in mine]
    return own + "\n" + MARK + "".join(f"\n{block}" if block.startswith("#") else block for block in wanted)


def _lines(told: Schema, path: tuple[str, ...] = ()) -> str:
    """Write JSON with a line for each value and each setting."""
    if path not in BROKEN:
        return json.dumps(told)
    return "{\n" + ",\n".join(f'"{name}": {_lines(each, (*path, name))}' for name, each in told.items()) + "\n}"


def texts() -> Iterator[tuple[Path, str]]:
    """Give every file that is written, with what belongs into it."""
    for chart in CHARTS:
        folder = REPOSITORY / chart.folder
        yield folder / "values.schema.json", _lines(schema(chart)) + "\n"
        yield folder / "values.yaml", values(chart)


if __name__ == "__main__":
    for file, text in texts():
        file.write_text(text)
