"""What of a dataset stands in another benchmark is found and named on both sides; a clean one passes."""

from __future__ import annotations

import dataclasses
import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from curation.audit.dataset import Dataset
from curation.audit.executor import SerialExecutor
from curation.audit.layouts import open_dataset, write_hash_list
from curation.audit.layouts.hashlist import METADATA, SCHEMA, read_hash_list, wide_hashes
from curation.audit.report import audit, run_rule
from curation.audit.rule import Context, Defect, Outcome, Rule
from curation.audit.rules import contamination, contamination_images, contamination_texts
from schemas.audit import AuditReport, RuleResult
from schemas.errors import UsageError
from tests.curation.audit import small
from tests.curation.audit.foreign import Beir, Mteb, encoded, picture, words, write_lines
from tests.curation.release.known import run_sql

RULES = contamination.RULES
OURS = 1_000
THEIRS = 700_000


def against(subject: Path | Dataset, others: Sequence[Path], tmp_path: Path, **options: Any) -> AuditReport:
    scratch = tmp_path / "scratch"
    scratch.mkdir(exist_ok=True)
    opened = open_dataset(subject, scratch) if isinstance(subject, Path) else subject
    named = [open_dataset(path, scratch, "against") for path in others]
    options.setdefault("plant", False)
    return audit(
        opened, run_sql, against=named, scratch=scratch, rules=options.pop("rules", RULES), **options
    )


def result(report: AuditReport, rule: str) -> RuleResult:
    return next(item for item in report.rules if item.rule == rule)


def pairs(report: AuditReport, rule: str) -> list[tuple[str, str]]:
    found = result(report, rule)
    assert found.found == len(found.findings)
    return [(finding.sides[0].id, finding.sides[1].id) for finding in found.findings]


def statuses(report: AuditReport) -> dict[str, str]:
    return {item.rule: item.status for item in report.rules}


def hash_list(path: Path, tmp_path: Path, **options: Any) -> Path:
    out = tmp_path / f"{path.name}.hashes.parquet"
    write_hash_list(open_dataset(path, tmp_path / "scratch", "against"), out, SerialExecutor(), **options)
    return out


@pytest.fixture
def other() -> Beir:
    return Beir(THEIRS)


def test_nothing_named_is_not_asked(tmp_path: Path) -> None:
    report = against(Beir().write(tmp_path / "ours"), [], tmp_path)
    assert set(statuses(report).values()) == {"not_asked"}


@pytest.mark.parametrize("as_hashes", [False, True])
def test_clean(tmp_path: Path, other: Beir, as_hashes: bool) -> None:
    theirs = other.write(tmp_path / "theirs")
    given = hash_list(theirs, tmp_path) if as_hashes else theirs
    report = against(Beir().write(tmp_path / "ours"), [given], tmp_path)
    assert statuses(report) == {
        "contaminated_queries": "passed",
        "contaminated_positives": "passed",
        "contaminated_documents": "passed",
        "contaminated_images": "not_applicable",
    }
    assert [item.compared for item in report.rules][:3] == [12 * 52, 12 * 24, 28 * 52 + 12 * 28]
    assert [(cell.other, cell.shared, cell.keys) for cell in report.matrix] == [("theirs", 0, 12)]


Plant = Callable[[Beir, Beir], tuple[str, str, str, str]]


def _query_exact(ours: Beir, theirs: Beir) -> tuple[str, str, str, str]:
    theirs.record("queries", 4)["text"] = ours.record("queries", 2)["text"].upper().replace(" ", " — ", 3)
    return "contaminated_queries", "q2", "q4", "word for word a query"


def _query_near(ours: Beir, theirs: Beir) -> tuple[str, str, str, str]:
    changed = ours.record("corpus", 30)["text"].split()
    ours.record("queries", 2)["text"] = " ".join(changed)
    ours.corpus.pop(30)
    changed[12::13] = ["changed"] * len(changed[12::13])
    theirs.record("corpus", 33)["text"] = " ".join(changed)
    return "contaminated_queries", "q2", "d33", "a document of"


