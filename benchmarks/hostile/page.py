"""The section of benchmarks/README.md on hostile files."""

from __future__ import annotations

import collections

from benchmarks.hostile.confined import LIMIT_BYTES, SECONDS
from benchmarks.measure import read_result


def section() -> list[str]:
    """Lines of Markdown."""
    lines = [
        "## Hostile files",
        "",
        "Small files written by us, changed by seed and by what their form is, read in a process of "
        f"its own with {LIMIT_BYTES >> 30} GiB of address space and {SECONDS:g} processor seconds a file. "
        "An audit hook fails on any connection, process or file outside the folder that Python asks for. "
        "Read: records were made of it and can be written; refused: a drop or error with a reason. "
        "`python -m benchmarks.hostile`",
        "",
        "| kind | files | seed | read | refused | crash, hang or reach | slowest, CPU s | most memory, MiB |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    kinds = read_result("hostile")["kinds"]
    for name, made in kinds.items():
        counts: collections.Counter[str] = collections.Counter()
        for outcomes in made["outcomes"].values():
            for outcome, count in outcomes.items():
                counts[outcome.partition(":")[0]] += count
        shown = f"{counts['read']:,} | {counts['quarantined']:,} | {len(made['failures'])}"
        cost = f"{made['slowest_seconds']} | {made.get('peak_mib', '')}"
        lines.append(f"| {name} | {made['mutants']:,} | {made['seed']} | {shown} | {cost} |")
    products = sorted({made.get("product", "not written down") for made in kinds.values()})
    found = (
        "Before any of this, of 1,500 damaged JATS files 4 stopped a whole run and 20 took more than 5 s. "
        "The first run of this seed found one more, mended since: 3 MB of quotes in a question file took 5 s."
    )
    return [
        *lines,
        "",
        found,
        "",
        f"Product measured (SHA-256 over its packages): {', '.join(products)}.",
        "",
    ]
