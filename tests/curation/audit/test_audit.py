"""The audit finds each defect planted by hand in a copy of a clean release, and names the row."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curation.audit import RULES, audit
from curation.audit.rules import evidence, files, integrity, rights, texts
from schemas.audit import AuditReport, RuleResult
from schemas.errors import ReleaseError
from schemas.record import to_dict
from tests.curation.release.known import edit, run_sql

Rows = list[dict[str, Any]]
CHECKED = (*files.RULES, *integrity.RULES, *rights.RULES, *texts.RULES, *evidence.RULES)
"""Rules on which this file plants defects by hand; the others have files of their own."""
COPIED = "the left upper abdomen shows a small rounded lesion with a smooth margin and no calcification"


def result(report: AuditReport, rule: str) -> RuleResult:
    (found,) = [item for item in report.rules if item.rule == rule]
    return found


def shown(item: RuleResult) -> str:
    return json.dumps([to_dict(finding) for finding in item.findings], ensure_ascii=False)


def test_the_known_release_is_clean_and_every_rule_compared_something(known: Path) -> None:
    report = audit(known, run_sql, rules=CHECKED, plant=False)
    assert report.not_publishable_because == ("No defects were planted, so no rule is proven.",)
    assert [item.rule for item in report.rules] == [rule.id for rule in CHECKED]
    made = [item.rule for item in report.rules if item.status == "not_run"]
    assert made in ([], ["restricted_strings"]), "only a release with made texts leaves that open"
    others = {item.rule: item.status for item in report.rules if item.status not in ("passed", "not_run")}
    assert others == {"near_queries_across_splits": "not_applicable"}, "the known release has one split"
    assert all(item.compared > 0 for item in report.rules if item.status == "passed")


def test_rules_are_told_apart_by_id() -> None:
    assert len({rule.id for rule in RULES}) == len(RULES)
    assert {rule.id for rule in CHECKED} <= {rule.id for rule in RULES}


def test_without_canaries_nothing_is_proven(known: Path) -> None:
    report = audit(known, run_sql, rules=files.RULES, plant=False)
    assert (report.verdict, report.canaries) == ("incomplete", ())


def first(table: str, column: str, value: object) -> Callable[[Path], str]:
    """Set one cell of the first row; the defect is named by that row's id."""

    def damage(directory: Path) -> str:
        named = ""

        def change(rows: Rows) -> None:
            nonlocal named
            named = str(rows[0].get("id") or rows[0].get("query-id"))
            rows[0][column] = value

        edit(directory, table, change)
        return named

    return damage


def repeated(table: str) -> Callable[[Path], str]:
    def damage(directory: Path) -> str:
        named = ""

        def change(rows: Rows) -> None:
            nonlocal named
            named = str(rows[0].get("id") or rows[0].get("query-id"))
            rows.append(dict(rows[0]))

        edit(directory, table, change)
        return named

    return damage


def dangling(directory: Path) -> str:
    edit(directory, "qrels", lambda rows: rows[1].update({"corpus-id": "pmc:PMC777.1#p1"}))
    return "pmc:PMC777.1#p1"


def dangling_excluded(directory: Path) -> str:
    edit(directory, "excluded", lambda rows: rows[1].update({"query-id": "visual_context-gone"}))
    return "visual_context-gone"


def dangling_key(directory: Path) -> str:
    edit(directory, "provenance/keys", lambda rows: rows[0].update({"query-id": "visual_context-gone"}))
    return "visual_context-gone article pmc:PMC"


def unsourced(directory: Path) -> str:
    edit(directory, "provenance/sources", lambda rows: rows.pop(0))
    return "pmc:PMC901.1"


def judged_and_excluded(directory: Path) -> str:
    (path,) = (directory / "qrels").glob("*.parquet")
    row = pq.read_table(path).to_pylist()[0]
    pair = {"query-id": row["query-id"], "corpus-id": row["corpus-id"], "reason": "own_article"}
    edit(directory, "excluded", lambda rows: rows.append(pair))
    return str(row["query-id"])


def unanswered(directory: Path) -> str:
    edit(directory, "qrels", lambda rows: rows[2].update({"score": 0}))
    (path,) = (directory / "qrels").glob("*.parquet")
    return str(pq.read_table(path).to_pylist()[2]["query-id"])


def twin_document(directory: Path) -> str:
    def change(rows: Rows) -> None:
        rows[3]["text"] = "  " + rows[0]["text"].upper().replace(" ", "  ") + " !"

    edit(directory, "corpus", change)
    return "pmc:PMC901.1#p4"


