"""What many shards cost, in virtual time.

AWS takes 1,000 writes a second of a partition, and answers ten calls of DescribeStream a second.
"""

from cdc_bridge.discovery import Discovery
from cdc_bridge.dynamo_leases import LeaseTable
from cdc_bridge.dynamo_streams import Streams
from cdc_bridge.gaps import Policy
from cdc_bridge.held_lease import HeldLease
from cdc_bridge.lineage import Row, State
from contracts.tables import LEASES, MIGRATIONS
from murmuration_testkit.unkind_aws import UnkindAws

ARN = "arn:aws:dynamodb:eu-central-1:1:table/followers/stream/1"
SHARDS, ROUNDS, ROUND_SECONDS, PAGES = 2_000, 3, 2, 10
LEASE_MS = 8_000
LISTED, BRIDGES = 300, 5


def test_renewals_checkpoints_and_tips_are_one_write_a_round_spread_over_the_parts():
    """Ten pages a shard and round: 1,000 writes a second in all, and less than 100 in any partition."""
    aws = UnkindAws(seed=1)
    dynamodb = aws.client("dynamodb")
    migration = {MIGRATIONS.migration: {"S": MIGRATIONS.SPREAD_LEASES}}
    steps = {MIGRATIONS.switched_at: {"N": "1"}, MIGRATIONS.contracted_at: {"N": "1"}}
    dynamodb.put_item(TableName=MIGRATIONS.name, Item=migration | steps)
    process, leases = aws.process(), LeaseTable(dynamodb, "")
    leases.rows(ARN)
    held = []
    for n in range(SHARDS):
        row = Row(f"shardId-{n:020}", State.OPENED, since=process.ms())
        lease = leases.take(ARN, row, "us", process.ms() + LEASE_MS)
        held.append(HeldLease(leases, lease, LEASE_MS, process.ms(), process.ms, process.ms))
    before = aws.items_written.copy()
    for n in range(ROUNDS):
        aws.sleep(ROUND_SECONDS)
        for lease in held:
            for page in range(PAGES):
                lease.checkpoint(str(1 + n * PAGES + page))
                lease.note_tip(process.ms())
            lease.renew()
    written = aws.items_written - before
    seconds = ROUNDS * ROUND_SECONDS
    assert sum(written.values()) == SHARDS * ROUNDS == 1_000 * seconds
    assert set(written) == {(LEASES.name, part) for part in LEASES.parts_of(ARN)[1:]}
    assert max(written.values()) / seconds < 100


def test_five_bridges_list_three_hundred_shards_in_less_than_ten_calls_a_second():
    """Of two streams; and a shard that is new is found all the same."""
    aws = UnkindAws(seed=1)
    process, tables = aws.process(), ("followers", "tweets")
    for table in tables:
        stream = aws.stream(table)
        while len(stream.open_shards()) < LISTED:
            stream.split(stream.open_shards()[0])
        aws.sleep(25 * 3600)  # those that were split are listed no more
    bridges = [
        Discovery(
            Streams(aws.client("dynamodb"), aws.client("dynamodbstreams")),
            LeaseTable(aws.client("dynamodb"), ""),
            dict,
            Policy.CONTINUE,
            State.LEFT,
            lambda *_: False,
            process.ms,
            process.ms,
            lambda: BRIDGES,
        )
        for _ in range(BRIDGES)
    ]

    def look():
        return [len(bridge.table(table)) for bridge in bridges for table in tables]

    def calls():
        return sum(count for (operation, _), count in aws.calls.items() if operation == "DescribeStream")

    look()
    before, seconds = calls(), 60
    for _ in range(seconds // ROUND_SECONDS):
        aws.sleep(ROUND_SECONDS)
        found = look()
    assert found == [LISTED] * len(tables) * BRIDGES
    assert calls() - before <= 6 * seconds
    child = aws.stream("followers").open_shards()[0]
    aws.stream("followers").split(child)
    aws.sleep(30)
    assert all(len(bridge.table("followers")) for bridge in bridges)
