"""What a chart renders to: its resources, and the pods that they run."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

Resource = Mapping[str, Any]
TEST_HOOK = "test"


@dataclass(frozen=True)
class Workload:
    """A resource that runs pods, with the template of them."""

    resource: Resource
    template: Resource

    @property
    def kind(self) -> str:
        """Deployment, Job, CronJob or Pod."""
        return str(self.resource["kind"])

    @property
    def name(self) -> str:
        """Its kind and name, as kubectl takes them."""
        return f"{self.kind}/{self.resource['metadata']['name']}"

    @property
    def labels(self) -> Mapping[str, str]:
        """The labels of its pods."""
        return self.template["metadata"].get("labels") or {}

    @property
    def pod(self) -> Resource:
        """The pods' spec."""
        spec: Resource = self.template["spec"]
        return spec

    @property
    def containers(self) -> Sequence[Resource]:
        """Every container, those that run first included."""
        return [*self.pod.get("initContainers", ()), *self.pod["containers"]]

    @property
    def hooks(self) -> Sequence[str]:
        """When Helm runs it; nothing if it is one of the release's own resources."""
        annotations = self.resource["metadata"].get("annotations") or {}
        return [each.strip() for each in annotations.get("helm.sh/hook", "").split(",") if each]

    @property
    def keeps_running(self) -> bool:
        """Tell whether it serves, rather than ends."""
        return self.kind == "Deployment"


@dataclass(frozen=True)
class Release:
    """Everything that one chart renders to."""

    resources: Sequence[Resource]

    @classmethod
    def read(cls, rendered: str) -> "Release":
        """Read what `helm template` wrote."""
        return cls([each for each in yaml.safe_load_all(rendered) if each])

    def of(self, *kinds: str) -> list[Resource]:
        """Return the resources of these kinds."""
        return [each for each in self.resources if each["kind"] in kinds]

    @property
    def workloads(self) -> Iterator[Workload]:
        """Give everything that runs pods."""
        for each in self.resources:
            match each["kind"]:
                case "Deployment" | "Job":
                    yield Workload(each, each["spec"]["template"])
                case "CronJob":
                    yield Workload(each, each["spec"]["jobTemplate"]["spec"]["template"])
                case "Pod":
                    yield Workload(each, each)

    @property
    def deployments(self) -> list[Workload]:
        """Return what keeps running."""
        return [each for each in self.workloads if each.keeps_running]


def selects(selector: Mapping[str, Any] | None, labels: Mapping[str, str]) -> bool:
    """Tell whether a selector of plain labels takes pods with these."""
    wanted = (selector or {}).get("matchLabels") or {}
    return bool(wanted) and wanted.items() <= labels.items()
