"""An invented OpenStax repository as files, and a loopback GitHub that resolves refs and packs commits."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

from sources.sample.loopback import LoopbackServer, Reply, Request

CNXML = "http://cnx.rice.edu/cnxml"
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b55"
    "0000000a49444154789c6360000000020001e221bc330000000049454e44ae426082"
)
BY, BY_NC_SA = (
    "https://creativecommons.org/licenses/by/4.0/",
    "Attribution-NonCommercial-ShareAlike 4.0 International",
)

_EXERCISES = (
    '<section class="review-questions"><title>Review Questions</title><exercise id="e1"><problem>'
    "<para>Which muscle draws the air of a resting breath into both lungs?</para>"
    '<list list-type="enumerated" number-style="upper-alpha"><item>the diaphragm</item><item>a rib</item>'
    '</list></problem><solution><para>A</para></solution></exercise><exercise id="e2"><problem>'
    "<para>Why does air move?</para></problem></exercise></section>"
)


def module(
    body: str, *, title: str = "A Module", metadata: str = "", after: str = "", root: str = ""
) -> bytes:
    """One CNXML module around the content a test is about."""
    return (
        f'<document xmlns="{CNXML}" xmlns:m="http://www.w3.org/1998/Math/MathML" {root}>'
        f"<title>{title}</title>"
        f'<metadata xmlns:md="http://cnx.rice.edu/mdml"><md:title>{title}</md:title>{metadata}</metadata>'
        f"<content>{body}</content>{after}</document>"
    ).encode()


def figure(name: str, caption: str = "A drawing.", *, kind: str = "") -> str:
    """One figure whose image has the figure's name."""
    return (
        f'<figure id="{name}" class="{kind}"><media id="m-{name}" alt="drawn"><image mime-type="image/png" '
        f'src="../../media/{name}.png"/></media><caption>{caption}</caption></figure>'
    )


def collection(
    chapters: dict[str, tuple[str, ...]],
    *,
    front: tuple[str, ...] = (),
    prefix: str = "col:",
    language: str = "en",
) -> bytes:
    """A collection with front matter and chapters, with or without prefixes."""
    spaces = 'xmlns:md="http://cnx.rice.edu/mdml" xmlns:col="http://cnx.rice.edu/collxml"'
    spaces += "" if prefix else ' xmlns="http://cnx.rice.edu/collxml"'

    def modules(names: tuple[str, ...]) -> str:
        return "".join(f'<{prefix}module document="{name}"/>' for name in names)

    parts = "".join(
        f"<{prefix}subcollection><md:title>{title}</md:title><{prefix}content>{modules(names)}</{prefix}content>"
        f"</{prefix}subcollection>"
        for title, names in chapters.items()
    )
    return (
        f'<?xml version="1.0"?><{prefix}collection {spaces} authors="Ada One, Bo Two"><metadata>'
        f'<md:title>Invented Medicine</md:title><md:language>{language}</md:language><md:license url="{BY}">'
        f"CC BY</md:license><md:slug>invented</md:slug></metadata><{prefix}content>{modules(front)}{parts}"
        f"</{prefix}content></{prefix}collection>"
    ).encode()


def case_box(name: str, title: str, text: str, *links: tuple[str, str, str]) -> str:
    """A Clinical Focus box with its line of links: (word, module, box)."""
    ways = " ".join(
        f'Jump to the <link document="{where}" target-id="{box}">{word}</link> box.'
        for word, where, box in links
    )
    line = f'<para id="n-{name}"><emphasis effect="italics">{ways}</emphasis></para>' if ways else ""
    return (
        f'<note id="{name}" class="invented clinical-focus"><title>{title}</title>'
        f'<para id="p-{name}">{text}</para>'
        f"<list><item>What would you test?</item></list>{line}</note>"
    )


