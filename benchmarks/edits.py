"""Reads what `neutralise` and `split_label` change in real texts: a drawn sample against a reader's marks.

Every edit of every passage, caption and abstract of the shared data is made in memory; 1,000 are drawn by a
seeded hash, in proportion to language and place. A mark names its edit by place and by the hash of what is to
be read there, so that an edit that comes out otherwise has no mark any more.

    python -m benchmarks.edits show --seed NAME [--half tuned_on]   print the sample
    python -m benchmarks.edits                                      score the marks and save the result
"""

from __future__ import annotations

import argparse
import collections
import hashlib
import json
import sys
import tempfile
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.cases_gold import real_files
from benchmarks.jats_speed import raw_of
from benchmarks.measure import RESULTS, ROOT, SHARED, save
from benchmarks.principal_diagnosis import interval
from curation.extract.figures import split_label
from curation.extract.neutralise import RULE, neutralise, neutralise_caption
from curation.extract.stage import EXTRACT
from schemas.article import Article, RawArticle
from schemas.benchmark import Transform
from schemas.errors import InputError
from schemas.extracted import Figure, Passage, Source
from sources import jats, openstax
from sources.ledger import Ledger
from sources.openstax.checkout import open_folder
from sources.stage import MAX_IMAGE_BYTES, MAX_PIXELS, parse
from sources.store import RawStore

MARKS = ROOT / "tests" / "gold" / "edits.json"
SAMPLES = {"before": "edits 1", "after": "edits 2"}
"""Seed of each sample: drawn before the repairs, and afresh after them."""
SIZE = 1000
AROUND = 80
TARGET = 0.003


@dataclass(frozen=True, slots=True)
class Edit:
    """One change: offsets in the source text, and what is to be read there before and after."""

    article: str
    text: str
    start: int
    original: str
    replacement: str
    before: str
    after: str
    stratum: str

    @property
    def at(self) -> str:
        """Where it is."""
        return f"{self.text}@{self.start}"

    @property
    def seen(self) -> str:
        """A hash of what can be read there."""
        read = "\x1f".join((self.before, self.original, self.replacement, self.after))
        return hashlib.sha256(read.encode()).hexdigest()[:16]


def articles() -> Iterator[Article]:
    """Every article of the shared data that can be read, and the modules of its textbooks."""
    for _, path in sorted(real_files(SHARED).items()):
        data = path.read_bytes()
        try:
            yield jats.parse(data, raw_of(path, data))
        except InputError:
            continue
    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger(Path(folder) / "ledger.sqlite")
        try:
            store = RawStore(Path(folder) / "raw", ledger)
            for book in sorted(path for path in (SHARED / "openstax").iterdir() if path.is_dir()):
                context = openstax.OpenStaxContext(open_folder(book), store)
                for locator in openstax.locators(context.checkout):
                    raw = openstax.fetch(locator, context)
                    if isinstance(raw, RawArticle):
                        rows = parse(
                            raw, raw=store.root, max_pixels=MAX_PIXELS, max_image_bytes=MAX_IMAGE_BYTES
                        )
                        yield from (row for row in rows if isinstance(row, Article))
        finally:
            ledger.close()


def edits_of(article: Article) -> Iterator[Edit]:
    """All edits of one article's passages, captions and abstracts."""
    rows = list(EXTRACT.process(article))
    language = next(row.language for row in rows if isinstance(row, Source))
    for row in rows:
        if isinstance(row, Passage):
            spans = [(pointer.start, pointer.end) for pointer in row.pointers]
            made = neutralise(row.text, spans, row.language)
            yield from _edits(article.id, row.id, row.text, made, row.language)
        elif isinstance(row, Figure):
            made = neutralise_caption(row.caption, language)
            yield from _edits(article.id, row.id, row.caption, made, language)
    for figure in article.figures:
        _, caption, cut = split_label(figure.label, figure.caption)
        if cut:
            label = figure.caption[:cut]
            at, stratum = f"{figure.id} label", f"{language[:2]} label cut"
            yield Edit(article.id, at, 0, label, "", "", caption[:AROUND], stratum)
    for number, abstract in enumerate(article.abstracts, start=1):
        spoken = abstract.language or language
        made = neutralise_caption(abstract.text, spoken)
        yield from _edits(article.id, f"{article.id}#abstract{number}", abstract.text, made, spoken)


def _edits(
    article: str, name: str, source: str, made: tuple[str, tuple[Transform, ...]], language: str
) -> Iterator[Edit]:
    released, transforms = made
    shift = 0
    for change in transforms:
        replacement = released[change.start : change.end]
        before = released[max(0, change.start - AROUND) : change.start]
        after = released[change.end : change.end + AROUND]
        place = "identifier" if change.rule != RULE else _place(change.original, replacement)
        stratum = f"{language[:2]} {place}"
        start = change.start + shift
        yield Edit(article, name, start, change.original, replacement, before, after, stratum)
        shift += len(change.original) - len(replacement)


def _place(original: str, replacement: str) -> str:
    if replacement.strip():
        return "noun put in"
    is_bracket = original.strip()[:1] in ("(", "[", "（")
    return "bracket removed" if is_bracket else "part removed"


def sample(edits: Iterable[Edit], seed: str, but: Container[str] = (), size: int = SIZE) -> list[Edit]:
    """So many edits: of each language and place its share, of those the lowest by a hash of where they are.

    Args:
        edits: all of them.
        seed: of the hash.
        but: places that are not to be drawn.
        size: how many.
    """
    strata: dict[str, list[Edit]] = {}
    for edit in edits:
        if edit.at not in but:
            strata.setdefault(edit.stratum, []).append(edit)
    total = sum(map(len, strata.values()))
    drawn: list[Edit] = []
    taken = seen = 0
    for _, group in sorted(strata.items(), key=lambda item: (-len(item[1]), item[0])):
        seen += len(group)
        share = size * seen // total - taken  # what rounding left over goes to the next
        taken += share
        group.sort(key=lambda edit: hashlib.sha256(f"{seed} {edit.at}".encode()).digest())
        drawn += group[:share]
    return drawn


def shown(number: int, edit: Edit) -> str:
    """One edit on one line."""
    line = f"{edit.before}⟦{edit.original}→{edit.replacement}⟧{edit.after}".replace("\n", "⏎")
    return f"{number} {edit.stratum}| {line}"


def half_of(at: str) -> str:
    """The half a place belongs to; a repair does not move it to the other."""
    return "held_out" if hashlib.sha256(at.encode()).digest()[0] & 1 else "tuned_on"
