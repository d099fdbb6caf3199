"""Every rule finds what is planted for it; a rule that finds nothing makes the audit invalid, by name."""

from __future__ import annotations

import dataclasses
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curation.audit import RULES, audit, copying, defects, invented, shared_out
from curation.audit.dataset import Dataset, open_release
from curation.audit.executor import SerialExecutor
from curation.audit.report import run_rule
from curation.audit.rule import Collector, Context, Defect, FileDefect, NotCovered, Outcome, Rule, side
from curation.audit.rules import evidence, files, integrity, rights
from curation.audit.verify import to_bytes
from curation.published.query import Sandbox
from schemas.audit import AuditReport, CanaryResult
from tests.curation.release.known import edit, run_sql

MINE = (*files.RULES, *integrity.RULES, *rights.RULES, *evidence.RULES)
HOSTILE = 'it\'s "quoted"\n<b>&amp;\u202e; DROP TABLE queries --'


def context(subject: Dataset, scratch: Path, shared: Shared | None = None) -> Context:
    held = {} if shared is None else shared
    return Context(subject, run_sql, scratch, SerialExecutor(), shared=held)


def planted(
    rules: Sequence[Rule], directory: Path, scratch: Path, shared: Shared | None = None
) -> tuple[CanaryResult, ...]:
    scratch = scratch / "scratch"
    found = defects.run(rules, context(open_release(directory), scratch, shared), run_rule)
    assert not any(scratch.iterdir()), "nothing may be left behind"
    return found


Proof = dict[str, list[CanaryResult]]
Shared = dict[tuple[str, ...], Any]
each_rule = pytest.mark.parametrize("rule", RULES, ids=[rule.id for rule in RULES])


def by_rule(found: Sequence[CanaryResult]) -> Proof:
    return {rule.id: [item for item in found if item.rule == rule.id] for rule in RULES}


@pytest.fixture(scope="module")
def shared() -> Shared:
    """As of one command: a defect is planted in invented rows once, whatever is audited."""
    return {}


@pytest.fixture(scope="module")
def report(known: Path, shared: Shared) -> AuditReport:
    """A whole audit of the known release."""
    return audit(known, run_sql, shared=shared)


@pytest.fixture(scope="module")
def proof(report: AuditReport) -> Proof:
    """What came of planting every defect."""
    return by_rule(report.canaries)


@pytest.fixture(scope="module")
def invented_proof(known: Path, tmp_path_factory: pytest.TempPathFactory, shared: Shared) -> Proof:
    """The same where the release has no rows: all is planted in the invented one."""
    folder = tmp_path_factory.mktemp("invented")
    shutil.copytree(known, folder / "copy")
    _empty(folder / "copy")
    return by_rule(planted(RULES, folder / "copy", folder, shared))


@pytest.fixture(scope="module")
def blind_report(known: Path) -> AuditReport:
    """An audit of rules that find nothing, whatever is planted."""
    return audit(known, run_sql, rules=[blinded(rule) for rule in RULES])


def blinded(rule: Rule) -> Rule:
    """The rule with the first of its checks, which finds nothing of its first defects."""
    first = dataclasses.replace(rule.checks[0], defect=rule.checks[0].defects[:2])
    return instead(dataclasses.replace(rule, checks=(first,)), lambda given: Outcome(1, 0))


def instead(rule: Rule, test: Callable[[Context], Outcome]) -> Rule:
    """The rule with another test in each of its checks."""
    checks = tuple(dataclasses.replace(check, test=test, of="") for check in rule.checks)
    return dataclasses.replace(rule, checks=checks, compared="", tables=(), about=())


def test_the_known_release_passes_every_rule(report: AuditReport) -> None:
    assert [item.rule for item in report.rules] == [rule.id for rule in RULES]
    said = {item.rule: item.status for item in report.rules if item.status != "passed"}
    assert set(said.values()) <= {"not_applicable", "not_asked"}, said
    assert report.verdict == "clean" and report.publishable


