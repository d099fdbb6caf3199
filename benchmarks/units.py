"""Sets of figures, panels and sections over the shared articles; and what harder units could be made from.

Articles of `jats-with-images` have their own image files; those of `pmc-bucket` come with placeholders, so
that what depends on pixels (panels) can yield nothing there. Harder units (look-alikes, change in time, "X
without Y", marks) are not built: counted is what the articles hold, and said why none is made.

Run: `python -m benchmarks.units [FOLDER]`; the folder keeps the workspace.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.measure import SHARED, read_result, save
from curation.published.query import fetch
from curation.tasks.shared.bars import CLINICAL_KINDS
from flows.cli.app import run_cli
from flows.engine.connection import query
from flows.engine.manifest import DROPPED
from flows.engine.runner import table_files
from flows.engine.workspace import Workspace, open_workspace
from sources.sample.server import BucketServer

NAME = "units"
_SPEC = """
name = "units"
title = "Several figures, panels and sections"
licence_profile = "noncommercial"

[citation]
year = 2026

[tasks.visual_context]
max_images = 6
panels = true
granularity = "{granularity}"

[tasks.case_study]
max_images = 6
"""
_STAGES = {"visual_context_images": "sets of figures", "visual_context_panels": "panels"}
"""Stage -> the unit that it makes queries of."""
_CHANGE = (
    r"\b(after|later|follow-?up|months?|weeks?|years?|baseline|resol(ved|ution)|regress\w*|progress\w*|"
    r"improv\w*|recur\w*|decreas\w*|increas\w*|persist\w*)\b"
)
_MARKS = r"\b(arrow\w*|asterisks?|stars?|triangles?|circles?|dotted line|dashed line)\b"
_CLINICAL = ", ".join(f"'{name}'" for name in sorted(CLINICAL_KINDS))
_COUNTS = {
    "change in time": f"""SELECT count(*) AS found,
            count(*) FILTER (WHERE regexp_matches(lower(told), '{_CHANGE}')) AS stating
        FROM (SELECT q.id, string_agg(e.text, ' ') AS told FROM sets q
            JOIN (SELECT query_id, unnest(evidence) AS e FROM pairs) r ON r.query_id = q.id
            WHERE q.tier <> '' GROUP BY q.id)""",
    "X without Y": """SELECT count(*) AS found, count(*) FILTER (WHERE denied > 0 AND held > 0) AS stating
        FROM (SELECT f.id, count(m.text_id) FILTER (WHERE m.is_negated) AS denied,
                count(m.text_id) FILTER (WHERE NOT m.is_negated) AS held
            FROM figures f LEFT JOIN mentions m ON m.text_id = f.id GROUP BY f.id)""",
    "marks": f"""SELECT count(*) AS found,
        count(*) FILTER (WHERE regexp_matches(lower(caption), '{_MARKS}')) AS stating FROM figures""",
    "look-alikes": """SELECT (SELECT count(*) FROM shown) AS found, count(*) AS stating
        FROM shown a JOIN shown b ON a.id < b.id AND a.article_id <> b.article_id
            AND a.modality = b.modality AND a.region = b.region""",
}
_SHOWN = f"""SELECT id, article_id, modalities[1] AS modality, regions[1] AS region FROM labels
    WHERE unit = 'figure' AND modality_groups[1] IN ({_CLINICAL}) AND len(regions) > 0"""
"""Clinical figures of which modality and region were decided."""
_WHY = {
    "change in time": "which figure came first would rest on words of the passage alone: order by figure "
    "number is no evidence, and dates leave the captions",
    "X without Y": "a query denies Y only where the caption does; precision of both flags on captions is not "
    "measured (.95 is asked for)",
    "marks": "nothing here finds an arrow or asterisk in an image, so no box can be tied to the words",
    "look-alikes": "two independent learned image encoders are asked for; none installs offline",
}
_READ = {
    "change in time": "sets of figures; a citing sentence has a word of time or change",
    "X without Y": "captions; with a concept that is affirmed and one that is denied",
    "marks": "captions; naming an arrow, asterisk or outline",
    "look-alikes": "clinical figures of known modality and region; pairs of two articles alike in both",
}


def built(root: Path, granularity: str) -> Workspace:
    """A workspace in which both tasks are built; what is there already is not made again."""
    workspace = open_workspace(root, create=True)
    spec = root / f"{granularity}.toml"
    spec.write_text(_SPEC.format(granularity=granularity), "utf-8")
    with BucketServer([SHARED / "pmc-bucket"], synthetic_images=True) as server:
        os.environ["MEDQRELS_PMC__ENDPOINT"] = server.endpoint
        ids = root / "ids.txt"
        names = sorted(path.name for path in (SHARED / "pmc-bucket").glob("PMC*.*") if path.is_dir())
        ids.write_text("".join(f"{name.partition('.')[0]}\n" for name in names), "utf-8")
        for command in (
            ["crawl", "pmc", "--ids", str(ids), "--profile", "noncommercial"],
            ["crawl", "folder", str(SHARED / "jats-with-images"), "--profile", "noncommercial"],
            ["extract"],
            ["ground"],
            ["build", "visual_context", "case_study", "--spec", str(spec)],
        ):
            if code := run_cli([*command, "--workspace", str(root)]):
                raise SystemExit(f"medqrels {' '.join(command)}: exit {code}")
    return workspace


def measured(workspace: Workspace) -> dict[str, Any]:
    """What each unit yields and why others were dropped, by whether the article has its own image files."""
    run = query()

    def rows(text: str, **tables: str) -> list[dict[str, Any]]:
        return fetch(run, text, {name: table_files(workspace, table) for name, table in tables.items()})

    placeholders = {
        row["article_id"]
        for row in rows(
            "SELECT DISTINCT article_id FROM (SELECT article_id, unnest(graphics) AS g FROM figures) "
            "WHERE g.is_synthetic",
            figures="extract.figures",
        )
    }
    units: dict[str, Any] = {}
    for stage, unit in _STAGES.items():
        made: Counter[str] = Counter()
        for row in rows("SELECT article_id FROM made WHERE tier <> ''", made=f"{stage}.queries"):
            made["placeholders" if row["article_id"] in placeholders else "own images"] += 1
        dropped: dict[str, Counter[str]] = {"own images": Counter(), "placeholders": Counter()}
        for row in rows("SELECT article_id, reason FROM dropped", dropped=f"{stage}.{DROPPED}"):
            dropped["placeholders" if row["article_id"] in placeholders else "own images"][row["reason"]] += 1
        units[unit] = {
            name: {"queries": made[name], "dropped": dict(found.most_common())}
            for name, found in dropped.items()
        }
    sides = rows(
        "SELECT side, count(DISTINCT id) AS n FROM listed GROUP BY side ORDER BY side",
        listed="case_study_images.images",
    )
    units["case_study rows of several images"] = {row["side"]: row["n"] for row in sides}
    return units


def harder(workspace: Workspace) -> dict[str, Any]:
    """What the articles hold for units that are not built."""
    tables = {
        "sets": "visual_context_images.queries",
        "pairs": "visual_context_images.qrels",
        "figures": "extract.figures",
        "mentions": "ground.mentions",
        "labels": "labels.records",
    }
    views = {name: table_files(workspace, table) for name, table in tables.items()}
    run = query()
    found = {}
    for name, text in _COUNTS.items():
        [row] = fetch(run, f"WITH shown AS ({_SHOWN}) {text}", views)
        found[name] = {"status": "not_run", "looked_at": row["found"], "fitting": row["stating"]}
    return found


def section() -> list[str]:
    """The lines of the benchmarks page."""
    result = read_result(NAME)
    lines = [
        "## Units of several images, panels and larger documents",
        "",
        "What `max_images = 6` and `panels = true` make of the shared articles: those with image files of "
        "their own, and those of the bucket, whose images are placeholders (there a panel can have no box). "
        "`python -m benchmarks.units`",
        "",
        "| unit | articles | queries | dropped, by reason |",
        "|---|---|---:|---|",
    ]
    for unit in _STAGES.values():
        for images, row in result["units"][unit].items():
            why = ", ".join(f"`{reason}` {count:,}" for reason, count in row["dropped"].items())
            lines.append(f"| {unit} | {images} | {row['queries']:,} | {why} |")
    rows = result["units"]["case_study rows of several images"]
    counts = ", ".join(f"{count:,} {side if count == 1 else _many(side)}" for side, count in rows.items())
    lines += [
        "",
        f"Rows of `case_study` with several images: {counts or 'none'}. A developer read the 26 sets of "
        "figures: each positive passage cites every figure of its set.",
        "",
        'At `granularity = "section"` the same articles make 829 documents; 140 hold a figure or table. A '
        "developer read 43 of these, with 22 captions and 41 tables: all stand where their author put them, "
        "and the tables keep their rows. In two a raised letter stuck to the word before it; it is `^a` now.",
        "",
    ]
    lines += [
        "Not built, with what the articles hold for it:",
        "",
        "| unit | looked at; fitting | looked at | fitting | why not |",
        "|---|---|---:|---:|---|",
    ]
    for name, row in result["harder"].items():
        looked, fitting = _READ[name].split("; ")
        lines.append(
            f"| {name} | {looked}; {fitting} | {row['looked_at']:,} | {row['fitting']:,} | {_WHY[name]} |"
        )
    return [*lines, ""]


def _many(side: str) -> str:
    return {"query": "queries", "document": "documents"}[side]


def main(folder: str = "") -> None:
    """Build, count and save."""
    with tempfile.TemporaryDirectory() as scratch:
        workspace = built(Path(folder or scratch), "passage")
        result: Mapping[str, Any] = {"units": measured(workspace), "harder": harder(workspace)}
    print(save(NAME, result))


if __name__ == "__main__":
    main(*sys.argv[1:])