def _query_span(ours: Beir, theirs: Beir) -> tuple[str, str, str, str]:
    run = ours.record("queries", 7)["text"].split()[2:15]
    theirs.record("corpus", 5)["text"] += " Then " + ", ".join(run) + " then. " + words(1, 30)
    return "contaminated_queries", "q7", "d5", "shares 13 consecutive words with a positive document"


def _query_short(ours: Beir, theirs: Beir) -> tuple[str, str, str, str]:
    ours.record("queries", 1)["text"] = "Which vaccine prevents measles?"
    theirs.record("queries", 1)["text"] = "which vaccines prevents measles"
    return "contaminated_queries", "q1", "q1", "nearly (75%) a query"


def _positive_positive(ours: Beir, theirs: Beir) -> tuple[str, str, str, str]:
    theirs.record("corpus", 3)["text"] = ours.record("corpus", 6)["text"]
    return "contaminated_positives", "d6", "d3", "word for word a positive document"


def _positive_query(ours: Beir, theirs: Beir) -> tuple[str, str, str, str]:
    theirs.record("queries", 3)["text"] += " " + " ".join(ours.record("corpus", 6)["text"].split()[20:40])
    return "contaminated_positives", "d6", "q3", "shares 20 consecutive words with a query"


def _document_document(ours: Beir, theirs: Beir) -> tuple[str, str, str, str]:
    theirs.record("corpus", 30)["text"] = ours.record("corpus", 35)["text"]
    return "contaminated_documents", "d35", "d30", "word for word a document"


def _positive_document(ours: Beir, theirs: Beir) -> tuple[str, str, str, str]:
    theirs.record("corpus", 30)["text"] = ours.record("corpus", 3)["text"]
    return "contaminated_documents", "d3", "d30", "word for word a document"


def _japanese(ours: Beir, theirs: Beir) -> tuple[str, str, str, str]:
    text = "右上腹部痛と発熱を主訴に来院した六十二歳の男性で、造影検査にて胆嚢壁の肥厚を認めた。"
    ours.record("queries", 0)["text"] = text
    theirs.record("corpus", 2)["text"] = "症例は前日より食欲が低下していた。" + text + "手術を行い軽快した。"
    return "contaminated_queries", "q0", "d2", "consecutive words"


TEXTS = [
    _query_exact, _query_near, _query_span, _query_short, _positive_positive, _positive_query,
    _document_document, _positive_document, _japanese,
]  # fmt: skip


@pytest.mark.parametrize("plant", TEXTS, ids=lambda plant: plant.__name__)
def test_each_kind_of_copy_is_found_once_and_named(tmp_path: Path, other: Beir, plant: Plant) -> None:
    ours = Beir(OURS)
    rule, mine, theirs, said = plant(ours, other)
    report = against(ours.write(tmp_path / "ours"), [other.write(tmp_path / "theirs")], tmp_path)
    assert pairs(report, rule) == [(mine, theirs)]
    (finding,) = result(report, rule).findings
    assert said in finding.message
    assert finding.message.endswith("of theirs")
    assert [item.rule for item in report.rules if item.found] == [rule]
    one, two = finding.sides
    assert (one.dataset, two.dataset) == ("", "theirs")
    for item, written in ((one, ours), (two, other)):
        rows = {row["_id"]: row["text"] for row in getattr(written, item.table)}
        assert item.quote == rows[item.id][item.start : item.end][:300] != ""
    is_query = rule == "contaminated_queries"
    assert [cell.shared for cell in report.matrix] == [1 if is_query else 0]
    assert result(report, rule).status == "failed"


