"""The wiring of each repository: what is selected and fetched, and nothing asked beforehand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from flows.crawl.fetch import crawl_shard, finished, identity, shard_params
from flows.crawl.repositories import request_type
from flows.crawl.repositories.base import CrawlRequest, Opening
from flows.crawl.repositories.folder import told
from flows.crawl.selection import select, selections
from flows.engine.progress import SilentReporter
from flows.engine.settings import Settings, load_settings
from flows.engine.workspace import Workspace
from schemas.article import RawArticle
from schemas.errors import UsageError
from schemas.record import from_table
from schemas.stages import Drop
from sources.ledger import Ledger
from sources.sample.bookshelf_server import BookshelfServer
from sources.sample.server import BucketServer, Fault
from sources.store import RawStore
from tests.sources.conftest import XML, Bucket, figures, jpeg
from tests.sources.fakes.europepmc import FakeEuropePmc, record
from tests.sources.fakes.eutils import Article, Eutils
from tests.sources.fakes.inventory import write_inventory
from tests.sources.fakes.medline import FakePubmed, packed, simple
from tests.sources.fakes.openstax import GitHub, book_files, write_folder
from tests.sources.fakes.wikimedia import CommonsFile, FakeWikimedia, dump, page

TARGETS = {
    "folder": "path",
    "litarch": "book",
    "openstax": "repository",
    "wikimedia": "dump",
    "questions": "path",
}
"""What a repository's command takes as its argument; the others take --ids."""


def request_for(source: str, target: str = "", **options: Any) -> CrawlRequest:
    """A request as the command line makes it."""
    named = {TARGETS.get(source, "ids"): target} if target else {}
    return request_type(source).made({**named, **options}, {})


class Crawl:
    """Runs the crawl verb's work without Prefect."""

    def __init__(self, workspace: Workspace, **settings: Any) -> None:
        self.workspace = workspace
        self.settings: Settings = load_settings(workspace=workspace.root, **settings)
        self.notes: tuple[str, ...] = ()
        self.made = 0

    def __call__(self, source: str, target: str = "", **options: Any) -> tuple[list[str], dict[str, str]]:
        """Ids kept and reasons by locator of everything selected for this request."""
        request = request_for(source, target, profile="noncommercial", **options)
        request.check(self.settings)
        with Ledger(self.workspace.ledger) as ledger:
            store = RawStore(self.workspace.raw, ledger)
            opened = request.open(Opening(self.settings, self.workspace, store))
            self.notes = opened.notes
            chosen = select(self.workspace, source, opened.locators, 500, root=opened.root)
            steps = SilentReporter().stage("crawl", len(opened.locators), "articles")
            for selection in chosen:
                params = shard_params(self.settings, request.profile)
                wanted = identity(selection, params, opened.fingerprint(selection))
                if finished(self.workspace, wanted) is None:
                    self.made += 1
                    with steps as watched:
                        crawl_shard(
                            self.workspace, selection, wanted, opened.fetch, opened.connections, watched
                        )
        shards = {selection.shard for selection in chosen}
        return self._kept(shards), self._dropped(shards)

    def _kept(self, shards: set[str]) -> list[str]:
        base = self.workspace.stage("crawl")
        return sorted(
            row.id
            for shard in shards
            for row in from_table(RawArticle, pq.read_table(base / shard / "raw.parquet"))
        )

    def _dropped(self, shards: set[str]) -> dict[str, str]:
        base = self.workspace.stage("crawl")
        return {
            row.id: str(row.reason)
            for shard in shards
            for row in from_table(Drop, pq.read_table(base / shard / "_dropped.parquet"))
        }


def ids_file(folder: Path, *ids: str) -> str:
    path = folder / "ids.txt"
    path.write_text("".join(f"{name}\n" for name in ids), "utf-8")
    return str(path)


@pytest.fixture
def bucket(tmp_path: Path) -> Iterator[tuple[Bucket, BucketServer]]:
    made = Bucket(tmp_path / "bucket")
    for number in (1, 2, 3):
        made.add(f"PMC{number}", body=figures("a.jpg"), media={"a.jpg": jpeg(number)})
    write_inventory(made.root, "2026-11-20T01-00Z")
    with BucketServer([made.root]) as server:
        yield made, server


