"""A plugin of pytest, on wherever this package is installed: a test for each example of each version of a topic.

@pytest.mark.contract_examples("FollowChanged")
def test_we_take_it(contract_example):
    handle(contract_example.event)
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

MARK, ARGUMENT = "contract_examples", "contract_example"


def pytest_configure(config: "pytest.Config") -> None:
    """Tell pytest of the mark."""
    config.addinivalue_line(
        "markers", f"{MARK}(*topics): runs the test with `{ARGUMENT}`, each example of each version of these topics"
    )


def pytest_generate_tests(metafunc: "pytest.Metafunc") -> None:
    """Make the tests of a function with the mark."""
    marks = [*metafunc.definition.iter_markers(MARK)]
    if not marks:
        return
    from contracts.testing import examples_of  # noqa: PLC0415  whoever has no such test pays nothing

    found = {
        f"{topic} {example.version}: {example.name}": example
        for mark in marks
        for topic in mark.args
        for example in examples_of(topic)
    }
    metafunc.parametrize(ARGUMENT, found.values(), ids=found)
