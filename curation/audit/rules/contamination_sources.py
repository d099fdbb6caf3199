"""Sources two benchmarks both draw on, counted where rows carry ids of articles: shared, but not a copy."""

from __future__ import annotations

from collections.abc import Iterator

from curation.audit.dataset import Dataset
from curation.audit.rule import Context
from curation.published.parquet import column_names

_PMC, _DOI = r"(?i)PMC[0-9]+", r"10\.[0-9]{4,9}/[^\s,;#]+"
_AS_PMC = f"'pmc:' || upper(regexp_extract(COLUMN, '{_PMC}'))"
_AS_DOI = f"'doi:' || lower(regexp_extract(COLUMN, '{_DOI}'))"
_NAMED = {
    "pmid": "'pmid:' || regexp_extract(COLUMN, '[0-9]+')",
    "pmcid": "'pmc:PMC' || regexp_extract(COLUMN, '[0-9]+')",
    "doi": _AS_DOI,
}
_LOOSE = ("id", "article_id", "url", "source")


def note(context: Context, other: Dataset) -> list[str]:
    """One sentence on the sources shared with another benchmark; none when one of the two carries no ids."""
    mine, theirs = (list(_keys(dataset)) for dataset in (context.subject, other))
    if not mine or not theirs:
        return []
    views = {f"{side}_{table}": dataset.views[table] for side, dataset, parts in (
        ("a", context.subject, mine), ("b", other, theirs)) for table, _ in parts}  # fmt: skip
    one, two = _union("a", mine), _union("b", theirs)
    text = f"""SELECT (SELECT count(*) FROM ({one}) WHERE key IN ({two})) AS n,
        (SELECT count(*) FROM ({two})) AS theirs"""
    row = next(iter(context.query(text, views))).to_pylist()[0]
    if not row["theirs"]:
        return []
    return [f"{row['n']} sources (PMC id, PMID or DOI) are drawn on here and by {other.name}"]


def _keys(dataset: Dataset) -> Iterator[tuple[str, str]]:
    """(table, SQL of a key or '') for every column that may hold a source's id."""
    for table in (
        ("hashes", "sources") if {"hashes", "sources"} & set(dataset.views) else ("queries", "corpus")
    ):
        for name in column_names(dataset.views[table]) if table in dataset.views else ():
            column = f'CAST("{name}" AS VARCHAR)'
            if name in _NAMED:
                yield table, _NAMED[name].replace("COLUMN", column)
            elif name in _LOOSE:
                yield from ((table, form.replace("COLUMN", column)) for form in (_AS_PMC, _AS_DOI))


def _union(which: str, parts: list[tuple[str, str]]) -> str:
    """Distinct keys with at least one digit after their prefix."""
    selects = [f"SELECT {key} AS key FROM {which}_{table}" for table, key in parts]
    return f"SELECT DISTINCT key FROM ({' UNION ALL '.join(selects)}) WHERE regexp_matches(key, ':.*[0-9]')"
