"""The same counts and shards on Ray and on Spark as on one machine.

Counts add, so a cluster's work is one map and one sum by key. The engine moves the data and repeats
what failed; a `Task` is what it runs, and any engine that hands Arrow batches to Python can run it.
A shard of ids needs no other, so there is one task for each. docs/cluster.md has examples to copy,
and what they cost.
"""

from mergewise.cluster.on_ray import count_ray, encode_dataset, encode_ray, map_reduce_ray
from mergewise.cluster.on_spark import (
    count_spark,
    encode_dataframe,
    encode_spark,
    map_reduce_spark,
)
from mergewise.cluster.task import Task

__all__ = [
    "Task",
    "count_ray",
    "count_spark",
    "encode_dataframe",
    "encode_dataset",
    "encode_ray",
    "encode_spark",
    "map_reduce_ray",
    "map_reduce_spark",
]