def test_pmc_by_query_asks_once_and_records(
    workspace: Workspace, bucket: tuple[Bucket, BucketServer]
) -> None:
    _, server = bucket
    articles = [Article(number, date(2024, 1, number)) for number in (1, 2, 9)]
    with Eutils(articles) as eutils:
        crawl = Crawl(workspace, pmc={"endpoint": server.endpoint}, eutils={"endpoint": eutils.endpoint})
        kept, dropped = crawl("pmc", query="case", since="2024-01-01")
        assert (kept, dropped) == (["pmc:PMC1.1", "pmc:PMC2.1"], {"PMC9": "not_found"})
        asked = len(eutils.forms)
        assert crawl("pmc", query="case", since="2024-01-01") == (kept, dropped)
        assert len(eutils.forms) == asked
        assert request_for("pmc", query="case").preview(crawl.settings) is None


def test_pmc_sync_crawls_again_what_changed(
    workspace: Workspace, bucket: tuple[Bucket, BucketServer]
) -> None:
    made, server = bucket
    crawl = Crawl(workspace, pmc={"endpoint": server.endpoint})
    target = ids_file(workspace.root, "PMC1", "PMC2")
    assert crawl("pmc", target)[0] == ["pmc:PMC1.1", "pmc:PMC2.1"] and crawl.made == 1
    assert crawl("pmc", sync=True)[1] == {} and crawl.made == 1
    made.add("PMC2", 2, body="<p>Corrected.</p>")
    write_inventory(made.root, "2026-11-21T01-00Z")
    with BucketServer([made.root]) as later:
        again = Crawl(workspace, pmc={"endpoint": later.endpoint})
        assert again("pmc", sync=True)[0] == ["pmc:PMC1.1", "pmc:PMC2.2"]
    assert "1 changed" in again.notes[0]
    made.add("PMC1", 2, body="<p>Corrected too.</p>")
    with BucketServer([made.root]) as later:  # whose inventories are all of a later day, as if it had none
        again = Crawl(workspace, pmc={"endpoint": later.endpoint})
        assert again("pmc", sync=True, as_of="2020-01-01")[0] == ["pmc:PMC1.2", "pmc:PMC2.2"]
    assert "no inventory up to 2020-01-01: every article is asked for" in again.notes[0]
    assert "the bucket: 0 new, 1 changed" in again.notes[1]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"query": "a", "target": "x"},
        {"since": "2024-01-01", "sync": True},
        {"sync": True, "poll": True},
        {"query": 'fever "unclosed'},
    ],
)
def test_contradicting_options_of_pmc_are_refused(options: dict[str, Any]) -> None:
    target = options.pop("target", "")
    with pytest.raises(UsageError):
        request_for("pmc", target, **options).preview(load_settings())


def test_europe_pmc_by_ids_and_by_query(workspace: Workspace, tmp_path: Path) -> None:
    texts = {f"PMC{number}": XML.format("<p>Fever.</p>").encode() for number in (1, 2)}
    with FakeEuropePmc(records=[record(name) for name in texts], texts=texts) as site:
        own = {"endpoint": site.endpoint, "annotations_endpoint": site.annotations_endpoint}
        crawl = Crawl(workspace, europepmc=own)
        assert crawl("europepmc", ids_file(tmp_path, "PMC1"))[0] == ["europepmc:PMC1"]
        assert crawl("europepmc", query="fever")[0] == ["europepmc:PMC1", "europepmc:PMC2"]
        assert "2 found" in crawl.notes[0]
    with pytest.raises(UsageError, match="a file of PMCIDs or a query"):
        request_for("europepmc").preview(crawl.settings)


def test_one_article_of_two_repositories_is_kept_once(
    workspace: Workspace, tmp_path: Path, bucket: tuple[Bucket, BucketServer]
) -> None:
    target = ids_file(tmp_path, "PMC1")
    assert Crawl(workspace, pmc={"endpoint": bucket[1].endpoint})("pmc", target)[0] == ["pmc:PMC1.1"]
    with FakeEuropePmc(records=[record("PMC1")], texts={"PMC1": XML.format("<p>x</p>").encode()}) as site:
        own = {"endpoint": site.endpoint, "annotations_endpoint": site.annotations_endpoint}
        assert Crawl(workspace, europepmc=own)("europepmc", target) == ([], {"PMC1": "duplicate_article"})