def twin_query(directory: Path) -> str:
    (path,) = (directory / "queries").glob("*.parquet")
    one, two = pq.read_table(path, columns=["id", "text"]).to_pylist()[:2]
    edit(directory, "queries", lambda rows: rows[1].update({"text": one["text"].title() + "."}))

    def same_image(rows: Rows) -> None:
        rows[1]["image_sha256"] = rows[0]["image_sha256"]

    edit(directory, "provenance/queries", same_image)
    return str(two["id"])


def _positive(directory: Path) -> tuple[str, str]:
    (path,) = (directory / "qrels").glob("*.parquet")
    row = pq.read_table(path).to_pylist()[0]
    return row["query-id"], row["corpus-id"]


def _put(directory: Path, table: str, row_id: str, text: str) -> None:
    def change(rows: Rows) -> None:
        for row in rows:
            if row["id"] == row_id:
                row["text"] = text

    edit(directory, table, change)


def copied_answer(directory: Path) -> str:
    query, document = _positive(directory)
    _put(directory, "queries", query, f"Panel overview: {COPIED}.")
    _put(directory, "corpus", document, f"As we saw, {COPIED.upper().replace(' ', ' - ', 3)}; nothing else.")
    return document


def verbatim_answer(directory: Path) -> str:
    query, document = _positive(directory)
    _put(directory, "queries", query, "Axial view of the liver.")
    _put(
        directory, "corpus", document, "Here the axial view of the liver was unremarkable, and he went home."
    )
    return document


def copied_elsewhere(directory: Path) -> str:
    query, document = _positive(directory)
    (path,) = (directory / "corpus").glob("*.parquet")
    other = next(
        row["id"]
        for row in pq.read_table(path).to_pylist()
        if row["id"].split("#")[0] != document.split("#")[0]
    )
    _put(directory, "queries", query, f"Overview: {COPIED}.")
    _put(directory, "corpus", other, f"In another patient {COPIED} as well.")
    return str(other)


def answer_in_query(directory: Path) -> str:
    query, _ = _positive(directory)
    (path,) = (directory / "provenance" / "queries").glob("*.parquet")
    article = {row["id"]: row["article_id"] for row in pq.read_table(path).to_pylist()}[query]
    _put(directory, "queries", query, f"A view, see {article[4:].split('.')[0].lower()} for the rest.")
    return query


def moved_evidence(directory: Path) -> str:
    def change(rows: Rows) -> None:
        rows[0]["evidence"][0]["start"] += 1

    edit(directory, "provenance/qrels", change)
    return _positive(directory)[0]


def no_evidence(directory: Path) -> str:
    edit(directory, "provenance/qrels", lambda rows: rows[0].update({"evidence": []}))
    return _positive(directory)[0]


def wrong_transform(directory: Path) -> str:
    def change(rows: Rows) -> None:
        rows[0]["transforms"][0]["original"] = " (Fig. 9)"

    edit(directory, "provenance/corpus", change)
    return "pmc:PMC901.1#p1"


def vanished_drop(directory: Path) -> str:
    edit(directory, "provenance/drops", lambda rows: rows.pop(0))
    return "crawl article"


def widened_column(directory: Path) -> str:
    (path,) = (directory / "qrels").glob("*.parquet")
    table = pq.read_table(path)
    place = table.column_names.index("score")
    pq.write_table(table.set_column(place, "score", table.column("score").cast(pa.float64())), path)
    return "score is double"


def unknown_column(directory: Path) -> str:
    (path,) = (directory / "queries").glob("*.parquet")
    table = pq.read_table(path)
    pq.write_table(table.append_column("answer", table.column("id")), path)
    return "unknown column answer"


def drifted_shard(directory: Path) -> str:
    """A second shard whose scores are decimals: a reader would round them without a word."""
    (path,) = (directory / "qrels").glob("*.parquet")
    table = pq.read_table(path)
    place = table.column_names.index("score")
    drifted = table.set_column(place, "score", pa.array([1.5] * table.num_rows))
    pq.write_table(drifted.slice(0, 0), path.with_name("test-00001-of-00002.parquet"))
    return "column score is int64 and double"


def other_split(directory: Path) -> str:
    edit(directory, "provenance/queries", lambda rows: rows[2].update({"split": "dev"}))
    (path,) = (directory / "provenance" / "queries").glob("*.parquet")
    return str(pq.read_table(path).to_pylist()[2]["id"])


def changed_image(directory: Path) -> str:
    edit(directory, "queries", lambda rows: [row.update({"license": "CC-BY-ND-4.0"}) for row in rows])
    return "images under CC-BY-ND-4.0 were changed"


