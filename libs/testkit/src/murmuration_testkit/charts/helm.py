"""helm: the one on the PATH, or one built from its module on first use and kept under .stack/tools."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from murmuration_testkit import REPOSITORY
from murmuration_testkit.charts.files import Chart
from murmuration_testkit.charts.manifests import Release

MODULES = {4: "helm.sh/helm/v4/cmd/helm@v4.3.1", 3: "helm.sh/helm/v3/cmd/helm@v3.22.0"}
TOOLS = REPOSITORY / ".stack/tools"
KUBERNETES = "1.36"


class HelmError(Exception):
    """helm is not here and cannot be built, or it refused."""


@cache
def helm(major: int | None = None) -> Path:
    """Return helm; of this major version, if one is wanted. What is not on the PATH is built once."""
    for name in ("helm", f"helm{major or 4}"):
        found = shutil.which(name)
        if found and (major is None or _major(Path(found)) == major):
            return Path(found)
    wanted = major or 4
    built = TOOLS / f"helm{wanted}"
    if not built.exists():
        _build(MODULES[wanted], built)
    return built


def run(words: Sequence[str | Path], *, major: int | None = None) -> "subprocess.CompletedProcess[str]":
    """Run helm, whatever becomes of it."""
    command = [str(helm(major)), *map(str, words)]
    return subprocess.run(command, check=False, capture_output=True, text=True, cwd=REPOSITORY, timeout=120)


def prepare(chart: Chart) -> None:
    """Put the library into the chart's folder, as `helm dependency` does."""
    _sure(run(["dependency", "update", "--skip-refresh", chart.folder]))


def lint(chart: Chart, *values: Path) -> str:
    """Return what `helm lint --strict` has against the chart with such values; "" is nothing."""
    done = run(["lint", "--strict", "--quiet", chart.folder, *_files(values)])
    return "" if done.returncode == 0 else f"{done.stdout}{done.stderr}".strip()


def template(chart: Chart, *values: Path, options: Sequence[str] = (), major: int | None = None) -> str:
    """Render the chart with such values."""
    options = ["--kube-version", KUBERNETES, "--namespace", "murmuration", *options]
    return _sure(run(["template", chart.name, chart.folder, *_files(values), *options], major=major)).stdout


def release(chart: Chart, *values: Path, options: Sequence[str] = ()) -> Release:
    """Return what the chart renders to."""
    return Release.read(template(chart, *values, options=options))


def _files(values: Sequence[Path]) -> list[str]:
    return [word for path in values for word in ("--values", str(path))]


def _sure(done: "subprocess.CompletedProcess[str]") -> "subprocess.CompletedProcess[str]":
    if done.returncode:
        raise HelmError(f"{' '.join(done.args[1:])}: {done.stderr.strip()}")
    return done


def _major(path: Path) -> int:
    said = subprocess.run([path, "version", "--template", "{{.Version}}"], check=True, capture_output=True, text=True)
    return int(said.stdout.strip().lstrip("v").partition(".")[0])


def _build(module: str, target: Path) -> None:
    go = shutil.which("go")
    if go is None:
        raise HelmError(f"neither helm nor go is on the PATH: install helm, or go to build {module} with")
    print(f"    building {module}; once, it takes some minutes", flush=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "GOBIN": str(target.parent / "building"), "GOFLAGS": "-buildvcs=false"}
    subprocess.run([go, "install", module], check=True, env=environment)
    (target.parent / "building/helm").rename(target)
