"""Builds a vocabulary from a generated Metathesaurus of real size, with invented identifiers and names.

UMLS 2026AA has about 17 M MRCONSO rows; MRSTY and MRREL are in proportion. Targets: under 10 minutes on
2 cores and under 4 GB of resident memory. `python -m benchmarks.vocabulary_build [ROWS]`
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import duckdb

from benchmarks.measure import ROOT, save

ROWS = 17_000_000
NAMES_PER_CONCEPT = 5
TYPES_PER_CONCEPT = 1.1
RELATIONS_PER_NAME = 2.7
BYTES_PER_ROW = 1_500
"""Disk per MRCONSO row for generated files, scratch and result, with room to spare."""
_SYLLABLES = """
    car di o my path ne phr it is hep at ic ster no sis cer vic al ul pan cre as fib ro ost e
    on em bol ism der ma to glos sal pin go lar yng trach bron chi ti lum bar tor sion ist hyp er plas ia
"""
_LANGUAGES = ("ENG",) * 13 + ("SPA", "SPA", "FRE", "GER", "POR", "JPN", "RUS")
_SOURCES = ("SNOMEDCT_US", "MSH", "NCI", "MDR", "RXNORM", "LNC", "HPO", "ICD10", "SCTSPA", "OMIM")
_RELATIONS = ("PAR", "CHD", "SIB", "RB", "RN", "RO", "RQ", "SY", "AQ", "RO")


def _pick(values: tuple[str, ...] | list[str], seed: str) -> str:
    listed = ", ".join(f"'{value}'" for value in values)
    return f"([{listed}])[1 + CAST(hash({seed}) % {len(values)} AS INTEGER)]"


def _word(seed: str) -> str:
    return " || ".join(_pick(_SYLLABLES.split(), f"{seed} * 8 + {number}") for number in range(4))


def generate(folder: Path, rows: int) -> dict[str, int]:
    """Write MRCONSO, MRSTY, MRREL and MRSAB; returns rows by file."""
    concepts = rows // NAMES_PER_CONCEPT
    cui = "printf('C%07d', CAST({} AS BIGINT))"
    counts = {
        "MRCONSO": rows,
        "MRSTY": int(concepts * TYPES_PER_CONCEPT),
        "MRREL": int(rows * RELATIONS_PER_NAME),
    }
    relations = counts["MRREL"]
    name = f"{_word('i')} || ' ' || {_word('i // 3')} || ' ' || {_word('i // 7 + 5')}"
    statements = {
        "MRCONSO": f"SELECT {cui.format(f'i // {NAMES_PER_CONCEPT} + 1')}, {_pick(_LANGUAGES, 'i + 1')},"
        f" CASE WHEN i % {NAMES_PER_CONCEPT} = 0 THEN 'P' ELSE 'S' END, printf('L%08d', i), 'PF',"
        f" printf('S%08d', i), 'Y', printf('A%08d', i), '', '', '', {_pick(_SOURCES, 'i + 2')},"
        f" {_pick(['PT', 'SY', 'ET', 'LLT'], 'i + 3')}, CAST(i // 2 AS VARCHAR), {name},"
        f" {_pick(['0', '0', '3', '9'], 'i + 4')}, {_pick(['N'] * 9 + ['O'], 'i + 5')}, '256', ''"
        " FROM range({rows}) AS r(i)",
        "MRSTY": f"SELECT {cui.format('i * 10 // 11 + 1')},"
        f" {_pick(['T047', 'T033', 'T121', 'T061', 'T023', 'T184', 'T191'], 'i')}, 'B2.2.1', 'Type',"
        " printf('AT%08d', i), '256', '' FROM range({rows}) AS r(i)",
        "MRREL": f"SELECT {cui.format(f'i * {concepts} // {relations} + 1')}, printf('A%08d', i), 'AUI',"
        f" {_pick(_RELATIONS, 'i')}, {cui.format(f'hash(i + 7) % {concepts} + 1')},"
        " printf('A%08d', i + 1), 'AUI',"
        f" {_pick(['', 'isa', 'inverse_isa', 'has_finding_site'], 'i + 1')}, printf('R%09d', i), '',"
        f" {_pick(_SOURCES, 'i // 2')}, {_pick(_SOURCES, 'i // 2')}, '', 'N', 'N', '', ''"
        " FROM range({rows}) AS r(i)",
    }
    with duckdb.connect(":memory:", config={"memory_limit": "2GB"}) as connection:
        connection.execute("SET preserve_insertion_order = true")
        for table, text in statements.items():
            connection.execute(
                f"COPY ({text.format(rows=counts[table])}) TO '{folder / table}.RRF'"
                " (FORMAT csv, DELIMITER '|', HEADER false, QUOTE '', ESCAPE '')"
            )
    lines = [f"||{sab}|{sab}|Invented|{sab}|2026AA|||||||0||||||ENG|UTF-8|Y|Y|||\n" for sab in _SOURCES]
    (folder / "MRSAB.RRF").write_text("".join(lines), "utf-8")
    return counts


def _peak(pid: int, stop: threading.Event, seen: dict[str, int]) -> None:
    """Highest resident memory of a process, by polling what the kernel counts."""
    while not stop.wait(0.2):
        try:
            status = Path(f"/proc/{pid}/status").read_text()
        except OSError:
            return
        for line in status.splitlines():
            if line.startswith(("VmHWM:", "RssAnon:")):
                key = line.partition(":")[0]
                seen[key] = max(seen.get(key, 0), int(line.split()[1]) * 1024)


def build(umls: Path, workspace: Path) -> dict[str, object]:
    """Run `medqrels vocabulary build --umls`; its result with seconds and memory."""
    medqrels = str(Path(sys.executable).with_name("medqrels"))
    command = [medqrels, "vocabulary", "build", "--umls", str(umls), "--workspace", str(workspace), "--json"]
    started = time.monotonic()
    before = os.times()
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    stop, seen = threading.Event(), dict[str, int]()
    watcher = threading.Thread(target=_peak, args=(process.pid, stop, seen))
    watcher.start()
    output, _ = process.communicate()
    stop.set()
    watcher.join()
    after = os.times()
    if process.returncode:
        raise SystemExit(f"the build failed with exit code {process.returncode}")
    return {
        "seconds": round(time.monotonic() - started, 1),
        "cpu_seconds": round(
            after.children_user - before.children_user + after.children_system - before.children_system, 1
        ),
        "peak_rss_bytes": seen.get("VmHWM", 0),
        "peak_anonymous_bytes": seen.get("RssAnon", 0),
        "result": json.loads(output),
    }


def main(rows: int = ROWS) -> None:
    """Generate, build, save the figures, delete everything."""
    free = shutil.disk_usage(tempfile.gettempdir()).free
    if free < rows * BYTES_PER_ROW:
        raise SystemExit(f"needs {rows * BYTES_PER_ROW >> 30} GiB of disk, {free >> 30} GiB are free")
    with tempfile.TemporaryDirectory(prefix="medqrels-vocabulary-") as place:
        umls = Path(place) / "META"
        umls.mkdir()
        started = time.monotonic()
        counts = generate(umls, rows)
        size = sum(path.stat().st_size for path in umls.iterdir())
        print(f"generated {counts} ({size >> 20} MiB) in {time.monotonic() - started:.0f} s", flush=True)
        figures = build(umls, Path(place) / "workspace")
        written = [path.stat() for path in (Path(place) / "workspace").rglob("*.parquet")]
        disk = sum({item.st_ino: item.st_size for item in written}.values())  # linked tables count once
    result = {
        "rows_read": counts,
        "bytes_read": size,
        "bytes_written": disk,
        **figures,
        "target": {"seconds": 600, "peak_rss_bytes": 4 << 30},
    }
    if rows == ROWS:
        save("vocabulary_build", result)
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