def edited_card(directory: Path) -> str:
    path = directory / "README.md"
    path.write_text(
        path.read_text(encoding="utf-8").replace("| documents | 8 |", "| documents | 80 |"), encoding="utf-8"
    )
    return "| documents | 80 |"


def extra_file(directory: Path) -> str:
    (directory / "corpus" / "notes.txt").write_text("x", encoding="utf-8")
    return "corpus/notes.txt"


def lost_file(directory: Path) -> str:
    (path,) = (directory / "excluded").glob("*.parquet")
    path.unlink()
    return "excluded/test-00000-of-00001.parquet"


def forged_manifest(directory: Path) -> str:
    path = directory / "release.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    content["label"] = "expert"
    path.write_text(json.dumps(content), encoding="utf-8")
    return "release_hash"


def forged_licence(directory: Path) -> str:
    path = directory / "release.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    content["license"] = "by"
    path.write_text(json.dumps(content), encoding="utf-8")
    return "combine to by-sa"


def unmarked_synthetic(directory: Path) -> str:
    edit(directory, "provenance/sources", lambda rows: rows[0].update({"is_synthetic": True}))
    return "pmc:PMC901.1#p1"


DEFECTS: list[tuple[str, Callable[[Path], str]]] = [
    ("file_hashes", extra_file),
    ("file_hashes", lost_file),
    ("file_hashes", forged_manifest),
    ("card", edited_card),
    ("schema", widened_column),
    ("dangling_ids", dangling),
    ("dangling_ids", dangling_excluded),
    ("dangling_ids", unsourced),
    ("dangling_ids", dangling_key),
    ("schema", unknown_column),
    ("schema", first("provenance/corpus", "article_id", None)),
    ("shards", drifted_shard),
    ("splits", other_split),
    ("confidence", first("queries", "domain_confidence", 1.5)),
    ("confidence", first("provenance/corpus", "body_system", "nervous")),
    ("splits", first("provenance/queries", "split", "train")),
    ("short_texts", first("queries", "text", "Zyste?")),
    ("duplicate_ids", repeated("queries")),
    ("duplicate_ids", repeated("corpus")),
    ("duplicate_pairs", repeated("qrels")),
    ("duplicate_pairs", repeated("excluded")),
    ("positive_and_excluded", judged_and_excluded),
    ("query_without_positive", unanswered),
    ("definitions", first("qrels", "score", 3)),
    ("definitions", first("qrels", "label_status", "guess")),
    ("definitions", first("qrels", "rule", "")),
    ("definitions", first("excluded", "reason", "mood")),
    ("empty_texts", first("corpus", "text", " … ")),
    ("empty_texts", first("queries", "text", None)),
    ("short_texts", first("corpus", "text", "Short.")),
    ("funnel", vanished_drop),
    ("duplicate_pairs", repeated("provenance/qrels")),
    ("duplicate_ids", repeated("provenance/sources")),
    ("licence_of_rows", first("corpus", "license", "CC-BY-NC-ND-4.0")),
    ("licence_of_rows", first("queries", "license", "LicenseRef-unknown")),
    ("licence_of_rows", first("queries", "license", None)),
    ("licence_of_rows", first("provenance/corpus", "license_evidence", "")),
    ("licence_combination", forged_licence),
    ("licence_of_evidence", first("provenance/sources", "license", "LicenseRef-unknown")),
    ("derived_images", changed_image),
    ("retracted", first("provenance/sources", "is_retracted", True)),
    ("synthetic", first("queries", "is_synthetic", True)),
    ("synthetic_declared", first("queries", "is_synthetic", True)),
    ("synthetic_declared", unmarked_synthetic),
    ("duplicate_documents", twin_document),
    ("duplicate_queries", twin_query),
    ("self_match", copied_answer),
    ("self_match", verbatim_answer),
    ("copied_span", copied_elsewhere),
    ("figure_numbers", first("corpus", "text", "A long passage that still points to Figure 2B somewhere.")),
    ("figure_numbers", first("queries", "text", "Una imagen larga, véase la Figura 3 del artículo.")),
    ("answer_ids", answer_in_query),
    ("source_texts", wrong_transform),
    ("source_texts", first("corpus", "text", "Somebody rewrote this passage by hand after the release.")),
    ("evidence", moved_evidence),
    ("evidence", no_evidence),
]
WITHOUT_ROW_ID = {"file_hashes", "synthetic_declared", "licence_combination", "licence_of_evidence"}


