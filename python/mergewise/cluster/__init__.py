"""The same count on Ray and on Spark, and on any engine that hands Arrow batches to Python.

Counts add, so a cluster's work is one map and one sum by key. The engine moves the data and repeats
what failed; a `Task` is what it runs. docs/cluster.md has examples to copy, and what they cost.
"""

from mergewise.cluster.on_ray import count_ray, encode_ray, map_reduce_ray
from mergewise.cluster.on_spark import count_spark, encode_spark, map_reduce_spark
from mergewise.cluster.task import Task

__all__ = [
    "Task",
    "count_ray",
    "count_spark",
    "encode_ray",
    "encode_spark",
    "map_reduce_ray",
    "map_reduce_spark",
]