@each_rule
def test_every_rule_finds_its_defects(proof: Proof, rule: Rule) -> None:
    found = proof[rule.id]
    assert found and all(item.is_found for item in found), [item for item in found if not item.is_found]
    assert [item.canary for item in found] == [defect.name for defect in rule.defects]
    assert len({item.canary for item in found}) == len(found)


@each_rule
def test_a_rule_that_finds_nothing_makes_the_audit_invalid(blind_report: AuditReport, rule: Rule) -> None:
    """By name; that one such rule is enough is shown below."""
    assert blind_report.verdict == "invalid"
    (result,) = [item for item in blind_report.rules if item.rule == rule.id]
    assert result.status == "unproven"
    assert "did not find what was planted" in result.note
    assert not any(item.is_found for item in by_rule(blind_report.canaries)[rule.id])


def test_one_rule_that_finds_nothing_or_never_looks_makes_the_audit_invalid(known: Path) -> None:
    def absent(given: Context) -> Outcome:
        raise NotCovered("nothing to see here")

    sound, other = integrity.RULES[3:5]
    for check in (absent, lambda given: Outcome(1, 0)):
        report = audit(known, run_sql, rules=[instead(other, check), sound])
        assert report.verdict == "invalid"
        assert [item.status for item in report.rules] == ["unproven", "passed"]


def test_a_rule_that_flags_every_row_proves_nothing(known: Path, tmp_path: Path) -> None:
    """What it says of the damaged copy it said before anything was damaged."""

    def all_rows(given: Context) -> Outcome:
        found = Collector("short_texts", "warn")
        for table in ("queries", "corpus"):
            for row in given.rows(f"SELECT id FROM {table} ORDER BY id", table):
                found.add("something is wrong", side(table, row["id"]))
        return found.outcome(1)

    (rule,) = [item for item in MINE if item.id == "short_texts"]
    found = planted([instead(rule, all_rows)], known, tmp_path)
    assert not any(item.is_found for item in found)
    assert "before anything was planted" in found[0].note


def test_a_rule_without_checks_is_unproven(known: Path) -> None:
    bare = dataclasses.replace(MINE[0], checks=())
    report = audit(known, run_sql, rules=[bare])
    assert report.verdict == "invalid"
    assert "names no defect" in report.canaries[0].note


def test_a_defect_that_breaks_or_names_nothing_is_reported(known: Path, tmp_path: Path) -> None:
    def breaks(tables: Sandbox) -> Sequence[str]:
        raise KeyError("no such column")

    broken = (
        Defect("breaks", breaks),
        Defect("nothing", lambda tables: None),
        FileDefect("nameless", lambda directory: []),
    )
    (rule,) = [item for item in MINE if item.id == "dangling_ids"]
    check = dataclasses.replace(rule.checks[0], defect=broken, at_once=False)
    found = planted([dataclasses.replace(rule, checks=(check,))], known, tmp_path)
    assert [item.is_found for item in found] == [False, False, False]
    assert "KeyError" in found[0].note
    assert "nothing there" in found[1].note
    assert str(tmp_path) not in str(found)


def _torn(directory: Path) -> None:
    path = next((directory / "corpus").glob("*.parquet"))
    path.write_bytes(path.read_bytes()[:-50])


def _absent(directory: Path) -> None:
    shutil.rmtree(directory / "provenance" / "qrels")
    shutil.rmtree(directory / "excluded")


def _retyped(directory: Path) -> None:
    path = next((directory / "qrels").glob("*.parquet"))
    table = pq.read_table(path)
    place = table.column_names.index("score")
    pq.write_table(table.set_column(place, "score", table.column("score").cast(pa.string())), path)


def _empty(directory: Path) -> None:
    for folder in ("queries", "corpus", "qrels", "excluded"):
        edit(directory, folder, lambda rows: rows.clear())


def _without_card(directory: Path) -> None:
    (directory / "README.md").unlink()


