"""OpenStax from a folder and from GitHub: what is stored, what is dropped, what is asked."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from schemas.article import Article, RawArticle
from schemas.errors import FetchError, InputError, UsageError
from schemas.stages import Drop, Reason
from sources import openstax
from sources.ledger import Ledger
from sources.openstax.checkout import Checkout, GitHubContext, open_folder, open_repository
from sources.stage import PARSE
from sources.store import RawStore
from tests.sources.fakes.openstax import GitHub, book_files, collection, module, write_folder

COMMIT, LATER = "a" * 40, "b" * 40
ALL = ["invented/m1", "invented/m2", "invented/m3", "invented/m4", "invented/m9"]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RawStore]:
    ledger = Ledger(tmp_path / "ledger.sqlite")
    yield RawStore(tmp_path / "raw", ledger)
    ledger.close()


@pytest.fixture
def hub() -> Iterator[GitHub]:
    with GitHub({COMMIT: book_files()}, {"main": COMMIT, "HEAD": COMMIT}) as server:
        yield server


@pytest.fixture
def github(hub: GitHub, store: RawStore, make_client: Callable[..., Any]) -> GitHubContext:
    return GitHubContext(make_client(), store, api=hub.endpoint, code=hub.endpoint)


def fetched(checkout: Checkout, store: RawStore) -> dict[str, RawArticle | Drop]:
    context = openstax.OpenStaxContext(checkout, store)
    names = openstax.locators(checkout)
    openstax.stock_media(names, context)
    return {name: openstax.fetch(name, context) for name in names}


def kept(results: dict[str, RawArticle | Drop], name: str) -> RawArticle:
    result = results[f"invented/{name}"]
    assert isinstance(result, RawArticle)
    return result


def parsed(raw: RawArticle, store: RawStore) -> Article:
    (article,) = PARSE.process(raw, raw=store.root, **PARSE.params)
    assert isinstance(article, Article)
    return article


def test_a_folder_gives_every_module_of_its_collections(tmp_path: Path, store: RawStore) -> None:
    results = fetched(open_folder(write_folder(tmp_path / "repo", book_files())), store)
    assert list(results) == ALL
    raw = kept(results, "m2")
    assert (raw.id, raw.source, raw.format) == ("openstax:invented/m2", "openstax", "cnxml")
    assert raw.license_code == "https://creativecommons.org/licenses/by/4.0/"
    assert [part.name for part in raw.parts] == [
        "collection", "licence", "module:m1", "module:m3", "module:m4", "readme",
    ]  # fmt: skip
    assert raw.book is not None
    assert (raw.book.book_id, raw.book.chapter, raw.book.chapter_title, raw.book.position) == (
        "invented", "1", "The Heart", 2,
    )  # fmt: skip
    assert (store.root / raw.path).read_bytes() == book_files()["modules/m2/index.cnxml"]
    # m2 links to m4 and m3 goes on with a story of m2: whoever reads m2's text needs m4
    assert "module:m4" in [part.name for part in kept(results, "m1").parts]
    assert kept(results, "m4").parts[-1].name == "readme"
    for part in raw.parts:
        assert (store.root / part.path).is_file()


def test_a_missing_module_and_missing_images_are_told(tmp_path: Path, store: RawStore) -> None:
    results = fetched(open_folder(write_folder(tmp_path / "repo", book_files())), store)
    drop = results["invented/m9"]
    assert isinstance(drop, Drop)
    assert (drop.id, drop.reason) == ("invented/m9", Reason.NOT_FOUND)
    assert [media.name for media in kept(results, "m2").media] == ["trace.png"]
    assert [(each.name, each.reason) for each in kept(results, "m3").media_problems] == [
        ("pump.png", "image_missing")
    ]


def test_folder_and_tarball_give_the_same_articles(
    tmp_path: Path, store: RawStore, github: GitHubContext, hub: GitHub
) -> None:
    folder = fetched(open_folder(write_folder(tmp_path / "repo", book_files())), store)
    archive = fetched(open_repository(hub.repository, "main", github), store)
    assert kept(archive, "m1").book.revision == COMMIT  # type: ignore[union-attr]
    for name in ("m1", "m2", "m3", "m4"):
        one, two = (parsed(kept(results, name), store) for results in (folder, archive))
        assert one.figures[0].graphics[0].sha256 if one.figures and name != "m3" else True
        for field in ("passages", "boxes", "continuations", "licence", "flags", "sections", "title"):
            assert getattr(one, field) == getattr(two, field)
        assert [figure.graphics[0].sha256 for figure in one.figures] == [
            figure.graphics[0].sha256 for figure in two.figures
        ]


def test_nothing_is_fetched_twice(github: GitHubContext, hub: GitHub, store: RawStore) -> None:
    first = fetched(open_repository(hub.repository, "main", github), store)
    assert hub.asked == [f"/repos/{hub.repository}/commits/main", f"/{hub.repository}/tar.gz/{COMMIT}"]
    files = sorted(path for path in store.root.rglob("*") if path.is_file())
    times = [path.stat().st_mtime_ns for path in files]
    assert fetched(open_repository(hub.repository, COMMIT, github), store) == first
    assert len(hub.asked) == 2  # a full commit needs no question, and its tarball is there
    assert [path.stat().st_mtime_ns for path in files] == times


def test_images_of_a_tarball_are_found_without_a_pass_before(
    github: GitHubContext, hub: GitHub, store: RawStore
) -> None:
    context = openstax.OpenStaxContext(open_repository(hub.repository, COMMIT, github), store)
    raw = openstax.fetch("invented/m2", context)
    assert isinstance(raw, RawArticle)
    assert [(media.name, media.format) for media in raw.media] == [("trace.png", "png")]
    assert not list(store.root.rglob("unused.png"))  # what no module names stays in the tarball


def test_a_new_commit_is_fetched_beside_the_old(github: GitHubContext, hub: GitHub, store: RawStore) -> None:
    before = kept(fetched(open_repository(hub.repository, "main", github), store), "m4")
    hub.files[LATER] = {**book_files(), "modules/m4/index.cnxml": module("<para>Air still moves.</para>")}
    hub.refs["main"] = LATER
    after = kept(fetched(open_repository(hub.repository, "main", github), store), "m4")
    assert (before.id, before.locator) == (after.id, after.locator)
    assert before.sha256 != after.sha256
    assert (store.root / before.path).is_file()
    assert after.book is not None
    assert after.book.revision == LATER


def test_a_cut_tarball_is_asked_for_again(github: GitHubContext, hub: GitHub, store: RawStore) -> None:
    hub.cut = [200]
    assert len(kept(fetched(open_repository(hub.repository, COMMIT, github), store), "m2").media) == 1


def test_what_is_no_tarball_is_fetched_anew_by_the_next_crawl(
    github: GitHubContext, hub: GitHub, store: RawStore
) -> None:
    name = f"{hub.repository}/{COMMIT}.tar.gz"
    store.put("openstax", name, f"openstax/archives/{name}", b"<html>Please try again later.</html>")
    with pytest.raises(FetchError, match="not a whole tarball"):
        open_repository(hub.repository, COMMIT, github)
    assert open_repository(hub.repository, COMMIT, github).books


@pytest.mark.parametrize("status", [403, 404, 429])
def test_a_refusal_names_the_limit(github: GitHubContext, hub: GitHub, status: int) -> None:
    hub.api_status = status
    with pytest.raises(FetchError, match="60 questions an hour"):
        open_repository(hub.repository, "main", github)


@pytest.mark.parametrize("body", [b"<html>", b"[]", b'{"sha": 7}', b'{"sha": "../../x"}', b"[" * 100_000])
def test_an_answer_without_a_commit_is_an_error(github: GitHubContext, hub: GitHub, body: bytes) -> None:
    hub.body = body
    with pytest.raises(FetchError, match="names no commit"):
        open_repository(hub.repository, "main", github)


def test_what_is_no_book_is_said(tmp_path: Path, github: GitHubContext) -> None:
    with pytest.raises(UsageError, match="no OpenStax book"):
        open_folder(tmp_path)
    with pytest.raises(UsageError, match="not a folder"):
        open_folder(tmp_path / "none")
    with pytest.raises(UsageError, match="not a repository"):
        open_repository("../x", "main", github)


def test_a_hostile_tarball_is_refused(github: GitHubContext, hub: GitHub) -> None:
    hub.files[COMMIT] = {**book_files(), "../../escape": b"x"}
    with pytest.raises(InputError) as caught:
        open_repository(hub.repository, COMMIT, github)
    assert caught.value.reason == "archive_hostile"


def test_a_damaged_collection_does_not_hide_the_other_books(tmp_path: Path) -> None:
    files = book_files()
    files["META-INF/books.xml"] = (
        b'<container><book slug="broken" href="../collections/b.xml"/>'
        b'<book slug="gone" href="../collections/g.xml"/>'
        b'<book slug="out" href="../../etc/x.xml"/>'
        b'<book slug="invented" href="../collections/invented.collection.xml"/></container>'
    )
    files["collections/b.xml"] = (
        b"<!DOCTYPE a [<!ENTITY x SYSTEM 'file:///etc/hostname'>]><collection>&x;</collection>"
    )
    checkout = open_folder(write_folder(tmp_path, files))
    assert list(checkout.books) == ["invented"]
    assert [(path, reason) for path, reason, _ in checkout.unreadable] == [
        ("collections/b.xml", Reason.XML_HOSTILE),
        ("collections/g.xml", Reason.NOT_FOUND),
        ("../etc/x.xml", Reason.NOT_FOUND),
    ]
    assert [drop.id for drop in openstax.drops(checkout)] == [
        "collections/b.xml",
        "collections/g.xml",
        "../etc/x.xml",
    ]


def test_images_out_of_the_folder_and_false_images_are_refused(tmp_path: Path, store: RawStore) -> None:
    (tmp_path / "secret.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    names = (
        "../../../secret.png",
        "../../media/page.png",
        "../../media/link.png",
        "https://example.org/x.png",
        "",
    )
    body = "".join(
        f'<figure id="f{n}"><media><image src="{name}"/></media></figure>' for n, name in enumerate(names)
    )
    files = {**book_files(), "modules/m4/index.cnxml": module(body), "media/page.png": b"<html>no</html>"}
    root = write_folder(tmp_path / "repo", files)
    (root / "media/link.png").symlink_to(tmp_path / "secret.png")
    raw = kept(fetched(open_folder(root), store), "m4")
    assert raw.media == ()
    assert [(each.name, each.reason) for each in raw.media_problems] == [
        ("link.png", "image_missing"),
        ("page.png", "image_corrupt"),
    ]
    assert {graphic.problem for figure in parsed(raw, store).figures for graphic in figure.graphics} == {
        "image_missing"
    }


def test_an_edited_folder_gives_new_copies(tmp_path: Path, store: RawStore) -> None:
    root = write_folder(tmp_path / "repo", book_files())
    before = kept(fetched(open_folder(root), store), "m2")
    (root / "media/trace.png").write_bytes(b"\x89PNG\r\n\x1a\n-other")
    after = kept(fetched(open_folder(root), store), "m2")
    assert before.path == after.path
    assert before.media[0].path != after.media[0].path
    assert (store.root / before.media[0].path).is_file()


def test_limits_hold(tmp_path: Path, store: RawStore) -> None:
    checkout = open_folder(write_folder(tmp_path / "repo", book_files()))
    small = openstax.fetch("invented/m2", openstax.OpenStaxContext(checkout, store, max_xml_bytes=50))
    assert isinstance(small, Drop)
    assert small.reason == Reason.TOO_LARGE
    tight = openstax.fetch("invented/m2", openstax.OpenStaxContext(checkout, store, max_media_bytes=10))
    assert isinstance(tight, RawArticle)
    assert [each.reason for each in tight.media_problems] == ["image_too_large"]


@pytest.mark.parametrize("name", ["invented/m77", "other/m1", "", "invented", "invented/../m1"])
def test_a_locator_of_nothing_is_not_found(tmp_path: Path, store: RawStore, name: str) -> None:
    context = openstax.OpenStaxContext(open_folder(write_folder(tmp_path / "repo", book_files())), store)
    drop = openstax.fetch(name, context)
    assert isinstance(drop, Drop)
    assert (drop.id, drop.reason) == (name, Reason.NOT_FOUND)


def test_the_commit_of_a_checkout_is_its_revision(tmp_path: Path) -> None:
    root = write_folder(tmp_path / "repo", book_files())
    plain = open_folder(root)
    assert plain.revision.startswith(plain.key)

    def git(*words: str) -> str:
        names = ["-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false"]
        done = subprocess.run(
            ["git", "-C", str(root), *names, *words], capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    git("init", "-q")
    git("add", ".")
    git("commit", "-q", "-m", "x")
    head = git("rev-parse", "HEAD")
    assert open_folder(root).revision == head
    git("pack-refs", "--all")
    assert open_folder(root).revision == head
    git("checkout", "-q", "--detach")
    assert open_folder(root).revision == head
    assert open_folder(root).key == plain.key


def test_collections_without_books_xml_are_found(tmp_path: Path) -> None:
    files = {name: data for name, data in book_files().items() if not name.startswith("META-INF")}
    files["collections/second.collection.xml"] = collection({"One": ("m4",)}, prefix="")
    checkout = open_folder(write_folder(tmp_path, files))
    assert list(checkout.books) == ["invented", "second"]
    assert openstax.locators(checkout)[-1] == "second/m4"
