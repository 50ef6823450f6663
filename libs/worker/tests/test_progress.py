"""Ready is a statement about the work."""

from contextlib import suppress

from murmuration_worker.progress import LONGEST_SECONDS, Progress


def test_a_try_that_takes_too_long_is_not_ready():
    """Up is not enough: work must go on."""
    now = [0.0]
    progress = Progress(lambda: now[0])
    with progress.busy_with("a batch of T/3"):
        assert progress.waiting_for() == []
        now[0] = LONGEST_SECONDS + 1
        assert progress.waiting_for() == ["a batch of T/3: no sign of life for 31 s"]
    assert progress.waiting_for() == []


def test_a_batch_that_is_tried_again_and_again_is_no_reason_to_be_unready():
    """A store that is away is shared by all replicas; each try of ours that ends is a sign of life."""
    now = [0.0]
    progress = Progress(lambda: now[0])
    with progress.busy_with("a batch of T/3"):
        for _ in range(3):
            now[0] += LONGEST_SECONDS - 1
            progress.heartbeat()
            assert progress.waiting_for() == []


def test_what_was_tried_is_a_heartbeat_even_in_vain():
    """A store that is waited for is no reason to end the process."""
    progress = Progress()
    with suppress(KeyError), progress.busy_with("a batch"):
        progress.heartbeat()
        raise KeyError
    assert progress.heartbeats == 2
