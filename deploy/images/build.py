"""Build the images whose inputs changed, print their sizes, and save or push them: `make images`, `make push`.

An image's inputs are the files that go into it; their hash is its label murmuration.inputs, and the same hash is not
built again. Its commit is the last one that touched an input, with -dirty for what is not committed.
IMAGE_TOOL names docker, podman or buildah (default: the first there is); BUILD_FLAGS and PUSH_FLAGS are handed to it.
"""

import argparse
import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

REPO = Path(__file__).parents[2]
PREFIX = "murmuration/"
INPUTS = "murmuration.inputs"
SERVICES = yaml.safe_load((REPO / "deploy/services.yaml").read_text())
FOLDERS: dict[str, str] = {name: name for name in (*SERVICES, "suggestions")} | {
    "admin": "deploy/admin",
    "gateway": "deploy/gateway",
}
OWN_FILES: dict[str, tuple[str, ...]] = {
    "admin": ("deploy/tables.py", "deploy/migrating"),
    "gateway": ("deploy/services.yaml", "docs/problems.md"),
    "suggestions": (),
}
ROOTS = {"gateway": "nginx", "suggestions": "spark"}
PATTERN = (
    ".dockerignore",
    *(f"deploy/images/{name}" for name in ("Dockerfile", "build-requirements.txt", "rootfs.py", "sbom.py", "start.py")),
)
NOT_IN_IMAGES = tuple(f":(exclude)**/{folder}/**" for folder in ("bench", "chart", "drills", "proofs", "tests"))


class ImagesError(Exception):
    """An image cannot be built, saved or pushed: what happened, and what to do."""


@dataclass(frozen=True)
class Image:
    """One image: its folder, and the version in its pyproject."""

    name: str

    @property
    def folder(self) -> str:
        """The folder of its project."""
        return FOLDERS[self.name]

    @property
    def target(self) -> str:
        """The Dockerfile's stage."""
        return self.name if self.name in OWN_FILES else "service"

    @property
    def version(self) -> str:
        """The version in its pyproject."""
        return str(tomllib.loads((REPO / self.folder / "pyproject.toml").read_text())["project"]["version"])

    def projects(self) -> list[str]:
        """Return its folder and those of the libraries that it asks for, directly or not."""
        found, left = set(), [REPO / self.folder]
        while left:
            folder = left.pop().resolve()
            if folder not in found:
                found.add(folder)
                sources = tomllib.loads((folder / "pyproject.toml").read_text()).get("tool", {}).get("uv", {})
                left += [folder / source["path"] for source in sources.get("sources", {}).values()]
        return sorted(str(folder.relative_to(REPO)) for folder in found)

    def paths(self) -> list[str]:
        """Return git's names of all that goes into it."""
        return [*PATTERN, *OWN_FILES.get(self.name, ()), *self.projects(), *NOT_IN_IMAGES]

    def files(self) -> list[str]:
        """Return all that goes into it, file by file."""
        listed = _git("ls-files", "-co", "--exclude-standard", "--", *self.paths()).splitlines()
        return sorted({name for name in listed if (REPO / name).is_file()})

    def inputs(self) -> str:
        """Return the hash of all that goes into it."""
        hashed = hashlib.sha256(repr(SERVICES.get(self.name, {}).get("processes")).encode())
        for name in self.files():
            path = REPO / name
            hashed.update(f"{name}\0{path.stat().st_mode & 0o111}\0".encode() + path.read_bytes())
        return hashed.hexdigest()[:32]

    def commit(self) -> str:
        """Return the last commit that touched it."""
        last = _git("log", "-1", "--format=%H", "--", *self.paths()).strip()
        return last + "-dirty" if _git("status", "--porcelain", "--", *self.paths()) else last


