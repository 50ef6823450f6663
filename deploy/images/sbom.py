"""Complete an image's bill of materials: to its Python distributions come Python itself and Debian's packages.

It runs in the builder: python sbom.py BOM.JSON DPKG-STATUS OUT. CycloneDX, as cyclonedx-py wrote it.
"""

import json
import platform
import sys
from pathlib import Path
from typing import Any


def debian(status: str) -> list[dict[str, Any]]:
    """Return a component for each entry of dpkg's status."""
    found = []
    for entry in status.strip().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in entry.splitlines() if ": " in line and line[0] != " ")
        purl = f"pkg:deb/debian/{fields['Package']}@{fields['Version']}?arch={fields['Architecture']}"
        found.append(_component("library", fields["Package"], fields["Version"], purl))
    return found


def _component(kind: str, name: str, version: str, purl: str) -> dict[str, Any]:
    return {"type": kind, "name": name, "version": version, "purl": purl, "bom-ref": purl}


if __name__ == "__main__":
    bom = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    number = platform.python_version()
    bom["components"] += [
        _component("platform", "python", number, f"pkg:generic/python@{number}"),
        *debian(Path(sys.argv[2]).read_text("utf-8")),
    ]
    Path(sys.argv[3]).write_text(json.dumps(bom, indent=1, sort_keys=True) + "\n", "utf-8")
