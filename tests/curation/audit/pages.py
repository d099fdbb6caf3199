"""A small published directory made by hand, with images, hostile texts and a funnel."""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image, ImageDraw

from curation.published.manifest import FORMAT_VERSION, ReleaseManifest
from curation.release.facts import views
from schemas.hashing import sha256_text
from schemas.tables import TABLES

HOSTILE = '<script>document.title="owned"</script> Figure 3 <img src="http://192.0.2.1/x" onerror="x()">'
OVERRIDE = "\u202egnp.exe"
SHARED = "a dense opacity of the right lower lobe with a small parapneumonic effusion on the same side"
QUERY = f"A woman of {{}} years came with fever. Radiography showed {SHARED}, and fever."
TASK = "clinical_case"
RELEASE = "known@1.0.0"
HASH = sha256_text("release")


def radiograph(seed: int) -> bytes:
    """A drawn picture that looks a little like a chest film, with a camera's metadata."""
    image = Image.new("L", (420, 360), 12)
    draw = ImageDraw.Draw(image)
    for side in (90, 250):
        draw.ellipse((side, 60, side + 90, 300), fill=70 + seed * 9 % 60)
        for rib in range(6):
            draw.arc((side - 10, 70 + 35 * rib, side + 100, 130 + 35 * rib), 200, 340, fill=190, width=4)
    draw.ellipse((205, 170, 300 - seed % 20, 290), fill=165)
    exif = Image.Exif()
    exif[0x010F] = "Secret Maker"
    out = io.BytesIO()
    image.save(out, format="JPEG", quality=85, exif=exif)
    return out.getvalue()


def write(directory: Path, rows: Mapping[str, Sequence[Mapping[str, Any]]]) -> Path:
    """Write published tables; a row's missing columns are null."""
    for table in TABLES:
        if table.name not in rows:
            continue
        folder = directory / table.folder
        folder.mkdir(parents=True, exist_ok=True)
        filled = [{name: row.get(name) for name in table.schema.names} for row in rows[table.name]]
        pq.write_table(
            pa.Table.from_pylist(filled, schema=table.schema), folder / "test-00000-of-00001.parquet"
        )
    return directory


def release(directory: Path, hostile: bool = False) -> Path:
    """A release of a dozen rows with images, several languages and licences, and a funnel."""
    languages = ("en", "de", "zh", "ar")
    licences = ("CC-BY-4.0", "CC-BY-SA-4.0", "<i>CC</i>" if hostile else "CC0-1.0")
    queries = [
        {
            "id": f"q{number:02d}",
            "text": QUERY.format(40 + number),
            "image": {"bytes": radiograph(number), "path": None},
            "language": languages[number % 4],
            "license": licences[number % 3],
            "is_synthetic": False,
        }
        for number in range(12)
    ]
    corpus = [
        {
            "id": f"pmc:PMC{900 + number}.1#case1",
            "title": f"Report {number}",
            "text": f"We report a case from a {number}th hospital. The film showed {SHARED}. She recovered.",
            "language": "en",
            "license": licences[number % 3],
            "is_synthetic": False,
        }
        for number in range(12)
    ]
    if hostile:
        corpus[3] |= {"id": '"><b onclick="x">', "text": OVERRIDE + HOSTILE + "x" * 2000}
    drops = [
        {
            "stage": "crawl",
            "unit": "article",
            "id": f"pmc:PMC{n}.1",
            "reason": reason,
            "article_id": f"pmc:PMC{n}.1",
        }
        for n, reason in ((1, "licence_not_allowed"), (2, "licence_not_allowed"), (3, "retracted"))
    ]
    drops += [
        {"stage": TASK, "unit": "case", "id": f"pmc:PMC{n}.1#case1", "reason": reason}
        for n, reason in (
            *((n, "no_principal_diagnosis") for n in range(20, 45)),
            (50, "<u>why</u>" if hostile else "not_human"),
        )
    ]
    steps = (
        (1, "crawl", "article", 203, 200, 3),
        (2, "extract", "article", 200, 200, 0),
        (3, TASK, "case", 38, 12, 26),
    )
    names = ("step", "stage", "unit", "entered", "kept", "dropped")
    write(
        directory,
        {
            "queries": queries,
            "corpus": corpus,
            "qrels": [
                {
                    "query-id": q["id"],
                    "corpus-id": d["id"],
                    "score": 2,
                    "rule": "clinical_case/same@1",
                    "label_status": "expert" if n % 3 == 0 else "structural",
                }
                for n, (q, d) in enumerate(zip(queries, corpus, strict=True))
            ],
            "excluded": [
                {
                    "query-id": queries[n]["id"],
                    "corpus-id": corpus[(n + 1) % 12]["id"],
                    "reason": "own_article",
                }
                for n in range(12)
            ],
            "provenance_queries": [
                {"id": q["id"], "split": "dev" if n > 9 else "test"} for n, q in enumerate(queries)
            ],
            "funnel": [dict(zip(names, step, strict=True)) for step in steps],
            "drops": drops,
        },
    )
    (directory / "release.json").write_text(manifest().to_json(), encoding="utf-8")
    return directory


def manifest(**changes: Any) -> ReleaseManifest:
    """The release's manifest."""
    made = ReleaseManifest(
        format_version=FORMAT_VERSION,
        dataset="known",
        title="Known release",
        version="1.0.0",
        task=TASK,
        task_title="Cases by hidden diagnosis",
        task_description="Find another patient's case with the same diagnosis.",
        licence_profile="open",
        license="CC-BY-SA-4.0",
        label="silver",
        expert_minimum=5,
        publishable_by_content=True,
        not_publishable_because=(),
        accessed="2026-11-01",
        grades={"2": "same hidden principal diagnosis"},
        exclusions={"own_article": "from the query's own article"},
        versions={},
        stages=(),
        overrides={},
        counts={},
        files={},
        siblings=("summary", "visual_context"),
        release_hash=HASH,
    )
    return dataclasses.replace(made, **changes)


def rows_of(directory: Path) -> tuple[str, ...]:
    """'table: count' of each table of a directory."""
    return tuple(
        f"{name}: {sum(pq.read_metadata(path).num_rows for path in files)}"
        for name, files in views(directory).items()
    )
