"""Make the root of every final image: Python, what it is linked to, certificates, time zones; no shell, no dpkg.

Rule: what is not named or needed here is not in an image. It runs in a build stage on Debian (python:slim). Arguments
are the new root's folder, and programs besides Python. Of dpkg's status it keeps what it takes, for scanners to read.
"""

import compileall
import os
import py_compile
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

# libgcc-s1 and libstdc++6: Python is not linked to them, but wheels of its extensions are.
ALWAYS = {"base-files", "ca-certificates", "libgcc-s1", "libstdc++6", "media-types", "netbase", "tzdata"}
LEFT_OUT = ("config-", "ensurepip", "idlelib", "lib2to3", "pydoc_data", "site-packages", "test", "tkinter", "turtle")
NOT_COPIED = ("/etc/update-motd.d/", "/usr/bin/", "/usr/sbin/")
NO_DATA = ("/usr/share/doc/", "/usr/share/lintian/", "/usr/share/locale/", "/usr/share/man/")
INFO = Path("/var/lib/dpkg/info")
USER = "murmuration:x:10001:10001::/tmp:/usr/sbin/nologin\n"
GROUP = "murmuration:x:10001:\n"


def build(root: Path, programs: list[Path]) -> None:
    """Copy what an image needs into a new root."""
    _folders(root)
    linked = _linked([*_python(root), *programs])
    owners = {_real(Path(line)): _name(listing) for listing in INFO.glob("*.list") for line in _lines(listing)}
    packages = ALWAYS | {owners[_real(path)] for path in [*linked, *programs] if _real(path) in owners}
    for listing in sorted(INFO.glob("*.list")):
        if _name(listing) in packages:
            _copy(root, listing)
    for path in programs:
        (root / path.relative_to("/")).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, root / path.relative_to("/"))
    entries = Path("/var/lib/dpkg/status").read_text().strip().split("\n\n")
    kept = [entry for entry in entries if entry.partition("\n")[0].removeprefix("Package: ") in packages]
    (root / "var/lib/dpkg/status").write_text("\n\n".join(kept) + "\n")
    (root / "etc/passwd").write_text(f"root:x:0:0:root:/:/usr/sbin/nologin\n{USER}")
    (root / "etc/group").write_text(f"root:x:0:\n{GROUP}")
    (root / "etc/nsswitch.conf").write_text("passwd: files\ngroup: files\nhosts: files dns\n")
    (root / "etc/ld.so.conf").write_text(
        "".join(f"{folder}\n" for folder in sorted({str(each.parent) for each in linked}))
    )
    subprocess.run(["ldconfig", "-r", str(root)], check=True)


def _folders(root: Path) -> None:
    for folder in ("tmp", "etc", "proc", "sys", "dev", "run", "var/lib/dpkg"):
        (root / folder).mkdir(parents=True)
    (root / "tmp").chmod(0o1777)
    for link in ("bin", "lib", "lib64", "sbin"):
        if Path("/", link).is_symlink():  # Debian's merged /usr
            (root / link).symlink_to(f"usr/{link}")
            (root / "usr" / link).mkdir(parents=True, exist_ok=True)


def _python(root: Path) -> list[Path]:
    """Copy the interpreter and its library, compiled: a read-only root cannot do it. Return what may be linked."""
    library = Path(sysconfig.get_path("stdlib"))
    copy = root / library.relative_to("/")
    shutil.copytree(
        library,
        copy,
        symlinks=True,
        ignore=lambda folder, names: [name for name in names if _is_left_out(name, at_top=Path(folder) == library)],
    )
    (copy / "site-packages").mkdir()
    shared = [*Path("/usr/local/lib").glob("libpython3*.so*")]
    for path in [*Path("/usr/local/bin").glob("python3*"), Path("/usr/local/bin/python"), *shared]:
        if path.exists() and "config" not in path.name:
            target = root / path.relative_to("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, target, follow_symlinks=False)
    # Unchecked: nobody changes a source in an image, and a read-only root takes no new .pyc.
    unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
    if not compileall.compile_dir(copy, quiet=1, stripdir=str(root), prependdir="/", invalidation_mode=unchecked):
        sys.exit("rootfs.py: the standard library could not be compiled")
    return [Path(sys.executable).resolve(), *shared, *copy.glob("lib-dynload/*.so")]


def _is_left_out(name: str, *, at_top: bool) -> bool:
    return name.startswith(("__pycache__", "_tkinter.", "_test")) or (at_top and name.startswith(LEFT_OUT))


def _linked(files: list[Path]) -> set[Path]:
    """Return the shared objects that the files are linked to, and the loader."""
    said = subprocess.run(["ldd", *map(str, files)], capture_output=True, text=True, check=True).stdout
    missing = re.findall(r"(\S+) => not found", said)
    if missing:
        sys.exit(f"rootfs.py: Python is linked to {', '.join(sorted(set(missing)))}, which the base image lacks")
    return {Path(path) for path in re.findall(r"(/\S+) \(0x", said)}


def _copy(root: Path, listing: Path) -> None:
    """Copy a package's libraries and data; no commands, and of its documentation only the licence."""
    for line in _lines(listing):  # gconv has tables of character sets, which Python does not use; what is there stays
        path = _real(Path(line))
        target = root / str(path).lstrip("/")
        is_unwanted = str(path).startswith((*NOT_COPIED, *NO_DATA)) and path.name != "copyright"
        is_file = path.is_symlink() or path.is_file()
        if is_file and not is_unwanted and "/gconv/" not in line and not os.path.lexists(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, target, follow_symlinks=False)


def _real(path: Path) -> Path:
    """Return the path with its folder's links followed: dpkg may list /lib/FILE, which lies in /usr/lib."""
    return path.parent.resolve() / path.name


def _lines(listing: Path) -> list[str]:
    return [line for line in listing.read_text().splitlines() if line != "/."]


def _name(listing: Path) -> str:
    return listing.stem.partition(":")[0]


if __name__ == "__main__":
    build(Path(sys.argv[1]), [Path(program) for program in sys.argv[2:]])
