"""The audit of somebody else's dataset: each kind of defect planted in a BEIR or MTEB directory is named."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from PIL import Image

from curation.audit.layouts import open_dataset, problems
from curation.audit.report import audit
from curation.audit.rule import Proof
from curation.audit.rules import (
    contamination,
    duplicates,
    images,
    integrity,
    languages,
    layouts,
    leakage,
    mteb,
    privacy,
    spans,
    statistics,
    texts,
)
from schemas.audit import AuditReport
from tests.curation.audit.foreign import Beir, Mteb, encoded, picture, words, write_r2med
from tests.curation.release.known import run_sql

MODULES: tuple[Any, ...] = (
    layouts, integrity, duplicates, spans, texts, images, languages, leakage, mteb, privacy, statistics,
    contamination,
)  # fmt: skip
RULES = {rule.id: rule for module in MODULES for rule in module.RULES}
Defect = Callable[[Any], tuple[str, set[str]]]


def run(root: Path, tmp_path: Path, *rules: str, plant: bool = False) -> AuditReport:
    scratch = tmp_path / "scratch"
    scratch.mkdir(exist_ok=True)
    chosen = [RULES[name] for name in rules] if rules else list(RULES.values())
    return audit(open_dataset(root, scratch), run_sql, scratch=scratch, rules=chosen, plant=plant)


def named(report: AuditReport, rule: str) -> set[str]:
    found = next(item for item in report.rules if item.rule == rule)
    return {side.id for finding in found.findings for side in finding.sides}


def _dangling(made: Beir) -> tuple[str, set[str]]:
    made.qrels += [("q1", "d99", 1), ("q77", "d1", 1)]
    return "dangling_ids", {"d99", "q77"}


def _duplicate_id(made: Beir) -> tuple[str, set[str]]:
    made.corpus.append({"_id": "d5", "title": "", "text": words(9, 40)})
    return "duplicate_ids", {"d5"}


def _duplicate_pair(made: Beir) -> tuple[str, set[str]]:
    made.qrels.append(("q3", "d3", 2))
    return "duplicate_pairs", {"q3", "d3"}


def _no_positive(made: Beir) -> tuple[str, set[str]]:
    made.qrels[11] = ("q11", "d11", 0)
    return "query_without_positive", {"q11"}


def _empty(made: Beir) -> tuple[str, set[str]]:
    made.record("corpus", 20)["text"] = " … "
    made.record("queries", 3)["text"] = None
    return "empty_texts", {"d20", "q3"}


def _short(made: Beir) -> tuple[str, set[str]]:
    made.record("corpus", 21)["text"] = "Cf. above."
    return "short_texts", {"d21"}


def _copy(made: Beir) -> tuple[str, set[str]]:
    made.record("corpus", 22)["text"] = made.record("corpus", 23)["text"].upper()
    return "duplicate_documents", {"d22", "d23"}


def _near(made: Beir) -> tuple[str, set[str]]:
    copied = made.record("corpus", 3)["text"].split()
    copied[30] = "changed"
    made.record("corpus", 24)["text"] = " ".join(copied)
    return "near_duplicate_documents", {"d3", "d24"}


def _query_copy(made: Beir) -> tuple[str, set[str]]:
    made.record("queries", 4)["text"] = made.record("queries", 5)["text"]
    return "duplicate_queries", {"q4", "q5"}


def _query_near(made: Beir) -> tuple[str, set[str]]:
    made.record("queries", 6)["text"] = made.record("queries", 7)["text"] + " again"
    return "near_duplicate_queries", {"q6", "q7"}


def _self_match(made: Beir) -> tuple[str, set[str]]:
    made.record("corpus", 8)["text"] += " " + " ".join(made.record("queries", 8)["text"].split()[:14])
    return "self_match", {"q8", "d8"}


def _span(made: Beir) -> tuple[str, set[str]]:
    made.record("corpus", 30)["text"] += " " + " ".join(made.record("queries", 9)["text"].split()[2:16])
    return "copied_span", {"q9", "d30"}


def _figure(made: Beir) -> tuple[str, set[str]]:
    made.record("corpus", 31)["text"] += " It is shown in Fig. 3 above."
    return "figure_numbers", {"d31"}


def _answers(made: Beir) -> tuple[str, set[str]]:
    for number in range(12):
        made.record("queries", number)["answer"] = words(300 + number, 2)
    return "gold_columns", {"q0"}


def _broken_line(made: Beir) -> tuple[str, set[str]]:
    made.corpus.insert(17, '{"_id": "cut off')
    return "readable_rows", {"corpus.jsonl:18"}


def _number_ids(made: Beir) -> tuple[str, set[str]]:
    made.record("queries", 10)["_id"] = 10
    made.qrels[10] = (10, "d10", 1)
    return "readable_rows", {"10"}


def _debris(made: Beir) -> tuple[str, set[str]]:
    made.record("corpus", 32)["text"] += " <p class='a'>left</p> behind"
    return "text_debris", {"d32"}


def _patient(made: Beir) -> tuple[str, set[str]]:
    made.record("corpus", 33)["text"] += " Medical record number: 48213377, telephone +1 212 555 0134"
    return "phi_identifiers", {"d33"}


def _mixed(made: Beir) -> tuple[str, set[str]]:
    made.record("corpus", 34)["text"] += " the p\u0430tient left"
    return "mixed_script_words", {"d34"}


BEIR: tuple[Defect, ...] = (
    _dangling, _duplicate_id, _duplicate_pair, _no_positive, _empty, _short, _copy, _near, _query_copy,
    _query_near, _self_match, _span, _figure, _answers, _broken_line, _number_ids, _debris, _patient, _mixed,
)  # fmt: skip


def _corrupt_image(made: Mteb) -> tuple[str, set[str]]:
    made.queries[2]["image"] = {"bytes": encoded(picture(3))[:900], "path": "a.png"}
    made.corpus[3]["image"] = {"bytes": b"<html>404</html>", "path": "b.jpg"}
    return "images", {"q-2", "c-3"}


def _same_image(made: Mteb) -> tuple[str, set[str]]:
    made.corpus[1]["image"] = made.corpus[16]["image"]
    return "image_duplicates", {"c-1", "c-16"}


def _same_picture(made: Mteb) -> tuple[str, set[str]]:
    shot = picture(4_711, (320, 240))
    made.corpus[17]["image"] = {"bytes": encoded(shot), "path": "a.png"}
    smaller = shot.resize((240, 180), Image.Resampling.LANCZOS)
    made.corpus[2]["image"] = {"bytes": encoded(smaller, "jpeg", quality=60), "path": "b.jpg"}
    return "image_duplicates", {"c-17", "c-2"}


def _own_image(made: Mteb) -> tuple[str, set[str]]:
    made.corpus[20]["image"] = made.queries[4]["image"]
    return "image_self_match", {"q-4", "c-20"}


def _drift(made: Mteb) -> tuple[str, set[str]]:
    place = made.corpus_schema.get_field_index("title")
    made.second_corpus_schema = made.corpus_schema.set(place, pa.field("title", pa.int64()))
    for row in made.corpus[12:]:
        row["title"] = 7
    return "readable_rows", {"corpus/test-00001-of-00002.parquet#title"}


def _score(made: Mteb) -> tuple[str, set[str]]:
    for row in made.qrels:
        row["score"] = 1.0
    made.qrels[3]["score"] = 0.5
    return "readable_rows", {"data/test-00000-of-00001.parquet:4"}


def _no_id(made: Mteb) -> tuple[str, set[str]]:
    made.corpus[23]["id"] = None
    return "readable_rows", {"corpus/test-00001-of-00002.parquet:12"}


def _mteb_dangling(made: Mteb) -> tuple[str, set[str]]:
    made.qrels[0]["corpus-id"] = "c-99"
    return "dangling_ids", {"c-99"}


def _mteb_span(made: Mteb) -> tuple[str, set[str]]:
    made.corpus[6]["text"] += " " + " ".join(made.queries[6]["text"].split()[:13])
    return "self_match", {"q-6", "c-6"}


MTEB: tuple[Defect, ...] = (
    _corrupt_image, _same_image, _same_picture, _own_image, _drift, _score, _no_id, _mteb_dangling,
    _mteb_span,
)  # fmt: skip


@pytest.mark.parametrize("defect", BEIR, ids=lambda defect: defect.__name__)
def test_beir_defects_are_named(tmp_path: Path, defect: Defect) -> None:
    made = Beir()
    rule, ids = defect(made)
    report = run(made.write(tmp_path / "set"), tmp_path, rule)
    assert report.rules[0].status == "failed", report.rules[0].note
    assert ids <= named(report, rule)


@pytest.mark.parametrize("defect", MTEB, ids=lambda defect: defect.__name__)
def test_mteb_defects_are_named(tmp_path: Path, defect: Defect) -> None:
    made = Mteb()
    rule, ids = defect(made)
    report = run(made.write(tmp_path / "set"), tmp_path, rule)
    assert report.rules[0].status == "failed", report.rules[0].note
    assert ids <= named(report, rule)


def test_r2med_ships_its_answers_with_the_queries(tmp_path: Path) -> None:
    report = run(write_r2med(tmp_path / "set"), tmp_path, "gold_columns")
    messages = " ".join(finding.message for finding in report.rules[0].findings)
    assert "'answer'" in messages
    assert "'doc_id'" in messages


@pytest.mark.parametrize("made", [Beir(), Mteb()], ids=["beir", "mteb"])
def test_a_clean_dataset_has_no_finding(tmp_path: Path, made: Beir | Mteb) -> None:
    report = run(made.write(tmp_path / "set"), tmp_path)
    assert [item.rule for item in report.rules if item.found] == []
    assert [(item.rule, item.note) for item in report.rules if item.status == "not_run"] == []


@pytest.mark.parametrize("made", [Beir(), Mteb()], ids=["beir", "mteb"])
def test_rules_are_proven_on_a_copy_of_a_foreign_dataset(tmp_path: Path, made: Beir | Mteb) -> None:
    report = run(made.write(tmp_path / "set"), tmp_path, "readable_rows", "duplicate_ids", plant=True)
    assert [item for item in report.canaries if not item.is_found] == []
    assert report.verdict == "clean"


@pytest.mark.parametrize("proof", layouts.RULES[0].defects, ids=lambda proof: proof.name)
def test_a_reader_that_notices_nothing_fails_the_audit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, proof: Proof
) -> None:
    monkeypatch.setattr(problems.Problems, "add", lambda *args, **kwargs: None)
    root = Beir().write(tmp_path / "set")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    (check,) = layouts.RULES[0].checks
    rule = dataclasses.replace(layouts.RULES[0], checks=(dataclasses.replace(check, defect=proof),))
    report = audit(open_dataset(root, scratch), run_sql, scratch=scratch, rules=[rule])
    assert (report.verdict, report.rules[0].status) == ("invalid", "unproven")


def test_all_defects_at_once(tmp_path: Path) -> None:
    made = Beir()
    wanted: dict[str, set[str]] = {}
    for defect in BEIR:
        if defect not in (_broken_line, _empty, _answers):  # others move the rows these would name
            rule, ids = defect(made)
            wanted[rule] = wanted.get(rule, set()) | ids
    report = run(made.write(tmp_path / "set"), tmp_path)
    assert report.verdict == "findings"
    for rule, ids in wanted.items():
        assert ids <= named(report, rule), rule