def _unlicensed(directory: Path) -> None:
    edit(directory, "corpus", lambda rows: [row.update({"license": None}) for row in rows])


def _all_short(directory: Path) -> None:
    edit(directory, "corpus", lambda rows: [row.update({"text": "x"}) for row in rows])
    edit(directory, "queries", lambda rows: [row.update({"text": "y"}) for row in rows])


BROKEN = (_torn, _absent, _retyped, _empty, _without_card, _unlicensed, _all_short)
NOT_COPIED = (_torn, _empty)
"""Nothing is cut of these: all is planted in invented rows, as `invented_proof` has it for every rule."""


@pytest.mark.parametrize("damage", BROKEN, ids=[item.__name__[1:] for item in BROKEN])
def test_a_broken_release_does_not_make_the_rules_unproven(
    copy: Path, tmp_path: Path, damage: Callable[[Path], None], shared: Shared
) -> None:
    damage(copy)
    report = audit(copy, run_sql, rules=MINE, plant=damage not in NOT_COPIED, shared=shared)
    assert report.verdict == "findings"
    said = {"passed", "failed", "not_run"} | ({"not_applicable"} if damage is _empty else set())
    assert {item.status for item in report.rules} <= said
    found = planted(MINE[::6], copy, tmp_path, shared) if damage in NOT_COPIED else report.canaries
    assert found and all(item.is_found for item in found), [item for item in found if not item.is_found]


def test_hostile_ids_and_texts_are_copied_and_found(copy: Path, tmp_path: Path) -> None:
    path = next((copy / "queries").glob("*.parquet"))
    old = pq.read_table(path, columns=["id"]).column(0)[0].as_py()
    new = HOSTILE + old

    def rename(rows: list[dict[str, object]]) -> None:
        for row in rows:
            for name in ("id", "query-id"):
                if row.get(name) == old:
                    row[name] = new

    for folder in ("queries", "qrels", "excluded"):
        edit(copy, folder, rename)
    for folder in ("queries", "qrels", "keys"):
        edit(copy, f"provenance/{folder}", rename)
    given = context(open_release(copy), tmp_path)
    base = copying.cut(given, tmp_path / "cut")
    assert new in {row["id"] for row in base.rows["queries"]}
    assert new in {row["query-id"] for row in base.rows["qrels"]}
    report = audit(copy, run_sql, rules=integrity.RULES)
    assert [item for item in report.canaries if not item.is_found] == []


def test_the_cut_is_small_whole_and_in_the_same_splits(known: Path, tmp_path: Path) -> None:
    given = context(open_release(known), tmp_path)
    base = copying.cut(given, tmp_path / "cut")
    subject = base.stored(tmp_path)
    assert sorted(subject.views) == sorted([*given.views, "placed"])
    tables = run_sql.sandbox()
    tables.load(base.name, base.tables())
    with tables.undone(base.name):
        for rule in integrity.RULES:
            if rule.id not in ("schema", "shards"):  # of files
                result, _ = run_rule(rule, dataclasses.replace(given, subject=subject, query=tables))
                assert (result.status, result.found) == ("passed", 0), (rule.id, result.findings)
    tables.close()


def test_what_is_cut_are_published_tables() -> None:
    """A table of another name would be left out of every cut, and nobody would notice."""
    assert {*copying._filters(("q",), ("d",)), *copying._filters_of_rest(invented.rows())} <= {
        *copying.SECOND
    }


def _multiplied(times: int, *names: str) -> Callable[[list[dict[str, Any]]], None]:
    """Every row again and again, under other ids."""

    def multiply(rows: list[dict[str, Any]]) -> None:
        first = list(rows)
        rows[:] = [
            row | {name: f"{row[name]}-{number}" for name in names}
            for number in range(times)
            for row in first
        ]

    return multiply


