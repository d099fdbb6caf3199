"""Candidate pools and hard negatives made from the rankings of several systems."""

from curation.derived.pools.facts import facts
from curation.derived.pools.make import PoolOptions, PoolSummary, SplitRuns, make_pools
from curation.derived.pools.margin import PairScorer

__all__ = ["PairScorer", "PoolOptions", "PoolSummary", "SplitRuns", "facts", "make_pools"]