@pytest.mark.parametrize(
    "plant", [p for p in TEXTS if p not in (_query_short, _query_near)], ids=lambda p: p.__name__
)
@pytest.mark.parametrize("hash_ids", [False, True])
def test_a_hash_list_finds_the_same_without_the_text(
    tmp_path: Path, other: Beir, plant: Plant, hash_ids: bool
) -> None:
    ours = Beir(OURS)
    rule, mine, theirs, _ = plant(ours, other)
    root = other.write(tmp_path / "theirs")
    listed = hash_list(root, tmp_path, hash_ids=hash_ids)
    body = listed.read_bytes()
    for row in (*other.queries, *other.corpus):
        assert isinstance(row, dict)
        assert row["text"].split()[0].encode() not in body
    report = against(ours.write(tmp_path / "ours"), [listed], tmp_path)
    (finding,) = result(report, rule).findings
    one, two = finding.sides
    assert one.id == mine
    assert (two.id == theirs) != hash_ids
    assert (two.quote, two.start, two.dataset) == ("", None, "theirs")
    assert one.quote
    assert "theirs is a hash list" in result(report, rule).note
    assert report.inputs[1].kind == "hashlist"


def test_many_copies_of_one_text_are_one_finding_with_the_closest_quoted(tmp_path: Path, other: Beir) -> None:
    ours = Beir(OURS)
    text = ours.record("queries", 2)["text"]
    other.record("corpus", 3)["text"] += " " + text
    other.record("corpus", 9)["text"] = text
    other.record("queries", 1)["text"] = text + " again"
    report = against(ours.write(tmp_path / "ours"), [other.write(tmp_path / "theirs")], tmp_path)
    assert pairs(report, "contaminated_queries") == [("q2", "d9")]
    (finding,) = result(report, "contaminated_queries").findings
    assert finding.message.endswith("of theirs, and 2 more of its texts have words in common with it")


def test_a_subject_without_qrels_has_no_known_positives(tmp_path: Path, other: Beir) -> None:
    root = Beir(OURS).write(tmp_path / "ours")
    (root / "qrels" / "test.tsv").unlink()
    report = against(root, [other.write(tmp_path / "theirs")], tmp_path)
    assert statuses(report)["contaminated_positives"] == "not_covered"
    assert result(report, "contaminated_documents").compared == 40 * 52


def test_several_benchmarks_are_told_apart(tmp_path: Path, other: Beir) -> None:
    ours = Beir(OURS)
    _query_exact(ours, other)
    clean = Beir(THEIRS + 50_000).write(tmp_path / "clean")
    report = against(ours.write(tmp_path / "ours"), [clean, other.write(tmp_path / "theirs")], tmp_path)
    assert [(cell.other, cell.shared) for cell in report.matrix] == [("clean", 0), ("theirs", 1)]
    found = result(report, "contaminated_queries")
    assert [(item.compared_with, item.compared) for item in found.coverage] == [
        ("clean", 624),
        ("theirs", 624),
    ]


def test_a_question_file_is_compared_with_all_it_holds(tmp_path: Path) -> None:
    ours = Beir(OURS)
    items = [
        {"question": words(THEIRS + n, 30), "exp": words(THEIRS + 50 + n, 40), "answer": "A"}
        for n in range(5)
    ]
    items[2]["question"] += " " + ours.record("queries", 3)["text"]
    items[4]["exp"] = ours.record("corpus", 8)["text"]
    write_lines(tmp_path / "medqa.jsonl", [*items, "{broken"])
    report = against(ours.write(tmp_path / "ours"), [tmp_path / "medqa.jsonl"], tmp_path)
    assert pairs(report, "contaminated_queries") == [("q3", "line:3")]
    assert pairs(report, "contaminated_positives") == [("d8", "line:5#exp")]
    found = result(report, "contaminated_positives")
    assert "medqa.jsonl has no qrels: all its documents count as positive" in found.note
    assert [(item.unit, item.skipped) for item in found.coverage] == [("pairs of texts", 0), ("rows", 1)]


def test_boilerplate_is_suppressed_and_counted(tmp_path: Path, other: Beir) -> None:
    ours = Beir(OURS)
    boilerplate = (
        " Written informed consent was obtained from every patient before any sample was taken at all."
    )
    ours.record("queries", 0)["text"] += boilerplate
    other.corpus = [{"_id": f"d{n}", "text": words(THEIRS + n, 30) + boilerplate} for n in range(600)]
    report = against(ours.write(tmp_path / "ours"), [other.write(tmp_path / "theirs")], tmp_path)
    found = result(report, "contaminated_queries")
    assert found.found <= 1  # a fingerprint at the border of the boilerplate may be rare
    left = [item for item in found.coverage if item.unit == "fingerprints suppressed"]
    assert left[0].skipped > 0
    assert "boilerplate" in left[0].why


