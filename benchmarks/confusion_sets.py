"""Confusion sets out of generated vocabularies of 250 thousand, 1 and 4 million concepts.

The largest has 17 M names and 46 M relations: a tree of eight children each, a second parent for every fifth
concept, siblings and other relations as UMLS states them; two of five concepts have a definition. What is
measured is the stage `concept_discrimination_all` in a process of its own, with 8,000 anchors, all good.
Targets for the largest: 4,975 sets, under 10 minutes on 2 cores, under 6 GB.
`python -m benchmarks.confusion_sets [CONCEPTS …]`
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.measure import RESULTS, ROOT, read_result, save
from curation.tasks.concept_discrimination.records import Anchor
from curation.tasks.concept_discrimination.task import TASK
from flows.engine.connection import query
from flows.engine.database import connect, run_set_stage, write_select
from schemas.benchmark import Query, Transform
from schemas.hashing import sha256_text
from schemas.ids import query_id
from schemas.record import to_table
from schemas.stages import SetStage, Sql
from schemas.vocabulary import (
    ConceptDefinition,
    ConceptMapping,
    ConceptName,
    ConceptRelation,
    ConceptType,
    RetiredConcept,
    VocabularySource,
)

SIZES = (250_000, 1_000_000, 4_000_000)
ANCHORS = 8_000
MEMORY_LIMIT = "4GB"
TARGET = {"sets": 4_975, "seconds": 600, "peak_rss_bytes": 6 << 30}
_ID = "printf('G:%08d', {})"
_WORD = "printf('%xu', (hash({0}) % 1048576)::BIGINT)"
_KNOWN = "hash(i + 5) % 5 < 2"
"""Which concepts have a definition."""
_TELLS = "hash(i + 11) % 5 < 3"
"""Of those, which tell a word of their name."""
_NAME = f"{_WORD.format('i * 7 + {k}')} || ' n' || printf('%xo', i * 7 + {{k}})"


def statements(concepts: int) -> dict[str, tuple[str, type]]:
    """SELECTs of the generated tables, and their rows' types."""
    own, other = _ID.format("i"), _ID.format("o")
    up = f"""up AS (SELECT i, (i - 1) // 8 AS o FROM range(1, {concepts}) AS r(i)
        UNION ALL SELECT i, (hash(i) % i)::BIGINT FROM range(1, {concepts}) AS r(i) WHERE i % 5 = 0)"""
    words = " || ' ' || ".join(_WORD.format(f"i * 31 + {k}") for k in range(9))
    more = " || ' ' || ".join(_WORD.format(f"i * 31 + {k}") for k in range(9, 15))
    plain = "'en' AS language, 'GEN' AS source"
    names = f"""SELECT {own} AS concept, {_NAME.format(k="k")} AS name,
            if(k < 3, 'en', 'es') AS language, 'GEN' AS source, '' AS code, '' AS atom,
            if(k = 0, 'PT', 'SY') AS term_type,
            0 AS restriction, 'open' AS tier, k = 0 AS is_preferred, false AS is_suppressed
        FROM range({concepts}) AS r(i), range(5) AS s(k) WHERE k < 4 OR i % 4 = 0"""
    relations = f"""WITH {up}, every AS (
            SELECT i, 'parent' AS relation, o FROM up UNION ALL SELECT o, 'child', i FROM up
            UNION ALL SELECT i, 'sibling', (i // 8) * 8 + k FROM range({concepts}) AS r(i), range(4) AS s(k)
            UNION ALL SELECT i, 'related', (hash(i * 6 + k) % {concepts})::BIGINT
                FROM range({concepts}) AS r(i), range(6) AS s(k))
        SELECT DISTINCT {own} AS concept, relation, {other} AS other, 'GEN' AS source
        FROM every WHERE i <> o"""
    definitions = f"""SELECT {own} AS concept, {words} || ' ' || if(i % 2 = 0, {more}, '')
            || if({_TELLS}, ' ' || {_WORD.format("i * 7")}, '') AS text, {plain}, 'open' AS tier
        FROM range({concepts}) AS r(i) WHERE {_KNOWN}"""
    return {
        "names": (names, ConceptName),
        "types": (
            f"""SELECT {own} AS concept, 'T047' AS semantic_type,
                ['DISO', 'DISO', 'CHEM', 'PROC', 'ANAT'][1 + (hash(i // 4096) % 5)::INTEGER] AS "group",
                'source' AS rule FROM range({concepts}) AS r(i)""",
            ConceptType,
        ),
        "relations": (relations, ConceptRelation),
        "definitions": (definitions, ConceptDefinition),
        "mappings": (
            f"""SELECT {own} AS concept, {_ID.format("i + 1")} AS other, 'GEN' AS source, 'refused' AS status
                FROM range({concepts}) AS r(i) WHERE i % 40 = 0""",
            ConceptMapping,
        ),
        "retired": (
            f"""SELECT {_ID.format("i")} AS concept, '' AS replacement, 'GEN' AS source
                FROM range({concepts}) AS r(i) WHERE i % 200 = 7""",
            RetiredConcept,
        ),
    }


