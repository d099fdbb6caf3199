"""Pairs of documents that are nearly the same, so that near copies of a positive can be set apart.

To find a near copy that nobody judged is neither a hit nor a miss. The measure is that of the audit's rule
near_duplicate_documents, which would call such a copy an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from curation.audit.texts.engine import near_pairs
from curation.audit.texts.sketch import Texts
from curation.release.query import QueryRunner

SCHEMA = pa.schema([("one", pa.string()), ("other", pa.string())])
_SAME_PICTURE = """
    SELECT p.one, p.other FROM (SELECT one, other FROM pairs UNION ALL SELECT other, one FROM pairs) AS p
    JOIN documents AS a ON a.id = p.one JOIN documents AS b ON b.id = p.other
    WHERE a.image.sha256 IS NOT DISTINCT FROM b.image.sha256 ORDER BY ALL"""


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
    found, path = folder / "pairs.parquet", folder / "alike.parquet"
    columns = {"one": [pair.one for pair in pairs], "other": [pair.other for pair in pairs]}
    pq.write_table(pa.table(columns, schema=SCHEMA), found)
    with pq.ParquetWriter(path, SCHEMA) as writer:
        for batch in query(_SAME_PICTURE, {"pairs": [found], "documents": documents}) if pairs else ():
            writer.write_batch(pa.RecordBatch.from_arrays(batch.columns, schema=SCHEMA))
    return path
