"""Rules on the files themselves: hashes, and a card whose every number is computed again."""

from __future__ import annotations

import difflib

from curation.release import card, facts
from curation.release.audit.rule import CannotRun, Collector, Context, Outcome, Rule, side
from curation.release.manifest import hash_files


def _hashes(context: Context) -> Outcome:
    found = Collector("file_hashes", "error")
    actual, stated = hash_files(context.directory), context.manifest.files
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
    path = context.directory / "README.md"
    if not path.is_file():
        found.add("the card is missing", side("README.md", "README.md"))
        return found.outcome(0)
    published = path.read_text(encoding="utf-8", errors="replace")
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
    return found.outcome(len(wanted))


RULES = (
    Rule(
        "file_hashes",
        1,
        "Files are as released",
        ("Every file is listed in release.json with the hash it has, and release.json fits its own hash."),
        "error",
        "files",
        _hashes,
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
    ),
)
