"""Distractors: unjudged documents that match a query's best positive in specialty, genre and length."""

from curation.derived.distractors.facts import facts
from curation.derived.distractors.make import make_distractors

__all__ = ["facts", "make_distractors"]
