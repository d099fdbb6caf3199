"""The privacy gate of releases: recall on planted identifiers, and every find in real texts read and marked.

Recall is per language and class on both halves of `planted_identifiers.toml` (see `unseen_identifiers`; the
held-out half is only measured), for what a release withholds (certain) and for all the audit tells of. The
texts are those of a release of four tasks over the shared articles, all passages of these articles, and
sentences in eight languages in which nobody is a real patient. Every find was read by hand; `phi_marks.json`
holds what it is, under a hash of its kind and words: no text is kept. Run:
`python -m benchmarks.release_phi [FOLDER] [--before CHECKOUT] [--sheet FILE]`; the workspace is built in the
folder when it is not there. `--before` names a checkout of an earlier commit, whose audit is measured beside.
`--sheet` writes finds with their words, for whoever marks them.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from annotation.agreement.precision import wilson
from benchmarks.measure import ROOT, SHARED, save
from benchmarks.unseen_identifiers import HALVES, clean, planted
from curation.audit.rules.privacy import PLACES
from curation.privacy import CERTAIN, PATTERNS, SHOWN_TO_NOBODY, Pattern, hits
from curation.release.facts import views
from curation.tasks.registry import TASKS
from flows.cli.app import run_cli
from flows.engine.connection import query
from flows.engine.progress import SilentReporter
from flows.engine.session import Session
from flows.engine.settings import Settings
from flows.engine.workspace import Workspace
from flows.release.versions import release_task
from flows.specs import DATA_CARDS, read_spec
from schemas.hashing import sha256_text
from tests.conftest import share_vocabulary
from tests.golden.sample import build_sample
from tests.pipeline import crawl_bucket, new_workspace, run_partition, run_stages

SEED = 19
MARKS = Path(__file__).with_name("phi_marks.json")
CLASSES = (
    "identifier of a patient",
    "day or initials of a patient",
    "author or contact",
    "date harmless",
    "number harmless",
    "name harmless",
)
GROUPS: Mapping[str, Sequence[Pattern]] = {"certain": CERTAIN, "all": PATTERNS, "review": SHOWN_TO_NOBODY}
SPEC = """
name = "phi"
title = "Real articles for reading"
licence_profile = "noncommercial"
[partition]
dev_share = 0.2
[tasks.visual_context]
[tasks.image_search]
[tasks.summary]
[tasks.case_study]
require_image = false
"""
_AROUND = 60
_OLD = """
import sys, json
from benchmarks.unseen_identifiers import planted
from curation.audit.rules.privacy import HINTS, IDENTIFIERS, hits
rows = planted(int(sys.argv[1]))
print(json.dumps([any(True for _ in hits(row[3], (*IDENTIFIERS, *HINTS))) for row in rows]))
"""
Text = tuple[str, str, str]
"""(place, id, text)."""


def rates(found: Sequence[bool]) -> dict[str, dict[str, dict[str, Any]]]:
    """n, hits, share and 95 % interval of both halves, by class, by language and of all."""
    counted: dict[str, dict[str, list[bool]]] = {half: defaultdict(list) for half in HALVES}
    for (half, language, kind, _), is_found in zip(planted(SEED), found, strict=True):
        for group in ("all", kind, language):
            counted[half][group].append(is_found)
    return {
        half: {
            group: {
                "n": len(rows),
                "hits": sum(rows),
                "recall": round(sum(rows) / len(rows), 3),
                "interval": [round(edge, 3) for edge in wilson(sum(rows), len(rows))],
            }
            for group, rows in groups.items()
        }
        for half, groups in counted.items()
    }


def recall(before: Path | None) -> dict[str, Any]:
    """Recall of every group of patterns, and of an earlier checkout's."""
    texts = [text for *_, text in planted(SEED)]
    done: dict[str, Any] = {
        name: rates([any(True for _ in hits(text, patterns)) for text in texts])
        for name, patterns in GROUPS.items()
    }
    if before is not None:
        environment = {**os.environ, "PYTHONPATH": str(before)}
        command = [sys.executable, "-c", _OLD, str(SEED)]
        told = subprocess.run(
            command, cwd=before, env=environment, check=True, capture_output=True, text=True
        )
        done["before"] = rates(json.loads(told.stdout))
    alarms = sum(any(True for _ in hits(text, PATTERNS)) for _, text in clean())
    return {**done, "clean": len(clean()), "false_alarms": alarms}


def build(root: Path) -> Path:
    """A release of four tasks over every shared article; its version folder."""
    folder = root / "ws" / "releases" / "phi" / "1.0.0"
    if folder.is_dir():
        return folder
    build_sample(root / "sample")
    workspace = new_workspace(root / "ws")
    share_vocabulary(Workspace(root / "sample"), workspace)
    bucket = SHARED / "pmc-bucket"
    names = sorted({path.name.partition(".")[0] for path in bucket.glob("PMC*")})
    crawl_bucket(workspace, names, roots=[bucket], synthetic_images=True)
    for name in ("jats-multilingual", "jats-with-images"):
        run_cli(
            [
                "crawl",
                "folder",
                str(SHARED / name),
                "--profile",
                "noncommercial",
                "--workspace",
                str(workspace.root),
            ]
        )
    cards = root / "data_cards"
    shutil.copytree(DATA_CARDS / "medqrels-sample", cards)
    (cards / "spec.toml").write_text(SPEC, "utf-8")
    spec = read_spec(cards / "spec.toml")
    run_stages(workspace, spec=spec)
    run_partition(workspace, spec, "1.0.0")
    session = Session(Settings(workspace=workspace.root), workspace, SilentReporter())
    for task in sorted(spec.tasks):
        release_task(session, TASKS[task], spec, cards, "1.0.0", {})
    return folder