class Tool:
    """docker, podman or buildah."""

    def __init__(self) -> None:
        self.name = os.environ.get("IMAGE_TOOL") or next(filter(shutil.which, ("docker", "podman", "buildah")), "")
        if not self.name:
            raise ImagesError("None of docker, podman and buildah is here: install one, or name one in IMAGE_TOOL.")
        self.is_buildah = Path(self.name).name == "buildah"
        self.runner = "podman" if self.is_buildah else self.name  # the two have one store

    def inputs(self, reference: str) -> str:
        """Return the hash that an image was built of, empty if there is no such image."""
        return self.labels(reference).get(INPUTS, "")

    def labels(self, reference: str) -> dict[str, str]:
        """Return an image's labels, none if there is no such image."""
        found = self._inspect(reference)
        config = found.get("OCIv1", {}).get("config", {}) if self.is_buildah else found.get("Config", {})
        return config.get("Labels") or {}

    def size(self, reference: str) -> str:
        """Return how much room it takes unpacked."""
        if self.is_buildah:
            return _output(self.name, "images", "--format", "{{.Size}}", reference).partition("\n")[0]
        return f"{self._inspect(reference)['Size'] / 1e6:.0f} MB"

    def build(self, image: Image, reference: str) -> None:
        """Build it from the repository's root."""
        flags = (["--layers"] if self.is_buildah else []) + shlex.split(os.environ.get("BUILD_FLAGS", ""))
        arguments = {
            "SERVICE": image.name,
            "FOLDER": image.folder,
            "ROOT": ROOTS.get(image.name, "root"),
            "VERSION": image.version,
            "COMMIT": image.commit(),
            "INPUTS": image.inputs(),
        }
        given = [word for name, value in arguments.items() for word in ("--build-arg", f"{name}={value}")]
        dockerfile = ["-f", "deploy/images/Dockerfile", "--target", image.target]
        self._run("build", *flags, *dockerfile, *given, "-t", reference, ".")

    def push(self, reference: str) -> None:
        """Push it to the registry in its name."""
        self._run("push", *shlex.split(os.environ.get("PUSH_FLAGS", "")), reference)

    def save(self, reference: str, file: Path) -> None:
        """Save it as a docker archive, which every container runtime can load."""
        file.unlink(missing_ok=True)
        if self.is_buildah:
            self._run("push", reference, f"docker-archive:{file}:{reference}")
        else:
            self._run("save", "-o", str(file), reference)

    def _inspect(self, reference: str) -> dict[str, Any]:
        """Return what the tool knows of an image, nothing if there is no such image."""
        command = ["inspect", "--type", "image"] if self.is_buildah else ["image", "inspect"]
        said = subprocess.run([self.name, *command, reference], capture_output=True, text=True, check=False)
        if said.returncode:
            return {}
        found = json.loads(said.stdout)
        return dict(found if self.is_buildah else found[0])

    def _run(self, *arguments: str) -> None:
        done = subprocess.run(
            [self.name, *arguments], cwd=REPO, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
        if done.returncode:
            sys.stderr.write(done.stdout)
            raise ImagesError(f"{self.name} {arguments[0]} of {arguments[-1]} failed; what it said stands above.")


def main() -> int:
    """Do what was asked for each image; 1 and a line on stderr if that fails."""
    parser = argparse.ArgumentParser(prog="build.py", description=__doc__)
    parser.add_argument("images", nargs="*", metavar="IMAGE", help=f"of {', '.join(FOLDERS)} (default: all)")
    parser.add_argument("--tag", help="instead of the version in the image's pyproject.toml")
    parser.add_argument("--registry", default="", help="what stands before the name: registry.example:5000/team")
    parser.add_argument("--force", action="store_true", help="build it even if its inputs are as they were")
    parser.add_argument("--save", type=Path, metavar="FOLDER", help="save each as FOLDER/NAME.tar")
    parser.add_argument("--push", action="store_true", help="push each to the registry")
    asked = parser.parse_args()
    unknown = [name for name in asked.images if name not in FOLDERS]
    if unknown:
        parser.error(f"there is no image {', '.join(unknown)}; there are {', '.join(FOLDERS)}")
    try:
        tool = Tool()
        for image in map(Image, asked.images or FOLDERS):
            _one(tool, image, asked)
    except ImagesError as error:
        sys.stderr.write(f"build.py: {error}\n")
        return 1
    return 0


def _one(tool: Tool, image: Image, asked: argparse.Namespace) -> None:
    registry = f"{asked.registry.rstrip('/')}/" if asked.registry else ""
    reference = f"{registry}{PREFIX}{image.name}:{asked.tag or image.version}"
    is_new = asked.force or tool.inputs(reference) != image.inputs()
    if is_new:
        tool.build(image, reference)
    if asked.save:
        tool.save(reference, asked.save / f"{image.name}.tar")
    if asked.push:
        tool.push(reference)
    did = [word for word, done in (("built", is_new), ("saved", asked.save), ("pushed", asked.push)) if done]
    print(f"{reference:<60} {tool.size(reference):>8}  {', '.join(did) or 'as it was'}", flush=True)


def _git(*arguments: str) -> str:
    return _output("git", "-C", str(REPO), *arguments)


def _output(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    sys.exit(main())
