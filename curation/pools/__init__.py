"""Candidate pools and hard negatives made from the rankings of several systems."""

from curation.pools.facts import facts
from curation.pools.make import PoolOptions, PoolSummary, SplitRuns, make_pools
from curation.pools.margin import PairScorer

__all__ = ["PairScorer", "PoolOptions", "PoolSummary", "SplitRuns", "facts", "make_pools"]
