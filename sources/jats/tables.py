"""One `<table-wrap>` as a record: its rows as lines of text, with what stands above and below them.

A cell that spans rows is said in each of them, so that every line can be read by itself; one that spans
columns is said once, and empty cells keep the columns in line.
"""

from __future__ import annotations

from collections.abc import Iterator

from schemas.article import ArticleTable
from schemas.third_party import third_party_statement
from sources.jats.figures import Place
from sources.jats.licence import read_permissions, rights_text
from sources.jats.nodes import Element, local
from sources.jats.text import caption_text, flatten

CELL, MOST_COLUMNS = " | ", 1000
"""A column span is cut to so many, as browsers do."""
_GRIDS = frozenset({"table", "tgroup"})
_CELLS = frozenset({"td", "th", "entry"})
_NOTES = frozenset({"p", "fn", "attrib"})


def is_table(element: Element) -> bool:
    """Whether a `<table-wrap>` holds a table: a book's exercises and tables that are images come as one."""
    return next(_grids(element), None) is not None


def read_table(
    element: Element, *, number: int, place: Place, after: int, after_figures: int
) -> ArticleTable:
    """Read one `<table-wrap>`; its id is given when all are known.

    Args:
        element: the element.
        number: 1-based position in document order.
        place: where it stands.
        after: passages that stand before it.
        after_figures: figures that do.
    """
    caption = caption_text(element.iterchildren("caption")).text
    notes = list(_notes(element))
    stated = third_party_statement(caption) or next(filter(None, map(third_party_statement, notes)), "")
    return ArticleTable(
        id="",
        number=number,
        xml_id=element.get("id"),
        label=flatten(element.find("label")),
        caption=caption,
        rows="\n".join(line for grid in _grids(element) for line in _lines(grid)),
        notes="\n".join(notes),
        section=place.section,
        part=place.part,
        after=after,
        after_figures=after_figures,
        rights=rights_text(element) or stated,
        licence=read_permissions(element) if element.find("permissions") is not None else None,
    )


def _grids(element: Element) -> Iterator[Element]:
    for child in element:
        name = local(child)
        if name in _GRIDS:
            yield child
        elif name == "alternatives":
            yield from _grids(child)


def _lines(grid: Element) -> Iterator[str]:
    """The rows that say something."""
    held: dict[int, tuple[str, int]] = {}
    holds_others = next(grid.iterdescendants(*_GRIDS), None) is not None
    for row in grid.iter("tr", "row"):
        if holds_others and next(row.iterancestors(*_GRIDS)) is not grid:
            continue
        cells, held = _row(row, held)
        while cells and not cells[-1]:
            cells.pop()
        if cells:
            yield CELL.join(cells)


def _row(row: Element, held: dict[int, tuple[str, int]]) -> tuple[list[str], dict[int, tuple[str, int]]]:
    """The cells of one row, and what reaches down from it: column -> text and how many more rows.

    Args:
        row: the element.
        held: what reaches into it from above.
    """
    cells: list[str] = []
    below: dict[int, tuple[str, int]] = {}

    def from_above() -> None:
        while len(cells) in held:
            text, more = held[len(cells)]
            if more > 1:
                below[len(cells)] = text, more - 1
            cells.append(text)

    for cell in row:
        if cell.tag not in _CELLS and local(cell) not in _CELLS:
            continue
        if held:
            from_above()
        text, down, at = flatten(cell), _down(cell), len(cells)
        cells.append(text)
        across = max(1, min(_span(cell.get("colspan")), MOST_COLUMNS))
        if across > 1:
            cells += [""] * (across - 1)
        if down > 1:
            below.update({at + step: (text if not step else "", down - 1) for step in range(across)})
    from_above()
    return cells, below


def _down(cell: Element) -> int:
    """Rows that a cell reaches over; OpenStax says how many more."""
    more = cell.get("morerows")
    return _span(more) + 1 if more else max(1, _span(cell.get("rowspan")))


def _span(value: str | None) -> int:
    if value is None or value == "1":
        return 1
    value = value.strip()
    return int(value) if value.isascii() and value.isdigit() and len(value) < 6 else 1


def _notes(element: Element) -> Iterator[str]:
    """What stands in the foot of a table, a note at a time."""
    for foot in element.iterchildren("table-wrap-foot"):
        noted = [child for child in foot.iter(*_NOTES) if not any(True for _ in child.iterancestors("fn"))]
        for note in noted or [foot]:
            label = flatten(note.find("label")) if note.tag == "fn" else ""
            if text := " ".join(filter(None, (label, flatten(note)))):
                yield text
