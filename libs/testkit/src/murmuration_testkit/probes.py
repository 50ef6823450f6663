"""What a process says of itself over HTTP: whether it is ready, and what it measures."""

import re
import urllib.error
import urllib.request


def get(url: str, timeout_s: float = 5.0) -> tuple[int, str]:
    """Return status and body; status 0 while nobody answers."""
    try:
        with urllib.request.urlopen(url, timeout=timeout_s) as answer:  # noqa: S310 - our own
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()
    except OSError:
        return 0, ""


def metrics(port: int, timeout_s: float = 5.0) -> dict[str, float]:
    """Return each metric of the process on this port, added up over its labels; none while it does not answer."""
    _, text = get(f"http://127.0.0.1:{port}/metrics", timeout_s)
    found: dict[str, float] = {}
    for name, value in re.findall(r"^(\w+)(?:\{.*\})? (\S+)$", text, re.MULTILINE):
        found[name] = found.get(name, 0.0) + float(value)
    return found


def metric(port: int, name: str) -> float:
    """Return one of these; 0 while the process does not answer."""
    return metrics(port).get(name, 0.0)