@pytest.mark.parametrize(
    ("rule", "damage"), DEFECTS, ids=[f"{rule}-{n}" for n, (rule, _) in enumerate(DEFECTS)]
)
def test_a_planted_defect_is_found_and_named(copy: Path, rule: str, damage: Callable[[Path], str]) -> None:
    named = damage(copy)
    asked = [item for item in CHECKED if item.id in (rule, "file_hashes")]
    report = audit(copy, run_sql, rules=asked, plant=False)
    item = result(report, rule)
    assert item.status == ("declared" if item.severity == "declared" else "failed"), item.note
    assert item.found >= 1 and item.findings
    assert named in shown(item) or rule in WITHOUT_ROW_ID
    assert report.verdict == "findings", "a hand-edited file never has the hash it was released with"
    assert result(report, "file_hashes").status == "failed"


def test_every_rule_has_a_planted_defect() -> None:
    elsewhere = {rule.id for rule in texts.RULES}
    assert {rule.id for rule in CHECKED} - elsewhere - {"restricted_strings"} <= {rule for rule, _ in DEFECTS}


def test_a_copied_answer_is_quoted_from_both_sides(copy: Path) -> None:
    copied_answer(copy)
    report = audit(copy, run_sql, rules=texts.RULES, plant=False)
    (finding,) = result(report, "self_match").findings
    query, document = finding.sides
    assert query.quote == COPIED
    assert document.quote == COPIED.upper().replace(" ", " - ", 3)
    assert "16 consecutive words" in finding.message


def test_a_declared_row_makes_the_report_unpublishable(copy: Path) -> None:
    first("corpus", "is_synthetic", True)(copy)
    assert not audit(copy, run_sql, rules=rights.RULES, plant=False).publishable


def test_a_rule_that_cannot_run_is_never_passed(copy: Path) -> None:
    shutil.rmtree(copy / "provenance" / "qrels")
    report = audit(copy, run_sql, rules=CHECKED, plant=False)
    item = result(report, "evidence")
    assert (item.status, item.note) == ("not_run", "table absent: provenance_qrels")
    assert result(report, "empty_texts").status == "passed"


def test_a_quote_of_the_query_is_looked_for_in_the_query(copy: Path) -> None:
    (path,) = (copy / "provenance" / "queries").glob("test-*.parquet")
    origin = pq.read_table(path).to_pylist()[0]
    (text,) = [
        row["text"]
        for file in (copy / "queries").glob("*.parquet")
        for row in pq.read_table(file).to_pylist()
        if row["id"] == origin["id"]
    ]
    source = evidence.undo(text, origin["transforms"])
    assert source
    span = {"text_id": origin["source_id"], "start": 2, "end": 9, "text": source[2:9]}

    def quote(more: dict[str, Any]) -> RuleResult:
        def change(rows: Rows) -> None:
            for row in rows:
                if row["query-id"] == origin["id"]:
                    row["evidence"] = [span | more]

        edit(copy, "provenance/qrels", change)
        return result(audit(copy, run_sql, rules=evidence.RULES, plant=False), "evidence")

    kept = quote({})
    assert (kept.status, kept.note, kept.coverage[0].skipped) == ("passed", "", 0)
    moved = quote({"start": 3})
    assert moved.status == "failed"
    assert moved.found == len(moved.findings) > 0
    assert {finding.sides[0].id for finding in moved.findings} == {origin["id"]}
    elsewhere = quote({"text_id": "pmc:PMC1.1#p9", "text": "words in no document"})
    assert (elsewhere.status, elsewhere.coverage[0].skipped) == ("passed", moved.found)


def test_a_release_whose_only_flaw_is_a_rule_not_run_is_incomplete(known: Path) -> None:
    class Broken:
        sandbox = staticmethod(run_sql.sandbox)

        def __call__(self, text: str, views: Mapping[str, Sequence[Path]]) -> Iterator[pa.RecordBatch]:
            if "unnest(evidence)" in text and any(
                path.is_relative_to(known) for path in views["provenance_qrels"]
            ):
                raise OSError(f"disk gone under {known}")
            yield from run_sql(text, views)

    report = audit(known, Broken(), rules=evidence.RULES)
    assert report.verdict == "incomplete"
    assert result(report, "evidence").note == "OSError: disk gone under ."


def test_torn_parquet_is_reported_not_raised(copy: Path) -> None:
    (path,) = (copy / "corpus").glob("*.parquet")
    path.write_bytes(path.read_bytes()[:-50])
    report = audit(copy, run_sql, rules=CHECKED)
    assert report.verdict == "findings"
    assert result(report, "empty_texts").status == "not_run"
    assert str(copy) not in json.dumps(to_dict(report))


def test_a_directory_that_is_no_release_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="not a release"):
        audit(tmp_path, run_sql)
    (tmp_path / "release.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ReleaseError, match="is of format None"):
        audit(tmp_path, run_sql)
