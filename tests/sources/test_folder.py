"""The folder source on folders of our own and on the shared articles with images."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from flows.crawl.repositories.folder import fingerprint
from flows.crawl.selection import Selection
from schemas.article import RawArticle
from schemas.errors import UsageError
from schemas.stages import Drop, Reason
from sources.folder import FolderContext, discover, fetch
from sources.ledger import Ledger
from sources.sample import bucket_dir
from sources.store import RawStore
from tests.conftest import PLACES
from tests.sources.conftest import XML, figures, jpeg

Context = Callable[..., FolderContext]


@pytest.fixture
def make_context(tmp_path: Path) -> Iterator[Context]:
    with Ledger(tmp_path / "w" / "ledger.sqlite") as ledger:
        store = RawStore(tmp_path / "w" / "raw", ledger)
        yield lambda root=tmp_path / "in", **caps: FolderContext(root=root, store=store, **caps)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    return tmp_path / "in"


def write(path: Path, data: bytes | str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)


def kept(result: RawArticle | Drop) -> RawArticle:
    assert isinstance(result, RawArticle), result
    return result


def test_discover(root: Path) -> None:
    for name in ("b.xml", "a/deep/er/x.NXML", "a/z.xml", "notes.txt", ".hidden.xml", ".git/c.xml", "B.XML"):
        write(root / name, "<article/>")
    assert discover(root) == ["B.XML", "a/deep/er/x.NXML", "a/z.xml", "b.xml"]
    with pytest.raises(UsageError):
        discover(root / "b.xml")


def test_a_name_that_is_no_utf8_is_read_as_any_other(root: Path, make_context: Context) -> None:
    odd = os.fsencode(root) + b"/caf\xe9.xml"
    try:
        with open(odd, "wb") as handle:
            handle.write(b"<article/>")
    except OSError as error:  # a file system that takes UTF-8 only never hands such a name out
        assert error.errno == errno.EILSEQ
        return
    assert discover(root) == ["caf\\xe9.xml"]
    made = kept(fetch("caf\\xe9.xml", make_context()))
    assert made.locator == "caf\\xe9.xml" and made.path.isascii()
    chosen = Selection("folder-0", "folder", str(root), ("caf\\xe9.xml",))
    before = fingerprint(chosen)
    for name in (odd, odd.replace(b".xml", b".jpg")):
        with open(name, "ab") as handle:
            handle.write(b"\n")
        assert fingerprint(chosen) != before
        before = fingerprint(chosen)


def test_article_with_images(root: Path, make_context: Context) -> None:
    write(root / "p/a.xml", XML.format(figures("F1.jpg", "images/f2", "f3", "f4")))
    write(root / "p/f1.jpg", jpeg(1))
    write(root / "p/images/f2.jpg", jpeg(2))
    write(root / "p/f2.jpg", jpeg(20))
    write(root / "p/f3.jpg", b"<html>")
    write(root / "p/unnamed.jpg", jpeg(5))
    context = make_context()
    article = kept(fetch("p/a.xml", context))
    assert (article.id, article.doi, article.locator) == ("doi:10.5555/test.1", "10.5555/test.1", "p/a.xml")
    assert article.version is None and article.license_code is None
    assert [item.name for item in article.media] == ["f1.jpg", "f2.jpg"]
    assert [(item.name, item.reason) for item in article.media_problems] == [
        ("f3.jpg", "image_corrupt"),
        ("f4", "image_missing"),
    ]
    raw = context.store.root
    assert (raw / article.path).read_bytes() == (root / "p/a.xml").read_bytes()
    assert (raw / article.media[1].path).read_bytes() == jpeg(2)
    assert kept(fetch("p/a.xml", context)) == article


def test_ids_without_doi_and_equal_bytes_with_other_images(root: Path, make_context: Context) -> None:
    text = f"<article xmlns:xlink='http://www.w3.org/1999/xlink'>{figures('f1')}</article>"
    for folder, seed in (("a", 1), ("b", 2)):
        write(root / folder / "x.xml", text)
        write(root / folder / "f1.jpg", jpeg(seed))
    context = make_context()
    one, two = (kept(fetch(locator, context)) for locator in discover(root))
    assert one.id == two.id == f"file:{one.sha256[:12]}"
    for article, seed in ((one, 1), (two, 2)):
        assert (context.store.root / article.media[0].path).read_bytes() == jpeg(seed)


def test_equal_names_in_two_folders_are_not_mixed_up(root: Path, make_context: Context) -> None:
    write(root / "x.xml", XML.format(figures("a/f1.jpg", "b/f1.jpg")))
    write(root / "a/f1.jpg", jpeg(1))
    write(root / "b/f1.jpg", jpeg(2))
    article = kept(fetch("x.xml", make_context()))
    assert len(article.media) == 1
    assert [(item.name, item.reason) for item in article.media_problems] == [("b/f1.jpg", "image_missing")]


def test_nothing_outside_the_folder_is_read(root: Path, tmp_path: Path, make_context: Context) -> None:
    write(tmp_path / "secret/s.xml", XML.format(""))
    write(tmp_path / "secret/f1.jpg", jpeg())
    (root / "link.xml").symlink_to(tmp_path / "secret/s.xml")
    (root / "linked").symlink_to(tmp_path / "secret")
    (root / "f1.jpg").symlink_to(tmp_path / "secret/f1.jpg")
    write(root / "a.xml", XML.format(figures("f1.jpg", "linked/f1.jpg", "../secret/f1.jpg", "/etc/passwd")))
    (root / "inner.xml").symlink_to(root / "a.xml")
    context = make_context()
    assert discover(root) == ["a.xml", "inner.xml", "link.xml"]
    for locator in (
        "link.xml",
        "../secret/s.xml",
        "linked/s.xml",
        str(tmp_path / "secret/s.xml"),
        "none.xml",
    ):
        result = fetch(locator, context)
        assert isinstance(result, Drop) and (result.reason, result.id) == (Reason.NOT_FOUND, locator)
    article = kept(fetch("a.xml", context))
    assert not article.media and {item.reason for item in article.media_problems} == {"image_missing"}
    assert kept(fetch("inner.xml", context)).id == article.id


def test_caps(root: Path, make_context: Context) -> None:
    write(root / "a.xml", XML.format(figures("f1")))
    write(root / "f1.jpg", jpeg(1, (300, 300)))
    result = fetch("a.xml", make_context(max_xml_bytes=10))
    assert isinstance(result, Drop) and result.reason == Reason.TOO_LARGE
    article = kept(fetch("a.xml", make_context(max_media_bytes=100)))
    assert [item.reason for item in article.media_problems] == ["image_too_large"]


def test_unreadable_xml_is_stored_for_the_parser_to_judge(root: Path, make_context: Context) -> None:
    write(root / "a.xml", b"\x00not xml at all")
    context = make_context()
    article = kept(fetch("a.xml", context))
    assert (context.store.root / article.path).read_bytes() == b"\x00not xml at all"


WITHOUT = {"PMC990000003.1", "PMC990000008.1", "PMC990000010.1"}
"""Of the sample: an image that nothing names, images of formulas, and an image that is missing."""


@pytest.fixture(params=PLACES)
def pictured(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, int]:
    """Articles with all their images beside them, and how many those are."""
    if request.param == "shared":
        return request.getfixturevalue("shared_data") / "jats-with-images", 83
    count = 0
    for folder in sorted(bucket_dir().glob("PMC*")):
        if folder.name in WITHOUT:
            continue
        for path in folder.iterdir():
            if path.suffix != ".json":
                write(tmp_path / "sample" / folder.name / path.name, path.read_bytes())
                count += path.suffix != ".xml"
    return tmp_path / "sample", count


def test_every_image_beside_real_articles_is_found(make_context: Context, pictured: tuple[Path, int]) -> None:
    root, count = pictured
    context = make_context(root)
    named = 0
    for locator in discover(root):
        article = kept(fetch(locator, context))
        images = {path.name for path in (root / locator).parent.iterdir() if path.suffix != ".xml"}
        assert {item.name for item in article.media} == images, locator
        assert not article.media_problems and article.id.startswith("doi:10.")
        named += len(article.media)
    assert named == count > 60


@pytest.fixture(params=PLACES)
def bare(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, int]:
    """Articles without their images, and how many those are."""
    if request.param == "shared":
        return request.getfixturevalue("shared_data") / "jats-multilingual", 35
    for path in bucket_dir().glob("PMC*/*.xml"):
        write(tmp_path / "bare" / path.name, path.read_bytes())
    return tmp_path / "bare", 24  # one is there in two versions


def test_real_articles_without_images(make_context: Context, bare: tuple[Path, int]) -> None:
    root, count = bare
    context = make_context(root)
    articles = [kept(fetch(locator, context)) for locator in discover(context.root)]
    assert len({article.id for article in articles}) == count
    reasons = {item.reason for article in articles for item in article.media_problems}
    assert reasons == {"image_missing"} and not [article for article in articles if article.media]


def test_files_that_hold_no_article_are_named(root: Path, make_context: Context) -> None:
    whole = b"<article><front><article-meta><title-group><article-title>A</article-title></title-group>"
    texts = {
        "cut.xml": whole,  # damaged, and still an article
        "page.xml": b"<html><body><p>Not here</p></body></html>",
        "plain.nxml": b"hello",
        "start.xml": b"<article><front>",
        "set.xml": b"<pmc-articleset><article><body><p>A</p></body></article></pmc-articleset>",
    }
    for name, data in texts.items():
        write(root / name, data)
    context = make_context()
    for name in texts:
        assert isinstance(fetch(name, context), RawArticle)
    assert context.others == ["page.xml", "plain.nxml", "start.xml"]
