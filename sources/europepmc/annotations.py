"""Text-mined annotations of Europe PMC (diseases, genes, chemicals, …) and where they stand in an article.

They come from other software than ours, with a quotation instead of an offset: an oracle to hold grounding
against. Interface: https://europepmc.org/AnnotationsApi
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from schemas.article import Article
from schemas.errors import InputError
from schemas.hashing import canonical_json, foreign_json
from schemas.ids import normalise_pmcid
from schemas.stages import Reason
from sources.europepmc.api import SOURCE, EuropePmcContext, Unusable, patiently, read_json
from sources.ledger import Held

MAX_IDS = 8
"""Articles per request."""

_MAX_BODY_BYTES = 64 * 1024 * 1024
_CONTEXT = 12
"""Letters and digits of the quotation's surroundings that are compared."""


@dataclass(frozen=True, slots=True)
class Annotation:
    """One annotation as the service gives it.

    Attributes:
        pmcid: the article.
        type: e.g. Diseases, Gene_Proteins, Chemicals, Organisms, Gene Ontology.
        provider: who made it.
        section: section as the service names it, e.g. `Abstract`.
        prefix: text before, about 20 characters, '' when not given.
        exact: the annotated text.
        postfix: text after, likewise.
        uris: concepts, e.g. `http://linkedlifedata.com/resource/umls-concept/C0011849`, in the order given.
        names: their names, beside `uris`.
    """

    pmcid: str
    type: str
    provider: str
    section: str
    prefix: str
    exact: str
    postfix: str
    uris: tuple[str, ...]
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """Where an annotation stands: `title`, `abstract:<0-based>` or a passage id; code points of that text."""

    text: str
    start: int
    end: int


def fetch_annotations(pmcids: Sequence[str], context: EuropePmcContext) -> tuple[Annotation, ...]:
    """Annotations of some articles, fetched 8 articles at a time and kept under raw/.

    Args:
        pmcids: the articles; those whose annotations are held are not asked for again.
        context: client and store.

    Returns:
        Rows by article (sorted by PMCID), each in the order the service gives them.

    Raises:
        FetchError: no usable answer.
        InputError: not a PMCID, or the stored annotations are damaged.
    """
    stored = stored_annotations(pmcids, context)
    rows: list[Annotation] = []
    for pmcid in sorted(stored):
        data = context.store.read(stored[pmcid])
        rows.extend(read_annotations(data if data is not None else b"", pmcid))
    return tuple(rows)


def stored_annotations(pmcids: Sequence[str], context: EuropePmcContext) -> dict[str, Held]:
    """The stored annotations of each article, fetched where they are not held; one file per article.

    Raises: as :func:`fetch_annotations`.
    """
    wanted = sorted({normalise_pmcid(pmcid) for pmcid in pmcids})
    stored = {pmcid: held for pmcid in wanted if (held := _held(pmcid, context)) is not None}
    missing = [pmcid for pmcid in wanted if pmcid not in stored]
    for start in range(0, len(missing), MAX_IDS):
        batch = missing[start : start + MAX_IDS]
        found = _ask(batch, context)
        for pmcid in batch:  # an article without annotations is left out of the answer
            data = canonical_json(found.get(pmcid, [])).encode("utf-8", "replace")
            path = f"{SOURCE}/{pmcid}/annotations.json"
            stored[pmcid] = context.store.put(SOURCE, f"{pmcid}/annotations", path, data)
    return stored


def _held(pmcid: str, context: EuropePmcContext) -> Held | None:
    held = context.store.held(SOURCE, f"{pmcid}/annotations")
    return held if held is not None and context.store.read(held) is not None else None


