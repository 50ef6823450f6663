"""The partitioner: a disagreement about it would put a person's events into two partitions."""

import pytest
from aiokafka.partitioner import DefaultPartitioner
from hypothesis import given
from hypothesis import strategies as st

from contracts.murmur2 import murmur2, partition


@pytest.mark.parametrize(
    ("data", "java"),
    [
        (b"21", -973932308),
        (b"foobar", -790332482),
        (b"a-little-bit-long-string", -985981536),
        (b"a-little-bit-longer-string", -1486304829),
        (b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971),
        (b"abc", 479470107),
    ],
)
def test_it_hashes_as_java_does(data, java):
    """The vectors of Kafka's own UtilsTest."""
    assert murmur2(data) == java % 2**32


@given(st.binary(), st.integers(1, 200))
def test_it_puts_a_key_where_aiokafka_does(key, partitions):
    """Faust's client, which sends to the dead letters and could send elsewhere."""
    every = list(range(partitions))
    assert partition(key, partitions) == DefaultPartitioner()(key, every, every)