def _many(directory: Path, queries: int, documents: int) -> None:
    """A release of many rows."""

    for folder in ("queries", "provenance/queries"):
        edit(directory, folder, _multiplied(queries, "id"))
    for folder in ("corpus", "provenance/corpus"):
        edit(directory, folder, _multiplied(documents, "id"))
    for folder in ("qrels", "excluded", "provenance/qrels"):
        edit(directory, folder, _multiplied(min(queries, documents), "query-id", "corpus-id"))
    edit(directory, "provenance/keys", _multiplied(queries, "query-id"))


def test_a_large_release_is_cut_in_sql(copy: Path, tmp_path: Path) -> None:
    _many(copy, 50, 100)
    asked: list[int] = []

    def counting(text: str, views: Mapping[str, Sequence[Path]]) -> Iterator[pa.RecordBatch]:
        for batch in run_sql(text, views):
            asked.append(batch.num_rows)
            yield batch

    given = Context(open_release(copy), counting, tmp_path, SerialExecutor())
    base = copying.cut(given, tmp_path / "cut")
    assert 4 <= len(base.rows["queries"]) <= 24
    assert 20 <= len(base.rows["corpus"]) <= 120
    assert {row["query-id"] for row in base.rows["qrels"]} == {row["id"] for row in base.rows["queries"]}
    assert sum(asked) < 700, "rows left out are left out in SQL"


def test_rows_too_large_to_copy_often_are_left_out(copy: Path, tmp_path: Path) -> None:
    edit(copy, "corpus", lambda rows: rows[0].update({"text": "word " * 100_000}))
    base = copying.cut(context(open_release(copy), tmp_path), tmp_path / "cut")
    assert max(len(row["text"]) for row in base.rows["corpus"]) < 1_000


def test_the_invented_release_passes_every_rule(known: Path, tmp_path: Path) -> None:
    given = context(open_release(known), tmp_path)
    base = copying.invent(given, tmp_path / "invented")
    report = audit(base.files_to_damage(), run_sql, rules=MINE, plant=False)
    others = {item.rule: item.status for item in report.rules if item.status != "passed"}
    assert others == {"derived_images": "not_applicable"}, "its images are as fetched"
    assert {row["split"] for row in invented.rows()["provenance_queries"]} == {"test", "dev"}


@each_rule
def test_every_canary_can_be_planted_in_the_invented_release(invented_proof: Proof, rule: Rule) -> None:
    found = invented_proof[rule.id]
    assert len(found) == len(rule.defects) > 0
    assert all(item.is_found for item in found), [item for item in found if not item.is_found]


