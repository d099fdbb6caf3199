"""Pairs the cases of all shards: only the same diagnosis counts, cases of related ones are left out."""

from __future__ import annotations

from curation.tasks.clinical_case.records import Clue, Cut
from curation.tasks.shared.case_pairs import SAME, over_all
from schemas.stages import Sql

NAME = "clinical_case"
_OF_QUERIES = """
    SELECT t.* FROM {table} AS t JOIN queries AS q ON q.id = t.query_id AND q.source_id = t.case_id
"""
OVER_ALL = over_all(
    NAME,
    version=2,
    graded=(SAME,),
    inputs={"all_cuts": (f"{NAME}.cuts", Cut), "all_gives_away": (f"{NAME}.gives_away", Clue)},
    outputs={
        "cuts": Sql(_OF_QUERIES.format(table="all_cuts"), Cut, ("query_id",)),
        "gives_away": Sql(_OF_QUERIES.format(table="all_gives_away"), Clue, ("query_id", "concept", "start")),
    },
)
