"""Checks: none without a defect, each proven by its own alone, and one that breaks harms no other."""

from __future__ import annotations

import dataclasses
import errno
import os
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pytest

from curation.audit import RULES, audit, defects
from curation.audit.checks import run_checks
from curation.audit.dataset import open_release
from curation.audit.executor import SerialExecutor
from curation.audit.report import run_rule
from curation.audit.rule import (
    Check,
    Collector,
    Context,
    Defect,
    FileDefect,
    NotApplicable,
    Outcome,
    Rule,
    side,
)
from curation.audit.rules.planting import add_row, drop_row, set_row
from curation.published.query import fetch
from schemas.audit import CanaryResult
from schemas.errors import MedqrelsError
from tests.curation.audit.small import check, dataset, named, qrels, queries, texts
from tests.curation.release.known import run_sql

UNTITLED = Check(
    "untitled",
    "SELECT id AS c FROM corpus WHERE title = ''",
    Defect("a title lost", set_row("corpus", "title = ''")),
)
TWICE = Check(
    "{n} times there",
    "SELECT id AS q, count(*) AS n FROM queries GROUP BY id HAVING count(*) > 1",
    Defect("a query twice", add_row("queries")),
)
BLIND = dataclasses.replace(TWICE, test="SELECT id AS q FROM queries WHERE false")
BROKEN = Check("broken", "SELECT nothing FROM nowhere", Defect("a query lost", drop_row("queries")))


def rule(*checks: Check, **more: object) -> Rule:
    return Rule("some", 1, "Some", "Some rule.", "error", "rows", checks=checks, **more)  # type: ignore[arg-type]


def proven(directory: Path, scratch: Path, *rules: Rule) -> dict[str, CanaryResult]:
    context = Context(open_release(directory), run_sql, scratch / "scratch", SerialExecutor())
    return {item.canary: item for item in defects.run(rules, context, run_rule)}


def test_a_check_without_a_defect_cannot_be_made() -> None:
    with pytest.raises(TypeError, match="defect"):
        Check("unproven", "SELECT 1")  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="'unproven' names no defect"):
        Check("unproven", "SELECT 1", ())
    with pytest.raises(ValueError, match="two defects alike"):
        rule(TWICE, TWICE)


def test_each_check_is_proven_by_its_own_defect_alone(known: Path, tmp_path: Path) -> None:
    found = proven(known, tmp_path, rule(UNTITLED, TWICE))
    assert {name: (item.is_found, item.note) for name, item in found.items()} == {
        "a title lost": (True, ""),
        "a query twice": (True, ""),
    }


def test_no_other_check_of_the_rule_speaks_for_a_blind_one(known: Path, tmp_path: Path) -> None:
    other = Check("there again", TWICE.test, Defect("the second query twice", add_row("queries", at=1)))
    report = audit(known, run_sql, rules=[rule(BLIND, other)])
    assert {item.canary: item.is_found for item in report.canaries} == {
        "a query twice": False,
        "the second query twice": True,
    }
    assert (report.verdict, report.rules[0].status) == ("invalid", "unproven")


def test_every_check_that_is_blind_makes_the_audit_invalid(known: Path, tmp_path: Path) -> None:
    """Whatever is left out of a rule's SQL: here all of it, of each check of every rule."""
    blind = [
        dataclasses.replace(
            item,
            id=f"{item.id}-{place}",
            checks=(dataclasses.replace(check, test=lambda given: Outcome(1, 0), of=""),),
        )
        for item in RULES
        for place, check in enumerate(item.checks)
        if all(isinstance(proof, Defect) for proof in check.defects)
    ]
    context = Context(open_release(known), run_sql, tmp_path / "scratch", SerialExecutor())
    found = defects.run(blind, context, run_rule)
    assert len(found) >= len(blind) > 50
    assert [item for item in found if item.is_found] == []


def test_a_full_disk_ends_the_audit_and_is_no_finding(known: Path, tmp_path: Path) -> None:
    """A release that could not be looked at is not said to be invalid."""

    def full(given: Context) -> Outcome:
        raise MedqrelsError("the SQL failed") from OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def fills(directory: Path) -> Sequence[str]:
        raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))

    for checks in (dataclasses.replace(TWICE, test=full), Check("fills", TWICE.test, FileDefect("f", fills))):
        with pytest.raises(OSError, match=r"No space|quota"):
            audit(known, run_sql, rules=[rule(checks)])


def _new(name: str, query: str, plant: str = "", second: str = "") -> Defect:
    """A query without a text, or what else is planted."""
    insert = f"INSERT INTO {'second.' if second else ''}queries BY NAME SELECT '{query}' AS id, '' AS text"
    return Defect(name, f"{plant or insert}; SELECT '{query}' AS id", second=second)


