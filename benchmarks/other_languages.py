"""Grounding in other languages: mentions of XL-BEL, and keyword lists that SciELO articles have in two.

XL-BEL marks one mention in each of 1,000 sentences of six languages and gives its UMLS id; a mention is
reachable where a concept with a cross-reference to that id has a name in the language. It is found where
grounding of the sentence gives exactly these words such a concept. Keyword lists are lists of one article
with equally many terms: of pairs whose English term is the name of a concept, the share whose other term
gives it, too. Terms that say the same in both languages are left out.

    python -m benchmarks.other_languages WORKSPACE     a workspace with a vocabulary (docs/vocabularies.md)
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet as pq

from annotation.agreement.precision import wilson
from benchmarks.measure import SHARED, read_result, save
from curation.concepts.annotate import Text, annotate
from curation.concepts.matcher import Matcher
from curation.concepts.opening import open_backend
from flows.engine.progress import SilentReporter
from flows.engine.workspace import open_workspace
from flows.vocabulary.indexes import index_in_use
from flows.vocabulary.store import Vocabulary, current
from schemas.article import RawArticle
from schemas.errors import InputError
from schemas.hashing import normalise_text
from sources.jats import parse

LEAST = 200
"""Reachable mentions below which a recall is no target, only said."""
_OPEN, _CLOSE = "<tgt>", "</tgt>"


class Marked(NamedTuple):
    """One marked mention."""

    language: str
    text: str
    start: int
    end: int
    ids: frozenset[str]


def read_marked(lines: Iterable[str], language: str) -> Iterator[Marked]:
    """Lines `C1|C2||surface||context with <tgt>the mention</tgt>`; one without marks is left out."""
    for line in lines:
        ids, _, rest = line.rstrip("\n").partition("||")
        context = rest.partition("||")[2]
        before, opened, marked = context.partition(_OPEN)
        mention, closed, after = marked.partition(_CLOSE)
        if opened and closed and mention:
            text = f"{before}{mention}{after.replace(_OPEN, '').replace(_CLOSE, '')}"
            yield Marked(language, text, len(before), len(before) + len(mention), frozenset(ids.split("|")))


def targets(vocabulary: Vocabulary) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """Concept -> its UMLS ids, and language -> UMLS ids that a concept with a name in it has."""
    ids: dict[str, set[str]] = defaultdict(set)
    for row in pq.read_table(vocabulary.table("mappings")).to_pylist():
        source, _, code = row["other"].partition(":")
        if source == "UMLS" and row["status"] in ("kept", "merged", "stated"):
            ids[row["concept"]].add(code)
    named: dict[str, set[str]] = defaultdict(set)
    table = pq.read_table(vocabulary.table("names"), columns=["concept", "language"])
    for concept, language in sorted(set(zip(*(part.to_pylist() for part in table.columns), strict=True))):
        own = {concept.partition(":")[2]} if concept.startswith("UMLS:") else set()
        named[language.partition("-")[0]] |= ids.get(concept, set()) | own
        ids[concept] |= own
    return ids, named


def measure_mentions(
    marked: Iterable[Marked], matcher: Matcher, vocabulary: Vocabulary
) -> dict[str, dict[str, int]]:
    """Language -> mentions, reachable ones, those found, and those where another concept was."""
    ids, named = targets(vocabulary)
    counts: dict[str, dict[str, int]] = {}
    for item in marked:
        held = counts.setdefault(item.language, dict.fromkeys(("all", "reachable", "found", "other"), 0))
        held["all"] += 1
        found = [
            mention.concept
            for mention in annotate("xl-bel", [Text("text", item.text, item.language)], matcher)
            if (mention.start, mention.end) == (item.start, item.end)
        ]
        held["reachable"] += bool(item.ids & named.get(item.language, set()))
        is_right = any(ids.get(concept, set()) & item.ids for concept in found)
        held["found"] += is_right
        held["other"] += bool(found) and not is_right
    return counts


def measure_keywords(lists: Iterable[tuple[str, str, str]], matcher: Matcher) -> dict[str, dict[str, int]]:
    """Language -> pairs, those whose English term is a concept's name, and those whose other term is, too."""

    def concepts(text: str, language: str) -> set[str]:
        found = annotate("keywords", [Text("text", text, language)], matcher)
        return {item.concept for item in found if item.end - item.start == len(text)}

    counts: dict[str, dict[str, int]] = {}
    for language, english, other in lists:
        if normalise_text(english) == normalise_text(other):
            continue
        held = counts.setdefault(language, dict.fromkeys(("pairs", "reachable", "found"), 0))
        held["pairs"] += 1
        if wanted := concepts(english, "en"):
            held["reachable"] += 1
            held["found"] += bool(wanted & concepts(other, language))
    return counts


