"""What each step cost, from lines as Spark writes them."""

import json

from murmuration_suggestions.report import Step
from murmuration_suggestions.task_metrics import costs


def job(step, *stages):
    properties = {"spark.jobGroup.id": step} if step else {}
    return {"Event": "SparkListenerJobStart", "Stage IDs": [*stages], "Properties": properties}


def task(stage, ms, shuffled, memory=0):
    metrics = {"Executor Run Time": ms, "Shuffle Write Metrics": {"Shuffle Bytes Written": shuffled}}
    executor = {"ProcessTreeJVMRSSMemory": memory, "ProcessTreePythonRSSMemory": memory}
    return {
        "Event": "SparkListenerTaskEnd",
        "Stage ID": stage,
        "Task Metrics": metrics,
        "Task Executor Metrics": executor,
    }


def test_a_steps_tasks_are_added_up():
    """Those of all its jobs; of others nothing."""
    events = [job("pairs", 1, 2), task(1, 100, 5), task(2, 900, 7, 50), job("", 3), task(3, 1, 1, 40), job("rank", 4)]
    steps, peak = costs(map(json.dumps, events), {"pairs": 2.5, "rank": 0.5})
    assert steps == {"pairs": Step(2.5, 12, 2, 0.9, 0.5), "rank": Step(0.5)}
    assert peak == 100


def test_a_task_that_failed_counts_for_nothing():
    """It has no figures."""
    failed = {"Event": "SparkListenerTaskEnd", "Stage ID": 1, "Task Metrics": None}
    steps, _ = costs(map(json.dumps, [job("pairs", 1), failed, task(1, 200, 5)]), {"pairs": 1.0})
    assert steps["pairs"].tasks == 1
