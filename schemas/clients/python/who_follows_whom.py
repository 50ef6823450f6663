"""Who follows whom, for a team that begins with nothing: from a snapshot, and from there on by the topic.

    python who_follows_whom.py DIRECTORY

The directory is what `python -m cdc_bridge export` wrote. The program goes on until its input ends; then it reads what
is there by then, prints a line of JSON for each edge, and ends.
"""

import json
import os
import sys
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from threading import Thread

import fastavro
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer
from confluent_kafka.serialization import MessageField, SerializationContext

TOPIC = "FollowChanged"


def take(edges, change):
    """Do what a record of the snapshot or an event says; to do it again changes nothing."""
    edge = change["follower_id"], change["followee_id"]
    if change["following"]:
        edges.add(edge)
    else:
        edges.discard(edge)


def from_snapshot(directory, manifest):
    """Return the edges that the snapshot has."""
    edges = set()
    for file in manifest["tables"]["followers"]["files"]:
        content = (directory / file["file"]).read_bytes()
        if sha256(content).hexdigest() != file["sha256"]:
            sys.exit(f"{file['file']} is not what the manifest says: copy it again")
        for record in fastavro.reader(BytesIO(content)):
            take(edges, record)
    return edges


def go_on(edges, offsets, is_over):
    """Take every event from the snapshot's places on, until it is over and what was there then is read."""
    kafka = {"bootstrap.servers": os.environ["KAFKA_BOOTSTRAP_SERVERS"], "group.id": "nobody"}
    consumer = Consumer({**kafka, "enable.auto.commit": False, "auto.offset.reset": "error"})
    decode = AvroDeserializer(SchemaRegistryClient({"url": os.environ["SCHEMA_REGISTRY_URL"], "timeout": 10}))
    consumer.assign([TopicPartition(TOPIC, number, offset) for number, offset in enumerate(offsets)])
    next_offsets, ends = list(offsets), None
    while ends is None or any(mine < end for mine, end in zip(next_offsets, ends, strict=True)):
        if ends is None and is_over():
            ends = [consumer.get_watermark_offsets(TopicPartition(TOPIC, n), 10)[1] for n in range(len(offsets))]
        message = consumer.poll(0.1)
        if message is None:
            continue
        if message.error():
            sys.exit(str(message.error()))  # among them: the topic no longer has what lies behind the places
        take(edges, decode(message.value(), SerializationContext(TOPIC, MessageField.VALUE)))
        next_offsets[message.partition()] = message.offset() + 1
    consumer.close()


def main():
    """Begin, go on, and print who follows whom."""
    directory = Path(sys.argv[1])
    manifest = json.loads((directory / "manifest.json").read_text("utf-8"))
    edges = from_snapshot(directory, manifest)
    input_ends = Thread(target=sys.stdin.read, daemon=True)
    input_ends.start()
    go_on(edges, manifest["places"][TOPIC]["offsets"], lambda: not input_ends.is_alive())
    for edge in sorted(edges):
        print(json.dumps(edge))


if __name__ == "__main__":
    main()
