"""What Europe PMC says was published about articles since: retractions, concerns, corrections.

These are MEDLINE's links between articles (commentCorrectionList); a hundred articles are asked for at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sources.europepmc.api import EuropePmcContext, ask_page, rows_of, types_of

NoticeKind = Literal["retraction", "concern", "correction"]
BATCH = 100
"""Articles of one question; a form holds many more, an answer's bytes are what counts."""
_KINDS: tuple[tuple[str, NoticeKind], ...] = (
    ("partial retraction", "correction"),
    ("retraction in", "retraction"),
    ("retracted and republished", "retraction"),
    ("expression of concern", "concern"),
    ("erratum in", "correction"),
    ("correction in", "correction"),
    ("corrected and republished in", "correction"),
    ("update in", "correction"),
)


@dataclass(frozen=True, slots=True)
class Notice:
    """One notice about one article, in the words of the link."""

    kind: NoticeKind
    detail: str


def notices_of(keys: Sequence[str], context: EuropePmcContext) -> dict[str, tuple[Notice, ...]]:
    """Notices about some articles, by key; () for those without, no entry for those it does not know.

    Args:
        keys: PMCIDs, or PubMed ids; at most :data:`BATCH`.
        context: client and address.

    Raises:
        FetchError: no usable answer.
    """
    asked = " OR ".join(
        f"PMCID:{key}" if key.startswith("PMC") else f"(EXT_ID:{key} SRC:MED)" for key in keys
    )
    wanted = set(keys)
    found: dict[str, list[Notice]] = {}
    page = ask_page(f"({asked})", "*", context, result_type="core", page_size=1000)
    for row in rows_of(page):
        for key in {str(row.get("pmcid") or ""), str(row.get("pmid") or "")} & wanted:
            found.setdefault(key, []).extend(_notices(row))
    return {key: tuple(dict.fromkeys(rows)) for key, rows in found.items()}


def _notices(row: Mapping[str, Any]) -> Iterable[Notice]:
    if "retracted publication" in types_of(row):
        yield Notice("retraction", "Europe PMC lists it as a retracted publication")
    listed = row.get("commentCorrectionList")
    links = listed.get("commentCorrection") if isinstance(listed, dict) else None
    for link in links if isinstance(links, list) else []:
        if not isinstance(link, dict):
            continue
        said = " ".join(str(link.get("type") or "").split())
        kind = next((kind for start, kind in _KINDS if said.lower().startswith(start)), None)
        if kind is not None:
            where = " ".join(str(link.get("reference") or link.get("id") or "").split())[:200]
            yield Notice(kind, f"{said}: {where}" if where else said)
