"""The proof on a cluster, as far as it needs none."""

import ast

from murmuration_testkit import REPOSITORY
from murmuration_testkit.charts.files import charts

HERE = REPOSITORY / "deploy/cluster"


def test_every_chart_is_installed_on_the_cluster():
    """From its folder, with the values of the local environment."""
    kube = ast.parse((HERE / "kube.py").read_text())
    names = {node.value for node in ast.walk(kube) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    assert {chart.name for chart in charts()} <= names


def test_every_step_is_in_the_list_that_is_run():
    """A step that nobody runs proves nothing."""
    listed = {
        node.attr for node in ast.walk(ast.parse((HERE / "e2e.py").read_text())) if isinstance(node, ast.Attribute)
    }
    steps = ast.parse((HERE / "changes.py").read_text()).body
    public = {node.name for node in steps if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")}
    assert public <= listed