def test_sources_both_draw_on_are_counted(known: Path, tmp_path: Path) -> None:
    theirs = [
        {"_id": "a", "text": words(THEIRS, 30), "pmcid": "PMC901"},
        {"_id": "b", "text": words(THEIRS + 1, 30), "url": "https://doi.invalid/10.5555/902"},
        {"_id": "c", "text": words(THEIRS + 2, 30), "pmcid": "PMC77", "doi": ""},
    ]
    write_lines(tmp_path / "theirs" / "corpus.jsonl", theirs)
    report = against(known, [tmp_path / "theirs"], tmp_path)
    note = result(report, "contaminated_documents").note
    assert "2 sources (PMC id, PMID or DOI) are drawn on here and by theirs" in note


def test_a_release_against_itself(known: Path, tmp_path: Path) -> None:
    report = against(known, [known], tmp_path)
    assert result(report, "contaminated_queries").found >= 4
    assert result(report, "contaminated_images").found >= 4
    assert result(report, "contaminated_positives").found >= 4
    assert report.verdict == "findings"


def test_empty_and_odd_texts(tmp_path: Path) -> None:
    ours, theirs = Beir(OURS), Beir(THEIRS)
    for made in (ours, theirs):
        made.record("corpus", 30)["text"] = ""
        made.record("corpus", 31)["text"] = " … "
        made.record("corpus", 32)["text"] = "\x00\u202e" + "é" * 3
        made.queries.append({"_id": "empty", "text": None})
    theirs.record("corpus", 33)["_id"] = "'; DROP TABLE corpus; --\n\"x"
    theirs.record("corpus", 33)["text"] = ours.record("queries", 0)["text"]
    report = against(ours.write(tmp_path / "ours"), [theirs.write(tmp_path / "theirs")], tmp_path)
    assert pairs(report, "contaminated_queries") == [("q0", "'; DROP TABLE corpus; --\n\"x")]
    assert pairs(report, "contaminated_documents") == [("d32", "d32")]
    skipped = [item for item in result(report, "contaminated_documents").coverage if item.unit == "texts"]
    assert skipped[0].skipped > 0


def _changed(seed: int, how: str) -> bytes:
    image = picture(seed, (320, 240))
    if how == "bytes":
        return encoded(image)
    if how == "rescaled":
        return encoded(image.resize((240, 180), Image.Resampling.LANCZOS), "jpeg", quality=60)
    return encoded(image.crop((32, 20, 304, 226)))


def _with_images(tmp_path: Path, how: str) -> tuple[Path, Path]:
    ours, theirs = Mteb(5_000), Mteb(800_000)
    ours.queries[3]["image"] = {"bytes": encoded(picture(42, (320, 240))), "path": "a.png"}
    theirs.corpus[20]["image"] = {"bytes": _changed(42, how), "path": "b.png"}
    return ours.write(tmp_path / "ours"), theirs.write(tmp_path / "theirs")


@pytest.mark.parametrize("how", ["bytes", "rescaled", "cropped"])
def test_images(tmp_path: Path, how: str) -> None:
    report = against(*_split(_with_images(tmp_path, how)), tmp_path)
    assert pairs(report, "contaminated_images") == [("q-3", "c-20")]
    (finding,) = result(report, "contaminated_images").findings
    assert (finding.sides[0].table, finding.sides[1].table, finding.sides[1].dataset) == (
        "queries",
        "corpus",
        "theirs",
    )
    cells = [cell for cell in report.matrix if cell.dimension == "image_family"]
    assert [(cell.shared, cell.keys) for cell in cells] == [(1, 10)]
    assert [item.rule for item in report.rules if item.found] == ["contaminated_images"]


def _split(both: tuple[Path, Path]) -> tuple[Path, list[Path]]:
    return both[0], [both[1]]


