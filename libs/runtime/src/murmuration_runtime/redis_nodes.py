"""One Redis, or a cluster of them: which of the two a URL names is found out at the first call.

Rule: the keys of one call have one hash tag, or live on one node. Those of one node travel as arguments, one call a
node. A cluster refuses that where a slot moves: then each item is asked about by itself, with its keys declared.
"""

import hashlib
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.resources import files
from itertools import chain
from typing import Any
from weakref import WeakKeyDictionary

from redis import Redis, RedisCluster, RedisError
from redis.backoff import NoBackoff
from redis.crc import key_slot
from redis.exceptions import (
    AuthenticationError,
    NoPermissionError,
    NoScriptError,
    ReadOnlyError,
    RedisClusterException,
    SlotNotCoveredError,
)
from redis.retry import Retry

from murmuration_runtime.errors import RedisAwayError, RedisRefusedError
from murmuration_runtime.metrics import STORE_ERRORS

ERRORS = (RedisError, RedisClusterException)  # a cluster's client has some that are no RedisError
FEW = 500  # items that are not worth two calls
Item = tuple[str, ...]  # what a script is asked about: keys, and what goes with them
Answers = list[tuple[Sequence[Item], Any]]  # about which items, and what


class Script:
    """A Lua script, put together from a package's files. Of each item it is asked about, so many strings are keys."""

    def __init__(self, package: str, *names: str, keys: int = 1) -> None:
        self.text = "".join(files(package).joinpath(name).read_text("utf-8") for name in names)
        self.sha = hashlib.sha1(self.text.encode(), usedforsecurity=False).hexdigest()
        self.keys = keys


