"""Read topics with Confluent's own client, from the oldest event to the newest; a line of JSON for each event.

    python read_topic.py TOPIC[=READER.avsc] …

The reader's schema may be any version of the topic; without one each event comes as it was written.
What cannot be read is named on the standard error, and the next is read.
"""

import json
import os
import sys
from pathlib import Path

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, TopicPartition
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer
from confluent_kafka.serialization import MessageField, SerializationContext, SerializationError


def read(topic):
    """Yield each message."""
    kafka = {"bootstrap.servers": os.environ["KAFKA_BOOTSTRAP_SERVERS"], "group.id": "nobody"}
    consumer = Consumer({**kafka, "enable.partition.eof": True, "enable.auto.commit": False, "fetch.wait.max.ms": 50})
    numbers = consumer.list_topics(topic, 10).topics[topic].partitions
    consumer.assign([TopicPartition(topic, number, OFFSET_BEGINNING) for number in numbers])
    unread = len(numbers)
    while unread:
        message = consumer.poll(10)
        if message is None:
            sys.exit(f"{unread} partitions of {topic} do not come to their end")
        if message.error() is None:
            yield message
        elif message.error().code() == KafkaError._PARTITION_EOF:
            unread -= 1
        else:
            sys.exit(str(message.error()))
    consumer.close()


def main():
    """Print what there is, and end."""
    registry = SchemaRegistryClient({"url": os.environ["SCHEMA_REGISTRY_URL"], "timeout": 10})
    for argument in sys.argv[1:]:
        topic, _, reader = argument.partition("=")
        decode = AvroDeserializer(registry, Path(reader).read_text("utf-8") if reader else None)
        for message in read(topic):
            try:
                record = decode(message.value(), SerializationContext(topic, MessageField.VALUE))
            except SerializationError as error:  # who must not lose it keeps it elsewhere
                print(f"{topic} {message.partition()} {message.offset()}: {error}", file=sys.stderr)
                continue
            line = {"read": argument, "partition": message.partition(), "offset": message.offset(), "record": record}
            print(json.dumps(line))


if __name__ == "__main__":
    main()
