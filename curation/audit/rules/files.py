"""Rules on the files themselves: hashes, and a card whose every number is computed again."""

from __future__ import annotations

import difflib
import json
from collections.abc import Sequence
from pathlib import Path

from curation.audit.rule import Canary, CannotRun, Collector, Context, Outcome, Rule, side
from curation.audit.rules.planting import manifest, table_file
from curation.published.manifest import NAME, hash_files
from curation.release import card, facts, plots
from curation.release.results import FIGURE

_MOST_LINES = 20_000


def _hashes(context: Context) -> Outcome:
    found = Collector("file_hashes", "error")
    stated = context.manifest.files
    actual = hash_files(context.directory)
    for name in sorted(set(actual) | set(stated)):
        if name not in actual:
            found.add(f"the file is listed but missing: {name}", side("release.json", name))
        elif name not in stated:
            found.add(f"the file is not listed in release.json: {name}", side("release.json", name))
        elif actual[name] != stated[name]:
            found.add(
                f"the file's bytes are not those release.json lists: {name}",
                side("release.json", name, stated[name]),
                side("files", name, actual[name]),
            )
    if context.manifest.release_hash != context.manifest.computed_hash():
        found.add(
            "release.json was changed: its own hash does not fit its content",
            side("release.json", "release_hash", context.manifest.release_hash),
        )
    return found.outcome(len(stated))


def _counts(context: Context) -> Outcome:
    """Render the card again from the data, keeping only its prose, and compare line by line."""
    found = Collector("card", "error")
    _ = context.manifest  # other layouts have no card of ours
    path = context.directory / "README.md"
    if not path.is_file():
        found.add("the card is missing", side("README.md", "README.md"))
        return found.outcome(0)
    published = path.read_text(encoding="utf-8", errors="replace")
    if published.count("\n") > _MOST_LINES:
        found.add(f"the card has more than {_MOST_LINES} lines", side("README.md", "README.md"))
        return found.outcome(0)
    prose = card.prose_of(published)
    for section in card.PROSE:
        if not prose.get(section, "").strip():
            found.add(f"the card has no '{section}' section", side("README.md", section))
            prose[section] = ""
    numbers = facts.compute(context.directory, context.query)
    for name, count in sorted(context.manifest.counts.items()):
        if numbers["counts"].get(name) != count:
            found.add(
                f"release.json counts {count} {name}; the data have {numbers['counts'].get(name)}",
                side("release.json", name),
            )
    if any(row["license"] is None for row in numbers["licences"]):
        raise CannotRun("rows without a licence leave the card's licence undefined")
    expected = card.render(context.manifest, numbers, prose)
    lines, wanted = published.splitlines(), expected.splitlines()
    for kind, start, end, other, until in difflib.SequenceMatcher(None, lines, wanted, False).get_opcodes():
        if kind != "equal":
            found.add(
                "the card does not say what the data say",
                side("README.md", f"line {start + 1}", "\n".join(lines[start:end])),
                side("data", f"line {other + 1}", "\n".join(wanted[other:until])),
            )
    figure = context.directory / FIGURE
    drawn = figure.read_text(encoding="utf-8", errors="replace") if figure.is_file() else None
    if drawn != plots.figure(numbers):
        found.add("the card's figure does not show what the data say", side(FIGURE, FIGURE))
    return found.outcome(len(wanted))


def _changed_bytes(directory: Path) -> Sequence[str] | None:
    path = table_file(directory, "corpus")
    if path is None:
        return None
    path.write_bytes(path.read_bytes() + b"\0")
    return [path.relative_to(directory).as_posix()]


def _further_file(directory: Path) -> Sequence[str] | None:
    (directory / "canary.txt").write_text("canary", encoding="utf-8")
    return ["canary.txt"]


def _lost_file(directory: Path) -> Sequence[str] | None:
    path = table_file(directory, "qrels")
    if path is None:
        return None
    path.unlink()
    return [path.relative_to(directory).as_posix()]


def _forged(directory: Path) -> Sequence[str] | None:
    named = manifest(title="canary")(directory)
    return named and ["release_hash"]


def _edited_number(directory: Path) -> Sequence[str] | None:
    """One number of the card, edited by hand; the finding names its line."""
    path = directory / "README.md"
    if not path.is_file():
        return None
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    for number, line in enumerate(lines):
        if line.startswith("| corpus | "):
            lines[number] = "| corpus | 999,999,999 |\n"
            path.write_text("".join(lines), encoding="utf-8", newline="\n")
            return [f"line {number + 1}"]
    return None


def _without_card(directory: Path) -> Sequence[str] | None:
    path = directory / "README.md"
    path.unlink(missing_ok=True)
    return ["README.md"]


def _without_section(directory: Path) -> Sequence[str] | None:
    path = directory / "README.md"
    if not path.is_file():
        return None
    text = path.read_text(encoding="utf-8").replace("<!-- prose:limitations -->", "")
    path.write_text(text, encoding="utf-8", newline="\n")
    return ["limitations"]


def _other_count(directory: Path) -> Sequence[str] | None:
    path = directory / NAME
    if not path.is_file():
        return None
    content = json.loads(path.read_text(encoding="utf-8"))
    content["counts"]["queries"] += 1
    path.write_text(json.dumps(content), encoding="utf-8")
    return ["queries"]


RULES = (
    Rule(
        "file_hashes",
        1,
        "Files are as released",
        "Every file is listed in release.json with the hash it has, and release.json fits its own hash.",
        "error",
        "files",
        _hashes,
        canaries=(
            Canary("a byte added to a file", files=_changed_bytes),
            Canary("a file that is not listed", files=_further_file),
            Canary("a listed file that is missing", files=_lost_file),
            Canary("release.json edited by hand", files=_forged),
        ),
    ),
    Rule(
        "card",
        1,
        "The card is true",
        (
            "The card is rendered again from the data; apart from its prose, every line must be "
            "equal, numbers included."
        ),
        "error",
        "lines",
        _counts,
        canaries=(
            Canary("a number edited in the card", files=_edited_number),
            Canary("a card without its limitations", files=_without_section),
            Canary("no card", files=_without_card),
            Canary("a count edited in release.json", files=_other_count),
        ),
    ),
)
