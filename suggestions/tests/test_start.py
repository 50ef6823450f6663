"""Where Spark is not installed, as in `make test`, the job says how to get it."""

import pytest

from .starting import ENVIRONMENT, job


def test_without_spark_it_says_how_to_get_it():
    """One line, and no traceback."""
    done = job("run", **ENVIRONMENT)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "make suggestions" in done.stderr


@pytest.mark.parametrize("missing", ENVIRONMENT)
def test_a_missing_setting_stops_the_start_by_name(missing):
    """Nothing is guessed that only suits a laptop."""
    done = job("run", **{name: value for name, value in ENVIRONMENT.items() if name != missing})
    assert done.returncode == 1
    assert missing in done.stderr


@pytest.mark.parametrize("uri", ["/srv/suggestions", "file:///srv/suggestions/", "file:///srv/my%20suggestions"])
def test_a_folder_that_spark_and_arrow_read_differently_is_refused(uri):
    """Before anything is computed."""
    done = job("run", **ENVIRONMENT | {"SUGGESTIONS_FOLDER": uri})
    assert done.returncode == 1
    assert "SUGGESTIONS_FOLDER" in done.stderr