def test_defects_in_rows_of_their_own_are_planted_at_once(known: Path, tmp_path: Path) -> None:
    """Those beside a second dataset apart; what has no place in the copy goes into invented rows."""
    ran: list[tuple[str, bool, int]] = []

    def untold(given: Context) -> Outcome:
        found = Collector("some", "error")
        for held in (given.subject, *given.siblings):
            asked = {"queries": held.views["queries"]}
            rows = fetch(given.query, "SELECT id FROM queries WHERE text = '' ORDER BY id", asked)
            for row in rows:
                found.add("no text", side("queries", row["id"]))
        ran.append((given.subject.name, bool(given.siblings), found.found))
        return found.outcome(1)

    lost = "DELETE FROM restricted_names"  # the known release has no such table
    defects = (
        _new("one", "canary:1"),
        _new("beside", "canary:2", second="sibling"),
        _new(
            "of no place",
            "canary:3",
            f"{lost}; INSERT INTO queries BY NAME SELECT 'canary:3' AS id, '' AS text",
        ),
        _new("two", "canary:4"),
        _new("never found", "canary:5", "SELECT 1"),
        _new("another beside", "canary:6", second="sibling"),
    )
    found = proven(known, tmp_path, rule(Check("no text", untold, defects, at_once=True)))
    assert [name for name, item in found.items() if not item.is_found] == ["never found"]
    notes = {name: item.note for name, item in found.items() if item.is_found}
    assert notes.pop("of no place") == "planted in invented rows: nothing there it could be planted in"
    assert set(notes.values()) == {""}
    own = open_release(known).name
    assert ran == [
        (own, False, 2), ("invented", False, 1), (own, True, 2), (own, False, 0),
    ]  # fmt: skip


def _beside(name: str, role: str) -> Defect:
    plant = f"INSERT INTO second.queries BY NAME SELECT '{name}' AS id RETURNING id"
    return Defect(name, plant, second=role)


def test_defects_are_planted_at_once_beside_one_second_dataset_each(known: Path, tmp_path: Path) -> None:
    ran: list[list[str]] = []

    def seen(context: Context) -> Outcome:
        found = Collector("some", "error")
        for other in (*context.siblings, *context.against):
            for row in fetch(context.query, "SELECT id FROM queries ORDER BY id", other.views):
                found.add("there too", side("queries", row["id"]))
        ran.append([item.sides[0].id for item in found.kept])
        return found.outcome(1)

    roles = {"s1": "sibling", "a1": "against", "s2": "sibling", "a2": "against"}
    proofs = tuple(_beside(name, role) for name, role in roles.items())
    found = proven(known, tmp_path, rule(Check("there too", seen, proofs, at_once=True)))
    assert ran == [["s1", "s2"], ["a1", "a2"]]
    assert [(name, item.is_found, item.note) for name, item in found.items()] == [
        (name, True, "") for name in roles
    ]


def test_what_has_no_place_in_the_release_is_planted_at_once_in_invented_rows(
    known: Path, tmp_path: Path
) -> None:
    ran: list[str] = []
    tables = ("queries", "distractors", "corpus", "pools")

    def empty(context: Context) -> str:
        ran.append(context.subject.name)
        return " UNION ALL ".join(
            f"SELECT '{table}' AS q WHERE NOT EXISTS (FROM {table})"
            for table in tables
            if table in context.views
        )

    proofs = tuple(Defect(table, f"DELETE FROM {table}; SELECT '{table}'") for table in tables)
    found = proven(known, tmp_path, rule(Check("empty", empty, proofs, at_once=True)))
    assert len(ran) == 2
    elsewhere = "planted in invented rows: nothing there it could be planted in"
    assert {name: (item.is_found, item.note) for name, item in found.items()} == {
        "queries": (True, ""), "corpus": (True, ""), "pools": (True, elsewhere),
        "distractors": (True, elsewhere),
    }  # fmt: skip


def test_a_finding_that_names_rows_of_two_defects_speaks_for_neither(known: Path, tmp_path: Path) -> None:
    ran: list[int] = []

    def lumped(context: Context) -> Outcome:
        found = Collector("some", "error")
        rows = context.select("SELECT id FROM queries WHERE text = '' ORDER BY id")
        ran.append(len(rows))
        if rows:
            found.add("no text", *(side("queries", row["id"]) for row in rows))
        return found.outcome(1)

    proofs = tuple(Defect(f"text {at} lost", set_row("queries", "text = ''", at=at)) for at in (0, 1))
    found = proven(known, tmp_path, rule(Check("no text", lumped, proofs, at_once=True)))
    assert ran == [2, 0, 1, 1], "at once, before anything is planted, each alone"
    assert all(item.is_found for item in found.values())


def test_a_check_that_breaks_is_said_and_harms_no_other(known: Path, tmp_path: Path) -> None:
    found = proven(known, tmp_path, rule(BROKEN, TWICE))
    assert not found["a query lost"].is_found
    assert "not_run" in found["a query lost"].note and "nowhere" in found["a query lost"].note
    assert found["a query twice"].is_found and found["a query twice"].note == ""


