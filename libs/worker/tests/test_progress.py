"""Ready is a statement about the work."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from murmuration_worker.progress import LONGEST_SECONDS, Progress, Sight

HERE, THERE = ("T", 3), ("T", 4)


def test_a_try_that_takes_too_long_is_not_ready():
    """Up is not enough: work must go on."""
    now = [0.0]
    progress = Progress(lambda: now[0])
    with progress.busy_with(HERE):
        assert progress.waiting_for() == []
        now[0] = LONGEST_SECONDS + 1
        assert progress.waiting_for() == ["a batch of T/3: no sign of life for 31 s"]
    assert progress.waiting_for() == []


def test_a_batch_that_is_tried_again_and_again_is_no_reason_to_be_unready():
    """A store that is away is shared by all replicas; each try of ours that ends is a sign of life."""
    now = [0.0]
    progress = Progress(lambda: now[0])
    with progress.busy_with(HERE):
        for _ in range(3):
            now[0] += LONGEST_SECONDS - 1
            progress.heartbeat()
            assert progress.waiting_for() == []


def test_what_was_tried_is_progress_even_in_vain():
    """A store that is waited for is no reason to end the process."""
    progress = Progress()
    with suppress(KeyError), progress.busy_with(HERE):
        raise KeyError
    assert progress.sights() == {HERE: Sight(None, 1)}


def test_a_partition_is_seen_by_the_oldest_try_that_it_has_in_hand():
    """Others may pass one that hangs, and change nothing of what is seen."""
    progress, hangs, free = Progress(), threading.Event(), threading.Event()

    def hang():
        with progress.busy_with(HERE):
            hangs.set()
            free.wait(10)

    with ThreadPoolExecutor(1) as threads:
        threads.submit(hang)
        assert hangs.wait(10)
        seen = progress.sights()
        for _ in range(3):
            with progress.busy_with(HERE):
                progress.heartbeat()
                assert progress.sights() == seen
        with progress.busy_with(THERE):
            assert progress.sights() == seen | {THERE: Sight(seen[HERE].trying + 4, 0)}
        free.set()
    assert progress.sights() == {HERE: Sight(None, 4), THERE: Sight(None, 1)}


def test_to_wait_for_somebody_is_a_heartbeat():
    """A registry that is away is waited for within a try."""
    slept = []
    progress = Progress(sleep=slept.append)
    with progress.busy_with(HERE):
        progress.pause(3)
        assert progress.sights()[HERE].heartbeats == 1
    assert slept == [3]
