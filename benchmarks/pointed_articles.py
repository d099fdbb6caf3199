"""Invented articles full of pointers, by a writer who had not read the rules (tests/gold/pointed_articles).

They stand there in short: `@@ id language type style`, then lines of a title (`T`), abstract (`A`, or `AS`
with a heading), figures, tables and boxes (`F`, `TB`, `B` with number, label and caption), section titles
(`S`), list items (`L`) and paragraphs. `[f2:Fig. 2]` links to figure 2; t is a table, s a supplement, v a
video, e an equation, b a reference, x a section.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape

from benchmarks.edit_texts import Edit, edits_of
from benchmarks.jats_speed import raw_of
from benchmarks.measure import ROOT
from sources import jats

FOLDER = ROOT / "tests" / "gold" / "pointed_articles"
_TYPES = {
    "f": "fig",
    "t": "table",
    "s": "supplementary-material",
    "v": "supplementary-material",
    "e": "disp-formula",
    "b": "bibr",
    "x": "sec",
}
_LINK = re.compile(r"\[([ftsvebx])(\d+):([^\[\]]*)\]")
_BARE_AMPERSAND = re.compile(r"&(?!(?:amp|lt|gt);)")
_FLOAT = re.compile(r"(?P<kind>F|TB|B) \D*(?P<number>\d+)[^|]*\|(?P<label>[^|]*)\|(?P<caption>.*)")
_CITED = re.compile(r'rid="([ft]\d+)"')


def edits_of_pointed_articles() -> Iterator[Edit]:
    """All their edits, named by the id and place."""
    for path in sorted(FOLDER.glob("*.txt")):
        for block in path.read_text("utf-8").split("@@ ")[1:]:
            name, text = jats_of(block)
            data = text.encode()
            article = jats.parse(data, raw_of(FOLDER / f"{name}.xml", data))
            yield from edits_of(article)


def jats_of(block: str) -> tuple[str, str]:
    """Id and JATS of one article in short."""
    head, _, body = block.strip().partition("\n")
    name, language, kind, style = re.split(r" ", head)[:4]
    title, abstract, sections = "", "", ""
    floats = set[str]()
    is_open = False
    for line in filter(str.strip, re.split("\n", body)):
        tag, _, rest = line.partition(" ")
        if tag == "T" and not title:
            title = _marked(rest)
        elif tag == "AS" and not sections:
            heading, _, text = rest.partition("|")
            abstract += f"<sec><title>{_marked(heading)}</title><p>{_marked(text)}</p></sec>"
        elif tag == "A" and not sections:
            abstract += f"<p>{_marked(rest)}</p>" if rest else ""
        elif tag == "S":
            sections += (
                ("</sec>" if is_open else "") + "<sec>" + (f"<title>{_marked(rest)}</title>" if rest else "")
            )
            is_open = True
        else:
            sections += "" if is_open else "<sec>"
            is_open = True
            sections += _float(line, name, floats) or _paragraph(tag, rest, line)
    cited = sorted(set(_CITED.findall(sections)) - floats)
    groups = "".join(_cited_float(rid, name) for rid in cited)
    return name, (
        f'<article xmlns:xlink="http://www.w3.org/1999/xlink" article-type="{kind}" xml:lang="{language}">'
        f"<front><journal-meta><journal-title-group><journal-title>Invented {escape(style)}</journal-title>"
        "</journal-title-group></journal-meta>"
        f"<article-meta><title-group><article-title>{title}</article-title></title-group>"
        f"{f'<abstract>{abstract}</abstract>' if abstract else ''}</article-meta></front>"
        f"<body>{sections}</sec></body><floats-group>{groups}</floats-group></article>"
    )


def _marked(text: str) -> str:
    linked = _LINK.sub(
        lambda found: f'<xref ref-type="{_TYPES[found[1]]}" rid="{found[1]}{found[2]}">{found[3]}</xref>',
        text,
    )
    return _BARE_AMPERSAND.sub("&amp;", linked)


def _paragraph(tag: str, rest: str, line: str) -> str:
    if tag == "L":
        return f'<list list-type="bullet"><list-item><p>{_marked(rest)}</p></list-item></list>'
    return f"<p>{_marked(line)}</p>"


def _float(line: str, name: str, floats: set[str]) -> str:
    """A figure, table or box; '' for any other line."""
    found = _FLOAT.fullmatch(line)
    if found is None:
        return ""
    letter = "f" if found["kind"] == "F" else "t"
    rid, label, caption = (
        f"{letter}{found['number']}",
        found["label"],
        f"<caption><p>{_marked(found['caption'])}</p></caption>",
    )
    floats.add(rid)
    if letter == "f":
        return f'<fig id="{rid}"><label>{label}</label>{caption}<graphic xlink:href="{name}-{rid}"/></fig>'
    element = "boxed-text" if found["kind"] == "B" else "table-wrap"
    return f'<{element} id="{rid}"><label>{label}</label>{caption}<p>A note.</p></{element}>'


def _cited_float(rid: str, name: str) -> str:
    """What links need to end at: a figure or table of which the text says no more."""
    if rid[0] == "f":
        return f'<fig id="{rid}"><label>Figure {rid[1:]}</label><graphic xlink:href="{name}-{rid}"/></fig>'
    label = f"<label>Table {rid[1:]}</label>"
    return f'<table-wrap id="{rid}">{label}<table><tr><td>1</td></tr></table></table-wrap>'
