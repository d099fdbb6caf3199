"""What a workspace holds and what runs on it, for a person on one screen, and what to do next.

Read from manifests alone; nothing is computed and nothing is written.
"""

from __future__ import annotations

import functools
import textwrap
from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any

from curation.published.manifest import read_manifest
from curation.tasks.registry import TASKS
from flows.crawl.fetch import PASSING, unanswered_of
from flows.crawl.selection import selections
from flows.engine.execution import sum_up
from flows.engine.lineage import check_current, verb_of
from flows.engine.manifest import MANIFEST, Manifest
from flows.engine.published import PARTLY, published
from flows.engine.purged import read_purged
from flows.engine.releases import earlier_releases, version_order
from flows.engine.runner import shards_of
from flows.engine.workspace import Workspace
from flows.inspect import running
from flows.inspect.audit_status import NOT_AUDITED, standing
from flows.inspect.stages import stages_in
from flows.pipeline import PARTITION, VERSIONS, Verb, steps
from flows.schedules import Planned
from schemas.errors import ReleaseError, WorkspaceError
from schemas.prompt import models_in
from schemas.stages import Reason
from schemas.wording import counted
from sources.stage import CRAWL

FRESH, STALE, UNFINISHED, FAILED = "fresh", "stale", "unfinished", "failed"
"""States of a stage: up to date; made from something older; not all of it made; its manifests are damaged."""
_TABLES = ("queries", "documents", "qrels", "excluded")
_WIDTH = 80

Shards = Callable[[str], Mapping[str, Manifest]]


def status(workspace: Workspace, planned: Sequence[Planned] = ()) -> dict[str, Any]:
    """Articles, stages, tasks, releases and runs of a workspace as plain values, and the command to run next.

    Args:
        workspace: an open workspace.
        planned: scheduled flows that are served on it.
    """
    selected = selections(workspace)
    finished = functools.cache(lambda name: shards_of(workspace, name))
    wanted = {item.shard for item in selected}
    stages = [_stage(workspace, name, finished, wanted) for name in stages_in(workspace)]
    found: dict[str, Any] = {
        "workspace": str(workspace.root),
        "selected": {"articles": sum(len(item.locators) for item in selected), "shards": len(selected)},
        "stages": stages,
        "tasks": _tasks(stages),
        "answers": _answers(stages, finished),
        "releases": _releases(workspace),
        "purges": _purges(workspace),
        "runs": running.runs(workspace),
        "scheduled": running.due(workspace, planned),
        "disk": running.disk(workspace),
    }
    return found | {"next": _next(found)}


def _stage(workspace: Workspace, name: str, finished: Shards, selected: Set[str]) -> dict[str, Any]:
    """One stage: what it holds, and whether that is what its inputs make today."""
    try:
        shards: Mapping[str, Manifest] = finished(name)
    except WorkspaceError as error:
        head = sum_up(name, []).to_dict() | {"shards": 0}
        return head | {"state": FAILED, "why": _why(error, workspace), "next": verb_of(name)}
    body = sum_up(name, [(manifest, False) for manifest in shards.values()]).to_dict()
    state, why, then = _state(workspace, name, finished, selected)
    return body | {"shards": len(shards), "state": state, "why": why, "next": then}


def _state(workspace: Workspace, name: str, finished: Shards, selected: Set[str]) -> tuple[str, str, str]:
    """State of a stage with readable manifests, why it is not fresh, and the command that makes it so."""
    shards = finished(name)
    half = sum(
        folder.is_dir() and not (folder / MANIFEST).is_file() for folder in workspace.stage(name).iterdir()
    )
    waiting = len(selected - set(shards)) if name == CRAWL else half
    if waiting:
        again = "the same medqrels crawl command" if name == CRAWL else verb_of(name)
        return UNFINISHED, f"{counted(waiting, 'shard')} not finished", again
    try:
        check_current(workspace, name, finished, VERSIONS)
    except WorkspaceError as error:
        return STALE, _why(error, workspace), error.hint
    if name != CRAWL:
        return FRESH, "", ""
    if unanswered := sum(len(unanswered_of(manifest)) for manifest in shards.values()):
        why = f"{counted(unanswered, 'article')} not answered and kept as fetched before"
        return UNFINISHED, why, "the same medqrels crawl command"
    failed = sum(
        count for manifest in shards.values() for why, count in manifest.dropped.items() if why in PASSING
    )
    if failed:
        return FRESH, f"{counted(failed, 'article')} the next crawl asks for again", ""
    return FRESH, "", ""


