"""Ways to the AUC of one Parquet file: each reads the file and returns the value.

A peer is a function of the path and of a bound of memory in GB. What it starts before the clock
(an interpreter, a session) it returns as a closure, which is what is timed.
"""

import tempfile
from pathlib import Path

PREPARED = {}


def peer(name):
    """Put a peer into the table."""

    def keep(prepare):
        PREPARED[name] = prepare
        return prepare

    return keep


def _whole_columns(path):
    import pyarrow.parquet as pq

    table = pq.read_table(path, use_threads=False)
    return table["y"].to_numpy(), table["s"].to_numpy()


@peer("sklearn_rank, in memory")
def in_memory(path, memory):
    from sklearn_rank.metrics import roc_auc_score

    return lambda: roc_auc_score(*_whole_columns(path))


@peer("scikit-learn, in memory")
def scikit_learn(path, memory):
    from sklearn.metrics import roc_auc_score

    return lambda: roc_auc_score(*_whole_columns(path))


# Equal scores are one group; a running sum of the negatives below them. Exact with ties.
GROUPS = """
with groups as (
    select s, sum(y)::double as pos, (count(*) - sum(y))::double as neg from '{path}' group by s
), below as (
    select pos, neg, sum(neg) over (order by s rows unbounded preceding) - neg / 2 as less
    from groups
)
select sum(pos * less) / (sum(pos) * sum(neg)) from below
"""
# Mean ranks: the frame of a count ordered by s ends with the last row of the same score.
RANKS = """
with ranks as (
    select y, rank() over (order by s) as first, count(*) over (order by s) as last from '{path}'
)
select (sum(case when y = 1 then (first + last) / 2.0::double end) - sum(y) * (sum(y) + 1) / 2.0)
    / (sum(y) * sum(1.0::double - y)) from ranks
"""
# Only the positives are grouped and summed; each negative looks up the last one at or below it.
NEAREST = """
with positives as (
    select s, count(*) as here from '{path}' where y = 1 group by s
), summed as (
    select s, here, sum(here) over (order by s) as upto from positives
), total as (
    select sum(here)::double as all_pos from positives
), found as (
    select coalesce(upto, 0) as upto, case when summed.s = row.s then here else 0 end as tied
    from '{path}' row asof left join summed on row.s >= summed.s where row.y = 0
)
select sum(all_pos - upto + tied / 2.0::double) / (count(*) * any_value(all_pos))
from found, total
"""


def _duckdb(sql):
    def prepare(path, memory):
        import duckdb

        database = duckdb.connect()
        database.execute(f"set threads = 2; set memory_limit = '{memory}GB'")
        database.execute(f"set temp_directory = '{tempfile.mkdtemp(dir=Path(path).parent)}'")
        return lambda: database.execute(sql.format(path=path)).fetchone()[0]

    return prepare


peer("DuckDB, group by score")(_duckdb(GROUPS))
peer("DuckDB, window of ranks")(_duckdb(RANKS))
peer("DuckDB, asof join")(_duckdb(NEAREST))


def _spark(bins):
    def prepare(path, memory):
        from pyspark.ml.evaluation import BinaryClassificationEvaluator

        frame = spark_session(path, memory).read.parquet(str(path))
        frame = frame.select(frame.y.cast("double"), frame.s.cast("double"))
        evaluator = BinaryClassificationEvaluator(
            rawPredictionCol="s", labelCol="y", metricName="areaUnderROC", numBins=bins
        )
        return lambda: evaluator.evaluate(frame)

    return prepare


def spark_session(path, memory):
    """Spark on two cores of this machine, its heap bounded, spilling beside the data."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.memory", f"{memory}g")
    builder = builder.config("spark.local.dir", tempfile.mkdtemp(dir=Path(path).parent))
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


peer("Spark, exact (numBins=0)")(_spark(0))
peer("Spark, default (1,000 bins)")(_spark(1000))


def packages(name):
    """What to name the versions of."""
    return {"D": ("duckdb",), "S": ("pyspark",)}.get(name[0], ("scikit-learn", "pyarrow"))
