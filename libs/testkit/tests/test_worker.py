"""A worker beside the stack's."""

from murmuration_testkit.waiting import eventually, steadily
from murmuration_testkit.worker import Worker


def test_a_worker_is_started_again_until_it_is_stopped(tmp_path, monkeypatch):
    """Here one that ends at once, by itself."""
    (tmp_path / "logs").mkdir()
    monkeypatch.setenv("STACK_DIR", str(tmp_path))
    worker = Worker("this", 0, "worker")
    try:
        worker.start()
        eventually(lambda: worker.starts >= 3)
        worker.stop()
        lives = worker.starts
        steadily(lambda: worker.starts, lives, during=0.5)
        worker.start()
        eventually(lambda: worker.starts > lives)
    finally:
        worker.end()
    assert "Zen of Python" in (tmp_path / "logs/worker.log").read_text()
