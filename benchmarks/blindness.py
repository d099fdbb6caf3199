"""Whether an annotator's page gives answers away by anything but its content.

A classifier reads what the page of an item consists of without the words that are to be judged: elements,
attributes, what both sides have in common, names and order of the tasks. It must not tell labelled positives
from other pairs, nor items with known grades from the rest. The same with sources and licences on both sides,
as an earlier layout had them, shows that it would.

Run: python -m benchmarks.blindness [WORKSPACE DATASET@VERSION]
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from lxml import html
from numpy.typing import NDArray

from annotation.assignment import numbered
from annotation.layouts.markup import source_html
from benchmarks import measure
from curation.tasks.registry import TASKS
from flows.demo import demo
from flows.engine.connection import query
from flows.engine.workspace import Workspace
from flows.review.candidates import Options, prepare
from flows.review.delivery import queues
from flows.review.release_texts import Published
from flows.review.store import ReviewFolder
from schemas.hashing import sha256_text
from schemas.review import ReviewCandidate

NAME = "blindness"
GROUPS = ("positives", "known grades")
CONTENT = frozenset({"mq-text", "mq-title", "mq-fact"})
"""Classes of the boxes whose words and marks are what is judged."""
FOLDS, RIDGE, ROUNDS, LOTS = 5, 3.0, 8, 20
READERS = 5
"""Annotators who each get every item in an order of their own: in one, positives can come first by chance."""
CYCLES = (*range(2, 11), 20)
"""An order that repeats after so many places would be seen."""

Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Page:
    """One item as one annotator gets it: traits of its page, and what must not follow from them."""

    candidate: ReviewCandidate
    traits: Mapping[str, float]


def pages(folder: ReviewFolder, sources: Mapping[str, str] | None = None) -> list[list[Page]]:
    """Every page of each annotator of a review, in order.

    Args:
        folder: the review.
        sources: query or document id -> a line that is shown below it; none is, as the layout has it.
    """
    candidates = {item.id: item for item in folder.candidates()}
    made = []
    for queue in queues(folder, lambda sha256: f"/{sha256}"):
        shown = []
        for place, task in enumerate(queue.tasks):
            item = candidates[task.candidate_id]
            data = dict(task.make())
            if sources is not None:
                data["left"] = f"{data['left']}{sources[item.query_id]}"
                data["right"] = f"{data['right']}{sources[item.corpus_id]}"
            shown.append(Page(item, traits(data, place)))
        made.append(shown)
    return made


def traits(data: Mapping[str, object], place: int) -> dict[str, float]:
    """What a page has beside the words that are judged: name -> count or 0/1."""
    found: dict[str, float] = {"place": float(place)}
    found |= {f"place mod {n} = {place % n}": 1.0 for n in CYCLES}
    digest = sha256_text(str(data["candidate_id"]))
    found |= {f"id {at}": float(int(digest[at], 16)) for at in range(8)}
    values: dict[str, dict[str, set[str]]] = {}
    for key, value in sorted(data.items()):
        if key in ("candidate_id", "content_sha256") or not isinstance(value, str):
            continue
        side, _, rest = key.partition("_")
        kept = values.setdefault(side, {})
        if rest != "image":
            _of_markup(value, side, found, kept)
        elif value.startswith("/"):
            found[f"{side} image"] = 1.0
            kept.setdefault("address", set()).add(value)
    for one, other in combinations(sorted(values), 2):
        for name in values[one].keys() & values[other].keys():
            same = values[one][name] & values[other][name]
            found[f"same {name} {one} {other}"] = float(bool(same))
    return found


def _of_markup(text: str, side: str, found: dict[str, float], kept: dict[str, set[str]]) -> None:
    """Count elements and attributes of one side; keep their values, to compare them with the other side's."""
    for element in html.fragments_fromstring(f"<div>{text}</div>")[0].iterdescendants():
        css = element.get("class", "")
        if any(parent.get("class", "") in CONTENT for parent in element.iterancestors()):
            continue  # a marked term is a part of the content
        name = f"{side} {element.tag}.{css}"
        found[name] = found.get(name, 0.0) + 1
        for attribute, value in sorted((str(a), str(v)) for a, v in element.items()):
            if attribute in ("id", "for"):
                continue  # made of the candidate's id
            found[f"{side} @{attribute}={value[:20]}"] = 1.0
            kept.setdefault(f"@{attribute}", set()).add(value)
        if css not in CONTENT and element.text:
            kept.setdefault("words", set()).add(element.text)


