"""The section of benchmarks/README.md on the campaign of faults."""

from __future__ import annotations

from benchmarks.measure import read_result

NAME = "reliability"
_TITLES = {
    "kills": "kill -9 before and after every commit point of a command, the first of its name, and at other "
    "steps drawn (of `rebuild` and `run`, which do what the others do, at 12 drawn); run once more",
    "moments": "kill -9 at random moments of a whole run, five one after the other; run once more",
    "servers": "a fault at a drawn request, passing or for a whole run; run again",
    "reviews": "the same before Label Studio, which is to answer within 3 s",
    "system": "a fault of the machine; run again where it is in order",
    "restarts": "a server killed during a command, and started again",
}

_FOUND = (
    "Found by these campaigns and mended before the figures above: a name index that nothing held to its "
    "hash, a full disk and links in a circle told as defects of medqrels, a taken port at which the private "
    "Prefect server gave up, the file by which Python tries a temporary folder left behind by a kill, an "
    "`audit` that, without leave to write a temporary file, ended with a report in which a rule had not run, "
    "and a byte of the crawl's ledger flipped inside a page, told as a defect of medqrels and not as a "
    "damaged file. Since then every page of the ledger is hit; its rows carry no hash of their own, so that "
    "a byte changed in one may go unnoticed: the line above says how often, and that nothing came of it."
)
"""Defects before and after."""


def section() -> list[str]:
    """Tried and good by what was disturbed."""
    found = read_result(NAME)
    parts = {name: found[name] for name in _TITLES if name in found}
    tried = sum(row["tried"] for part in parts.values() for row in part["rows"].values())
    good = sum(row["good"] for part in parts.values() for row in part["rows"].values())
    lines = [
        "## Faults of every kind",
        "",
        "Three articles of the sample, a small vocabulary and one task; commands run in processes of their "
        "own, with one worker (of the whole runs every fourth has two). Good is: the command ends, or says "
        "what is wrong and what helps; run again it leaves every byte that an undisturbed one leaves, "
        f"no file and no process. {good:,} of {tried:,} were. `python -m benchmarks.reliability [PART …]`",
        "",
        "| part | what | tried | good | possible points |",
        "|---|---|---:|---:|---:|",
    ]
    for name, part in parts.items():
        for what, row in part["rows"].items():
            points = f"{row['points']:,}" if row["points"] else ""
            lines.append(f"| {name} | {what} | {row['tried']:,} | {row['good']:,} | {points} |")
    lines += ["", *(f"* **{name}**: {_TITLES[name]}; {part['seconds']:,} s." for name, part in parts.items())]
    of_rows = (row["product"] for part in parts.values() for row in part["rows"].values() if "product" in row)
    products = sorted({*of_rows, *(part.get("product", "not written down") for part in parts.values())})
    lines += ["", f"Product measured (SHA-256 over its packages): {', '.join(products)}."]
    return [*lines, "", _FOUND, ""]
