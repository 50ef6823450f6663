"""What each step cost, from Spark's log of events. Pure: lines in, figures out."""

import json
import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace

from murmuration_suggestions.report import Step

GROUP = "spark.jobGroup.id"
MEMORY = ("ProcessTreeJVMRSSMemory", "ProcessTreePythonRSSMemory", "ProcessTreeOtherRSSMemory")


def costs(lines: Iterable[str], seconds: Mapping[str, float]) -> tuple[dict[str, Step], int]:
    """Return what each of these steps cost, and the most memory that one executor took with all of its processes."""
    step_of: dict[int, str] = {}
    tasks: dict[str, list[float]] = defaultdict(list)
    shuffled: dict[str, int] = defaultdict(int)
    peak = 0
    for event in map(json.loads, lines):
        match event["Event"]:
            case "SparkListenerJobStart":
                group = event["Properties"].get(GROUP, "")
                step_of |= dict.fromkeys(event["Stage IDs"], group)
            case "SparkListenerTaskEnd" if event.get("Task Metrics"):
                step = step_of.get(event["Stage ID"], "")
                tasks[step].append(event["Task Metrics"]["Executor Run Time"] / 1000)
                shuffled[step] += event["Task Metrics"]["Shuffle Write Metrics"]["Shuffle Bytes Written"]
                peak = max(peak, _memory(event.get("Task Executor Metrics", {})))
            case "SparkListenerStageExecutorMetrics":
                peak = max(peak, _memory(event.get("Executor Metrics", {})))
    found = {name: Step(spent) for name, spent in seconds.items()}
    for name, runs in tasks.items():
        if name in found:
            longest, median = max(runs), statistics.median(runs)
            found[name] = replace(
                found[name],
                shuffled_bytes=shuffled[name],
                longest_task_s=longest,
                median_task_s=median,
                tasks=len(runs),
            )
    return found, peak


def _memory(metrics: Mapping[str, int]) -> int:
    return sum(metrics.get(name, 0) for name in MEMORY)
