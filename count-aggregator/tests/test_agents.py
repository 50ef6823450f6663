"""A batch is what has come, never what might."""

import asyncio

from count_aggregator.agents import BATCH, next_batch


def test_a_single_event_goes_at_once_and_a_backlog_goes_in_full_batches():
    """Nothing waits for company, and nothing is left behind or reordered."""

    async def batches(count, of):
        waiting = asyncio.Queue()
        for number in range(of):
            waiting.put_nowait(number)
        return [await asyncio.wait_for(next_batch(waiting), 1) for _ in range(count)]

    assert asyncio.run(batches(1, of=1)) == [[0]]
    full, rest = asyncio.run(batches(2, of=BATCH + 3))
    assert len(full) == BATCH
    assert full + rest == list(range(BATCH + 3))