def _why(error: WorkspaceError, workspace: Workspace) -> str:
    """What an error says, with its file if that is not the workspace as a whole."""
    return error.message if error.file in ("", str(workspace.root)) else f"{error.message}: {error.file}"


def _tasks(stages: list[dict[str, Any]]) -> dict[str, dict[str, int]]:
    """Rows of each built task, before the partition shares queries out."""
    rows = {stage["stage"]: stage["rows"] for stage in stages}
    return {
        name: {table: rows[task.over_all.name].get(table, 0) for table in _TABLES}
        for name, task in sorted(TASKS.items())
        if task.over_all.name in rows
    }


def _answers(stages: list[dict[str, Any]], finished: Shards) -> list[dict[str, Any]]:
    """Prompts of each model stage: who answers, how many are answered, not usable, and `not_run`."""
    found = []
    for stage in stages:
        counts = stage["units"].get("prompt") if stage["state"] != FAILED else None
        if counts:
            (made,) = finished(stage["stage"]).values()
            lost = dict(stage["dropped"])
            found.append(
                {
                    "stage": stage["stage"].removesuffix("_answers"),
                    "model": ", ".join(models_in(made.params)),
                    "served_models": list(made.params["served_models"]),
                    "prompt": made.params["prompt"],
                    "prompts": counts["in"],
                    "answered": counts["kept"],
                    "not_run": lost.pop(Reason.NOT_RUN, 0),
                    "unusable": lost,
                }
            )
    return found


def _releases(workspace: Workspace) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for path in sorted(workspace.releases.glob("*/*/*/release.json")):
        try:
            manifest = read_manifest(path.parent)
        except ReleaseError as error:
            found.append({"path": str(path.parent), "error": error.message})
            continue
        held = standing(path.parent, manifest)
        found.append(
            {
                "path": str(path.parent),
                "dataset": manifest.dataset,
                "version": manifest.version,
                "task": manifest.task,
                "release_hash": manifest.release_hash,
                "counts": dict(manifest.counts),
                "is_empty": manifest.is_empty,
                "publishable": held.publishable,
                "not_publishable_because": list(held.because),
                "audit": held.audit,
                "published": published(workspace, manifest.dataset, manifest.version),
            }
        )
    return sorted(found, key=_by_version)


def _by_version(item: Mapping[str, Any]) -> tuple[Any, ...]:
    """Releases of a dataset in the order of their versions: 1.10.0 after 1.9.0."""
    return item.get("dataset", ""), version_order(item.get("version", "")) or (), item["path"]


def _purges(workspace: Workspace) -> list[dict[str, str]]:
    """Purges that are not done, and what brings each on: the release that replaces those with the article."""
    found = []
    for entry in read_purged(workspace):
        stand = (earlier_releases(workspace, name, None)[-1:] for name in entry.datasets())
        newest = [f"{name}@{one[0][0]}" for name, one in zip(entry.datasets(), stand, strict=True) if one]
        again = f"medqrels takedown {entry.id} --reason {entry.reason} --purge"
        then = again if set(newest).isdisjoint(entry.releases) else "medqrels run --spec SPEC"
        if not entry.is_done:
            found.append({"id": entry.id, "reason": entry.reason, "next": then})
    return found