def _ask(pmcids: Sequence[str], context: EuropePmcContext) -> dict[str, list[Any]]:
    """Annotations by PMCID, as the service gives them."""
    base = f"{context.annotations_endpoint.rstrip('/')}/annotationsByArticleIds"
    listed = ",".join(f"PMC:{pmcid[3:]}" for pmcid in pmcids)

    def ask() -> dict[str, list[Any]]:
        answer = context.client.get(f"{base}?articleIds={listed}&format=JSON", max_bytes=_MAX_BODY_BYTES)
        reply = read_json(answer.body if answer is not None else None)
        if not isinstance(reply, list):
            raise Unusable("not a list of articles")
        found: dict[str, list[Any]] = {}
        for row in reply:
            pmcid = _pmcid_of(row)
            rows = row.get("annotations") if isinstance(row, dict) else None
            if pmcid not in pmcids or not isinstance(rows, list):
                raise Unusable("an article that was not asked for, or one without a list")
            found.setdefault(pmcid, []).extend(rows)
        return found

    return patiently(context, base, ask)


def _pmcid_of(row: Any) -> str:
    if not isinstance(row, dict):
        return ""
    written = row.get("pmcid") or (row.get("extId") if row.get("source") == "PMC" else None)
    try:
        return normalise_pmcid(str(written)) if written else ""
    except InputError:
        return ""


def read_annotations(data: bytes, pmcid: str) -> tuple[Annotation, ...]:
    """Read the stored annotations of one article; rows without a quotation are left out.

    Raises:
        InputError: `record_invalid`, not a JSON list.
    """
    try:
        rows = foreign_json(data)
    except (ValueError, RecursionError):
        rows = None
    if not isinstance(rows, list):
        raise InputError("the annotations are not a JSON list", reason=Reason.RECORD_INVALID, record=pmcid)
    return tuple(_annotation(row, pmcid) for row in rows if isinstance(row, dict) and _line(row, "exact"))


def _annotation(row: Mapping[str, Any], pmcid: str) -> Annotation:
    listed = row.get("tags")
    tags = [tag for tag in listed if isinstance(tag, dict)] if isinstance(listed, list) else []
    return Annotation(
        pmcid=pmcid,
        type=_line(row, "type"),
        provider=_line(row, "provider"),
        section=_line(row, "section").partition(" (http")[0],
        prefix=_text(row, "prefix"),
        exact=_line(row, "exact"),
        postfix=_text(row, "postfix"),
        uris=tuple(_line(tag, "uri") for tag in tags),
        names=tuple(_line(tag, "name") for tag in tags),
    )


def _text(row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    return value if isinstance(value, str) else ""


def _line(row: Mapping[str, Any], name: str) -> str:
    return _text(row, name).strip()


def locate(annotation: Annotation, article: Article) -> Place | None:
    """Where an annotation stands in our reading of the article, None unless exactly one place fits.

    A place fits when the quotation stands there as a whole word and the letters and digits on both sides
    agree with the annotation's prefix and postfix, as far as our text and theirs both reach.
    """
    found: list[Place] = []
    for name, text in _texts(article):
        for start in _occurrences(annotation.exact, text):
            end = start + len(annotation.exact)
            before, after = _letters(text[:start][-200:]), _letters(text[end : end + 200])
            left, right = _letters(annotation.prefix), _letters(annotation.postfix)
            if _agree(before[::-1], left[::-1]) and _agree(after, right):
                found.append(Place(name, start, end))
                if len(found) > 1:
                    return None
    return found[0] if found else None


def _texts(article: Article) -> Iterator[tuple[str, str]]:
    yield "title", article.title
    for number, abstract in enumerate(article.abstracts):
        yield f"abstract:{number}", abstract.text
    for passage in article.passages:
        yield passage.id, passage.text


def _occurrences(exact: str, text: str) -> Iterator[int]:
    start = text.find(exact)
    while start >= 0:
        end = start + len(exact)
        is_word = not (start and text[start - 1].isalnum() and exact[0].isalnum())
        if is_word and not (end < len(text) and text[end].isalnum() and exact[-1].isalnum()):
            yield start
        start = text.find(exact, start + 1)


def _letters(text: str) -> str:
    return "".join(character for character in text if character.isalnum()).casefold()


def _agree(ours: str, theirs: str) -> bool:
    """Whether two texts begin alike; where one ends first, a paragraph or the quotation ended there."""
    length = min(len(ours), len(theirs), _CONTEXT)
    return ours[:length] == theirs[:length]
