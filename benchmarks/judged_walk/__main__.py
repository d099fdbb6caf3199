"""reference_qa, clinical_evidence and clinical_case of the shared articles, as a maintainer makes them.

Crawled are the JATS folders, the textbooks and invented exams; answers are those of `answers.json`, put in by
`medqrels answer --answers`. Kept are the funnel of every stage, what the audit says, and what loads. Run:
`python -m benchmarks.judged_walk [FOLDER]`; the folder keeps the workspace, where the same command goes on.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from benchmarks.judged_walk.answers import MODEL, Answers
from benchmarks.measure import ROOT, SHARED, read_result, save
from flows.engine.runner import read_rows
from flows.specs import DATA_CARDS
from schemas.prompt import Prompt
from sources.sample import questions_path
from tests.exam_files import write_exams

NAME = "judged_walk"
TASKS = ("reference_qa", "clinical_evidence", "clinical_case")
DATASET, VERSION = "medqrels-reasoning", "1.0.0"
READ = ROOT / "benchmarks" / "developer_checks" / "vignettes.json"
_MEDQRELS = str(Path(sys.executable).with_name("medqrels"))
_SPEC = f"""
name = "{DATASET}"
title = "medqrels reasoning"
licence_profile = "noncommercial"
languages = ["en"]

[citation]
year = 2026

[baselines]
systems = ["bm25"]

[prompts]
stages = ["hyde"]
model = "{MODEL}"
is_trial = true

[tasks.reference_qa]

[tasks.clinical_evidence]

[tasks.clinical_case]
"""
_CRAWLS = (
    ("folder", "pmc-bucket"),
    ("folder", "jats-with-images"),
    ("folder", "jats-multilingual"),
    ("openstax", "openstax/microbiology"),
    ("openstax", "openstax/psychologia"),
)


class Walk:
    """A workspace, its spec and the commands run in it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.root = folder, folder / "ws"
        self.spec = folder / "cards" / "spec.toml"
        shutil.copytree(DATA_CARDS / "prose", self.spec.parent, dirs_exist_ok=True)
        self.spec.write_text(_SPEC, "utf-8")

    def run(self, *arguments: str, ok: Iterable[int] = (0,)) -> Any:
        """What a command prints with --json; it must end with one of some exit codes."""
        command = [_MEDQRELS, *arguments, "--json", "--workspace", str(self.root)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=self.folder)
        if done.returncode not in ok:
            raise SystemExit(f"medqrels {' '.join(arguments)}: exit {done.returncode}\n{done.stderr}")
        print("medqrels", *arguments, file=sys.stderr, flush=True)
        return json.loads(done.stdout) if done.stdout.strip() else None

    def crawl(self) -> None:
        """Articles, textbooks and questions, extracted and grounded."""
        for source, place in _CRAWLS:
            self.run("crawl", source, str(SHARED / place), "--profile", "noncommercial")
        exams = self.folder / "exams"
        self.run("crawl", "questions", str(exams if exams.exists() else write_exams(exams)))
        self.run("crawl", "questions", str(questions_path().parent))
        self.run("extract")
        self.run("ground")

    def answer(self) -> Counter[str]:
        """Build, and give what was written to every prompt until nothing new waits; answers by kind."""
        self.run("build", *TASKS, "--spec", str(self.spec))
        given: dict[str, str] = {}
        while rows := self._new(given):
            recorded = self.folder / "answers.jsonl"
            recorded.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
            self.run("answer", "--spec", str(self.spec), "--answers", str(recorded), ok=(0, 1))
        self.run("build", *TASKS, "--spec", str(self.spec))
        return Counter(given.values())

    def _new(self, given: dict[str, str]) -> list[dict[str, str]]:
        """Answers to prompts that had none; noted in `given` with their kind."""
        answers, found = Answers(self.root / "work"), list[dict[str, str]]()
        for task in TASKS:
            for path in sorted((self.root / "work").glob(f"{task}_*/*/prompts.parquet")):
                for prompt in read_rows(Prompt, [path]):
                    said = None if prompt.id in given else answers.to(prompt)
                    if said is not None:
                        found.append({"prompt_id": prompt.id, "model": MODEL, "text": json.dumps(said)})
                        given[prompt.id] = prompt.kind.partition("@")[0]
        return found

    def released(self) -> Path:
        """The release; it is audited on the way."""
        folder = self.root / "releases" / DATASET / VERSION
        if not folder.exists():
            self.run("release", str(self.spec), "--version", VERSION)
        return folder