def _next(found: Mapping[str, Any]) -> str:
    """The command that helps next, by the first thing that is missing or out of date; '' when nothing is."""
    made = {stage["stage"]: stage for stage in found["stages"]}
    for stage in found["stages"]:
        if stage["next"]:
            return str(stage["next"])
    if found["purges"]:
        return str(found["purges"][0]["next"])
    if CRAWL not in made:
        return "medqrels run --spec SPEC"
    verbs: tuple[Verb, ...] = ("extract", "ground")
    for verb in verbs:  # one that was interrupted has made some of its stages
        if any(step.stage is not None and step.stage.name not in made for step in steps(verb)):
            return f"medqrels {verb}"
    if PARTITION not in made:
        return "medqrels build --spec SPEC"
    readable = [item for item in found["releases"] if "error" not in item]
    if not readable and any(item["model"] and item["not_run"] for item in found["answers"]):
        return "medqrels answer --spec SPEC"
    if not readable:
        return "medqrels release DATASET"
    newest = readable[-1]
    name = f"{newest['dataset']}@{newest['version']}"
    if any(item["audit"] != "clean" for item in readable if item["version"] == newest["version"]):
        return f"medqrels audit {name}"
    mine = [item for item in readable if (item["dataset"], item["version"]) == tuple(name.split("@"))]
    unfinished = [to for item in mine for to, noted in item["published"].items() if PARTLY in noted]
    if unfinished:
        return f"medqrels publish {name} --to {unfinished[0]}"
    if all(item["publishable"] and not item["published"] for item in mine):
        return f"medqrels publish {name} --to hf:ORG"
    return f"medqrels evaluate {name}"


def describe(found: Mapping[str, Any]) -> str:
    """The status as text for people, at most 80 columns wide but for paths."""
    blocks = [
        [f"workspace {found['workspace']}"],
        _articles(found),
        _stages(found["stages"]),
        _task_table(found["tasks"]),
        _answer_lines(found["answers"]),
        _drops(found["stages"]),
        _release_lines(found["releases"]),
        [f"purge of {item['id']} ({item['reason']}) is not done" for item in found["purges"]],
        running.run_lines(found["runs"]),
        running.due_lines(found["scheduled"]),
        [running.disk_line(found["disk"])],
    ]
    shown = "\n\n".join("\n".join(block) for block in blocks if block)
    return f"{shown}\n\nnext: {found['next']}"


def _articles(found: Mapping[str, Any]) -> list[str]:
    """What was selected, and what the stages before the tasks made of it."""
    selected = found["selected"]
    lines = [f"articles: {selected['articles']:,} selected"]
    rows = {stage["stage"]: stage["rows"] for stage in found["stages"]}
    if CRAWL in rows:
        lines[0] += f", {rows[CRAWL].get('raw', 0):,} crawled"
    for head, tables in (
        ("extracted", ("extract.figures", "extract.passages", "cases.cases", "images.images")),
        ("grounded", ("ground.mentions", "diagnoses.diagnoses")),
        ("questions", ("questions.questions",)),
        ("exercises", ("exercises.questions",)),
    ):
        counts = [
            f"{rows[stage][table]:,} {table}"
            for stage, _, table in (name.partition(".") for name in tables)
            if rows.get(stage, {}).get(table)
        ]
        lines += [f"{head}: {', '.join(counts)}"] if counts else []
    return lines


def _stages(stages: Sequence[Mapping[str, Any]]) -> list[str]:
    """One line when all is fresh, else each stage that is not; each cause once, with what follows from it."""
    if not stages:
        return []
    fresh = [stage for stage in stages if stage["state"] == FRESH]
    lines = [f"stages: {len(fresh)} of {len(stages)} fresh"]
    causes: dict[tuple[str, str], list[str]] = {}
    for stage in stages:
        if stage["state"] in (STALE, FAILED):
            causes.setdefault((stage["why"], ""), []).append(stage["stage"])
        elif stage["why"]:
            causes[stage["why"], stage["stage"]] = [stage["stage"]]
    states = {stage["stage"]: stage["state"] for stage in stages}
    for (why, _), (first, *others) in causes.items():
        lines += _wrapped(
            f"{first}: {states[first]}; ", why.removeprefix(f"stage {first!r} is out of date: it ")
        )
        lines += _wrapped("  for the same reason stale: ", ", ".join(others)) if others else []
    return lines


def _task_table(tasks: Mapping[str, Mapping[str, int]]) -> list[str]:
    """Queries, documents and pairs of each task, as built."""
    return _table(
        "built", [(name, [f"{counts[table]:,}" for table in _TABLES]) for name, counts in tasks.items()]
    )


