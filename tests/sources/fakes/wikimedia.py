"""Loopback Wikimedia: dumps with MD5 sums, the imageinfo API of Commons, and its files.

`dump` writes the XML of export-0.11; everything a test shows as wikitext is written by us.
"""

from __future__ import annotations

import bz2
import hashlib
import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

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
class FakeWikimedia:
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

    def __enter__(self) -> FakeWikimedia:
        handler = type("Handler", (_Handler,), {"site": self})
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._http.daemon_threads = True
        threading.Thread(target=self._http.serve_forever, args=(0.005,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()

    @property
    def root(self) -> str:
        """Address of everything."""
        return f"http://127.0.0.1:{self._http.server_address[1]}/"

    def answer(self, query: dict[str, str]) -> dict[str, Any]:
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
                entry["imageinfo"] = [known.info(self.root, title.removeprefix("File:"))]
            pages.append(entry)
        value: dict[str, Any] = {"query": {"redirects": moves, "pages": pages}}
        if start + self.batch < len(names):
            return {"continue": {"iistart": str(start + self.batch), "continue": "||"}, **value}
        return {"batchcomplete": True, **value}


class _Handler(BaseHTTPRequestHandler):
    site: FakeWikimedia
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        """Silent."""

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        self.site.asked.append(self.path)
        self.site.agents.append(self.headers.get("User-Agent", ""))
        if parts.path == "/w/api.php":
            self._api({key: values[0] for key, values in parse_qs(parts.query).items()})
        elif parts.path.startswith("/files/"):
            self._file(unquote(parts.path.removeprefix("/files/")).replace("_", " "))
        else:
            self._dump(parts.path.rpartition("/")[2])

    def _api(self, query: dict[str, str]) -> None:
        fault = self.site.faults.pop(0) if self.site.faults else ""
        if fault.isdigit():
            self._send(int(fault), b"", {})
        elif fault == "html":
            self._send(200, b"<html>busy</html>", {})
        elif fault:
            self._send(200, json.dumps({"error": {"code": fault}}).encode(), {"Retry-After": "5"})
        else:
            self._send(200, json.dumps(self.site.answer(query)).encode(), {})

    def _file(self, name: str) -> None:
        name, _, thumb = name.partition("/")
        known = self.site.files.get(name)
        if known is None:
            self._send(404, b"", {})
        else:
            self._send(200, known.rendered if thumb else known.data, {})

    def _dump(self, name: str) -> None:
        if name.endswith("-md5sums.txt"):
            stem = name.removesuffix("md5sums.txt")
            mine = {each: data for each, data in self.site.dumps.items() if each.startswith(stem)}
            lines = [f"{hashlib.md5(data).hexdigest()}  {each}\n" for each, data in sorted(mine.items())]
            self._send(200, "".join(lines).encode(), {})
        elif name in self.site.dumps:
            self._send(200, self.site.dumps[name], {})
        else:
            self._send(404, b"", {})

    def _send(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for key, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(key, value)
        self.end_headers()
        self.wfile.write(body)
