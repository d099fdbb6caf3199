"""Length bands of documents: by words; by half the characters where the script writes no spaces.

Words are spaces plus one, as everywhere on the card.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

EDGES = (25, 50, 100, 200, 400)
BANDS = ("", "<25", "25-49", "50-99", "100-199", "200-399", "400+")
"""'' is a document without text."""
_NO_SPACES = r"^(?i:ja|zh)(-|$)"

_LENGTH = f"""CASE WHEN regexp_matches(language, '{_NO_SPACES}') THEN length(text) // 2
    ELSE length(text) - length(replace(text, ' ', '')) + 1 END"""
_CASES = " ".join(f"WHEN size < {edge} THEN '{name}'" for edge, name in zip(EDGES, BANDS[1:], strict=False))
COUNTED = f"""
    SELECT CASE WHEN coalesce(text, '') = '' THEN '' {_CASES} ELSE '{BANDS[-1]}' END AS value,
           count(*) AS documents
    FROM (SELECT text, {_LENGTH} AS size FROM corpus) GROUP BY 1 ORDER BY 1"""
"""Documents in each band; the size stands in a query of its own so that it is computed once."""


def band_codes(texts: pa.Array, languages: pa.Array) -> NDArray[np.int32]:
    """Places in BANDS, shape (n,), of n texts.

    Args:
        texts: strings, null counts as ''.
        languages: BCP-47 tags, one per text.
    """
    texts = pc.fill_null(texts, "")
    has_no_spaces = pc.fill_null(pc.match_substring_regex(languages, _NO_SPACES), False)
    sizes = pc.count_substring(texts, " ").to_numpy(zero_copy_only=False).astype(np.int64) + 1
    dense = has_no_spaces.to_numpy(zero_copy_only=False)
    if dense.any():
        sizes[dense] = pc.utf8_length(texts.filter(has_no_spaces)).to_numpy(zero_copy_only=False) // 2
    codes: NDArray[np.int32] = np.searchsorted(EDGES, sizes, side="right").astype(np.int32) + np.int32(1)
    codes[pc.equal(texts, "").to_numpy(zero_copy_only=False)] = 0
    return codes
