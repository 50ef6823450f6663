"""librdkafka's own mock cluster: one broker in this process, which answers chosen requests as it is told.

It speaks the real protocol and keeps real logs. Unlike a broker it checks no sequence numbers: to a producer every
partition is one that does not know it.
"""

import ctypes
from contextlib import closing
from pathlib import Path

import confluent_kafka
from confluent_kafka import Consumer, TopicPartition

from cdc_bridge.message import Message
from murmuration_runtime.kafka_connection import KafkaSettings

_PRODUCE = 0  # the request's number in Kafka's protocol
_LIBRARY = next((Path(confluent_kafka.__file__).parents[1] / "confluent_kafka.libs").glob("librdkafka*.so*"))
_HANDLE = ctypes.c_void_p
_SIGNATURES = {
    "rd_kafka_conf_new": (_HANDLE, []),
    "rd_kafka_conf_set": (ctypes.c_int, [_HANDLE, *[ctypes.c_char_p] * 3, ctypes.c_size_t]),
    "rd_kafka_new": (_HANDLE, [ctypes.c_int, _HANDLE, ctypes.c_char_p, ctypes.c_size_t]),
    "rd_kafka_destroy": (None, [_HANDLE]),
    "rd_kafka_mock_cluster_new": (_HANDLE, [_HANDLE, ctypes.c_int]),
    "rd_kafka_mock_cluster_destroy": (None, [_HANDLE]),
    "rd_kafka_mock_cluster_bootstraps": (ctypes.c_char_p, [_HANDLE]),
    "rd_kafka_mock_topic_create": (ctypes.c_int, [_HANDLE, ctypes.c_char_p, ctypes.c_int, ctypes.c_int]),
    "rd_kafka_mock_push_request_errors_array": (None, [_HANDLE, ctypes.c_int16, ctypes.c_size_t, _HANDLE]),
    "rd_kafka_mock_partition_set_leader": (ctypes.c_int, [_HANDLE, ctypes.c_char_p, ctypes.c_int32, ctypes.c_int32]),
    "rd_kafka_mock_broker_set_rtt": (ctypes.c_int, [_HANDLE, ctypes.c_int32, ctypes.c_int]),
    "rd_kafka_mock_broker_set_down": (ctypes.c_int, [_HANDLE, ctypes.c_int32]),
    "rd_kafka_mock_broker_set_up": (ctypes.c_int, [_HANDLE, ctypes.c_int32]),
    "rd_kafka_mock_clear_request_errors": (None, [_HANDLE, ctypes.c_int16]),
}


def _load():
    library = ctypes.CDLL(str(_LIBRARY))
    for name, (result, arguments) in _SIGNATURES.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


_rdkafka = _load()


def numbered(topic, numbers, *, size=0, partition=0):
    """Make messages that are told apart by a number; of 600,000 bytes no two share a request."""
    return [Message(topic, partition, b"key", b"x" * size, [("n", str(number).encode())]) for number in numbers]


class MockKafka:
    """A cluster of one broker, or a few, with one topic; a context."""

    def __init__(self, topic, partitions, brokers=1):
        conf = _rdkafka.rd_kafka_conf_new()
        _rdkafka.rd_kafka_conf_set(conf, b"log_level", b"2", None, 0)
        self._client = _rdkafka.rd_kafka_new(0, conf, None, 0)
        self._cluster = _rdkafka.rd_kafka_mock_cluster_new(self._client, brokers)
        self.servers = _rdkafka.rd_kafka_mock_cluster_bootstraps(self._cluster).decode()
        self.settings = KafkaSettings(kafka_bootstrap_servers=self.servers)
        _rdkafka.rd_kafka_mock_topic_create(self._cluster, topic.encode(), partitions, 1)

    def delay(self, milliseconds):
        """Answer every request so much later."""
        _rdkafka.rd_kafka_mock_broker_set_rtt(self._cluster, 1, milliseconds)

    def answer(self, *codes):
        """Answer the next produce requests with these errors, 0 being none, and all that follow them as usual."""
        _rdkafka.rd_kafka_mock_clear_request_errors(self._cluster, _PRODUCE)
        _rdkafka.rd_kafka_mock_push_request_errors_array(
            self._cluster, _PRODUCE, len(codes), (ctypes.c_int * len(codes))(*codes)
        )

    def lose_leader(self, topic, partition):
        """Take nothing for a partition any more."""
        _rdkafka.rd_kafka_mock_partition_set_leader(self._cluster, topic.encode(), partition, -1)

    def lead(self, topic, partition, broker):
        """Have a broker lead a partition."""
        _rdkafka.rd_kafka_mock_partition_set_leader(self._cluster, topic.encode(), partition, broker)

    def take_down(self, broker):
        """Let nobody reach a broker."""
        _rdkafka.rd_kafka_mock_broker_set_down(self._cluster, broker)

    def bring_up(self, broker):
        """Let it be reached again."""
        _rdkafka.rd_kafka_mock_broker_set_up(self._cluster, broker)

    def numbers(self, topic, partition):
        """Return the numbers of the messages that lie in a partition."""
        return [int(headers["n"]) for headers in self.headers(topic, partition)]

    def headers(self, topic, partition):
        """Return the headers of the messages that lie in a partition."""
        place = TopicPartition(topic, partition, 0)
        with closing(Consumer({"bootstrap.servers": self.servers, "group.id": "log"})) as consumer:
            end = consumer.get_watermark_offsets(place, 10)[1]
            consumer.assign([place])
            found = []
            while len(found) < end:
                found += consumer.consume(end - len(found), 10)
        return [dict(message.headers()) for message in found]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        _rdkafka.rd_kafka_mock_cluster_destroy(self._cluster)
        _rdkafka.rd_kafka_destroy(self._client)