def figures(folder: Path) -> dict[str, Any]:
    """What one released task says of itself, and what `datasets` loads of it."""
    import datasets

    stated = json.loads((folder / "release.json").read_text("utf-8"))
    report = json.loads((folder / "audit.json").read_text("utf-8"))
    loaded = {
        name: sum(len(part) for part in datasets.load_dataset(str(folder), name).values())
        for name in ("queries", "corpus", "qrels", "excluded")
        if any((folder / name).glob("*.parquet")) and _table(folder, name)
    }
    funnel, drops = _table(folder, "provenance/funnel"), _table(folder, "provenance/drops")
    lost: dict[tuple[str, str], Counter[str]] = {}
    for row in drops:
        lost.setdefault((row["stage"], row["unit"]), Counter())[row["reason"]] += 1
    card = (folder / "card" / "origin.md").read_text("utf-8").replace("`", "")
    return {
        "label": stated["label"],
        "audit": report["verdict"],
        "not_publishable_because": stated["not_publishable_because"],
        "loaded": loaded,
        "positives": sum(row["score"] > 0 for row in _table(folder, "qrels")),
        "judged": dict(Counter(str(row["reason"] or row["score"]) for row in _judgements(folder))),
        "stages_in_card": sum(f"| {row['stage']} | {row['unit']} |" in card for row in funnel),
        "funnel": [
            {**{name: row[name] for name in ("stage", "unit", "entered", "kept")},
             "dropped": dict(sorted(lost.get((row["stage"], row["unit"]), Counter()).items()))}
            for row in funnel
        ],
    }  # fmt: skip


def _judgements(folder: Path) -> list[dict[str, Any]]:
    return _table(folder, "provenance/judgements")


def _table(folder: Path, name: str) -> list[dict[str, Any]]:
    paths = sorted((folder / name).glob("*.parquet"))
    return [row for path in paths for row in pq.read_table(path).to_pylist()]


def section() -> list[str]:
    """The lines of the benchmarks page."""
    result = read_result(NAME)
    read = json.loads(READ.read_text("utf-8"))
    given = ", ".join(f"{count:,} `{kind}`" for kind, count in result["answers"].items())
    verdicts = {
        task: ", ".join(f"{count} {name}" for name, count in sorted(Counter(one.values()).items()))
        for task, one in read["queries"].items()
    }
    lines = [
        "## Questions and cases that need reasoning, on the shared articles",
        "",
        "`reference_qa`, `clinical_evidence` and `clinical_case` made by commands, from crawl to release: "
        "three folders of JATS articles, two textbooks, invented exams and questions. Answers were written "
        "by hand, right and wrong ones (a path without steps, quotes that nobody wrote, orders and seeds "
        f"that disagree, three false positives): {given}; of a pair that nothing was written of the judge "
        "says 0. "
        "`python -m benchmarks.judged_walk`",
        "",
        "| task | queries | positives | documents | label | audit | stages told in the card |",
        "|---|---:|---:|---:|---|---|---:|",
    ]
    for task, row in result["tasks"].items():
        loaded = row["loaded"]
        lines.append(
            f"| `{task}` | {loaded.get('queries', 0)} | {row['positives']} | {loaded.get('corpus', 0):,} "
            f"| {row['label']} | {row['audit']} | {row['stages_in_card']} of {len(row['funnel'])} |"
        )
    lines += [
        "",
        f"Every case that could be asked was read by one developer ({read['reader']}; verdicts in "
        "`developer_checks/vignettes.json`): "
        + "; ".join(f"`{task}` {told}" for task, told in verdicts.items())
        + ". *Hidden*: the text does not tell the answer; *told by a finding*: no name stands there, but a "
        "finding that defines the diagnosis; *not answerable*: the answer is of something that came later.",
        "",
        "What each stage of `clinical_evidence` kept:",
        "",
        "| stage | unit | entered | kept | dropped |",
        "|---|---|---:|---:|---|",
    ]
    for row in result["tasks"]["clinical_evidence"]["funnel"]:
        told = ", ".join(f"{reason} {count:,}" for reason, count in row["dropped"].items())
        lines.append(f"| `{row['stage']}` | {row['unit']} | {row['entered']:,} | {row['kept']:,} | {told} |")
    return [*lines, ""]


def main(folder: str = "") -> None:
    """Walk, and save the figures."""
    with tempfile.TemporaryDirectory(prefix="medqrels-walk-") as scratch:
        walk = Walk(Path(folder or scratch).resolve())
        walk.crawl()
        answers = walk.answer()
        release = walk.released()
        result: dict[str, Any] = {"answers": dict(sorted(answers.items()))}
        result["tasks"] = {task: figures(release / task) for task in TASKS if (release / task).exists()}
        print(save(NAME, result))


if __name__ == "__main__":
    main(*sys.argv[1:])