def book_files() -> dict[str, bytes]:
    """The repository: two chapters, a module named and missing, a link to another module, a case in parts."""
    first = module(
        figure("heart", "A heart. (credit: modification of work by CDC)", kind="splash")
        + "<para>An opening.</para>",
        title="Introduction",
    )
    second = module(
        '<section id="s1"><title>Rhythm</title><para id="a">The trace shows flutter '
        '(<link target-id="trace"/>), and the heart is large '
        '(<link document="m1" target-id="heart"/>). See <link document="m4"/>.</para>'
        + figure("trace", "(a) One lead. (b) Another lead.")
        + "</section>"
        + case_box("c1", "Part 1", "Ida, 40, faints.", ("next", "m3", "c2")),
        title="Rhythms",
    )
    third = module(
        case_box("c2", "Part 2", "Her trace is odd.", ("next", "m3", "c3"), ("previous", "m2", "c1"))
        + "<para>Between, <link document='m2' target-id='trace'/> returns.</para>"
        + figure("pump")
        + case_box("c3", "Resolution", "Ida had flutter.", ("previous", "m3", "c2")),
        title="Pumps",
    )
    return {
        "META-INF/books.xml": b'<container xmlns="https://openstax.org/namespaces/book-container">'
        b'<book slug="invented" href="../collections/invented.collection.xml"/></container>',
        "collections/invented.collection.xml": collection(
            {"The Heart": ("m1", "m2", "m3"), "Lungs": ("m4", "m9")}
        ),
        "LICENSE": f"{BY_NC_SA}\n\n====\n\nCreative Commons is not a law firm.".encode(),
        "README.md": b"# Invented Medicine\n\nA book.\n",
        "modules/m1/index.cnxml": first,
        "modules/m2/index.cnxml": second,
        "modules/m3/index.cnxml": third,
        "modules/m4/index.cnxml": module(f"<para>Air moves.</para>{_EXERCISES}", title="Airways"),
        "media/heart.png": PNG,
        "media/trace.png": PNG,
        "media/unused.png": PNG,
    }


def write_folder(root: Path, files: dict[str, bytes]) -> Path:
    """The repository as a checkout."""
    for name, data in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)
    return root


def pack(files: dict[str, bytes], folder: str, commit: str) -> bytes:
    """A tarball as GitHub makes it: one folder around all, the commit in a global header."""
    buffer = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=buffer, mode="wb", mtime=0) as packed,
        tarfile.open(
            fileobj=packed, mode="w", format=tarfile.PAX_FORMAT, pax_headers={"comment": commit}
        ) as tar,
    ):
        for name, data in sorted(files.items()):
            info = tarfile.TarInfo(f"{folder}/{name}")
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


@dataclass
class GitHub(LoopbackServer):
    """Serves commits and tarballs of one repository; attributes may change between requests.

    Attributes:
        files: files of each commit.
        refs: commit of each branch or tag.
        repository: `owner/name`.
        api_status, code_status: answered instead, when not 0.
        cut: bytes of the next tarballs sent before the connection ends.
        body: sent by the API instead of a commit.
        asked: paths asked for.
    """

    files: dict[str, dict[str, bytes]]
    refs: dict[str, str]
    repository: str = "invented/osbooks"
    api_status: int = 0
    code_status: int = 0
    cut: list[int] = field(default_factory=list)
    body: bytes | None = None
    asked: list[str] = field(default_factory=list)

    @property
    def endpoint(self) -> str:
        """Address of both the API and the tarballs."""
        return self.root

    def answer(self, request: Request) -> Reply:
        """The reply to one request."""
        self.asked.append(request.target)
        status, body = self._answer(request.target)
        cut = self.cut.pop(0) if self.cut and "tar.gz" in request.target else None
        return Reply(status, body, cut=cut)

    def _answer(self, path: str) -> tuple[int, bytes]:
        parts = [unquote(part) for part in path.strip("/").split("/")]
        if parts[0] == "repos" and parts[3:4] == ["commits"]:
            return self._commit("/".join(parts[1:3]), "/".join(parts[4:]))
        if parts[2:3] == ["tar.gz"] and "/".join(parts[:2]) == self.repository and parts[3] in self.files:
            name = f"{parts[1]}-{parts[3]}"
            return self.code_status or 200, pack(self.files[parts[3]], name, parts[3])
        return 404, b""

    def _commit(self, repository: str, ref: str) -> tuple[int, bytes]:
        if self.api_status:
            return self.api_status, b'{"message": "API rate limit exceeded"}'
        if self.body is not None:
            return 200, self.body
        commit = self.refs.get(ref)
        if repository != self.repository or commit is None:
            return 404, b'{"message": "Not Found"}'
        return 200, json.dumps({"sha": commit, "commit": {"message": "x"}, "files": []}).encode()
