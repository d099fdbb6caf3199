"""Pairs the cases of all shards: every relation of two diagnoses that is near counts."""

from __future__ import annotations

from curation.tasks.shared.case_pairs import over_all

NAME = "case_study"
OVER_ALL = over_all(NAME, version=4)