def separation(shown: Sequence[Sequence[Page]], wanted: Collection[str]) -> dict[str, float]:
    """How well traits tell some items from the others: the area under the ROC curve; 0.5 is chance.

    Cross-validated logistic regression, mean over the annotators; all items of a query are in one fold.
    `error` is the deviation from 0.5, root mean square, that the same procedure shows when the items to be
    told are drawn by lot.

    Args:
        shown: the pages of each annotator, of the same items.
        wanted: ids of the candidates to be told.

    Raises:
        ValueError: all items, or none, are wanted.
    """
    names = sorted({name for queue in shown for page in queue for name in page.traits})
    sorted_by_item = [sorted(queue, key=lambda page: page.candidate.id) for queue in shown]
    tables = [
        np.array([[page.traits.get(name, 0.0) for name in names] for page in queue])
        for queue in sorted_by_item
    ]
    items = [page.candidate for page in sorted_by_item[0]]
    truth = np.array([item.id in wanted for item in items])
    if len(set(truth.tolist())) < 2:
        raise ValueError("nothing to tell apart")
    fold = np.array([int(sha256_text(item.query_id)[:8], 16) % FOLDS for item in items])

    def area(labels: NDArray[np.bool_]) -> float:
        return float(np.mean([_area(table, labels, fold) for table in tables]))

    lot = np.random.default_rng(20)
    by_lot = [area(lot.permutation(truth)) - 0.5 for _ in range(LOTS)]
    return {
        "area": round(area(truth), 3),
        "error": round(float(np.sqrt(np.mean(np.square(by_lot)))), 3),
        "items": len(items),
        "wanted": int(truth.sum()),
    }


def _area(table: Matrix, truth: NDArray[np.bool_], fold: NDArray[np.int64]) -> float:
    """Area under the ROC curve of scores that are each made from the other folds."""
    scores = np.zeros(len(truth))
    for number in range(FOLDS):
        inside = fold == number
        if inside.any() and len(set(truth[~inside].tolist())) == 2:
            scores[inside] = _scores(table[~inside], truth[~inside], table[inside])
    above = scores[truth][:, None] - scores[~truth][None, :]
    return float(np.mean((above > 0) + 0.5 * (above == 0)))


def _scores(train: Matrix, truth: NDArray[np.bool_], test: Matrix) -> Matrix:
    """Scores of a ridge logistic regression, by Newton's method; each class weighs the same."""
    middle, width = train.mean(0), train.std(0)
    used = width > 0
    x = np.c_[(train[:, used] - middle[used]) / width[used], np.ones(len(train))]
    weight = np.where(truth, 0.5 / truth.mean(), 0.5 / (1 - truth.mean()))
    ridge = np.full(x.shape[1], RIDGE)
    ridge[-1] = 1e-6
    beta = np.zeros(x.shape[1])
    for _ in range(ROUNDS):
        p = 1 / (1 + np.exp(-np.clip(x @ beta, -30, 30)))
        gradient = x.T @ (weight * (truth - p)) - ridge * beta
        hessian = (x * (weight * p * (1 - p))[:, None]).T @ x + np.diag(ridge)
        beta += np.linalg.solve(hessian, gradient)
    scores: Matrix = np.c_[(test[:, used] - middle[used]) / width[used], np.ones(len(test))] @ beta
    return scores


