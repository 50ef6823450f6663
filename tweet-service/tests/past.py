"""The table tweets as releases before the migration live-tweets left it, in memory."""

from dataclasses import replace

from contracts.table_files import load
from contracts.topic import DATA
from murmuration_testkit.unkind_aws import UnkindAws
from murmuration_testkit.unkind_aws.table import Table

FILE = load(DATA)["tweets"]
OLD = replace(FILE, indexes=FILE.leaving)


def with_a_past():
    """Return tables of which tweets has the index that goes, and not the one that comes."""
    aws = UnkindAws()
    aws.tables["tweets"] = Table("tweets", OLD.create, aws.now)
    return aws
