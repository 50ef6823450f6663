"""gRPC's messages, as they are checked in."""

import protos


def test_what_is_checked_in_is_what_the_proto_says():
    """After a change: make protos."""
    made = dict(protos.texts())
    assert made
    assert {file: file.read_text("utf-8") for file in made} == made
