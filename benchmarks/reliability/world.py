"""Three articles on loopback, a small vocabulary, and the folder in which commands make a dataset of them."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from benchmarks.prefect_server import PrefectServer
from benchmarks.reliability.standing import standing, temporary
from benchmarks.reliability.steps import Step
from benchmarks.reliability.warm import Ended, Warm
from flows.engine.workspace import open_workspace
from flows.specs import DATA_CARDS
from sources.sample import bucket_dir
from sources.sample.server import BucketServer
from tests.curation.vocabulary.builders import OBO, write_metathesaurus
from tests.flows.publish.two_tasks import first
from tests.sources.fakes.europepmc import FakeEuropePmc, record

ARTICLES = ("PMC990000001", "PMC990000002", "PMC990000003")
RETRACTED = ARTICLES[2]
"""As Europe PMC says; only a sweep asks it."""
SPEC = """
name = "small"
title = "Small"
[sources]
pmc_ids = "../ids.txt"
[baselines]
systems = []
[tasks.visual_context]
"""
_LIGHT = (
    "benchmarks.reliability.commands",
    "pyarrow.dataset",
    "duckdb",
    "PIL.Image",
    "curation.tasks.registry",
)
_HEAVY = ("flows.run", "flows.takedown.sweep", "flows.release.rebuild", "flows.publish.place")
"""What the forks need is imported before them; the heavy ones load Prefect."""


@dataclass
class World:
    """The folder that commands work in, always the same, and what surrounds it."""

    folder: Path
    warm: Warm
    bucket: BucketServer
    environment: Mapping[str, str]
    prefect: PrefectServer | None = None

    @property
    def now(self) -> Path:
        """Holds `ws/`, `cards/`, `tmp/`, and what commands write beside them."""
        return self.folder / "now"

    def run(
        self,
        arguments: Sequence[str],
        kill: Step | None = None,
        *,
        started: Callable[[int], None] = lambda pid: None,
        variables: Mapping[str, str] = MappingProxyType({}),
    ) -> Run:
        """One command in a process of its own, killed at a step if one is given.

        Args:
            arguments: of medqrels.
            kill: the step.
            started: told its process id.
            variables: of its environment.
        """
        told, said = self.folder / "told.json", self.folder / "said.txt"
        told.unlink(missing_ok=True)
        given = [str(self.now), list(arguments), {**self.environment, **variables}, kill, str(told)]
        ended = self.warm.run("benchmarks.reliability.commands:run", *given, said=said, started=started)
        counted = json.loads(told.read_text("utf-8")) if told.exists() else []
        return Run(ended, said.read_text("utf-8", "replace"), [(k, n, c) for k, n, c in counted])

    def keep(self, name: str) -> Path:
        """A copy of the folder as it stands."""
        shutil.rmtree(self.folder / name, ignore_errors=True)
        return Path(shutil.copytree(self.now, self.folder / name, symlinks=True))

    def restore(self, kept: Path) -> None:
        """Have the folder stand as it did."""
        shutil.rmtree(self.now, ignore_errors=True)
        shutil.copytree(kept, self.now, symlinks=True)

    def stands(self) -> dict[str, str]:
        """Every file of the folder by its hash."""
        return standing(self.now)

    def litter(self) -> list[str]:
        """What is left of temporary files: in both temporary folders, and beside what is kept."""
        found = [f"tmp/{name}" for name in temporary(self.now / "tmp")]
        inside = self.now / "ws/tmp"
        found += [f"ws/tmp/{path.name}" for path in (inside.iterdir() if inside.is_dir() else ())]
        named = (path for path in self.now.rglob("*") if path.name.endswith((".part", ".tmp", ".new")))
        return sorted({*found, *(path.relative_to(self.now).as_posix() for path in named)})


@dataclass(frozen=True)
class Run:
    """How one command ended, what it printed, and its steps: (kind, name, how many); none of a killed one."""

    ended: Ended
    said: str
    steps: list[tuple[str, str, int]]


@contextlib.contextmanager
def opened(folder: Path, *, is_whole: bool = True, database: str = "") -> Iterator[World]:
    """The world, with nothing done yet.

    Args:
        folder: an empty folder.
        is_whole: with a Prefect server, without which flows cannot run, and a release to publish.
        database: of the Prefect server, SQLite unless one is named.
    """
    notices = {"commentCorrection": [{"type": "Retraction in", "reference": "J", "id": "1"}]}
    records = [
        record(name, **({"commentCorrectionList": notices} if name == RETRACTED else {})) for name in ARTICLES
    ]
    with contextlib.ExitStack() as stack:
        bucket = stack.enter_context(BucketServer([bucket_dir()]))
        europepmc = stack.enter_context(FakeEuropePmc(records=records))
        prefect = stack.enter_context(PrefectServer(folder / "prefect", database)) if is_whole else None
        modules = (*_LIGHT, *(_HEAVY if is_whole else ()))
        given = prefect.environment if prefect else {}
        warm = stack.enter_context(Warm(modules, given, grace=5.0 if is_whole else 1.5))
        variables = {
            "HOME": str(folder),
            "MEDQRELS_WORKSPACE": "ws",
            "MEDQRELS_WORKERS": "1",
            "MEDQRELS_CONTACT": "bench@localhost",
            "MEDQRELS_PMC__ENDPOINT": bucket.endpoint,
            "MEDQRELS_EUROPEPMC__ENDPOINT": europepmc.endpoint,
            "MEDQRELS_HTTP__ATTEMPTS": "3",
        }
        _lay_out(folder)
        if is_whole:
            shutil.copytree(first(folder / "known"), folder / "now/ws/releases/known/1.0.0")
        yield World(folder, warm, bucket, variables, prefect)


def _lay_out(folder: Path) -> None:
    """What the user brings: ids, vocabularies, cards."""
    now = folder / "now"
    (now / "tmp").mkdir(parents=True)
    (now / "ids.txt").write_text("\n".join(ARTICLES) + "\n", "utf-8")
    (now / "toy.obo").write_text(OBO, "utf-8")
    write_metathesaurus(now / "umls")
    shutil.copytree(DATA_CARDS / "medqrels-sample", now / "cards")
    (now / "cards/spec.toml").write_text(SPEC, "utf-8")
    open_workspace(now / "ws", create=True)
