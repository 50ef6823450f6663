"""A proxy before a real broker that answers chosen ProduceRequests itself, with an error, and forwards all others."""

import os
import socket
import struct
import threading
from collections import deque
from contextlib import suppress

_PRODUCE = 0  # the request's number in Kafka's protocol
_FLEXIBLE = 9  # from this version of it on, lengths are varints
NOT_ENOUGH_REPLICAS = 19


class RefusingProxy:
    """Listens on a port of its own and rewrites the broker's to it in what the broker says; a context."""

    def __init__(self):
        self._broker = next(iter(os.environ["KAFKA_BOOTSTRAP_SERVERS"].split(",")))
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self._sockets = [self._listener]
        self._chosen = set()
        self._seen = 0
        self.refused = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def refuse(self, *numbers):
        """Refuse the ProduceRequests of these numbers, counted from now, the next one being 0."""
        self._seen, self._chosen = 0, set(numbers)

    def _accept(self):
        with suppress(OSError):  # the end of the context
            while True:
                client, _ = self._listener.accept()
                host, port = self._broker.split(":")
                _Connection(self, client, socket.create_connection((host, int(port))), self._ours)
                self._sockets.append(client)

    def _ours(self, frame):
        """Rewrite the address that clients are to use: as bytes, for it is of the same length."""
        return frame.replace(_address(self._broker), _address(self.address))

    def answer(self, request):
        """Return our own answer to a request; None for one that is forwarded."""
        kind, version, correlation = struct.unpack_from(">hhi", request)
        if kind != _PRODUCE:
            return None
        number, self._seen = self._seen, self._seen + 1
        if number not in self._chosen:
            return None
        self.refused += 1
        topic, partition = _place(request, version)
        said = struct.pack(">ihqqq", partition, NOT_ENOUGH_REPLICAS, -1, -1, -1)
        if version >= _FLEXIBLE:
            partitions = b"\x02" + said + b"\x01\x00" + b"\x00"  # no record errors, no message, no tags
            body = b"\x02" + bytes([len(topic) + 1]) + topic + partitions + b"\x00" + struct.pack(">i", 0) + b"\x00"
            return struct.pack(">i", correlation) + b"\x00" + body
        partitions = struct.pack(">i", 1) + said + (struct.pack(">ih", 0, -1) if version == _FLEXIBLE - 1 else b"")
        body = struct.pack(">ih", 1, len(topic)) + topic + partitions + struct.pack(">i", 0)
        return struct.pack(">i", correlation) + body

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for each in self._sockets:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()


class _Connection:
    """One client's, with the broker's answers and ours in the order of the requests."""

    def __init__(self, proxy, client, broker, ours):
        self._proxy, self._client, self._broker, self._ours = proxy, client, broker, ours
        self._due = deque()  # for each request under way our answer, or None while the broker's is awaited
        self._lock = threading.Lock()
        threading.Thread(target=self._requests, daemon=True).start()
        threading.Thread(target=self._responses, daemon=True).start()

    def _requests(self):
        for frame in _frames(self._client, self._broker):
            answer = self._proxy.answer(frame)
            with self._lock:
                self._due.append(answer)
                self._send_ours()
            if answer is None:
                self._broker.sendall(struct.pack(">i", len(frame)) + frame)

    def _responses(self):
        for frame in _frames(self._broker, self._client):
            with self._lock:
                self._due.popleft()
                self._send(self._ours(frame))
                self._send_ours()

    def _send_ours(self):
        while self._due and self._due[0] is not None:
            self._send(self._due.popleft())

    def _send(self, frame):
        with suppress(OSError):
            self._client.sendall(struct.pack(">i", len(frame)) + frame)


def _frames(source, other):
    """Give what comes, frame by frame, until one side hangs up."""
    with suppress(OSError), source, other, source.makefile("rb") as stream:
        while length := stream.read(4):
            yield stream.read(struct.unpack(">i", length)[0])


def _address(host_and_port):
    host, port = host_and_port.split(":")
    return host.encode() + struct.pack(">i", int(port))


def _place(request, version):
    """Return the topic and the partition of a ProduceRequest; librdkafka sends one of each."""
    at = 8
    (length,) = struct.unpack_from(">h", request, at)
    at += 2 + max(0, length)  # the client's id
    if version >= _FLEXIBLE:
        at += 1 + 1 + 2 + 4 + 1  # no tags, no transaction, acks, timeout, one topic
        length, at = request[at] - 1, at + 1
        topic = request[at : at + length]
        (partition,) = struct.unpack_from(">i", request, at + length + 1)
        return topic, partition
    at += 2 + 2 + 4 + 4
    (length,) = struct.unpack_from(">h", request, at)
    topic = request[at + 2 : at + 2 + length]
    (partition,) = struct.unpack_from(">i", request, at + 2 + length + 4)
    return topic, partition