def _answer_lines(answers: Sequence[Mapping[str, Any]]) -> list[str]:
    """What models were asked of each task, and what waits."""
    lines = []
    for item in answers:
        told = f"{item['answered']:,} of {counted(item['prompts'], 'prompt')}"
        told += f" by {item['model']}" if item["model"] else ""
        told += "".join(f", {count:,}\N{NO-BREAK SPACE}{why}" for why, count in item["unusable"].items())
        told += f", {item['not_run']:,}\N{NO-BREAK SPACE}not_run" if item["not_run"] else ""
        lines += _wrapped(f"{item['stage']}: ", told)
    waits = any(item["not_run"] for item in answers)
    head = "answered by models" + ("; medqrels answer asks for what is not_run" if waits else "")
    return [head, *lines] if lines else []


def _table(title: str, rows: Sequence[tuple[str, Sequence[str]]]) -> list[str]:
    """A table of numbers under the columns of a task; a fifth cell is text."""
    if not rows:
        return []
    width = max(20, *(len(name) + 2 for name, _ in rows))
    heads = "".join(f"{table:>11}" for table in _TABLES)
    lines = [f"{title:<{width}}{heads}"] if len(title) <= width else [title, f"{'':<{width}}{heads}"]
    for name, cells in rows:
        numbers = "".join(f"{cell:>11}" for cell in cells[: len(_TABLES)])
        lines.append("  ".join([f"  {name:<{width - 2}}{numbers}", *cells[len(_TABLES) :]]))
    return lines


def _drops(stages: Sequence[Mapping[str, Any]]) -> list[str]:
    """Drops by reason, the most frequent first; the two stages of a task are told as one."""
    sums: dict[str, Counter[str]] = {}
    for stage in stages:
        if stage["dropped"]:
            sums.setdefault(stage["stage"].removesuffix("_all"), Counter()).update(stage["dropped"])
    lines = ["dropped, by stage and reason"] if sums else []
    width = max(map(len, sums), default=0)
    for name, reasons in sums.items():
        told = ", ".join(f"{count:,}\N{NO-BREAK SPACE}{reason}" for reason, count in reasons.most_common())
        lines += _wrapped(f"{name:<{width}} {reasons.total():>7,}  ", told)
    return lines


def _release_lines(releases: Sequence[Mapping[str, Any]]) -> list[str]:
    """The newest release of each dataset with what its audit says and what forbids publishing it.

    Of older ones the versions alone: status --json tells all of each.
    """
    lines = [line for item in releases if "error" in item for line in (item["path"], f"  {item['error']}")]
    names = dict.fromkeys((item["dataset"], item["version"]) for item in releases if "error" not in item)
    newest = dict(list(names))
    for name in newest.items():
        items = [item for item in releases if (item.get("dataset"), item.get("version")) == name]
        lines += _table("release " + "@".join(name), [(item["task"], _cells(item)) for item in items])
        reasons: dict[str, list[str]] = {}
        for item in items:
            for reason in item["not_publishable_because"]:
                reasons.setdefault(reason, []).append(item["task"])
        for reason, tasks in reasons.items():
            which = "" if len(tasks) == len(items) else f" ({', '.join(tasks)})"
            lines += _wrapped("", f"not publishable{which}: {reason}")
        ready = [item["task"] for item in items if item["publishable"]]
        lines += _wrapped("", f"publishable: {', '.join(ready)}") if ready else []
        for place, noted in sorted(items[0]["published"].items()):
            is_half = PARTLY in noted
            lines.append(f"  {'not wholly ' * is_half}published to {place} as {name[1]}")
        older = [version for dataset, version in names if dataset == name[0] and version != name[1]]
        lines += _wrapped("earlier: ", ", ".join(older)) if older else []
    return lines or ["no release yet"]


def _cells(item: Mapping[str, Any]) -> list[str]:
    """Counts of a released task, and what its audit says."""
    counts = item["counts"]
    names = ("queries", "corpus", "qrels", "excluded")
    audit = item["audit"] if item["audit"] == NOT_AUDITED else f"audit {item['audit']}"
    return [*(f"{counts.get(name, 0):,}" for name in names), "empty" * item["is_empty"] or audit]


def _wrapped(head: str, text: str) -> list[str]:
    """Text after a head, further lines indented below it; no-break spaces hold words together."""
    lines = textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=f"  {head}",
        subsequent_indent=" " * min(len(head) + 2, 30),
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines]
