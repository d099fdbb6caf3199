"""NLM LitArch on loopback with packages made for a test; the server itself is the sample's."""

from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schemas.article import RawArticle
from schemas.stages import Drop
from sources.http import PoliteClient
from sources.ledger import Ledger
from sources.litarch import LitarchContext
from sources.sample.bookshelf import OaiRecord, Package, pack
from sources.sample.bookshelf_server import BookshelfServer
from sources.sample.server import Fault, Faults
from sources.store import RawStore

__all__ = [
    "BookshelfServer",
    "Crawl",
    "OaiRecord",
    "Package",
    "chapter",
    "contents",
    "failing",
    "got",
    "hostile",
    "lost",
    "package",
]


@dataclass
class Crawl:
    """A server and a way to begin a crawl of it anew, with everything stored so far."""

    server: BookshelfServer
    root: Path
    make_client: Callable[..., PoliteClient]
    ledger: Ledger

    def context(self, **changes: Any) -> LitarchContext:
        return LitarchContext(
            self.make_client(),
            RawStore(self.root / "raw", self.ledger),
            endpoint=self.server.endpoint,
            oai_endpoint=self.server.oai_endpoint,
            **changes,
        )

    def files(self) -> dict[str, bytes]:
        raw = self.root / "raw"
        return {str(path.relative_to(raw)): path.read_bytes() for path in raw.rglob("*") if path.is_file()}


def got(result: RawArticle | Drop) -> RawArticle:
    assert isinstance(result, RawArticle), result
    return result


def lost(result: RawArticle | Drop) -> tuple[str, str]:
    assert isinstance(result, Drop), result
    return result.id, result.reason.value


def chapter(
    name: str, *, accession: str = "", hrefs: Iterable[str] = (), body: str = "<p>Text of it.</p>"
) -> bytes:
    """A chapter called `name`, with one figure per href."""
    own = f'<book-part-id book-part-id-type="art-access-id">{accession}</book-part-id>' if accession else ""
    figures = "".join(
        f'<fig id="f{at}"><graphic xlink:href="{href}"/></fig>' for at, href in enumerate(hrefs)
    )
    return (
        f'<book-part-wrapper xmlns:xlink="http://www.w3.org/1999/xlink" id="{name}" content-type="chapter">'
        "<book-meta><book-title-group><book-title>Made Up</book-title></book-title-group></book-meta>"
        f'<book-part><book-part-meta><book-part-id book-part-id-type="pmcid">{name}</book-part-id>{own}'
        f"<title-group><title>{name}</title></title-group></book-part-meta><body>{body}{figures}</body></book-part>"
        "</book-part-wrapper>"
    ).encode()


def contents(*names: str) -> bytes:
    """A table of contents that points to chapters in this order."""
    entries = "".join(
        f'<toc-entry id="toc_{name}"><nav-pointer><related-object source-id="madeup" document-id="{name}"/>'
        "</nav-pointer></toc-entry>"
        for name in names
    )
    return f'<book-part-wrapper content-type="toc"><toc>{entries}</toc></book-part-wrapper>'.encode()


def package(
    files: dict[str, bytes] | bytes,
    *,
    accession: str = "NBK1",
    path: str = "aa/bb/madeup_NBK1.tar.gz",
    updated: str = "2026-01-02 03:04:05",
    title: str = "Made Up",
) -> Package:
    """A package of files below its folder, or of these very bytes."""
    folder = path.rpartition("/")[2].partition(".")[0]
    if isinstance(files, dict):
        files = pack({f"{folder}/{name}": data for name, data in files.items()})
    return Package(path, title, "A Press", "2020", accession, updated, files)


def hostile(kind: str) -> bytes:
    """A tar.gz with one thing no package may have, after a harmless chapter."""
    good = chapter("good")
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w") as archive:
        _add(archive, "b/good.nxml", good)
        member = tarfile.TarInfo("b/bad.nxml")
        if kind == "traversal":
            _add(archive, "../../bad.nxml", good)
        elif kind == "absolute":
            _add(archive, "/tmp/bad.nxml", good)
        elif kind in ("symlink", "hardlink"):
            member.type = tarfile.SYMTYPE if kind == "symlink" else tarfile.LNKTYPE
            member.linkname = "/etc/hostname"
            archive.addfile(member)
        elif kind == "device":
            member.type = tarfile.CHRTYPE
            archive.addfile(member)
    data = plain.getvalue()
    if kind == "huge":
        member = tarfile.TarInfo("b/bad.nxml")
        member.size = 2**40
        end = 512 + -(-len(good) // 512) * 512
        data = data[:end] + member.tobuf(format=tarfile.GNU_FORMAT) + b"\0" * 1024
    elif kind == "bomb":
        member = tarfile.TarInfo("b/bad.nxml")
        member.size = 100 * 1024 * 1024
        zeros = b"\0" * member.size
        return gzip.compress(member.tobuf() + zeros + b"\0" * 1024, 9, mtime=0)
    elif kind == "cut":
        return gzip.compress(data, mtime=0)[:-40]
    elif kind == "junk":
        return b"\x1f\x8b" + bytes(range(256)) * 8
    return gzip.compress(data, mtime=0)


def _add(archive: tarfile.TarFile, name: str, data: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(data)
    archive.addfile(member, io.BytesIO(data))


def failing(key: str, *faults: Fault) -> Faults:
    """The n-th request of this key meets the n-th fault; later ones go well."""

    def fault(_: str, asked: str, count: int) -> Fault | None:
        return faults[count - 1] if asked == key and count <= len(faults) else None

    return fault
