"""What a page is made of: tags, ids, addresses, headings and words."""

from __future__ import annotations

import html.parser
import re

VOID = {"meta", "link", "br", "wbr", "img", "col", "rect", "path", "circle"}


class Outline(html.parser.HTMLParser):
    """Tags, ids, addresses and headings of a page, and whether its tags close in order."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.addresses: list[str] = []
        self.attributes: set[str] = set()
        self.named_by: list[str] = []
        self.scopes: list[str | None] = []
        self.headings: list[int] = []
        self.alts: list[str] = []
        self.open: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        given = dict(attrs)
        self.attributes |= set(given)
        self.addresses += [
            value or "" for name, value in attrs if name in ("href", "src", "action", "srcset")
        ]
        self.named_by += (given.get("aria-labelledby") or "").split()
        if "id" in given:
            self.ids.append(given["id"] or "")
        if tag == "th":
            self.scopes.append(given.get("scope"))
        if re.fullmatch(r"h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag == "img":
            self.alts.append(given.get("alt") or "")
        if tag not in VOID:
            self.open.append(tag)
        if tag in ("td", "th", "dt", "dd", "li", "p"):
            self.text.append(" ")

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag, (tag, self.getpos())

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] != "style":
            self.text.append(data)


def outline(page: str) -> Outline:
    found = Outline()
    found.feed(page)
    assert not found.open
    return found


def words_of(page: str) -> str:
    return " ".join("".join(outline(page).text).split())
