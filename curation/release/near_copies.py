"""Pairs of documents that are nearly the same, so that near copies of a positive can be set apart.

To find a near copy that nobody judged is neither a hit nor a miss. The measure is that of the audit's rule
near_duplicate_documents, which would call such a copy an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from curation.published.query import QueryRunner
from curation.similarity.text.engine import near_pairs
from curation.similarity.text.sketch import Texts

SCHEMA = pa.schema([("one", pa.string()), ("other", pa.string())])
_PICTURES = """SELECT d.id, d.image.sha256 AS picture FROM documents AS d JOIN wanted AS w ON w.id = d.id
    WHERE d.image IS NOT NULL"""


def write_alike(query: QueryRunner, documents: Sequence[Path], folder: Path) -> Path:
    """Write every pair of nearly equal documents with the same picture, or none, in both orders.

    Args:
        query: runs SQL over Parquet.
        documents: the work table.
        folder: an empty one.

    Returns:
        The Parquet file, columns `one` and `other`.
    """
    pairs = near_pairs(Texts("corpus", files=documents)).pairs
    found = [(pair.one, pair.other) for pair in pairs]
    if found:
        pictures = _pictures(query, documents, sorted({name for pair in found for name in pair}), folder)
        found = [(one, other) for one, other in found if pictures.get(one) == pictures.get(other)]
    both = sorted({*found, *((other, one) for one, other in found)})
    path = folder / "alike.parquet"
    columns = {"one": [one for one, _ in both], "other": [other for _, other in both]}
    pq.write_table(pa.table(columns, schema=SCHEMA), path)
    return path


def _pictures(
    query: QueryRunner, documents: Sequence[Path], ids: Sequence[str], folder: Path
) -> dict[str, str]:
    """Hash of the picture of each of some documents; those without one are absent.

    Compared here and not in SQL: a join of documents without pictures would have every pair of them.
    """
    wanted = folder / "wanted.parquet"
    pq.write_table(pa.table({"id": pa.array(ids, pa.string())}), wanted)
    rows = query(_PICTURES, {"documents": documents, "wanted": [wanted]})
    return {row["id"]: row["picture"] for batch in rows for row in batch.to_pylist()}