def test_duplicates_are_found_where_the_first_query_has_several_images(
    known: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A copy of such a query would lack its further images, and be no duplicate."""
    monkeypatch.setattr(invented, "_ONE_IMAGE", frozenset({1}))
    first = invented.rows()["queries"][0]["id"]
    assert first in {row["id"] for row in invented.rows()["images"]}
    shutil.copytree(known, tmp_path / "copy")
    _empty(tmp_path / "copy")
    mine = [rule for rule in RULES if "duplicate_" in rule.id or rule.id == "near_queries_across_splits"]
    found = by_rule(planted(mine, tmp_path / "copy", tmp_path))
    assert len(mine) >= 5 and all(found[rule.id] for rule in mine)
    assert all(item.is_found for rule in mine for item in found[rule.id])


def test_another_layout_is_proven_too(known: Path, tmp_path: Path) -> None:
    """Three tables without provenance: what cannot be shown on them is shown on invented rows."""
    views = {}
    for name in ("queries", "corpus", "qrels"):
        source = next((known / name).glob("*.parquet"))
        columns = [
            c
            for c in ("id", "title", "text", "query-id", "corpus-id", "score")
            if c in pq.read_schema(source).names
        ]
        views[name] = [tmp_path / f"{name}.parquet"]
        pq.write_table(pq.read_table(source, columns=columns), views[name][0])
    foreign = Dataset("foreign", "audited", "beir", tmp_path, "0" * 64, views)
    report = audit(foreign, run_sql, rules=MINE)
    assert report.verdict == "partial"
    status = {item.rule: item.status for item in report.rules}
    ran = {name for name, value in status.items() if value == "passed"}
    assert ran == {
        "shards", "dangling_ids", "duplicate_ids", "duplicate_pairs", "query_without_positive", "empty_texts",
        "short_texts",
    }  # fmt: skip
    assert set(status.values()) == {"passed", "not_covered"}
    notes = {(item.rule, item.canary): item.note for item in report.canaries}
    assert notes["short_texts", "a query of one word"] == ""
    assert notes["retracted", "a retracted article"].startswith("planted in invented rows")


def test_a_damaged_folder_is_mended_whatever_was_done(tmp_path: Path) -> None:
    sound, damaged = tmp_path / "sound", tmp_path / "damaged"
    (sound / "corpus" / "deep").mkdir(parents=True)
    (sound / "empty").mkdir()
    names = ("README.md", "corpus/a", "corpus/deep/b", "gone", "linked", "folder", "file/c")
    for name in names:
        (sound / name).parent.mkdir(exist_ok=True)
        (sound / name).write_text(name)
    shutil.copytree(sound, damaged)
    (damaged / "README.md").write_text("readme.MD")  # as long as before
    shutil.rmtree(damaged / "corpus")
    (damaged / "gone").unlink()
    (damaged / "more" / "still").mkdir(parents=True)
    (damaged / "more" / "x").write_text("")
    for name, other in (("linked", "gone"), ("dangling", "nothing")):
        (damaged / name).unlink(missing_ok=True)
        (damaged / name).symlink_to(sound / other)
    (damaged / "folder").unlink()
    (damaged / "folder" / "of").mkdir(parents=True)
    shutil.rmtree(damaged / "file")
    (damaged / "file").write_text("no folder")
    copying.mend(damaged, sound)
    for root in (sound, damaged):
        found = {path.relative_to(root).as_posix() for path in root.rglob("*")}
        assert found == {*names, "corpus", "corpus/deep", "empty", "file"}
        assert all((root / name).read_text() == name for name in names)
    assert not any(path.is_symlink() for path in damaged.rglob("*"))


@pytest.mark.parametrize("count", [1, 2, 4])
def test_processes_share_the_rules_out(count: int) -> None:
    """Each rule once, those that damage files together, and no share of twice the work."""
    shares = shared_out(RULES, count)
    assert sorted(rule for share in shares for rule in share) == sorted(rule.id for rule in RULES)
    planted = {rule.id: len(rule.defects) for rule in RULES}
    damaging = {rule.id for rule in RULES if any(isinstance(one, FileDefect) for one in rule.defects)}
    work = [sum(planted[rule] + 5 * (rule in damaging) for rule in share) for share in shares]
    assert len(shares) == count and damaging <= shares[0].union(*shares[: count // 2])
    assert max(work) < 2 * sum(work) / count


SCRIPT = """
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from tests.curation.audit.test_defects import reports
with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
    sys.stdout.buffer.write(reports(Path(sys.argv[1]), pool))
"""


def reports(directory: Path, pool: Executor | None = None) -> bytes:
    """The report of all rules, and that of some with their canaries: test_end_to_end has those of all."""
    whole = audit(directory, run_sql, pool=pool, plant=False)
    return to_bytes(whole) + to_bytes(audit(directory, run_sql, rules=RULES[::12], pool=pool))


def test_the_report_is_the_same_anywhere(known: Path, tmp_path: Path) -> None:
    """Another path, hash seed, time zone and other processes: the same bytes, canaries included."""
    here = reports(known)
    moved = tmp_path / "else where" / "copy"
    shutil.copytree(known, moved)
    environment = {**os.environ, "PYTHONHASHSEED": "77", "TZ": "Asia/Tokyo", "TMPDIR": str(tmp_path)}
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(moved)],
        capture_output=True, env=environment, cwd=Path(__file__).parents[3], check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr.decode()
    assert ran.stdout == here
    assert str(known).encode() not in here and str(tmp_path).encode() not in here
