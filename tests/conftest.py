"""Fixtures every test may use: the checkout, the shared real data, an empty workspace."""

from __future__ import annotations

import contextlib
import gc
import os
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest
from filelock import FileLock
from hypothesis import settings
from xdist.scheduler.loadscope import LoadScopeScheduling

from benchmarks.measure import real_files
from flows.engine.execution import collect_rarely, new_pool
from flows.engine.workspace import Workspace, open_workspace
from flows.release import loading
from flows.vocabulary.store import home
from sources.sample import bucket_dir
from tests.fewer import plant_fewer
from tests.golden.sample import build_sample
from tests.pipeline import SEVERAL_TASKS, crawl_bucket, new_workspace, run_stages
from tests.scratch import to_memory

ROOT = Path(__file__).resolve().parents[1]
SHARED_DATA = ROOT.parent / "shared" / "data"
PLACES = ("sample", "shared")
"""Where tests of real articles take them from; the second may be absent."""

settings.register_profile("fixed", derandomize=True, database=None, deadline=None)
settings.register_profile("drawn", database=None, deadline=None, print_blob=True)
settings.load_profile("fixed")  # `make test` always tries the same; `benchmarks.properties` draws anew


SPREAD = frozenset(
    {
        "curation/partition/test_contest.py",
        "curation/partition/test_partition.py",
    }
)
"""Modules whose dear tests share no fixture: their tests go to whichever worker is free."""
ONE_GROUP = {
    "curation/concepts/backends/": "backends",
    "flows/review/test_review_cli.py": "review sync",
    "flows/review/test_sync": "review sync",
    "flows/review/": "review",
}
"""Beginnings of paths whose modules share dear fixtures, such as a review server: one worker runs them."""
DEAREST = (
    "review",
    "review sync",
    "test_end_to_end.py",
    "flows/cluster/test_cluster.py",
    "flows/release/test_release.py",
    "flows/engine/test_prefect.py",
    "test_release_of_tasks.py",
    "curation/audit/test_defects.py",
    "test_packaging.py",
    "flows/test_run.py",
    "flows/cli/test_cli.py",
    "flows/cli/test_cli_audit.py",
    "test_release_of_evidence.py",
    "flows/publish/test_places.py",
    "test_release_of_restricted_umls.py",
)
"""Modules that take longest, first: begun last, one of them would keep one worker busy at the end, alone."""


IN_MEMORY = pytest.StashKey[Path]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """What `make bench` runs in full."""
    parser.addoption("--campaigns", action="store_true", help="run what is marked as campaign, too")


@pytest.hookimpl(tryfirst=True)  # before anything asks for a temporary folder
def pytest_configure(config: pytest.Config) -> None:
    """Tests write to memory where they can; workers inherit where."""
    collect_rarely()  # as the product's workers do
    if config.option.basetemp is None and (folder := to_memory()):
        config.stash[IN_MEMORY] = folder


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """What failed tests wrote stays for whoever looks at it, until the next run."""
    stash = session.config.stash
    if exitstatus not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED) and IN_MEMORY in stash:
        del stash[IN_MEMORY]


def pytest_unconfigure(config: pytest.Config) -> None:
    """Nothing of a run that passed stays in memory."""
    gc.unfreeze()  # nanobind reports what was not collected, page after page
    if folder := config.stash.get(IN_MEMORY, None):
        shutil.rmtree(folder, ignore_errors=True)


def group_of(nodeid: str) -> str:
    """What one worker runs as a whole: a module, several that share dear fixtures, or one test."""
    name = nodeid.split("::")[0].removeprefix("tests/")
    if name in SPREAD:
        return nodeid
    return next((group for begin, group in ONE_GROUP.items() if name.startswith(begin)), name)


class Grouped(LoadScopeScheduling):  # type: ignore[misc]  # it ships no types
    """Shares tests out by group. xdist's own marker for it has no effect under pytest 9.2."""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Grouped:
    """One worker runs a group: no fixture is made twice."""
    return Grouped(config, log)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Campaigns are left to `make bench`; the dearest groups go first."""
    if not config.option.campaigns:
        left = [item for item in items if item.get_closest_marker("campaign")]
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if item not in set(left)]

    def rank(item: pytest.Item) -> int:
        group = group_of(item.nodeid)
        if group in DEAREST:
            return DEAREST.index(group)
        return len(DEAREST) + (group == item.nodeid)

    items.sort(key=rank)


def pytest_collection_finish() -> None:
    """Modules and tests stay to the end: the garbage collector need not look at them again."""
    gc.freeze()


@pytest.fixture(scope="session")
def repository() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real articles and vocabularies beside the checkout; the only thing a test may be skipped for."""
    if not SHARED_DATA.is_dir():
        pytest.skip("../shared/data is absent")
    return SHARED_DATA


