"""Kafka's murmur2, as in Java's Utils.murmur2 and the default partitioner of Java and aiokafka."""

from struct import unpack_from

_M = 0x5BD1E995
_MASK = 0xFFFFFFFF


def murmur2(data: bytes) -> int:
    """Hash as Java does, as an unsigned 32-bit number."""
    size = len(data)
    h = 0x9747B28C ^ size
    whole = size & ~3
    for word in unpack_from(f"<{whole // 4}I", data):
        k = word * _M & _MASK
        h = (h * _M ^ (k ^ k >> 24) * _M) & _MASK
    if size > whole:
        h = (h ^ int.from_bytes(data[whole:], "little")) * _M & _MASK
    h = (h ^ h >> 13) * _M & _MASK
    return h ^ h >> 15


def partition(key: bytes, partitions: int) -> int:
    """Where Java's producer, aiokafka's, and librdkafka's murmur2_random put this key."""
    return (murmur2(key) & 0x7FFFFFFF) % partitions