def test_bookshelf_chapters(workspace: Workspace) -> None:
    with BookshelfServer() as server:
        own = {"endpoint": server.endpoint, "oai_endpoint": server.oai_endpoint}
        crawl = Crawl(workspace, litarch=own)
        kept, dropped = crawl("litarch", "inventox")
        assert len(kept) == 2 and not dropped and all(name.startswith("litarch:") for name in kept)
        assert crawl("litarch", "inventox")[0] == kept and crawl.made == 1
        with pytest.raises(UsageError, match="book"):
            crawl("litarch", "not-there")


def test_openstax_from_a_folder_and_from_github(workspace: Workspace, tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "checkout", book_files())
    crawl = Crawl(workspace)
    kept, _ = crawl("openstax", str(folder))
    assert kept and all(name.startswith("openstax:") for name in kept)
    assert crawl("openstax", str(folder))[0] == kept and crawl.made == 1
    image = next(path for path in (folder / "media").iterdir())
    image.write_bytes(jpeg(99))
    assert crawl("openstax", str(folder))[0] == kept and crawl.made == 2
    commit = "a" * 40
    with GitHub({commit: book_files()}, {"main": commit}) as site:
        other = Crawl(workspace, openstax={"api_endpoint": site.endpoint, "code_endpoint": site.endpoint})
        names = request_for("openstax", str(folder)).preview(other.settings)
        kept_there, dropped = other("openstax", site.repository, ref="main")
        assert set(dropped.values()) <= {"duplicate_article", "not_found"}
        assert len(kept_there) + len(dropped) == len(names or ())
        with pytest.raises(UsageError, match="neither a folder nor a repository"):
            request_for("openstax", str(tmp_path / "absent folder")).preview(other.settings)


def test_pubmed_by_ids_and_from_files(workspace: Workspace, tmp_path: Path) -> None:
    content = packed(simple(1), simple(2), simple(30))
    with FakePubmed(records={"30": simple(30)}, files={"baseline/pubmed26n0001.xml.gz": content}) as site:
        crawl = Crawl(workspace, eutils={"endpoint": site.endpoint}, medline={"endpoint": site.endpoint})
        assert crawl("medline", ids_file(tmp_path, "30", "77"))[0] == ["medline:30"]
        kept, dropped = crawl("medline", files="baseline")
        assert kept == ["medline:1", "medline:2"] or kept == ["medline:1", "medline:2", "medline:30"]
        assert not set(dropped.values()) - {"duplicate_article", "not_found"}
    local = tmp_path / "pubmed26n0001.xml.gz"
    local.write_bytes(content)
    assert "medline:2" in crawl("medline", ids_file(tmp_path, "2"), files=str(local))[0]
    with pytest.raises(UsageError, match="no PubMed file"):
        request_for("medline", files=str(tmp_path / "none")).preview(crawl.settings)
    with pytest.raises(UsageError, match="line 1: not a PMID"):
        request_for("medline", ids_file(tmp_path, "PMC1")).preview(crawl.settings)


def test_wikipedia_from_a_dump_and_from_the_server(workspace: Workspace, tmp_path: Path) -> None:
    ill = page(5, "Ill", "{{Infobox medical condition}}\nIll is bad.\n[[File:Rash.jpg|thumb|A rash]]")
    other = page(6, "Town", "A town by a river.")
    name = "enwiki-20250101-pages-articles.xml.bz2"
    local = tmp_path / name
    local.write_bytes(dump(ill, other))
    files = {"Rash.jpg": CommonsFile(jpeg(1))}
    with FakeWikimedia(files=files, dumps={name: local.read_bytes()}) as site:
        crawl = Crawl(
            workspace,
            wikimedia={
                "endpoint": f"{site.endpoint}w/api.php",
                "files_endpoint": site.endpoint,
                "dumps_endpoint": site.endpoint,
            },
        )
        assert crawl("wikimedia", str(local), text_only=True)[0] == ["wikimedia:enwiki/5"]
        assert not site.asked
        kept, _ = crawl("wikimedia", "enwiki/20250101")
        assert kept == ["wikimedia:enwiki/5"] and crawl.made == 2
        asked = len(site.asked)
        assert any("Rash.jpg" in each for each in site.asked)
        assert crawl("wikimedia", str(local))[0] == kept
        assert crawl.made == 2 and len(site.asked) == asked
        titles = tmp_path / "titles.txt"
        titles.write_text("Town\nNowhere\n", "utf-8")
        kept, dropped = crawl("wikimedia", str(local), titles=str(titles))
        assert kept == ["wikimedia:enwiki/6"] and dropped == {"Nowhere": "not_found"}
        # A newer dump with another revision is crawled again; what did not change is not.
        local.write_bytes(dump(page(5, "Ill", "{{Infobox symptom}}\nIll is worse.", revision=99), other))
        made = crawl.made
        assert crawl("wikimedia", str(local))[0] == ["wikimedia:enwiki/5"]
        assert crawl.made == made + 1
    with pytest.raises(UsageError, match="no dump there"):
        request_for("wikimedia", str(tmp_path / "none.bz2")).preview(crawl.settings)


