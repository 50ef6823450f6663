"""DynamoDB and its streams in memory and in virtual time, as unkind as AWS: boto3's clients for tests and properties.

    aws = UnkindAws(seed=7, unkind=EVERYTHING)            # or {Unkindness.THROTTLING: 0.2}; or nothing: all is kind
    dynamodb, streams = aws.client("dynamodb"), aws.client("dynamodbstreams")
    leases = LeaseTable(dynamodb, "", LEASE_MS)           # the real code; it finds the tables of schemas/tables
    Counting(ledger, now=aws.time, sleep=aws.sleep)       # time passes by aws.sleep() alone, never by itself

**Switches.** `aws.unkind[Unkindness.INDEX_LAG] = 30.0` sets one at any time, `del` clears it: a probability, or for the
lags the seconds of which some are drawn; (30, 30) lags exactly so long. `with aws.kind():` all is kind for a while.
`aws.order(Unkindness.LOST_ANSWER, "UpdateItem", "leases")` has it happen to the next such call, once.
`aws.occurred[Unkindness.X]` counts what really happened. `aws.put`, `aws.delete` and `aws.items` write and read rows
as somebody to whom AWS is kind.

**Others.** `aws.meanwhile = act` names what other actors do: act(where) is called between the commits of one
transaction (ITEM_BY_ITEM), between two items of one read (TORN_READ) and before a call (INTERLEAVING), if that switch
says so. What `act` itself asks of AWS is not interrupted again. If it raises, the caller has died: DynamoDB finishes
what it began.

Several processes as ordinary code, each in its own time: `actors = Actors(aws)`, `actors.add("owner-1", act)`,
`actors.run()`. At each such point, and whenever one sleeps by `aws.sleep`, the seed draws whose turn it is. An actor
that raises KilledError, or is given to `actors.kill()`, is gone as by kill -9.

**Streams.** `stream = aws.stream("followers")`: `stream.roll_over()`, `stream.split(shard_id)`, `stream.open_shards()`;
records are trimmed after 24 hours and iterators expire after 15 minutes of virtual time. `aws.switch_stream_on(table)`
makes a new stream. Times in records are numbers, as our clients give them.

**Processes.** `aws.process()` is one process's clock (time, ms, monotonic, sleep), apart from the others' by
CLOCKS_APART_LAG; `aws.process(ahead=3600)` exactly. `aws.client(attempts=3, read_seconds=2)` says how long a hang is.

**Costs.** `aws.calls["UpdateItem", "leases"]` and `aws.items_written["leases", partition_key]` count what was asked.
Expressions or parameters that no code here uses raise NotImplementedError: teach it, with a test in test_unkind_aws.py.
**Capacity.** `aws.units["by_part"] = 1000`: transactions may write so many units a second of virtual time to one
partition key of an index of that name; where none are left they are cancelled, as an index holds up its table.
It does not know reserved words, sizes of items and pages, or any other capacity.
"""

from murmuration_testkit.unkind_aws.actors import Actors, KilledError
from murmuration_testkit.unkind_aws.aws import Process, UnkindAws
from murmuration_testkit.unkind_aws.unkindness import EVERYTHING, Unkindness

__all__ = ["EVERYTHING", "Actors", "KilledError", "Process", "UnkindAws", "Unkindness"]