def released(folder: Path) -> Iterator[Text]:
    """Every text that the audit searches, in every task."""
    ask = query("1GB")
    for task in sorted(path for path in folder.iterdir() if path.is_dir()):
        found = views(task)
        for place in PLACES:
            if place.table in found:
                for batch in ask(place.texts, {place.table: found[place.table]}):
                    for row in batch.to_pylist():
                        yield f"{task.name} {place.table}.{place.column}", row["id"], row["text"] or ""


def passages(workspace: Path) -> Iterator[Text]:
    """Passages, captions and titles of every article, released or not; each text once."""
    seen = set()
    for table, column in (("passages", "text"), ("figures", "caption"), ("sources", "title")):
        for path in sorted((workspace / "work" / "extract").glob(f"*/{table}.parquet")):
            for row in pq.read_table(path, columns=["id", column]).to_pylist():
                if row[column] and row[column] not in seen:
                    seen.add(row[column])
                    yield table, row["id"], row[column]


def sentences() -> Iterator[Text]:
    """Sentences of encyclopaedias, parallel texts, exams and textbooks, in which nobody is a real patient."""
    rows: set[tuple[str, str]] = set()
    for path in (SHARED / "vocab" / "xl-bel").glob("*.txt"):
        for line in path.read_text("utf-8").splitlines():
            parts = line.split("||")
            if len(parts) > 2:
                rows.add((f"xl-bel {path.name[:2]}", re.sub(r"\s*</?tgt>\s*", " ", parts[2])))
    for path in (SHARED / "vocab" / "tico-19").glob("*.tmx"):
        said = re.findall(r'xml:lang="([^"]+)"[^>]*>\s*<seg>(.*?)</seg>', path.read_text("utf-8"), re.DOTALL)
        rows |= {(f"tico-19 {language[:2].lower()}", text) for language, text in said}
    for path in (SHARED / "vocab" / "FrenchMedMCQA").glob("*.json"):
        for row in json.loads(path.read_text("utf-8")):
            rows.add(("exam fr", " ".join([row["question"], *map(str, row["answers"].values())])))
    for path in (SHARED / "openstax").rglob("*.cnxml"):
        plain = re.sub(r"<[^>]+>", "", path.read_text("utf-8"))
        rows |= {("openstax", line) for line in plain.split("\n") if len(line) > 40}
    for source, text in sorted(rows):
        yield source, "", text


def read(texts: Iterator[Text], marks: Mapping[str, str], sheet: list[str]) -> dict[str, Any]:
    """Every find: how many of each kind are what, by the marks."""
    counts: dict[str, dict[str, Counter[str]]] = {name: defaultdict(Counter) for name in ("certain", "hint")}
    searched, characters, found = 0, 0, set()
    places: Counter[str] = Counter()
    started = time.process_time()
    for place, name, text in texts:
        searched += 1
        characters += len(text)
        for group, patterns in (("certain", CERTAIN), ("hint", PATTERNS[len(CERTAIN) :])):
            for kind, start, end in hits(text, patterns):
                around = text[max(0, start - _AROUND) : end + _AROUND]
                key = sha256_text(f"{group} {kind} {around}")[:16]
                counts[group][kind][marks.get(key, "unmarked")] += 1
                found.add(key)
                places[place] += 1
                said = (key, marks.get(key, ""), group, kind, place, name, repr(around), text[start:end])
                sheet.append("\t".join(said).replace("\n", " "))
    marked: Counter[str] = Counter()
    for of_kind in counts.values():
        for of_class in of_kind.values():
            marked.update(of_class)
    once = Counter(marks.get(key, "unmarked") for key in found)
    right, distinct = sum(once[name] for name in CLASSES[:2]), len(found)
    return {
        "texts": searched,
        "characters": characters,
        "cpu_seconds": round(time.process_time() - started, 1),
        "certain": {kind: dict(sorted(of.items())) for kind, of in sorted(counts["certain"].items())},
        "hint": {kind: dict(sorted(of.items())) for kind, of in sorted(counts["hint"].items())},
        "places": dict(sorted(places.items())),
        "classes": dict(sorted(marked.items())),
        "finds": sum(marked.values()),
        "distinct": sorted(found),
        "distinct_classes": dict(sorted(once.items())),
        "of_a_patient": right,
        "precision": round(right / distinct, 3) if distinct else None,
        "interval": [round(edge, 3) for edge in wilson(right, distinct)] if distinct else None,
    }


def main() -> None:
    """Measure, write the result and print it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--before", type=Path)
    parser.add_argument("--sheet", type=Path)
    parser.add_argument("--without-recall", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="medqrels-phi-") as temporary:
        _run(given, given.folder or Path(temporary))


def _run(given: argparse.Namespace, root: Path) -> None:
    marks = json.loads(MARKS.read_text("utf-8")) if MARKS.is_file() else {}
    folder = build(root)
    sheet: list[str] = []
    real = {
        "release of four tasks": read(released(folder), marks, sheet),
        "all passages of its articles": read(passages(root / "ws"), marks, sheet),
        "sentences of other texts": read(sentences(), marks, sheet),
    }
    if given.sheet:
        given.sheet.write_text("\n".join(sheet) + "\n", "utf-8")
    if given.without_recall:
        print(json.dumps(real, indent=1))
        return
    result = {"seed": SEED, "recall": recall(given.before), "real": real}
    print(save("release_phi", result).relative_to(ROOT))


if __name__ == "__main__":
    main()