def generate(folder: Path, concepts: int, anchors: int) -> dict[str, int]:
    """Write the vocabulary and the anchors; rows by table."""
    rows = {}
    with connect("4GB", folder) as connection:
        for name, (text, row) in statements(concepts).items():
            rows[name] = write_select(
                connection, Sql(text, row, ("concept",)), folder / f"{name}.parquet"
            ).rows
        drawn = f"""SELECT i, {_NAME.format(k=0)} AS name FROM range({concepts}) AS r(i)
            WHERE {_KNOWN} AND i > {concepts} // 16 ORDER BY md5(i::VARCHAR) LIMIT {anchors}"""
        chosen = connection.execute(drawn).fetchall()
    source = VocabularySource(
        source="GEN", title="Generated", release="1", licence="CC0-1.0", tier="open", sha256="0"
    )
    write_rows(folder, "sources", VocabularySource, [source])
    queries, said = [], []
    for number, (_, name) in enumerate(chosen):
        query, anchor = asked(number, name)
        queries.append(query)
        said.append(anchor)
    write_rows(folder, "all_queries", Query, queries)
    write_rows(folder, "all_anchors", Anchor, said)
    return rows


def asked(number: int, name: str) -> tuple[Query, Anchor]:
    """A query of its own article that marks a name."""
    article, start = f"pmc:PMC{number + 1}.1", 11
    text = f"It was [[ {name} ]] in number {number}."
    marks = (
        Transform(start=7, end=10, original="", rule="mention_mark"),
        Transform(start=10 + len(name), end=13 + len(name), original="", rule="mention_mark"),
    )
    query = Query(
        id=query_id(TASK.name, text), task=TASK.name, text=text, language="en", source_id=f"{article}#p1",
        article_id=article, license="CC0-1.0", license_evidence="generated",
        text_sha256=sha256_text(text.replace("[[ ", "").replace(" ]]", "")), transforms=marks,
    )  # fmt: skip
    return query, Anchor(
        query_id=query.id, link_id=f"{article}#keyword1", article_id=article, name=name, language="en",
        surface=name, start=start - 1, end=start - 1 + len(name),
    )  # fmt: skip


def write_rows(folder: Path, name: str, row: type, rows: Sequence[Any]) -> None:
    """A table of the stage as a file of its name."""
    import pyarrow.parquet as pq

    pq.write_table(to_table(row, rows), folder / f"{name}.parquet")


def make_sets(folder: Path, memory_limit: str = MEMORY_LIMIT) -> dict[str, Any]:
    """Run the stage on what was generated; sets by tier, rejections by reason, seconds."""
    stage: SetStage = TASK.over_all
    files = {name: [folder / f"{name}.parquet"] for name in (*stage.resources, "all_queries", "all_anchors")}
    files |= {"found_concepts": [], "earlier": []}
    out = folder / "out" / "all"
    out.mkdir(parents=True)
    started, before = time.monotonic(), time.process_time()
    run_set_stage(stage, files, out, memory_limit)
    seconds, cpu = time.monotonic() - started, time.process_time() - before
    return {"seconds": round(seconds, 1), "cpu_seconds": round(cpu, 1), **_told(out)}


