"""One Redis, or a cluster of them: which of the two a URL names is found out at the first call.

Rule: the keys of one call have one hash tag, or live on one node. Those of one node travel as arguments, one call a
node. A cluster refuses that where a slot moves: then each item is asked about by itself, with its keys declared.
"""

import hashlib
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from importlib.resources import files
from itertools import chain
from typing import Any
from weakref import WeakKeyDictionary

from redis import Redis, RedisCluster, RedisError
from redis.backoff import NoBackoff
from redis.client import NEVER_DECODE
from redis.crc import key_slot
from redis.exceptions import (
    AskError,
    AuthenticationError,
    ConnectionError,  # noqa: A004 - redis-py's own
    NoPermissionError,
    NoScriptError,
    ReadOnlyError,
    RedisClusterException,
    ResponseError,
    SlotNotCoveredError,
    TryAgainError,
)
from redis.retry import Retry

from murmuration_runtime.errors import RedisAwayError, RedisRefusedError, StoreAwayError
from murmuration_runtime.metrics import STORE_ERRORS
from murmuration_runtime.redis_node import UNTRUSTED, Call, RedisNode, ping
from murmuration_runtime.store_gate import StoreGate

ERRORS = (RedisError, RedisClusterException)  # a cluster's client has some that are no RedisError
ONCE_MORE = Retry(NoBackoff(), 1, (ConnectionError,))  # a connection may have died while it lay idle
TRIES = 1  # a call that was not answered in time is enough: the database knows it all, and a probe looks at once
PLACES = 64  # the breaker opens so soon that no thread waits for long
FEW = 500  # items that are not worth two calls
Argument = str | int | bytes
Item = tuple[str, ...]  # what a script is asked about: keys, and what goes with them
Answers = list[tuple[Sequence[Item], Any]]  # about which items, and what


class Script:
    """A Lua script, put together from a package's files. Of each item it is asked about, so many strings are keys."""

    def __init__(self, package: str, *names: str, keys: int = 1, raw: bool = False, flags: str = "") -> None:
        """raw: its answers are bytes, and not texts. flags: what stands in its first line, unless the file has that."""
        parts = [files(package).joinpath(name).read_text("utf-8") for name in names]
        self.text = "".join([*([f"#!lua flags={flags}\n"] if flags else []), *parts])
        self.sha = hashlib.sha1(self.text.encode(), usedforsecurity=False).hexdigest()
        self.keys = keys
        self.raw = raw