@pytest.mark.parametrize("how", ["bytes", "rescaled"])
def test_images_of_a_hash_list(tmp_path: Path, how: str) -> None:
    ours, theirs = _with_images(tmp_path, how)
    report = against(ours, [hash_list(theirs, tmp_path)], tmp_path)
    assert pairs(report, "contaminated_images") == [("q-3", "c-20")]


def test_different_pictures_have_different_wide_hashes() -> None:
    shots = [np.asarray(picture(n, (320, 240)).convert("L").resize((32, 32))) for n in range(60)]
    wide = wide_hashes(np.stack(shots))
    apart = np.bitwise_count(wide[:, None] ^ wide[None]).sum(axis=2)[np.triu_indices(60, 1)]
    assert apart.min() > 60
    again = np.stack(
        [
            np.asarray(Image.open(io.BytesIO(_changed(n, "rescaled"))).convert("L").resize((32, 32)))
            for n in range(60)
        ]
    )
    assert np.bitwise_count(wide_hashes(again) ^ wide).sum(axis=1).max() <= 24


def test_corrupt_images_are_left_out_and_counted(tmp_path: Path) -> None:
    ours, theirs = Mteb(5_000), Mteb(800_000)
    ours.queries[0]["image"] = {"bytes": b"<html>not found</html>", "path": "a.png"}
    theirs.queries[1]["image"] = {"bytes": encoded(picture(9))[:100], "path": "a.png"}
    theirs.queries[2]["image"] = None
    report = against(ours.write(tmp_path / "ours"), [theirs.write(tmp_path / "theirs")], tmp_path)
    found = result(report, "contaminated_images")
    assert (found.status, found.coverage[0].skipped) == ("passed", 2)


def test_a_hash_list_is_the_same_bytes_again(tmp_path: Path) -> None:
    theirs = Mteb(800_000).write(tmp_path / "theirs")
    first = hash_list(theirs, tmp_path).read_bytes()
    other_place = Mteb(800_000).write(tmp_path / "elsewhere" / "theirs")
    assert hash_list(other_place, tmp_path / "second").read_bytes() == first
    about = json.loads(pq.read_schema(tmp_path / "theirs.hashes.parquet").metadata[METADATA])
    assert about["counts"] == {"texts": 34, "grams": 10 * 4 + 24 * 38, "images": 34}
    assert about["is_judged"] is True


def _damage_version(table: pa.Table, about: dict[str, Any]) -> pa.Table:
    about["hash_version"] += 1
    return table


def _damage_rows(table: pa.Table, about: dict[str, Any]) -> pa.Table:
    return table.slice(0, table.num_rows - 3)


def _damage_about(table: pa.Table, about: dict[str, Any]) -> pa.Table:
    about.clear()
    return table


def _damage_parts(table: pa.Table, about: dict[str, Any]) -> pa.Table:
    place = SCHEMA.get_field_index("part")
    return table.set_column(place, SCHEMA.field(place), pa.array(["nothing"] * table.num_rows))


@pytest.mark.parametrize("damage", [_damage_version, _damage_rows, _damage_about, _damage_parts])
def test_a_damaged_hash_list_is_a_clear_error(
    tmp_path: Path, other: Beir, damage: Callable[[pa.Table, dict[str, Any]], pa.Table]
) -> None:
    path = hash_list(other.write(tmp_path / "theirs"), tmp_path)
    table = pq.read_table(path)
    about = json.loads(table.schema.metadata[METADATA])
    groups = [
        pq.ParquetFile(path).metadata.row_group(n).num_rows
        for n in range(pq.ParquetFile(path).num_row_groups)
    ]
    table = damage(table, about)
    schema = SCHEMA.with_metadata({METADATA: json.dumps(about).encode()})
    with pq.ParquetWriter(path, schema) as writer:
        for count in groups:
            writer.write_table(table.slice(0, count).cast(schema))
            table = table.slice(count)
    with pytest.raises(UsageError):
        open_dataset(path, tmp_path / "scratch", "against")
        read_hash_list(path)


def test_a_hash_list_of_a_hash_list(tmp_path: Path, other: Beir) -> None:
    path = hash_list(other.write(tmp_path / "theirs"), tmp_path)
    with pytest.raises(UsageError, match="hash list already"):
        hash_list(path, tmp_path)


