"""Rules on the files themselves: hashes, and a card whose every number is computed again."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from curation.audit.dataset import card_facts
from curation.audit.rule import (
    CannotRun,
    Check,
    Collector,
    Context,
    Defect,
    FileDefect,
    Outcome,
    Rule,
    side,
    since,
)
from curation.published.manifest import NAME, hash_files
from curation.release import card, credit, example, plots
from curation.release.facts import COUNTED, Facts
from curation.release.results import FIGURE
from schemas.hashing import sha256_text

_MOST_LINES = 20_000
Hashes = Mapping[str, str]


def _of_files(message: str, wrong: Callable[[Hashes, Hashes], set[str]], defect: Defect) -> Check:
    """Which files are unlike: told from the hashes release.json lists, and those there are."""

    def test(context: Context) -> Outcome:
        found = Collector("file_hashes", "error")
        stated = context.manifest.files
        actual = context.subject.files or hash_files(context.directory)
        for name in sorted(wrong(stated, actual)):
            sides = [side(NAME, name)]
            if name in stated and name in actual:
                sides = [side(NAME, name, stated[name]), side("files", name, actual[name])]
            found.add(f"{message}: {name}", *sides)
        return found.outcome(0)

    return Check(message, test, defect)


def _forged(context: Context) -> Outcome:
    found = Collector("file_hashes", "error")
    stated, actual = context.manifest.release_hash, context.manifest.computed_hash()
    if stated != actual:
        sides = side(NAME, "release_hash", stated), side("data", "release_hash", actual)
        found.add("release.json was changed: its own hash does not fit its content", *sides)
    return found.outcome(0)


_FILE = "canary.txt"
_NAMED = f"SELECT '{_FILE}'"


def _write(name: str, text: str) -> Callable[[Path, Sequence[str]], None]:
    """Writes a file into the directory."""

    def write(directory: Path, ids: Sequence[str]) -> None:
        path = directory / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")

    return write


HASHES = (
    _of_files(
        "the file is listed but missing",
        lambda stated, actual: stated.keys() - actual.keys(),
        Defect("a listed file that is missing", _NAMED, stated={"files": {_FILE: ""}}),
    ),
    _of_files(
        "the file is not listed in release.json",
        lambda stated, actual: actual.keys() - stated.keys(),
        Defect("a file that is not listed", _NAMED, stated={"files": {}}, files=_write(_FILE, "canary")),
    ),
    _of_files(
        "the file's bytes are not those release.json lists",
        lambda stated, actual: {
            name for name in stated.keys() & actual.keys() if stated[name] != actual[name]
        },
        Defect(
            "a byte added to a file",
            _NAMED,
            stated={"files": {_FILE: sha256_text("canary")}},
            files=_write(_FILE, "canary\0"),
        ),
    ),
    Check(
        "release.json was changed: its own hash does not fit its content",
        _forged,
        Defect("release.json edited by hand", "SELECT 'release_hash'", stated={"title": "canary"}),
    ),
)


def _published(context: Context, name: str = card.README) -> str | None:
    """The card or a page beside it, None when there is none."""
    since(4, context, "card")  # other layouts have no card of ours
    path = context.directory / name
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else None


def _comparable(context: Context) -> str | None:
    """The card, None when there is none or it is too long to be compared."""
    text = _published(context)
    return None if text is None or text.count("\n") > _MOST_LINES else text


def _whole(context: Context) -> Outcome:
    """A card or page that is missing, or a card too long to be compared."""
    found = Collector("card", "error")
    for name in card.PAGES:
        if _published(context, name) is None:
            found.add("the card is missing", side(name, name))
    if _published(context) is not None and _comparable(context) is None:
        found.add(f"the card has more than {_MOST_LINES} lines", side(card.README, card.README))
    return found.outcome(0)


def _lacking(context: Context) -> Outcome:
    """Sections of prose that a card does not have."""
    found = Collector("card", "error")
    published = _comparable(context)
    prose = card.prose_of(published or "")
    for section in card.PROSE if published is not None else ():
        if not prose.get(section, "").strip():
            found.add(f"the card has no '{section}' section", side(card.README, section))
    return found.outcome(0)


def _other_counts(context: Context) -> Outcome:
    """Counts of release.json that are not those of the data."""
    found = Collector("card", "error")
    stated = sorted(context.manifest.counts.items())
    counts = (
        f"SELECT '{name}' AS name, count(*) AS n FROM {name}" for name in COUNTED if name in context.views
    )
    actual = {row["name"]: row["n"] for row in context.select(" UNION ALL ".join(counts))}
    for name, count in stated:
        if actual.get(name) != count:
            said = f"release.json counts {count} {name}; the data have {actual.get(name)}"
            found.add(said, side(NAME, name))
    return found.outcome(0)


def _facts(context: Context) -> Facts:
    return card_facts(context.directory, context.subject.files, context.query, context.shared)


def _other_lines(context: Context) -> Outcome:
    """Make card, pages and credits again from the data, keeping what people wrote; compare line by line."""
    found = Collector("card", "error")
    published = _comparable(context)
    if published is None:
        return found.outcome(0)
    numbers = _facts(context)
    if any(row["license"] is None for row in numbers["licences"]):
        raise CannotRun("rows without a licence leave the card's licence undefined")
    stated = card.prose_of(published)
    prose = {name: stated[name] if stated.get(name, "").strip() else "" for name in card.PROSE}
    files = context.subject.files or hash_files(context.directory)
    citation = credit.stated(context.directory)
    wanted = card.texts(context.directory, context.manifest, numbers, prose, context.query, citation, files)
    for name, text in wanted.items():
        _compare(found, name, _published(context, name), text)
    return found.outcome(sum(text.count("\n") for text in wanted.values()))


def _compare(found: Collector, name: str, published: str | None, wanted: str) -> None:
    """Where a page differs from what it should be; one that is missing is told of as a whole."""
    if published == wanted or (published is None and name in card.PAGES):
        return
    lines, others = (published or "").splitlines(), wanted.splitlines()
    if len(lines) > _MOST_LINES or len(others) > _MOST_LINES:  # comparing them would take minutes
        found.add("the card does not say what the data say", side(name, name))
        return
    for kind, start, end, other, until in difflib.SequenceMatcher(None, lines, others, False).get_opcodes():
        if kind != "equal":
            found.add(
                "the card does not say what the data say",
                side(name, f"line {start + 1}", "\n".join(lines[start:end])),
                side("data", f"line {other + 1}", "\n".join(others[other:until])),
            )


def _other_figure(context: Context) -> Outcome:
    found = Collector("card", "error")
    if _comparable(context) is not None:
        figure = context.directory / FIGURE
        drawn = figure.read_text(encoding="utf-8", errors="replace") if figure.is_file() else None
        if drawn != plots.figure(_facts(context)):
            found.add("the card's figure does not show what the data say", side(FIGURE, FIGURE))
        for name in example.unlike(context.directory, _facts(context)["example"]):
            found.add("the card's figure does not show what the data say", side(name, name))
    return found.outcome(0)


def _in_card(
    change: Callable[[str], tuple[str, str]], name: str = card.README
) -> Callable[[Path], Sequence[str] | None]:
    """Damages a page; it is told the text, and says what it is then and what must be named."""

    def damage(directory: Path) -> Sequence[str] | None:
        path = directory / name
        if not path.is_file():
            return None
        text, named = change(path.read_text(encoding="utf-8"))
        path.write_text(text, encoding="utf-8", newline="\n")
        return [named]

    return damage


def _edited(line: str) -> Callable[[str], tuple[str, str]]:
    """States another number in the first line that begins so."""

    def edit(text: str) -> tuple[str, str]:
        lines = text.split("\n")
        at = next(number for number, other in enumerate(lines) if other.startswith(line))
        lines[at] = f"{line}999,999,999 |"
        return "\n".join(lines), f"line {at + 1}"

    return edit


def _uncredited(text: str) -> tuple[str, str]:
    """One article less to be credited."""
    lines = text.split("\n")
    del lines[-2]
    return "\n".join(lines), f"line {len(lines)}"


def _lost(name: str) -> Callable[[Path], Sequence[str]]:
    def lose(directory: Path) -> Sequence[str]:
        (directory / name).unlink(missing_ok=True)
        return [name]

    return lose


def _other_drawing(name: str) -> Callable[[Path], Sequence[str]]:
    def draw(directory: Path) -> Sequence[str]:
        _write(name, "<svg/>")(directory, ())
        return [name]

    return draw


TRUE_CARD = (
    Check(
        "the card is missing, or too long to be compared",
        _whole,
        (
            FileDefect("no card", _lost(card.README)),
            FileDefect("no page on its labels", _lost("card/labels.md")),
            Defect(
                "a card of very many lines",
                f"SELECT '{card.README}'",
                files=_write(card.README, "\n" * (_MOST_LINES + 1)),
            ),
        ),
    ),
    Check(
        "the card lacks a section",
        _lacking,
        FileDefect(
            "a card without its limitations",
            _in_card(lambda text: (text.replace("<!-- prose:limitations -->", ""), "limitations")),
        ),
    ),
    Check(
        "release.json counts other rows than the data have",
        _other_counts,
        Defect("a count edited in release.json", "SELECT 'queries'", stated={"counts": {"queries": -1}}),
    ),
    Check(
        "the card does not say what the data say",
        _other_lines,
        (
            FileDefect("a number edited in the card", _in_card(_edited("| documents | "))),
            FileDefect("a number edited on a page", _in_card(_edited("| corpus | "), "card/origin.md")),
            FileDefect("an article that is not credited", _in_card(_uncredited, credit.ATTRIBUTION)),
        ),
    ),
    Check(
        "the card's figure does not show what the data say",
        _other_figure,
        (
            FileDefect("a figure that was not drawn from the data", _other_drawing(FIGURE)),
            FileDefect(
                "an image that the example does not have", _other_drawing(f"{example.FILES}other.png")
            ),
        ),
    ),
)
RULES = (
    Rule(
        "file_hashes",
        1,
        "Files are as released",
        "Every file is listed in release.json with the hash it has, and release.json fits its own hash.",
        "error",
        "files",
        checks=HASHES,
        compared=lambda context: f"FROM range({len(context.manifest.files)})",
    ),
    Rule(
        "card",
        1,
        "The card is true",
        "The card, its pages, credits and croissant.json are made again from the data; apart from prose, "
        "every line must be equal, numbers included.",
        "error",
        "lines",
        checks=TRUE_CARD,
    ),
)