class Nodes:
    """The one, or all of them: connected when needed, and anew when what was known is gone. Safe among threads."""

    def __init__(self, url: str, connect_timeout: float, timeout: float, **options: Any) -> None:
        """Take what redis-py needs besides, such as RedisSettings.redis_options()."""
        self._url = url
        timeouts = {"socket_connect_timeout": connect_timeout, "socket_timeout": timeout}
        self._options = {**options, **timeouts, "decode_responses": True}
        self._patience = timeout
        self._client: Any = None
        self._nodes: WeakKeyDictionary[Redis, RedisNode] = WeakKeyDictionary()
        self._gates: dict[str, StoreGate] = {}
        self._changing = threading.Lock()

    @property
    def client(self) -> Any:
        """Return the client of the one or of the cluster."""
        if (client := self._client) is None:
            client = self._connect()  # nobody waits for somebody else who connects
            with self._changing:
                if self._client:
                    _close(client)
                self._client = client = self._client or client
        return client

    def call(self, script: Script, keys: Sequence[str], args: Sequence[Argument]) -> Any:
        """Run a script on keys of one hash tag."""
        node = self._owner(keys[0])
        try:
            return self._run(partial(node.call, raw=script.raw), script, keys, args)
        except (AskError, TryAgainError):  # its slot moves: the cluster's client finds out where to
            options = {NEVER_DECODE: True} if script.raw else {}
            return self._run(partial(self.client.execute_command, **options), script, keys, args)

    def command(self, name: str, key: str, *args: Argument) -> Any:
        """Run a command on a key."""
        try:
            return self._owner(key).call(name, key, *args)
        except (AskError, TryAgainError):
            return self.client.execute_command(name, key, *args)

    def gather(self, script: Script, args: Sequence[Argument], items: Sequence[Item], *, whole: bool = True) -> Answers:
        """Run a script with these arguments, and behind them the items, wherever their keys live.

        Unless the whole is wanted, what lives on nodes that do not answer is left out, as long as one does.
        """
        calls = [  # all work before any is listened to
            (Call(node, "EVALSHA", script.sha, 0, *args, *chain.from_iterable(own), raw=script.raw), node, own)
            for node, own in self._parts(items)
        ]
        answers: Answers = []
        refused: list[tuple[ResponseError, RedisNode, Sequence[Item]]] = []
        faults: list[Exception] = []
        for call, node, own in calls:  # each is listened to before anything is raised: its connection is given back
            try:
                answers.append((own, call.answer()))
            except ResponseError as error:
                refused.append((error, node, own))
            except Exception as error:  # noqa: BLE001 - raised below
                faults.append(error)
        for refusal, node, own in refused:
            try:
                for answer in self._ask_anew(script, args, refusal, node, own):
                    answers.append(answer)  # at once: it counts, whatever becomes of the next
            except Exception as fault:  # noqa: BLE001 - raised below
                faults.append(fault)
        if faults and (whole or not answers):
            raise faults[0]
        return answers

    def _parts(self, items: Sequence[Item]) -> list[tuple[RedisNode, Sequence[Item]]]:
        """Tell which node has which items. A single one gets many in two parts: it works while the second is packed."""
        client = self.client
        if isinstance(client, Redis):
            node, size = self._node(client), max(FEW, (len(items) + 1) // 2)
            return [(node, items[start : start + size]) for start in range(0, len(items), size)]
        parts: dict[RedisNode, list[Item]] = defaultdict(list)
        for item in items:
            parts[self._owner(item[0])].append(item)
        return [*parts.items()]

    def _owner(self, key: str) -> RedisNode:
        """Return the node that has a key."""
        client = self.client
        if isinstance(client, Redis):
            return self._node(client)
        if not (nodes := client.nodes_manager.slots_cache.get(key_slot(key.encode()))):
            raise SlotNotCoveredError(f"no Redis node serves the slot of {key}: the cluster is incomplete")
        return self._node(nodes[0].redis_connection)

    def _node(self, client: Redis) -> RedisNode:
        node = self._nodes.get(client)
        if node is None:
            with self._changing:
                node = self._nodes.setdefault(client, RedisNode(client, self._gate(client), self._patience))
        return node

    def _gate(self, client: Redis) -> StoreGate:
        """Return the gate of a node: one for its address, whichever client leads there."""
        pool = client.connection_pool
        where = pool.connection_kwargs
        address = where.get("path") or f"{where.get('host', 'localhost')}:{where.get('port', 6379)}"
        if address not in self._gates:
            self._gates[address] = StoreGate(f"redis {address}", partial(self._probe, address, pool), TRIES, PLACES)
        return self._gates[address]

    def _probe(self, address: str, pool: Any) -> None:
        """Look whether a node is back, or another has its slots: then nobody asks it any more."""
        manager = getattr(self._client, "nodes_manager", None)
        if manager:
            with suppress(*ERRORS):
                manager.initialize()
            if address not in manager.nodes_cache:
                return
        ping(pool)

    def _ask_anew(
        self, script: Script, args: Sequence[Argument], error: ResponseError, node: RedisNode, items: Sequence[Item]
    ) -> Iterator[tuple[Sequence[Item], Any]]:
        """Ask once more where the answer was an error: the node lacks the script, or a slot moves."""
        if isinstance(error, NoScriptError):
            try:
                yield items, node.call("EVAL", script.text, 0, *args, *chain.from_iterable(items), raw=script.raw)
            except ResponseError as refusal:
                error = refusal
            else:
                return
        if isinstance(self.client, Redis):
            raise error
        for item in items:
            yield [item], self.call(script, item[: script.keys], [*args, *item])

    def _run(self, ask: Callable[..., Any], script: Script, keys: Sequence[str], args: Sequence[Argument]) -> Any:
        """Run a script by what asks a node, or a cluster's client."""
        try:
            return ask("EVALSHA", script.sha, len(keys), *keys, *args)
        except NoScriptError:  # this node is new, or began anew
            return ask("EVAL", script.text, len(keys), *keys, *args)

    @contextmanager
    def errors_named(self) -> Iterator[None]:
        """Name every error of Redis RedisAwayError, and wrong credentials RedisRefusedError."""
        try:
            yield
        except RedisAwayError:
            raise
        except StoreAwayError as error:
            raise RedisAwayError(str(error)) from error
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
            if UNTRUSTED in str(error):
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
        for node in [*self._nodes.values()]:
            node.close()
        if self._client is not None:
            _close(self._client)

    def _learn_anew(self) -> None:
        """Ask the nodes that were known who has what now; if all are gone, or the one is no master, ask the URL."""
        client = self._client
        with suppress(*ERRORS, AttributeError):  # only a cluster's client has a manager of nodes
            client.nodes_manager.initialize()
            return
        self._client, self._nodes = None, WeakKeyDictionary()

    def _connect(self) -> Any:
        redis = Redis.from_url(self._url, retry=ONCE_MORE, **self._options)
        if "cluster_enabled:1" not in self._node(redis).call("INFO", "cluster"):
            return redis
        redis.close()
        return RedisCluster.from_url(self._url, retry=ONCE_MORE, require_full_coverage=False, **self._options)


def _close(client: Any) -> None:
    """Close its connections; a cluster's own close() leaves them open when it was made from a URL."""
    getattr(client, "disconnect_connection_pools", client.close)()