@dataclass(frozen=True, slots=True)
class Library:
    """Articles that a test of real articles is run over: those of the sample, and the shared ones."""

    name: Literal["sample", "shared"]
    root: Path
    files: tuple[Path, ...]
    """JATS, in order of path"""

    @property
    def is_sample(self) -> bool:
        """Whether these are the few of the sample: what is counted is less there."""
        return self.name == "sample"


@pytest.fixture(scope="session", params=PLACES)
def library(request: pytest.FixtureRequest) -> Library:
    """Articles in JATS: each test that asks for it runs on the sample, and on the shared data where it is."""
    is_sample = request.param == "sample"
    root: Path = bucket_dir() if is_sample else request.getfixturevalue("shared_data")
    folders = ("",) if is_sample else ("pmc-bucket", "jats-with-images", "jats-multilingual")
    files = tuple(path for name in folders for path in sorted((root / name).rglob("*.xml")))
    return Library(request.param, root, files)


@pytest.fixture(scope="session", params=("sample", "dev", "test"))
def gold(request: pytest.FixtureRequest) -> tuple[str, dict[str, Path]]:
    """A part of the hand-checked gold in tests/gold, and the files it was read from, by name."""
    if request.param == "sample":
        return request.param, {path.name: path for path in sorted(bucket_dir().glob("*/*.xml"))}
    return request.param, real_files(request.getfixturevalue("shared_data"))


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """A folder that the first worker to ask for it makes; the others wait for it and find it."""
    base = factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / name
    with FileLock(f"{folder}.lock"):
        if not (folder / ".made").exists():
            make(folder)
            (folder / ".made").touch()
    return folder


def share_vocabulary(made: Workspace, other: Workspace) -> None:
    """Have the vocabulary and its index of another workspace, which take twenty seconds to make; read-only.

    By a link: a process keeps by path what it has read of a vocabulary, which takes three seconds more.
    """
    (other.root / "vocabulary").symlink_to(home(made))


def copied(made: Workspace, root: Path) -> Workspace:
    """A copy of a workspace to work in, with the very vocabulary of the other."""
    ignored = {str(made.root): ["vocabulary"]}
    shutil.copytree(made.root, root, ignore=lambda folder, names: ignored.get(str(folder), []))
    other = Workspace(root)
    share_vocabulary(made, other)
    return other


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """The embedded sample with every stage run over it, in shards of five; read-only for tests."""
    return Workspace(made_once(tmp_path_factory, "sample", build_sample))


@pytest.fixture(scope="session", params=PLACES)
def grounded(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, sample: Workspace
) -> Workspace:
    """Articles that several tasks want, crawled, extracted and grounded; read-only.

    Those of the sample, and some of the shared data where it is.
    """
    if request.param == "sample":
        return sample
    shared_data: Path = request.getfixturevalue("shared_data")

    def make(folder: Path) -> None:
        workspace = new_workspace(folder)
        share_vocabulary(sample, workspace)
        crawl_bucket(workspace, SEVERAL_TASKS, roots=[shared_data / "pmc-bucket"], synthetic_images=True)
        run_stages(workspace, tasks=())

    return Workspace(made_once(tmp_path_factory, "real-articles", make))


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    """An empty workspace."""
    yield open_workspace(tmp_path / "workspace", create=True)


@pytest.fixture(scope="session")
def loading_process() -> Iterator[Executor]:
    """One process that loads releases with `datasets`, which takes two seconds to import."""
    with new_pool(1) as pool:
        yield pool


@pytest.fixture
def loads_in_one_process(loading_process: Executor, monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests of something else that release often: all are loaded back by the same process."""
    monkeypatch.setattr(loading, "new_pool", lambda count: contextlib.nullcontext(loading_process))


@pytest.fixture
def fewer_defects(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests of something else that needs a verdict: all defects of one audit take seconds."""
    plant_fewer(monkeypatch)