def source_lines(task: Published) -> dict[str, str]:
    """Query or document id -> the line of source and licence that an earlier layout had below it."""
    rows = [*task.rows("queries", task.queries).values(), *task.rows("corpus", task.documents).values()]
    return {row.id: source_html(task.addresses.get(row.article_id, ""), row.license) for row in rows}


def measured(
    directory: Path, workspace: Workspace, folder: ReviewFolder, sample: int | None = None
) -> dict[str, Any]:
    """Separation of positives and of items with known grades, as the layout is and with sources shown."""
    options = Options(
        per_item=READERS, people=tuple(numbered(READERS)), sample=sample, gold_share=0.2, ocr=False
    )
    if not prepare(directory, workspace, options, folder=folder).candidates:
        return {}
    task = Published(directory, query())
    found: dict[str, Any] = {}
    shown = {"now": pages(folder), "with sources": pages(folder, source_lines(task))}
    rows = [page.candidate for page in shown["now"][0]]
    of_group = zip(GROUPS, ("positive", "gold"), strict=True)
    groups = {group: {item.id for item in rows if item.origin == origin} for group, origin in of_group}
    for group, wanted in groups.items():
        for layout, of_readers in shown.items():
            some = [
                [page for page in items if group == "known grades" or page.candidate.origin != "gold"]
                for items in of_readers
            ]
            if 0 < len(wanted & {page.candidate.id for page in some[0]}) < len(some[0]):
                found[f"{group}, {layout}"] = separation(some, wanted)
    return found


def section() -> list[str]:
    """The lines of the benchmarks page."""
    result = json.loads((measure.RESULTS / f"{NAME}.json").read_text("utf-8"))
    lines = [
        "## Blindness of the review page",
        "",
        "How well the page of an item tells, by anything but the words that are judged, labelled positives "
        "from other pairs and items with known grades from the rest: area under the ROC curve of a "
        "cross-validated logistic regression over elements, attributes, what both sides share, names and "
        "order. 0.5 is chance; ± is what items drawn by lot show, root mean square. “With sources” puts "
        "source and licence below both sides, as an earlier layout did. `python -m benchmarks.blindness`",
        "",
        "| release | task | items told | items | to be told | now | with sources |",
        "|---|---|---|---:|---:|---:|---:|",
    ]
    for release, tasks in sorted(result["releases"].items()):
        for task, found in sorted(tasks.items()):
            for group in GROUPS:
                if f"{group}, now" in found:
                    now, before = found[f"{group}, now"], found[f"{group}, with sources"]
                    lines.append(
                        f"| {release} | `{task}` | {group} | {now['items']} | {now['wanted']} "
                        f"| {now['area']:.2f} ± {now['error']:.2f} | {before['area']:.2f} |"
                    )
    return [*lines, ""]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure every task of a release, by default of the sample's, and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workspace", type=Path, nargs="?")
    parser.add_argument("release", nargs="?")
    given = parser.parse_args(arguments)
    path = measure.RESULTS / f"{NAME}.json"
    kept = json.loads(path.read_text("utf-8"))["releases"] if path.is_file() else {}
    with tempfile.TemporaryDirectory() as scratch:
        folder, release = given.workspace, given.release
        if folder is None or release is None:
            folder = Path(scratch) / "demo"
            published = Path(demo(folder)["releases"][0]["path"])
            release = f"{published.parent.parent.name}@{published.parent.name}"
        dataset, _, version = release.partition("@")
        workspace, tasks = Workspace(folder), {}
        for name in TASKS:
            directory = workspace.releases / dataset / version / name
            if (directory / "release.json").is_file():
                tasks[name] = measured(directory, workspace, ReviewFolder(Path(scratch) / name))
                print(name, tasks[name], sep="\n  ")
    measure.save(NAME, {"releases": kept | {dataset: tasks}})


if __name__ == "__main__":
    main()
