"""Facts of a release about translations: what became of them, and how often each check ran, per language."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from curation.published.query import QueryRunner, fetch
from schemas.string_tables import TRANSLATION_CHECKS, TRANSLATIONS

_VERDICTS = """
    SELECT language, count(*) AS wanted, count(*) FILTER (verdict <> 'not_run') AS answered,
        count(*) FILTER (verdict = 'kept') AS kept,
        count(*) FILTER (verdict = 'kept' AND kind = 'human') AS by_people,
        count(*) FILTER (verdict = 'rejected') AS rejected,
        count(*) FILTER (verdict = 'left_out') AS left_out,
        count(*) FILTER (verdict = 'unusable') AS unusable,
        count(*) FILTER (verdict = 'not_run') AS not_run
    FROM translations WHERE verdict <> 'source' GROUP BY language ORDER BY language
"""
_REASONS = """
    SELECT language, reason, count(*) AS count
    FROM (SELECT language, unnest(reasons) AS reason FROM translations) GROUP BY ALL ORDER BY ALL
"""
_CHECKS = """
    SELECT "check", language, count(*) FILTER (status = 'passed') AS passed,
        count(*) FILTER (status = 'failed') AS failed, count(*) FILTER (status = 'not_run') AS not_run
    FROM translation_checks GROUP BY ALL ORDER BY ALL
"""


def translation_facts(query: QueryRunner, given: Mapping[str, Sequence[Path]]) -> dict[str, Any]:
    """What became of translations, per language and reason, and how often each check ran.

    Args:
        query: runs SQL over Parquet.
        given: published table -> its files.
    """
    found: dict[str, Any] = {TRANSLATIONS.name: [], TRANSLATION_CHECKS.name: []}
    if TRANSLATIONS.name in given:
        reasons = fetch(query, _REASONS, given)
        found[TRANSLATIONS.name] = fetch(query, _VERDICTS, given)
        for row in found[TRANSLATIONS.name]:
            row["reasons"] = [one for one in reasons if one["language"] == row["language"]]
    if TRANSLATION_CHECKS.name in given:
        found[TRANSLATION_CHECKS.name] = fetch(query, _CHECKS, given)
    return found
