"""docs/glossary.md is kept: none of the words it rules out stands in text that users see."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
GLOSSARY = ROOT / "docs/glossary.md"
GENERATED_ELSEWHERE = {"records.md", "tables.md"}
"""Pages generated from names and texts that are released."""
MESSAGES = ("schemas", "sources", "flows", "annotation", "curation/audit", "curation/evaluation")
"""Where messages, helps and page texts come from; what tasks and releases say is released text."""
SQL = re.compile(r"\b(?:SELECT|CREATE|WHERE|FROM|VALUES|UPDATE|CASE|AS readers)\b|'canary|canary:|canary.png")


@dataclass(frozen=True, slots=True)
class Allowed:
    """A line that may keep a word, and why. One that is no longer needed fails the test."""

    file: str
    text: str
    why: str


EXCEPTIONS = (
    Allowed("docs/tasks.md", "or shows its picture", "text of an exclusion code, released in release.json"),
    Allowed("flows/review/copies.py", "show the same picture", "detail of a drop, released"),
    Allowed("annotation/verdicts.py", "a third person gave this grade", "text of a verdict rule, released"),
    Allowed("sources/archives.py", "its directory is larger", "the central directory of a zip archive"),
    Allowed("docs/rules.md", "## funnel", "id of a rule, published in audit.json"),
    Allowed("curation/audit/rules/restricted.py", "ICD10:canary", "an invented concept"),
    Allowed("curation/audit/rules/leakage.py", "canary", "an invented name of a disease"),
    Allowed("curation/audit/rules/leakage.py", "CANARY'S", "the same"),
    Allowed("curation/audit/rules/overlap_defects.py", "canary ", "an invented query"),
    Allowed("curation/audit/rules/overlap_defects.py", "Canary,", "the same"),
    Allowed("curation/audit/rules/privacy_defects.py", "Canary", "an invented name of a person"),
    Allowed("curation/audit/rules/privacy_defects.py", "canary@", "the same"),
)


def rows() -> list[list[str]]:
    """Cells of every row of the glossary."""
    lines = GLOSSARY.read_text("utf-8").splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    return [row for row in cells if row[0] not in ("word", "---")]


def forbidden() -> dict[str, str]:
    """Each word ruled out, and the one to use."""
    return {word: row[0] for row in rows() for word in re.findall(r"`([^`]+)`", row[3])}


def documents() -> Iterator[tuple[Path, str]]:
    """Lines of the pages that people read."""
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    for path in pages:
        if path != GLOSSARY and path.name not in GENERATED_ELSEWHERE | {"CHANGELOG.md"}:
            for line in path.read_text("utf-8").splitlines():
                yield path, line
    for folder in MESSAGES:
        for path in (ROOT / folder).rglob("*.jinja"):
            if ".css" not in path.name:
                text = re.sub(r"<[^>]*>|\{[{%#].*?[}%#]\}", "\n", path.read_text("utf-8"), flags=re.DOTALL)
                for line in text.splitlines():
                    yield path, line


def messages() -> Iterator[tuple[Path, str]]:
    """Strings of several words in the code that speaks to users, docstrings and SQL apart.

    Of schemas/ only errors: what it says of columns and grades is released.
    """
    for folder in MESSAGES:
        for path in sorted((ROOT / folder).rglob("*.py")):
            tree = ast.parse(path.read_text("utf-8"))
            silent = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
            silent |= {id(text) for text in _within(tree, _is_column)}
            spoken = _within(tree, _is_raise) if folder == "schemas" else ast.walk(tree)
            for node in spoken:
                text = node.value if isinstance(node, ast.Constant) and id(node) not in silent else None
                if isinstance(text, str) and " " in text.strip() and not SQL.search(text):
                    yield path, text


def _within(tree: ast.Module, wanted: Callable[[ast.AST], bool]) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        if wanted(node):
            yield from ast.walk(node)


def _is_raise(node: ast.AST) -> bool:
    return isinstance(node, ast.Raise)


def _is_column(node: ast.AST) -> bool:
    """What declares a column: its text stands in the files that are written."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "column"


def test_every_word_is_defined_once_and_in_a_sentence() -> None:
    words = [part.strip() for row in rows() for part in row[0].split(",")]
    assert len(words) == len(set(words)) > 50
    for row in rows():
        assert len(row) == 4 and row[1].endswith(".") and row[2], row
    assert not set(forbidden()) & set(words)


def test_words_the_glossary_rules_out_are_not_used() -> None:
    instead = forbidden()
    pattern = re.compile(rf"(?<![\w`/.-])({'|'.join(map(re.escape, instead))})(?![\w`/-])", re.IGNORECASE)
    used: set[Allowed] = set()
    wrong = []
    for path, text in [*documents(), *messages()]:
        name = path.relative_to(ROOT).as_posix()
        allowed = [item for item in EXCEPTIONS if item.file == name and item.text in text]
        used.update(allowed)
        for item in allowed:
            text = text.replace(item.text, "")
        wrong += [
            f"{name}: {found} (write: {instead[found.lower()]}): {text.strip()[:100]}"
            for found in pattern.findall(text)
        ]
    assert not wrong, "\n".join(wrong)
    idle = [item for item in EXCEPTIONS if item not in used and (ROOT / item.file).is_file()]
    assert not idle, f"not needed: {idle}"