def keyword_pairs(folder: Path) -> Iterator[tuple[str, str, str]]:
    """(language, English keyword, the other) of articles with two lists of equal length."""
    for path in sorted(folder.rglob("*.xml")):
        raw = RawArticle(
            id=f"file:{path.stem}", source="folder", locator=path.name, path=path.name, sha256="0" * 64
        )
        try:
            article = parse(path.read_bytes(), raw)
        except InputError:
            continue  # one of them has no body
        groups: dict[str, tuple[str, ...]] = {}
        for group in article.keywords:
            groups.setdefault(group.language.partition("-")[0], group.terms)
        english = groups.pop("en", ())
        for language, terms in sorted(groups.items()):
            if len(terms) == len(english):
                yield from ((language, one, other) for one, other in zip(english, terms, strict=True))


def main(place: Path) -> None:
    """Measure both and save the counts."""
    workspace = open_workspace(place)
    vocabulary = current(workspace)
    assert vocabulary is not None, "the workspace has no vocabulary"
    matcher = open_backend("native", index_in_use(workspace, "native", SilentReporter()).path)
    marked = [
        item
        for path in sorted((SHARED / "vocab/xl-bel").glob("*_test_query_with_context.txt"))
        for item in read_marked(path.read_text("utf-8").splitlines(), path.name[:2])
    ]
    found = {
        "vocabulary": sorted({row["source"] for row in _sources(vocabulary)}),
        "mentions": measure_mentions(marked, matcher, vocabulary),
        "keywords": measure_keywords(keyword_pairs(SHARED / "jats-multilingual"), matcher),
    }
    save("other_languages", found)
    print("\n".join(section()))


def section() -> list[str]:
    """What benchmarks/README.md says of it."""
    result = read_result("other_languages")
    lines = [
        "## Grounding in other languages",
        "",
        "Mentions of XL-BEL that grounding of their sentence finds exactly, with a concept of their UMLS id; "
        f"vocabulary: {', '.join(result['vocabulary'])}. *Reachable*: a concept with that id has a name in "
        f"the language. Below {LEAST} reachable mentions a recall is no target. "
        "`python -m benchmarks.other_languages WORKSPACE`",
        "",
        "| language | mentions | reachable | found | recall of all | recall of reachable | another concept |",
        "|---|---:|---:|---:|---:|---|---:|",
    ]
    for language, held in sorted(result["mentions"].items()):
        lines.append(
            f"| {language} | {held['all']:,} | {held['reachable']:,} | {held['found']:,} | "
            f"{held['found'] / held['all']:.3f} | {_share(held['found'], held['reachable'])} | "
            f"{held['other']:,} |"
        )
    lines += [
        "",
        "Keywords of SciELO articles with lists of equal length in English and another language; reachable: "
        "the English one is the name of a concept.",
        "",
        "| language | pairs | reachable | found | recall of reachable |",
        "|---|---:|---:|---:|---|",
    ]
    for language, held in sorted(result["keywords"].items()):
        lines.append(
            f"| {language} | {held['pairs']:,} | {held['reachable']:,} | {held['found']:,} | "
            f"{_share(held['found'], held['reachable'])} |"
        )
    return [*lines, ""]


def _share(found: int, of: int) -> str:
    if of == 0:
        return "not measured (none)"
    low, high = wilson(found, of)
    few = f", no target: fewer than {LEAST}" if of < LEAST else ""
    return f"{found / of:.3f} ({low:.3f}–{high:.3f}{few})"


def _sources(vocabulary: Vocabulary) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(vocabulary.table("sources")).to_pylist()
    return found


if __name__ == "__main__":
    main(Path(sys.argv[1]))
