"""Faults of servers, before every source and service: at a drawn request, passing or staying for a whole run.

What passes after a request or two costs no second run; what stays ends with a message or a drop that names
it, never with other bytes, and the next run ends as if nothing had happened. `TLS` and `DNS` are faults of
the address.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pyarrow.parquet as pq

from benchmarks.reliability.fault_proxy import KINDS, RETRY_AFTER, UNSEEN, FaultProxy, Kind
from benchmarks.reliability.standing import differing, standing, temporary
from benchmarks.reliability.warm import Warm
from schemas.errors import MedqrelsError
from sources.pmc import DIFFERS
from sources.sample import bucket_dir
from sources.sample.bookshelf_server import BookshelfServer
from sources.sample.loopback import LoopbackServer
from sources.sample.server import BucketServer
from tests.sources.conftest import XML, jpeg
from tests.sources.fakes.europepmc import FakeEuropePmc, record, zip_of
from tests.sources.fakes.eutils import Article, Eutils
from tests.sources.fakes.medline import FakePubmed, packed, simple
from tests.sources.fakes.openstax import GitHub, book_files
from tests.sources.fakes.wikimedia import CommonsFile, FakeWikimedia, dump, page

FOREVER = 1_000_000
_MOST_RUNS = 3
_COMMIT = "0123456789abcdef0123456789abcdef01234567"
_PMCIDS = ("PMC990000001", "PMC990000002")
_WITH_CHECKSUM = frozenset({"PMC", "Commons"})
"""Sources that announce a checksum of everything that is stored."""


@dataclass(frozen=True)
class Source:
    """A repository as it is crawled here.

    Attributes:
        name: as the table calls it.
        serve: its server.
        settings: addresses, by variable, given that of the proxy.
        source, target, options: of the request.
        beside: servers that are asked too, without faults, and their variables.
    """

    name: str
    serve: Callable[[], LoopbackServer]
    settings: Callable[[str], Mapping[str, str]]
    source: str
    target: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    beside: Callable[[], BucketServer] | None = None


def _europepmc() -> FakeEuropePmc:
    text = XML.format('<fig id="f1"><label>Figure 1</label><graphic xlink:href="a.jpg"/></fig><p>x</p>')
    names = ("PMC1", "PMC2")
    files = {name: zip_of({"a.jpg": jpeg(place)}) for place, name in enumerate(names)}
    return FakeEuropePmc(
        records=[record(name) for name in names], texts=dict.fromkeys(names, text.encode()), files=files
    )


def _eutils() -> Eutils:
    return Eutils([Article(int(name[3:]), date(2026, 3, 1)) for name in _PMCIDS])


def _pubmed() -> FakePubmed:
    return FakePubmed(
        records={"30": simple(30)},
        files={"baseline/pubmed26n0001.xml.gz": packed(simple(1), simple(2), simple(30))},
    )


def _commons() -> FakeWikimedia:
    text = "{{Infobox medical condition|name=Rash}} A rash.\n\n[[File:Rash.jpg|thumb|A rash.]]"
    name = "enwiki-20250101-pages-articles.xml.bz2"
    return FakeWikimedia(
        files={"Rash.jpg": CommonsFile(jpeg(1))}, dumps={name: dump(page(5, "Rash", text, revision=50))}
    )


def _bucket() -> BucketServer:
    return BucketServer([bucket_dir()])


SOURCES = (
    Source("PMC", _bucket, lambda at: {"MEDQRELS_PMC__ENDPOINT": f"{at}/pmc-oa-opendata/"}, "pmc", "ids.txt"),
    Source(
        "E-utilities",
        _eutils,
        lambda at: {"MEDQRELS_EUTILS__ENDPOINT": f"{at}/entrez/eutils/"},
        "pmc",
        options={"query": "case"},
        beside=_bucket,
    ),
    Source(
        "Europe PMC",
        _europepmc,
        lambda at: {
            "MEDQRELS_EUROPEPMC__ENDPOINT": f"{at}/europepmc/webservices/rest/",
            "MEDQRELS_EUROPEPMC__ANNOTATIONS_ENDPOINT": f"{at}/europepmc/annotations_api/",
        },
        "europepmc",
        options={"query": "fever", "images": True},
    ),
    Source(
        "Bookshelf",
        BookshelfServer,
        lambda at: {
            "MEDQRELS_LITARCH__ENDPOINT": f"{at}/pub/litarch/",
            "MEDQRELS_LITARCH__OAI_ENDPOINT": f"{at}/lit/oai/books/",
        },
        "litarch",
        "inventox",
    ),
    Source(
        "OpenStax",
        lambda: GitHub({_COMMIT: book_files()}, {"main": _COMMIT}),
        lambda at: {"MEDQRELS_OPENSTAX__API_ENDPOINT": at, "MEDQRELS_OPENSTAX__CODE_ENDPOINT": at},
        "openstax",
        "invented/osbooks",
        {"ref": "main"},
    ),
    Source(
        "PubMed",
        _pubmed,
        lambda at: {
            "MEDQRELS_EUTILS__ENDPOINT": f"{at}/entrez/eutils/",
            "MEDQRELS_MEDLINE__ENDPOINT": f"{at}/pubmed/",
        },
        "medline",
        options={"ids": "pmids.txt"},
    ),
    Source(
        "Commons",
        _commons,
        lambda at: {
            "MEDQRELS_WIKIMEDIA__ENDPOINT": f"{at}/w/api.php",
            "MEDQRELS_WIKIMEDIA__FILES_ENDPOINT": f"{at}/",
            "MEDQRELS_WIKIMEDIA__DUMPS_ENDPOINT": f"{at}/",
        },
        "wikimedia",
        "enwiki/20250101",
    ),
)


@dataclass
class Scene:
    """A source behind its proxy, and what an undisturbed crawl of it asks and leaves."""

    source: Source
    folder: Path
    warm: Warm
    proxy: FaultProxy
    beside: Mapping[str, str]
    requests: int = 0
    heeds_retry_after: bool = True
    wanted: dict[str, str] = field(default_factory=dict)
    place: str = "services"
    """Module of what is done in forks."""

    @property
    def now(self) -> Path:
        """Folder of the workspace."""
        return self.folder / "now"

    def fresh(self) -> None:
        """Begin with nothing."""
        shutil.rmtree(self.now, ignore_errors=True)
        (self.now / "tmp").mkdir(parents=True)
        (self.now / "ids.txt").write_text("\n".join(_PMCIDS) + "\n", "utf-8")
        (self.now / "pmids.txt").write_text("30\n77\n", "utf-8")

    def crawl(self, at: str = "") -> dict[str, Any]:
        """Crawl in a process of its own; what it told.

        Args:
            at: address instead of the proxy's.
        """
        source, variables = self.source, {**self.beside, **self.source.settings(at or self.proxy.root)}
        return self._driven(
            "crawl", str(self.now), source.source, source.target, dict(source.options), variables
        )

    def stands(self) -> dict[str, str]:
        """Everything that came of it, by its hash."""
        return standing(self.now)

    def _driven(self, name: str, *given: Any) -> dict[str, Any]:
        """Call a function of this package in a fork; what it told."""
        told = self.folder / "told.json"
        told.unlink(missing_ok=True)
        place = "server_faults" if name == "crawl" else self.place
        function = f"benchmarks.reliability.{place}:{name}"
        ended = self.warm.run(function, *given, str(told), said=self.folder / "said.txt")
        if told.exists():
            return {**json.loads(told.read_text("utf-8")), "code": ended.code}
        said = (self.folder / "said.txt").read_text("utf-8", "replace")
        return {"code": ended.code, "error": said[-600:], "dropped": {}, "waits": []}


@contextlib.contextmanager
def prepared(source: Source, folder: Path, warm: Warm) -> Iterator[Scene]:
    """Serve a source, and crawl it undisturbed."""
    folder.mkdir()
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(source.serve())
        proxy = stack.enter_context(FaultProxy(server.root))
        beside = {}
        if source.beside is not None:
            beside = {"MEDQRELS_PMC__ENDPOINT": stack.enter_context(source.beside()).endpoint}
        scene = Scene(source, folder, warm, proxy, beside)
        ends = []
        for _ in range(2):
            scene.fresh()
            proxy.calm()
            told = scene.crawl()
            if told["code"]:
                raise RuntimeError(f"an undisturbed crawl of {source.name} failed: {told}")
            ends.append(scene.stands())
        if unlike := differing(*ends):
            raise RuntimeError(f"{source.name} did not do the same twice: {unlike}")
        scene.requests, scene.wanted = proxy.asked, ends[0]
        yield scene


def crawl(
    now: str, source: str, target: str, options: Mapping[str, Any], variables: Mapping[str, str], told: str
) -> int:
    """Crawl as the command does, without Prefect and without waiting; tell what came of it."""
    from flows.engine.workspace import open_workspace
    from sources.http import PoliteClient
    from tests.flows.crawl.test_repositories import Crawl

    os.environ |= {
        "MEDQRELS_CONTACT": "bench@localhost", "MEDQRELS_HTTP__ATTEMPTS": "4",
        "MEDQRELS_HTTP__TIMEOUT_SECONDS": "1", "MEDQRELS_HTTP__DEADLINE_SECONDS": "2", **variables,
    }  # fmt: skip
    os.environ["TMPDIR"] = f"{now}/tmp"
    os.chdir(now)
    tempfile.tempdir = None
    waits: list[float] = []
    defaults = PoliteClient.__init__.__kwdefaults__ or {}
    PoliteClient.__init__.__kwdefaults__ = {**defaults, "sleep": waits.append}
    _wait_in_words(waits.append)
    dropped: dict[str, str] = {}
    code, error = 0, ""
    try:
        _, dropped = Crawl(open_workspace(Path(now, "ws"), create=True))(source, target, **options)
        dropped |= _problems(Path(now, "ws"))
    except MedqrelsError as failure:
        code, error = 3, f"{failure.message} ({failure.hint})"
    Path(told).write_text(json.dumps({"error": error, "dropped": dropped, "waits": waits}), "utf-8")
    return code


def _problems(workspace: Path) -> dict[str, str]:
    """Images that did not come whole, as the rows of their articles say."""
    tables = [pq.read_table(path) for path in workspace.glob("work/crawl/*/raw.parquet")]
    rows = [row for table in tables for row in table["media_problems"].to_pylist()]
    return {one["name"]: one["reason"] for row in rows for one in row if one["detail"].endswith(DIFFERS)}


def _wait_in_words(sleep: Callable[[float], None]) -> None:
    """Have contexts that wait between tries only say so."""
    from sources.europepmc.api import EuropePmcContext
    from sources.eutils import EutilsContext
    from sources.wikimedia.commons import CommonsContext

    for context in (EuropePmcContext, EutilsContext, CommonsContext):
        defaults = list(context.__init__.__defaults__ or ())
        places = [place for place, value in enumerate(defaults) if value is time.sleep]
        for place in places:
            defaults[place] = sleep
        context.__init__.__defaults__ = tuple(defaults)


def kinds_of(source: Source) -> Sequence[Kind]:
    """Faults that whoever reads this source can know of."""
    return [kind for kind in KINDS if kind.name not in UNSEEN or source.name in _WITH_CHECKSUM]


def fault(scene: Scene, seed: int) -> dict[str, Any]:
    """Crawl while one drawn fault befalls requests from a drawn one on, then until nothing does."""
    draw = random.Random(f"{scene.source.name} {seed}")
    kinds = kinds_of(scene.source)
    kind, stays = kinds[seed % len(kinds)], draw.random() < 0.3
    first, count = draw.randint(1, scene.requests), FOREVER if stays else draw.randint(1, 2)
    scene.fresh()
    scene.proxy.storm(kind, first, count)
    runs = [scene.crawl()]
    struck = scene.proxy.struck
    scene.proxy.calm()
    return _checked(scene, runs, {"kind": kind.name, "first": first, "stays": stays, "struck": struck}, kind)


def wrong_address(scene: Scene, what: str) -> dict[str, Any]:
    """Crawl from an address whose name or certificate is not right, then from the right one."""
    port = urlsplit(scene.proxy.root).port
    address = f"https://127.0.0.1:{port}" if what == "TLS" else "https://no-such-host.invalid"
    scene.fresh()
    scene.proxy.calm()
    runs = [scene.crawl(address)]
    is_told = bool(runs[0]["error"] or runs[0]["dropped"])
    told = {"kind": what, "first": 1, "stays": True, "struck": int(is_told)}
    return _checked(scene, runs, told, None)


def _checked(
    scene: Scene, runs: list[dict[str, Any]], told: Mapping[str, Any], kind: Kind | None
) -> dict[str, Any]:
    """Run to the end, and compare."""
    first = runs[0]
    early = scene.stands()
    held = _vouched(scene.now) & early.keys()
    wrongly_held = sorted(name for name in held if early[name] != scene.wanted.get(name, early[name]))
    while len(runs) < _MOST_RUNS and (runs[-1]["code"] or differing(scene.stands(), scene.wanted)):
        runs.append(scene.crawl())
    crashed = [one["error"] for one in runs if one["code"] not in (0, 3)]
    asked_again = scene.heeds_retry_after and len(runs) == 1 and bool(kind and kind.waits and told["struck"])
    waited = not asked_again or max(first["waits"], default=0) > RETRY_AFTER - 1
    return {
        **told,
        "source": scene.source.name,
        "runs": len(runs),
        "first_said": first["error"][:300],
        "last_said": runs[-1]["error"][:300],
        "first_dropped": sorted(set(first["dropped"].values())),
        "crashed": crashed,
        "waited": waited,
        "wrongly_held": wrongly_held,
        "is_told": bool(len(runs) == 1 or first["error"] or first["dropped"]),
        "differing": differing(scene.stands(), scene.wanted),
        "litter": temporary(scene.now / "tmp"),
    }


def _vouched(now: Path) -> set[str]:
    """Files that the ledger vouches for."""
    path = now / "ws/raw/ledger.sqlite"
    if not path.is_file():
        return set()
    with contextlib.closing(sqlite3.connect(path)) as ledger:
        return {f"ws/raw/{name}" for (name,) in ledger.execute("SELECT path FROM objects WHERE path <> ''")}


def is_good(result: Mapping[str, Any]) -> bool:
    """Whether one fault went as it must."""
    wrong = result["crashed"] or result["differing"] or result["wrongly_held"] or result["litter"]
    return bool(result["struck"] and result["waited"] and result["is_told"] and not wrong)


MODULES = ("benchmarks.reliability.server_faults", "tests.flows.crawl.test_repositories", "pyarrow.dataset")


def faults_of(scene: Scene, count: int, tell: Callable[[Any], None]) -> None:
    """So many faults of one server, and those of its address."""
    for one in (*range(count), "TLS", "DNS"):
        made = fault(scene, one) if isinstance(one, int) else wrong_address(scene, one)
        tell(made | {"what": scene.source.name, "good": is_good(made)})


def campaign(folder: Path, sources: Sequence[Source], count: int, tell: Callable[[Any], None]) -> None:
    """So many faults of each source."""
    with Warm(MODULES, {"HOME": str(folder)}, grace=1.0) as warm:
        for source in sources:
            with prepared(source, folder / source.name, warm) as scene:
                faults_of(scene, count, tell)