def _told(out: Path) -> dict[str, Any]:
    ask = query("1GB")

    def counts(table: str, column: str) -> dict[str, int]:
        text = f'SELECT "{column}" AS name, count(*) AS n FROM t GROUP BY ALL ORDER BY ALL'
        rows = (row for batch in ask(text, {"t": [out / f"{table}.parquet"]}) for row in batch.to_pylist())
        return {row["name"]: row["n"] for row in rows}

    return {
        "tiers": counts("queries", "tier"),
        "roles": counts("confusions", "role"),
        "reasons": counts("checked", "reason"),
        "drops": counts("_dropped", "reason"),
    }


def measure(folder: Path) -> dict[str, Any]:
    """The same in a process of its own, with the most memory it had."""
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.confusion_sets", "--run", str(folder)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    stop, seen = threading.Event(), {"peak": 0}
    watcher = threading.Thread(target=_watch, args=(process.pid, stop, seen))
    watcher.start()
    output, _ = process.communicate()
    stop.set()
    watcher.join()
    if process.returncode:
        raise SystemExit(f"the stage failed with exit code {process.returncode}")
    found: dict[str, Any] = json.loads(output)
    return {**found, "peak_rss_bytes": seen["peak"]}


def _watch(pid: int, stop: threading.Event, seen: dict[str, int]) -> None:
    while not stop.wait(0.2):
        try:
            status = Path(f"/proc/{pid}/status").read_text()
        except OSError:
            return
        peak = next((line for line in status.splitlines() if line.startswith("VmHWM:")), "VmHWM: 0")
        seen["peak"] = max(seen["peak"], int(peak.split()[1]) * 1024)


def main(sizes: Sequence[int]) -> None:
    """Generate each, run the stage, save the figures beside those of other sizes, delete everything."""
    known = RESULTS / "confusion_sets.json"
    found: dict[str, Mapping[str, Any]] = read_result("confusion_sets")["sizes"] if known.exists() else {}
    for concepts in sizes:
        with tempfile.TemporaryDirectory(prefix="medqrels-confusions-") as place:
            rows = generate(Path(place), concepts, ANCHORS)
            found[str(concepts)] = {"rows": rows, "anchors": ANCHORS, **measure(Path(place))}
        print(json.dumps({concepts: found[str(concepts)]}), flush=True)
        save("confusion_sets", {"sizes": found, "target": TARGET, "memory_limit": MEMORY_LIMIT})


def section() -> list[str]:
    """What benchmarks/README.md says of it."""
    result = read_result("confusion_sets")
    lines = [
        "## Confusion sets",
        "",
        "Stage `concept_discrimination_all` on generated vocabularies, 8,000 anchors, a process of its own "
        f"on 2 shared cores, DuckDB limited to {result['memory_limit']}. "
        "`python -m benchmarks.confusion_sets`",
        "",
        "| concepts | names | relations | sets (tier 1 / 2 / 3) | CPU s | wall s | peak memory |",
        "|---:|---:|---:|---|---:|---:|---:|",
    ]
    for concepts, found in sorted(result["sizes"].items(), key=lambda item: int(item[0])):
        tiers = " / ".join(f"{found['tiers'].get(tier, 0):,}" for tier in ("1", "2", "3"))
        lines.append(
            f"| {int(concepts):,} | {found['rows']['names']:,} | {found['rows']['relations']:,} | "
            f"{sum(found['tiers'].values()):,} ({tiers}) | {found['cpu_seconds']:.0f} | "
            f"{found['seconds']:.0f} | {found['peak_rss_bytes'] / 1e9:.2f} GB |"
        )
    target = result["target"]
    missing = ", ".join(f"{size:,}" for size in SIZES if str(size) not in result["sizes"])
    return [
        *lines,
        "",
        f"Target for the largest: {target['sets']:,} sets, {target['seconds']} s on 2 cores of one's own, "
        f"{target['peak_rss_bytes'] / 2**30:.0f} GiB. Other jobs shared the two cores "
        "meanwhile (a load of about 6), so wall times are upper bounds; CPU times are its own."
        + (f" Not measured yet: {missing} concepts." if missing else ""),
        "",
    ]


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        json.dump(make_sets(Path(sys.argv[2])), sys.stdout)
        sys.stdout.flush()
        os._exit(0)
    main([int(text) for text in sys.argv[1:]] or SIZES)
