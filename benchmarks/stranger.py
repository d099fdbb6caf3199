"""A maintainer's year in an hour, by the command line alone: what each command says, and what it must.

Real articles on a loopback bucket, a loopback Hub, two datasets of all ten tasks in one workspace. Articles
come, one is retracted, one has to go for good; after each, both datasets are made again and what the release
calls its change is compared with what it has to be: minor for articles that came, patch for one withdrawn.
What is published is rebuilt from its recorded inputs. Nothing is called but `medqrels`.

Run: `python -m benchmarks.stranger [ARTICLES]`, all of ../shared/data/pmc-bucket without a number.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.measure import SHARED, read_result, save
from curation.tasks.registry import TASKS
from flows.specs import DATA_CARDS
from sources.sample.server import BucketServer
from tests.flows.publish.hub_server import ORGANIZATION, HubServer
from tests.sources.fakes.europepmc import FakeEuropePmc

NAME = "stranger"
_MEDQRELS = str(Path(sys.executable).with_name("medqrels"))
_BUCKET = SHARED / "pmc-bucket"
_PUBLISHED = ("summary",)
"""Tasks whose rules give labels and that these articles, which have no images, give rows to."""
_DATASETS = {"labels": _PUBLISHED, "further": tuple(name for name in TASKS if name not in _PUBLISHED)}
_LATER = 0.8
"""Share of the articles that are there from the first."""


@dataclass
class Walk:
    """One workspace and what was done in it.

    Attributes:
        home: folder of everything.
        environment: of every command.
        rows: what was done: step, command, exit code, seconds, what came of it and what had to.
    """

    home: Path
    environment: Mapping[str, str]
    rows: list[dict[str, Any]] = field(default_factory=list)

    @property
    def workspace(self) -> Path:
        """The workspace."""
        return self.home / "workspace"

    def run(self, step: str, *command: str, code: int = 0, said: str = "") -> str:
        """Give one command; it is as it must be if it ends with a code and says some words.

        Returns:
            What it printed.
        """
        started = time.monotonic()
        done = subprocess.run(
            [_MEDQRELS, *command, "--workspace", str(self.workspace)],
            env=dict(self.environment), cwd=self.home, capture_output=True, text=True, check=False,
        )  # fmt: skip
        told = done.stdout + done.stderr
        is_fine = done.returncode == code and said in told
        self._note(step, " ".join(("medqrels", *command)), started, done.returncode, said, is_fine)
        if not is_fine:
            print(told[-3000:], file=sys.stderr)
        return told

    def release(self, step: str, dataset: str, level: str) -> str:
        """Make a dataset again; the newest release must say it is a change of this level.

        Returns:
            Its version.
        """
        before = self.versions(dataset)
        self.run(step, "run", "--spec", f"{dataset}/spec.toml")
        new = [version for version in self.versions(dataset) if version not in before]
        started, found = time.monotonic(), "nothing new"
        if new and before:
            found = self.level(f"{dataset}@{before[-1]}", f"{dataset}@{new[-1]}")
        elif new:
            found = "first"
        told = f"{dataset}: {found}" + (f", {new[-1]}" if new else "")
        self._note(step, told, started, 0, level, found == level)
        return self.versions(dataset)[-1]

    def level(self, old: str, new: str) -> str:
        """What `diff` calls the change from one release to another."""
        command = [_MEDQRELS, "diff", old, new, "--json", "--workspace", str(self.workspace)]
        told = subprocess.run(command, env=dict(self.environment), capture_output=True, check=True).stdout
        return str(json.loads(told)["level"])

    def versions(self, dataset: str) -> list[str]:
        """Releases of a dataset that stand, oldest first."""
        folder = self.workspace / "releases" / dataset
        found = [path.name for path in folder.iterdir()] if folder.is_dir() else []
        return sorted(found, key=lambda version: [int(part) for part in version.split(".")])

    def _note(self, step: str, what: str, started: float, code: int, wanted: str, is_fine: bool) -> None:
        seconds = round(time.monotonic() - started, 1)
        row = {"step": step, "what": what, "exit": code, "wanted": wanted, "fine": is_fine}
        self.rows.append({**row, "seconds": seconds})
        print(f"{'ok ' if is_fine else 'NOT'} {seconds:7.1f} s  {step}: {what}", flush=True)


def _write_cards(home: Path, dataset: str, tasks: tuple[str, ...]) -> None:
    """The shipped prose, and a spec of some tasks."""
    shutil.copytree(DATA_CARDS / "prose", home / dataset)
    head = (
        f'name = "{dataset}"\ntitle = "A walk"\nlanguages = ["en", "es", "fr", "pt"]\n[citation]\nyear = 2026'
    )
    parts = ("[sources]", 'pmc_ids = "../ids.txt"', "[baselines]", 'systems = ["bm25"]')
    tables = (f"[tasks.{name}]" for name in tasks)
    (home / dataset / "spec.toml").write_text("\n".join([head, *parts, *tables]), "utf-8")


@contextlib.contextmanager
def bucket(over: Path, walk: Walk) -> Iterator[None]:
    """The bucket as it stands now: files of `over` lie over the shared ones; Europe PMC knows of nothing."""
    with BucketServer([over, _BUCKET]) as server, FakeEuropePmc(records=[]) as notices:
        known = dict(walk.environment)
        walk.environment = known | {
            "MEDQRELS_PMC__ENDPOINT": server.endpoint,
            "MEDQRELS_EUROPEPMC__ENDPOINT": notices.endpoint,
        }
        yield
        walk.environment = known


def _retract(over: Path, pmcid: str) -> None:
    """Metadata in which PMC marks an article as retracted."""
    (found,) = (_BUCKET / "metadata").glob(f"{pmcid}.*.json")
    changed = json.dumps({**json.loads(found.read_text("utf-8")), "is_retracted": True})
    for folder in ("metadata", found.stem):
        (over / folder).mkdir(parents=True, exist_ok=True)
        (over / folder / found.name).write_text(changed, "utf-8")


def _published(walk: Walk) -> list[str]:
    """PMCIDs of articles that queries of the newest release of `labels` rest on, sorted."""
    import pyarrow.parquet as pq

    folder = walk.workspace / "releases/labels" / walk.versions("labels")[-1]
    found: set[str] = set()
    for path in folder.glob("*/provenance/queries/*.parquet"):
        found |= set(pq.read_table(path, columns=["article_id"]).column("article_id").to_pylist())
    return sorted(name.removeprefix("pmc:").partition(".")[0] for name in found)


def walk_through(home: Path, pmcids: list[str], hub: HubServer) -> list[dict[str, Any]]:
    """Everything a maintainer does in a year; one row for each step."""
    quiet = {"MEDQRELS_CONTACT": "maintainer@example.org", **hub.environment(home / "hf")}
    walk = Walk(home, {**os.environ, **quiet})
    over, ids = home / "over", home / "ids.txt"
    over.mkdir()
    for dataset, tasks in _DATASETS.items():
        _write_cards(home, dataset, tasks)
    first = pmcids[: round(len(pmcids) * _LATER)]
    ids.write_text("\n".join(first), "utf-8")
    to = ("--to", f"hf:{ORGANIZATION}")
    with bucket(over, walk):
        for source in ("hpo", "mondo"):
            walk.run("vocabulary", "vocabulary", "add", source)
        walk.run("vocabulary", "vocabulary", "build")
        for dataset in _DATASETS:
            walk.release("first release", dataset, "first")
        walk.run("publish", "publish", "labels@1.0.0", *to)
        walk.run("publish again", "publish", "labels@1.0.0", *to, said="nothing was sent")
        walk.run("publish candidates", "publish", "further@1.0.0", *to, code=3, said="not publishable")
        ids.write_text("\n".join(pmcids), "utf-8")
        for dataset in _DATASETS:
            walk.release("articles came", dataset, "minor")
        walk.run("publish what came", "publish", f"labels@{walk.versions('labels')[-1]}", *to)
    gone, private = _published(walk)[:2]
    _retract(over, gone)
    with bucket(over, walk):
        for dataset in _DATASETS:
            walk.run("sweep, dry", "sweep", "--spec", f"{dataset}/spec.toml", "--dry-run", code=1, said=gone)
        walk.run("sweep", "sweep", "--spec", "labels/spec.toml", code=1, said="1 withdrawn")
        walk.run("sweep again", "sweep", "--spec", "labels/spec.toml", said="0 withdrawn")
        for dataset in _DATASETS:
            walk.release("an article was retracted", dataset, "patch")
            newest = f"{dataset}@{walk.versions(dataset)[-1]}"
            walk.run("proved", "rebuild", newest, "--check", said="every byte is equal")
        walk.run("publish without it", "publish", f"labels@{walk.versions('labels')[-1]}", *to)
        purge = ("takedown", f"pmc:{private}.1", "--reason", "privacy", "--purge", "--yes")
        walk.run("purge, begun", *purge, code=1, said="medqrels run")
        for dataset in _DATASETS:
            walk.release("an article had to go", dataset, "patch")
        walk.run("publish without that", "publish", f"labels@{walk.versions('labels')[-1]}", *to)
        walk.run("purge, ended", *purge, said="none has any of it")
        walk.run("purge again", *purge, said="none has any of it")
        for dataset in _DATASETS:
            walk.run("nothing changed", "run", "--spec", f"{dataset}/spec.toml", said="nothing changed")
    return walk.rows


def section() -> list[str]:
    """The lines of the benchmarks page."""
    result = read_result(NAME)
    steps: dict[str, list[dict[str, Any]]] = {}
    for row in result["rows"]:
        steps.setdefault(row["step"], []).append(row)
    return [
        "## A maintainer's year",
        "",
        f"Every command from crawl to purge on {result['articles']} articles of the shared bucket: two "
        "datasets of all tasks, articles that come, one retracted, one that has to go for good. Each command "
        "must end with the code, the words and the version that the step calls for. "
        "`python -m benchmarks.stranger`",
        "",
        "| step | commands | as they must | seconds |",
        "|---|---:|---:|---:|",
        *(
            f"| {step} | {len(rows)} | {sum(row['fine'] for row in rows)} | "
            f"{sum(row['seconds'] for row in rows):,.1f} |"
            for step, rows in steps.items()
        ),
        "",
    ]


def main(arguments: list[str]) -> None:
    """The whole walk."""
    pmcids = sorted(path.name.partition(".")[0] for path in _BUCKET.glob("PMC*"))
    pmcids = pmcids[: int(arguments[0])] if arguments else pmcids
    with tempfile.TemporaryDirectory(prefix="medqrels-stranger-") as home, HubServer() as hub:
        rows = walk_through(Path(home), pmcids, hub)
    save(NAME, {"articles": len(pmcids), "rows": rows})
    if not all(row["fine"] for row in rows):
        raise SystemExit(1)


if __name__ == "__main__":
    main(sys.argv[1:])
