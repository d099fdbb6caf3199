"""Loopback Wikimedia: dumps with MD5 sums, the imageinfo API of Commons, and its files.

`dump` writes the XML of export-0.11; everything a test shows as wikitext is written by us.
"""

from __future__ import annotations

import bz2
import hashlib
import json
from dataclasses import dataclass, field
from typing import Any
from xml.sax.saxutils import escape

from sources.sample.loopback import LoopbackServer, Reply, Request

HEAD = (
    '<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" '
    'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" version="0.11" xml:lang="{language}">\n'
    "  <siteinfo><sitename>Wikipedia</sitename><dbname>{wiki}</dbname>"
    "<base>https://{language}.wikipedia.org/wiki/Main_Page</base>"
    '<namespaces><namespace key="0" /><namespace key="6">{file}</namespace>'
    '<namespace key="14">{category}</namespace></namespaces></siteinfo>\n'
)


def page(number: int, title: str, text: str, *, revision: int = 0, ns: int = 0, extra: str = "") -> str:
    """One page of a dump; `extra` stands before the revision, e.g. a redirect."""
    return (
        f"  <page>\n    <title>{escape(title)}</title>\n    <ns>{ns}</ns>\n    <id>{number}</id>\n{extra}"
        f"    <revision>\n      <id>{revision or number * 10}</id>\n"
        "      <timestamp>2025-03-01T00:00:00Z</timestamp>\n      <model>wikitext</model>\n"
        f'      <text bytes="{len(text)}" xml:space="preserve">{escape(text)}</text>\n'
        "    </revision>\n  </page>\n"
    )


def dump(*pages: str, wiki: str = "enwiki", language: str = "en", streams: int = 1) -> bytes:
    """A packed dump: pages in one stream or many, as multistream dumps have them."""
    names = {"de": ("Datei", "Kategorie")}.get(language, ("File", "Category"))
    head = HEAD.format(wiki=wiki, language=language, file=names[0], category=names[1])
    if streams == 1:
        return bz2.compress((head + "".join(pages) + "</mediawiki>\n").encode())
    return b"".join(bz2.compress(each.encode()) for each in (head, *pages, "</mediawiki>\n"))


@dataclass
class CommonsFile:
    """A file on Commons; `said` are values of extmetadata."""

    data: bytes
    said: dict[str, str] = field(
        default_factory=lambda: {
            "LicenseShortName": "CC BY-SA 4.0",
            "LicenseUrl": "https://creativecommons.org/licenses/by-sa/4.0",
            "License": "cc-by-sa-4.0",
            "Artist": '<a href="//x">A. Nurse</a>',
        }
    )
    mime: str = "image/jpeg"
    rendered: bytes = b""
    sha1: str = ""

    def info(self, root: str, name: str) -> dict[str, Any]:
        """As `imageinfo` gives it."""
        address = f"{root}files/{name.replace(' ', '_')}"
        return {
            "url": address,
            "thumburl": f"{address}/thumb",
            "descriptionurl": f"{root}wiki/File:{name.replace(' ', '_')}",
            "sha1": self.sha1 or hashlib.sha1(self.data).hexdigest(),
            "size": len(self.data),
            "mime": self.mime,
            "extmetadata": {key: {"value": value, "source": "x"} for key, value in self.said.items()},
        }


@dataclass
class FakeWikimedia(LoopbackServer):
    """A context manager; attributes may change between requests.

    Attributes:
        files: Commons by file name.
        renamed: redirects of files.
        dumps: dump files by name.
        faults: used up one by one by requests of the API: an error code, `html`, or a status as digits.
        batch: pages an answer gives before it asks to continue.
        asked: paths with query, in order; agents: User-Agent of each.
    """

    files: dict[str, CommonsFile] = field(default_factory=dict)
    renamed: dict[str, str] = field(default_factory=dict)
    dumps: dict[str, bytes] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    batch: int = 50
    asked: list[str] = field(default_factory=list)
    agents: list[str] = field(default_factory=list)

    @property
    def endpoint(self) -> str:
        """Address of everything."""
        return f"{self.root}/"

    def answer(self, request: Request) -> Reply:
        """The reply to one request."""
        self.asked.append(request.target)
        self.agents.append(request.headers.get("User-Agent", ""))
        path = request.path
        if path == "/w/api.php":
            return self._api(request.fields)
        if path.startswith("/files/"):
            return self._file(path.removeprefix("/files/").replace("_", " "))
        return self._dump(path.rpartition("/")[2])

    def _api(self, query: dict[str, str]) -> Reply:
        fault = self.faults.pop(0) if self.faults else ""
        if fault.isdigit():
            return Reply(int(fault))
        if fault == "html":
            return Reply(200, b"<html>busy</html>")
        if fault:
            return Reply(200, json.dumps({"error": {"code": fault}}).encode(), {"Retry-After": "5"})
        return Reply(200, json.dumps(self.said(query)).encode())

    def _file(self, name: str) -> Reply:
        name, _, thumb = name.partition("/")
        known = self.files.get(name)
        return Reply(404) if known is None else Reply(200, known.rendered if thumb else known.data)

    def _dump(self, name: str) -> Reply:
        if name.endswith("-md5sums.txt"):
            stem = name.removesuffix("md5sums.txt")
            mine = {each: data for each, data in self.dumps.items() if each.startswith(stem)}
            lines = [f"{hashlib.md5(data).hexdigest()}  {each}\n" for each, data in sorted(mine.items())]
            return Reply(200, "".join(lines).encode())
        return Reply(200, self.dumps[name]) if name in self.dumps else Reply(404)

    def said(self, query: dict[str, str]) -> dict[str, Any]:
        """What the API says."""
        if query.get("action") != "query" or query.get("formatversion") != "2" or "maxlag" not in query:
            return {"error": {"code": "badvalue"}}
        titles = query["titles"].split("|")
        if len(titles) > 50:
            return {"error": {"code": "toomanyvalues"}}
        moves = [{"from": each, "to": self.renamed[each]} for each in titles if each in self.renamed]
        names = sorted({self.renamed.get(each, each) for each in titles})
        start = int(query.get("iistart", "0"))
        pages: list[dict[str, Any]] = []
        for place, title in enumerate(names):
            known = self.files.get(title.removeprefix("File:"))
            entry: dict[str, Any] = {"ns": 6, "title": title}
            if known is None:
                entry["missing"] = True
            elif start <= place < start + self.batch:
                entry["imageinfo"] = [known.info(self.endpoint, title.removeprefix("File:"))]
            pages.append(entry)
        value: dict[str, Any] = {"query": {"redirects": moves, "pages": pages}}
        if start + self.batch < len(names):
            return {"continue": {"iistart": str(start + self.batch), "continue": "||"}, **value}
        return {"batchcomplete": True, **value}