def test_a_newer_pubmed_record_is_crawled_again(workspace: Workspace, tmp_path: Path) -> None:
    local = tmp_path / "pubmed26n0001.xml.gz"
    crawl = Crawl(workspace)
    for title in ("First", "Second"):
        local.write_bytes(packed(simple(1, title)))
        assert crawl("medline", files=str(local))[0] == ["medline:1"]
    assert crawl.made == 2
    assert crawl("medline", files=str(local))[0] == ["medline:1"] and crawl.made == 2


def test_question_collections(workspace: Workspace, tmp_path: Path) -> None:
    folder = tmp_path / "exams"
    folder.mkdir()
    data = folder / "exam.jsonl"
    data.write_text('{"id": 1, "question": "Which fever?"}\n', "utf-8")
    sidecar = folder / "exam.jsonl.meta.toml"
    sidecar.write_text('name = "exam"\nlicence = "CC-BY-4.0"\nlanguage = "en"\n', "utf-8")
    crawl = Crawl(workspace)
    assert crawl("questions", str(folder))[0] == ["questions:exam"]
    assert crawl("questions", str(folder))[0] == ["questions:exam"] and crawl.made == 1
    data.write_text('{"id": 1, "question": "Which rash?"}\n', "utf-8")
    assert crawl("questions", str(folder))[0] == ["questions:exam"] and crawl.made == 2


@pytest.mark.parametrize(
    ("source", "target", "options"),
    [
        ("pmc", "", {"query": "case"}),
        ("europepmc", "", {"query": "case"}),
        ("litarch", "livertox", {}),
        ("openstax", "openstax/osbooks-microbiology", {}),
        ("medline", "", {"files": "baseline"}),
        ("wikimedia", "enwiki/20261101", {"text_only": True}),
    ],
)
def test_a_real_server_needs_a_contact_address(
    source: str, target: str, options: Mapping[str, Any], workspace: Workspace
) -> None:
    with pytest.raises(UsageError, match="contact address"):
        request_for(source, target, **options).check(load_settings())
    assert not selections(workspace)


def test_an_image_that_did_not_come_whole_is_asked_for_again(workspace: Workspace, tmp_path: Path) -> None:
    made = Bucket(tmp_path / "bucket")
    made.add("PMC1", body=figures("a.jpg"), media={"a.jpg": jpeg(1)})
    trouble = [Fault("wrong_bytes")]

    def faults(method: str, key: str, count: int) -> Fault | None:
        return trouble[0] if trouble and key.endswith("a.jpg") else None

    with BucketServer([made.root], faults=faults) as server:
        crawl = Crawl(workspace, pmc={"endpoint": server.endpoint})
        ids = ids_file(tmp_path, "PMC1")
        path = workspace.stage("crawl")
        assert crawl("pmc", ids)[0] == ["pmc:PMC1.1"]
        (row,) = from_table(RawArticle, pq.read_table(next(path.glob("*/raw.parquet"))))
        assert not row.media and row.media_problems[0].reason == "image_corrupt"
        trouble.clear()
        crawl("pmc", ids)
        (row,) = from_table(RawArticle, pq.read_table(next(path.glob("*/raw.parquet"))))
        assert [item.name for item in row.media] == ["a.jpg"] and not row.media_problems
        crawl("pmc", ids)
    assert crawl.made == 2, "what came whole is not asked for again"


def test_a_crawl_names_the_files_of_a_folder_that_are_no_articles() -> None:
    assert told([]) == []
    assert told(["b.xml"]) == ["1 file holds no JATS article and will be left out at extract: b.xml"]
    many = [f"{number}.xml" for number in range(7, 0, -1)]
    (line,) = told(many)
    assert line.startswith("7 files hold no JATS article")
    assert line.endswith(": 1.xml, 2.xml, 3.xml, 4.xml, 5.xml, …")