def test_a_defect_that_breaks_or_has_no_place_is_said(known: Path, tmp_path: Path) -> None:
    found = proven(
        known,
        tmp_path,
        rule(
            dataclasses.replace(
                TWICE,
                defect=(
                    Defect("no such column", "UPDATE queries SET canary = 1 RETURNING id"),
                    Defect("no row", "UPDATE queries SET text = '' WHERE false RETURNING id"),
                    Defect("half planted", "DELETE FROM queries; SELECT error('on purpose')"),
                    Defect("whole", add_row("queries")),
                ),
            )
        ),
    )
    assert {name: item.is_found for name, item in found.items()} == {
        "no such column": False, "no row": False, "half planted": False, "whole": True,
    }  # fmt: skip
    assert "on purpose" in found["half planted"].note
    assert found["no row"].note.startswith("nothing there")
    assert "canary" in found["no such column"].note


def test_what_was_planted_is_undone_in_tables_and_views(known: Path) -> None:
    sandbox = run_sql.sandbox()
    given = open_release(known)
    rows = [{"id": name} for name in "abc"]
    sandbox.load("own", {"queries": pa.Table.from_pylist(rows), "beside": pa.table({"n": [1]})})
    sandbox.load("other", {"queries": pa.Table.from_pylist(rows[:1])})
    for _ in range(2):
        with pytest.raises(MedqrelsError), sandbox.undone("own"):
            assert sandbox.run(drop_row("queries")) == [{"id": "a"}]
            sandbox.insert("queries", [{"id": "d"}])
            assert sandbox.run("SELECT count(*) AS n FROM queries") == [{"n": 3}]
            assert sandbox.fetch("FROM asked", {"asked": given.views["qrels"]})
            sandbox.run("SELECT nothing")
        with sandbox.undone("own"):
            assert sandbox.run("FROM queries") == rows
        with sandbox.undone("other"):
            assert sandbox.run("FROM queries") == rows[:1]
    sandbox.close()


def test_conditions_on_one_select_are_counted_in_one_scan(tmp_path: Path) -> None:
    asked: list[str] = []

    def noting(text: str, views: object) -> object:
        asked.append(text)
        return run_sql(text, views)  # type: ignore[arg-type]

    of = "SELECT id AS c, length(text) AS n, text FROM corpus"
    defect = Defect("a text lost", set_row("corpus", "text = ''"))
    short = Check("{n} letters", "n < 3", defect, of)
    missing = Check("no text", "n IS NULL", dataclasses.replace(defect, name="another"), of)
    subject = dataset(tmp_path, {"corpus": texts(("d1", "ab"), ("d2", "abc"), ("d3", ""))})
    result = check(rule(short, missing, compared="FROM corpus"), subject, tmp_path, noting)
    assert [(item.message, item.sides[0].id, item.sides[0].quote) for item in result.findings] == [
        ("2 letters", "d1", "ab"), ("0 letters", "d3", ""),
    ]  # fmt: skip
    assert (result.found, result.compared, len(asked)) == (2, 3, 3)


def test_a_part_of_a_text_is_quoted(tmp_path: Path) -> None:
    text = """SELECT id AS c, text, strpos(text, 'é') - 1 AS start, start + 1 AS "end" FROM corpus"""
    marked = Check("é", text, Defect("a text with é", set_row("corpus", "text = 'é'")))
    subject = dataset(tmp_path, {"corpus": texts(("d1", "e\u0301 and \U0001f600 é"))})
    (finding,) = check(rule(marked, compared="FROM corpus"), subject, tmp_path).findings
    assert [(item.quote, item.start, item.end) for item in finding.sides] == [("é", 9, 10)]


def test_what_a_rule_needs_is_said(tmp_path: Path) -> None:
    subject = dataset(tmp_path, {"queries": queries(("q1", "One?")), "qrels": qrels(("q1", "d1"))})
    about = rule(TWICE, about=("pools",), holds="pools")
    assert check(about, subject, tmp_path).note == "the files hold no pools"
    result = check(rule(TWICE, tables=("corpus",), compared="FROM queries"), subject, tmp_path)
    assert (result.status, result.note) == ("not_run", "table absent: corpus")
    foreign = dataclasses.replace(subject, kind="beir", manifest=None)
    assert check(rule(TWICE, tables=("corpus",)), foreign, tmp_path).status == "not_covered"
    with pytest.raises(NotApplicable):
        run_checks(about, Context(subject, run_sql, tmp_path, SerialExecutor()))
    assert named(result) == set()


def test_a_file_may_be_damaged_for_a_check_too(known: Path, tmp_path: Path) -> None:
    def lost(directory: Path) -> list[str]:
        (directory / "README.md").unlink()
        return ["README.md"]

    def card(context: Context) -> Outcome:
        found = Collector("some", "error")
        if not (context.directory / "README.md").is_file():
            found.add("lost", side("README.md", "README.md"))
        return found.outcome(1)

    found = proven(known, tmp_path, rule(Check("no card", card, FileDefect("a card lost", lost))))
    assert found["a card lost"].is_found and found["a card lost"].note == ""