def _blind(rule: Rule) -> Rule:
    checks = (dataclasses.replace(check, test=lambda context: Outcome(1, 0)) for check in rule.checks)
    return dataclasses.replace(rule, checks=tuple(checks))


@pytest.mark.parametrize("layout", ["release", "beir", "mteb"])
def test_canaries_are_found(known: Path, tmp_path: Path, layout: str) -> None:
    made = {"beir": Beir().write, "mteb": Mteb().write}
    subject = known if layout == "release" else made[layout](tmp_path / "ours")
    report = against(subject, [], tmp_path, plant=True)
    assert [item for item in report.canaries if not item.is_found] == []
    assert len(report.canaries) == sum(len(rule.defects) for rule in RULES)
    assert report.verdict != "invalid"


def test_without_the_comparison_with_hash_lists_the_audit_fails(
    known: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All else works: only what is planted in hash lists shows that their comparison is gone."""
    monkeypatch.setattr(contamination_texts, "_with_hash_list", lambda *_: None)
    monkeypatch.setattr(contamination_images, "_with_list", lambda *_: iter(()))
    report = against(known, [], tmp_path, plant=True)
    missed = [(item.rule, item.canary) for item in report.canaries if not item.is_found]
    planted = [
        (rule.id, defect.name)
        for rule in RULES
        for defect in rule.defects
        if isinstance(defect, Defect) and defect.second == "hashlist"
    ]
    assert missed == planted
    assert {rule for rule, _ in planted} == {rule.id for rule in RULES}
    assert report.verdict == "invalid"


@pytest.mark.parametrize("number", range(len(RULES)))
def test_without_its_implementation_a_rule_fails_the_audit(known: Path, tmp_path: Path, number: int) -> None:
    rules = [_blind(rule) if place == number else rule for place, rule in enumerate(RULES)]
    report = against(known, [], tmp_path, plant=True, rules=[rules[number]])
    assert report.verdict == "invalid"
    assert result(report, RULES[number].id).status == "unproven"


def test_short_questions_and_what_compared_nothing(tmp_path: Path) -> None:
    asked = "Who keeps the lamp of pier nine lit?"
    own = small.dataset(
        tmp_path / "own",
        {
            "queries": small.queries(("q1", asked)),
            "corpus": small.texts(("d1", f"They said: {asked} Nobody.")),
        }
        | {"qrels": small.qrels(("q1", "d1"))},
        "mteb",
    )
    long = f"In the winter of that year a man came to us and asked: {asked} We did not answer him at all."
    (tmp_path / "theirs").mkdir()
    write_lines(tmp_path / "theirs" / "qa.jsonl", [{"question": long}, {"question": f"  {asked.upper()}"}])
    theirs = open_dataset(tmp_path / "theirs", tmp_path / "read", "against")
    context = Context(own, run_sql, tmp_path, SerialExecutor(), against=(theirs,))
    said = {rule.id: run_rule(rule, context)[0] for rule in contamination.RULES}
    queries = said["contaminated_queries"]
    assert (queries.status, queries.found) == ("failed", 1)
    assert queries.findings[0].message == (
        "the query is word for word a query of theirs, and 1 more of its texts have words in common with it"
    )
    inside = said["contaminated_positives"].findings[0]
    assert inside.message == "the document holds all 8 words of a query of theirs"
    assert inside.sides[0].quote == asked.rstrip("?")
    documents = said["contaminated_documents"]
    assert documents.status == "not_applicable"
    assert documents.note.endswith("every pair of texts is compared by another rule")
    write_lines(tmp_path / "theirs" / "qa.jsonl", [{"question": long}])
    again = open_dataset(tmp_path / "theirs", tmp_path / "read", "against")
    context = Context(own, run_sql, tmp_path, SerialExecutor(), against=(again,))
    (found,) = run_rule(small.rule_of(contamination.RULES, "contaminated_queries"), context)[0].findings
    assert found.message == "the query stands whole (8 words) in a query of theirs"
    assert [side.quote.casefold() for side in found.sides] == [asked.rstrip("?").casefold()] * 2
