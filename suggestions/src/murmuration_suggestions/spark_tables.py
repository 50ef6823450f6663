"""The tables as they were exported: DynamoDB's own export to S3, in its JSON, or Parquet that export_scan.py wrote.

Rule: an export that is not whole is not read. DynamoDB writes the manifest last, and says in it how many items there
are; a scan writes _SUCCESS last.
"""

from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.types import BooleanType, StringType, StructField, StructType

from contracts.tables import Table
from murmuration_suggestions.folders import Folder
from murmuration_suggestions.wanted import WANTED

SPARK_TYPES = {"S": "string", "N": "bigint", "BOOL": "boolean"}
JSON_TYPES = {"S": StringType(), "N": StringType(), "BOOL": BooleanType()}  # a number is a text in DynamoDB's JSON


class ExportError(Exception):
    """An export is missing, not whole, or there is more than one."""


@dataclass(frozen=True)
class Export:
    """One moment's export of all tables, each in the folder of its name."""

    spark: SparkSession
    folder: Folder

    def rows(self, table: type[Table]) -> DataFrame:
        """Return the rows of a table, with the attributes that are wanted of it."""
        place = self.folder / table.name
        if (place / "AWSDynamoDB").exists():
            return self._of_json(table, place / "AWSDynamoDB")
        if (place / "_SUCCESS").exists():
            return self.spark.read.parquet(place.for_spark)
        raise ExportError(f"{place.uri} holds no whole export of {table.name}: export it again")

    def _of_json(self, table: type[Table], place: Folder) -> DataFrame:
        """Read DynamoDB's JSON: a line for each item, each value with its type."""
        manifests = ((each, (each / "manifest-summary.json").read_json()) for each in place.entries())
        exports = [(each, told) for each, told in manifests if told]
        if len(exports) != 1:
            raise ExportError(f"{place.uri} holds {len(exports)} whole exports of {table.name}: one is wanted")
        ((export, told),) = exports
        wanted = WANTED[table]
        item = StructType(
            [StructField(name, StructType([StructField(kind, JSON_TYPES[kind])])) for name, kind in wanted.items()]
        )
        lines = self.spark.read.schema(StructType([StructField("Item", item)])).option("mode", "FAILFAST")
        items = lines.json(f"{export.for_spark}/data/*.json.gz")
        if (there := items.count()) != told["itemCount"]:
            raise ExportError(f"{export.uri} holds {there} items of {table.name}, not {told['itemCount']}")
        return items.select(
            *(f.col(f"Item.{name}.{kind}").cast(SPARK_TYPES[kind]).alias(name) for name, kind in wanted.items())
        )