class Nodes:
    """The one, or all of them: connected when needed, and anew when what was known is gone. Safe among threads."""

    def __init__(self, url: str, connect_timeout: float, timeout: float, **options: Any) -> None:
        """Take what redis-py needs besides, such as RedisSettings.redis_options()."""
        self._url = url
        timeouts = {"socket_connect_timeout": connect_timeout, "socket_timeout": timeout}
        self._options = {**options, **timeouts, "decode_responses": True}
        self._client: Any = None
        self._idle: WeakKeyDictionary[Redis, deque[Any]] = WeakKeyDictionary()  # redis-py's pool costs half a call
        self._connecting = threading.Lock()

    @property
    def client(self) -> Any:
        """Return the client of the one or of the cluster."""
        with self._connecting:
            self._client = self._client or self._connect()
            return self._client

    def call(self, script: Script, keys: Sequence[str], args: Sequence[str | int]) -> Any:
        """Run a script on keys of one hash tag."""
        return _run(self.client, script, keys, args)

    def gather(self, script: Script, args: Sequence[str | int], items: Sequence[Item]) -> Answers:
        """Run a script with these arguments, and behind them the items, wherever their keys live."""
        parts = self._parts(items)
        asked = [self._asked(node, script, args, own) for node, own in parts]  # all work before any is listened to
        # All connections are given back before anything can fail: one that is not is lost to the pool.
        first = [self._answered(node, connection, own) for (node, own), connection in zip(parts, asked, strict=True)]
        return [
            answer
            for (node, own), answers in zip(parts, first, strict=True)
            for answer in answers or self._ask(script, args, node, own)
        ]

    def _parts(self, items: Sequence[Item]) -> list[tuple[Redis, Sequence[Item]]]:
        """Tell which node has which items. A single one gets many in two parts: it works while the second is packed."""
        client = self.client
        if isinstance(client, Redis):
            size = max(FEW, (len(items) + 1) // 2)
            return [(client, items[start : start + size]) for start in range(0, len(items), size)]
        parts: dict[Redis, list[Item]] = defaultdict(list)
        owners = client.nodes_manager.slots_cache
        for item in items:
            if not (nodes := owners.get(key_slot(item[0].encode()))):
                raise SlotNotCoveredError(f"no Redis node serves the slot of {item[0]}: the cluster is incomplete")
            parts[nodes[0].redis_connection].append(item)
        return [*parts.items()]

    def _asked(self, node: Redis, script: Script, args: Sequence[str | int], items: Sequence[Item]) -> Any:
        """Send a call; return the connection that the answer will come from, or None."""
        idle = self._idle.setdefault(node, deque())
        try:
            connection = idle.pop() if idle else node.connection_pool.get_connection()
        except (IndexError, *ERRORS):  # another thread was faster, or the node is gone
            return None
        try:
            connection.send_command("EVALSHA", script.sha, 0, *args, *chain.from_iterable(items))
        except ERRORS:
            _drop(node, connection)
            return None
        return connection

    def _answered(self, node: Redis, connection: Any, items: Sequence[Item]) -> Answers:
        """Return the answer, or nothing if it was an error."""
        if connection is None:
            return []
        try:
            answer = connection.read_response()
        except ERRORS:
            _drop(node, connection)
            return []
        if (idle := self._idle.get(node)) is None:  # all was learned anew meanwhile
            _drop(node, connection)
        else:
            idle.append(connection)
        return [(items, answer)]

    def _ask(self, script: Script, args: Sequence[str | int], node: Redis, items: Sequence[Item]) -> Answers:
        """Ask anew, where the first answer was an error."""
        try:
            return [(items, _run(node, script, (), [*args, *chain.from_iterable(items)]))]
        except ERRORS:  # a slot moves, or the node is gone: the cluster's client finds out where to
            return [([item], self.call(script, item[: script.keys], [*args, *item])) for item in items]

    @contextmanager
    def errors_named(self) -> Iterator[None]:
        """Name every error of Redis RedisAwayError, and wrong credentials RedisRefusedError."""
        try:
            yield
        except (AuthenticationError, NoPermissionError) as error:
            STORE_ERRORS.labels("redis", type(error).__name__).inc()
            check = "docs/connections.md has the ACL that each service needs"
            if isinstance(error, AuthenticationError):
                check = "check REDIS_USERNAME and REDIS_PASSWORD"
            raise RedisRefusedError(f"Redis refuses this process: {error}; {check}") from error
        except ERRORS as error:
            STORE_ERRORS.labels("redis", type(error).__name__).inc()
            if isinstance(error, RedisClusterException | ReadOnlyError):
                self._learn_anew()
            if "CERTIFICATE_VERIFY_FAILED" in str(error):
                raise RedisRefusedError(f"Redis is not trusted: {error}; check REDIS_CA_FILE") from error
            raise RedisAwayError(f"Redis did not answer: {error}") from error

    def check(self, use: Callable[[], object] = int) -> None:
        """Raise RedisAwayError unless Redis answers, and RedisRefusedError if it forbids us this use of it."""
        with self.errors_named():
            self.client.ping()
        try:
            use()
        except RedisRefusedError:
            raise
        except RedisAwayError:  # one node of a cluster: what lives on the others is served
            return

    def close(self) -> None:
        """Give the connections back."""
        if self._client is not None:  # a cluster's own close() leaves them open when it was made from a URL
            getattr(self._client, "disconnect_connection_pools", self._client.close)()

    def _learn_anew(self) -> None:
        """Ask the nodes that were known who has what now; if all are gone, or the one is no master, ask the URL."""
        client = self._client
        with suppress(*ERRORS, AttributeError):  # only a cluster's client has a manager of nodes
            client.nodes_manager.initialize()
            return
        self._client, self._idle = None, WeakKeyDictionary()

    def _connect(self) -> Any:
        once_more = Retry(NoBackoff(), 1)  # a connection may have died while it lay idle
        redis = Redis.from_url(self._url, retry=once_more, **self._options)
        if not redis.info("cluster").get("cluster_enabled"):
            return redis
        redis.close()
        return RedisCluster.from_url(self._url, retry=once_more, require_full_coverage=False, **self._options)


def _run(client: Any, script: Script, keys: Sequence[str], args: Sequence[str | int]) -> Any:
    try:
        return client.evalsha(script.sha, len(keys), *keys, *args)
    except NoScriptError:  # this node is new, or began anew
        return client.eval(script.text, len(keys), *keys, *args)


def _drop(node: Redis, connection: Any) -> None:
    connection.disconnect()
    node.connection_pool.release(connection)
