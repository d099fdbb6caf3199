"""The hand-checked gold of patient cases still fits the articles it was read from.

Ids exist, offsets lie inside their passages and on text, hashes agree, the split is the documented one.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from benchmarks import diagnosis_sentences
from benchmarks.jats_speed import raw_of
from curation.extract.sentences import sentence_spans
from schemas.article import Article
from sources import jats

GOLD = Path(__file__).parent / "gold"
ROW_FIELDS = {"article", "file", "sha256", "split", "is_case_report", "reason", "cases", "notes"}
CASE_FIELDS = {
    "label_kind",
    "age_years",
    "sex",
    "first",
    "last",
    "passages",
    "roles",
    "figures",
    "diagnosis",
}
ROLES = {"presentation", "findings", "course"}
REASONS = {"not_a_case", "not_human", "not_a_patient", "not_medical"}


def _rows(split: str) -> list[dict[str, Any]]:
    rows = json.loads((GOLD / f"cases_{split}.json").read_text(encoding="utf-8"))
    assert isinstance(rows, list)
    return rows


def _number(passage: str) -> int:
    return int(passage.removeprefix("#p"))


def _article(row: dict[str, Any], files: dict[str, Path]) -> Article:
    """The article of a row, parsed from its file."""
    name = row["file"]
    path = files[name]
    data = path.read_bytes()
    raw = raw_of(path, data)
    assert raw.sha256 == row["sha256"], name
    return jats.parse(data, raw)


def _check_span(text: str, start: int, end: int, where: str) -> None:
    """A span is not empty, lies inside the text and neither begins nor ends with a space."""
    assert 0 <= start < end <= len(text), where
    assert not text[start].isspace() and not text[end - 1].isspace(), where


def _check_diagnosis(place: dict[str, Any], case: dict[str, Any], article: Article, where: str) -> None:
    """One diagnosis statement names an existing text and whole words in it."""
    if place["place"] == "title":
        assert (place["passage"], place["start"], place["end"]) == ("", 0, len(article.title)), where
    elif place["place"] == "keyword":
        terms = [term for group in article.keywords for term in group.terms]
        assert (place["passage"], place["start"]) == ("", 0), where
        assert place["end"] == len(terms[place["index"]]), where
    else:
        assert place["place"] == "passage" and place["passage"] in case["passages"], where
        text = {p.id: p.text for p in article.passages}[article.id + place["passage"]]
        _check_span(text, place["start"], place["end"], where)
        assert text[place["start"] - 1 : place["start"]].strip() == "", where
        if place["passage"] == case["first"]["passage"]:
            assert place["start"] >= case["first"]["start"], where
        if place["passage"] == case["last"]["passage"]:
            assert place["end"] <= case["last"]["end"], where


def _check_case(case: dict[str, Any], article: Article, where: str) -> None:
    """Every id and offset of one patient fits the article."""
    assert set(case) == CASE_FIELDS, where
    assert case["label_kind"] in {"only", "numbered", "ordinal", "other"}, where
    assert case["sex"] in {"female", "male", ""}, where
    assert case["age_years"] is None or 0 <= case["age_years"] < 120, where
    texts = {p.id.removeprefix(article.id): p.text for p in article.passages}
    passages = case["passages"]
    assert passages and passages == sorted(set(passages), key=_number) and set(passages) <= set(texts), where
    assert (passages[0], passages[-1]) == (case["first"]["passage"], case["last"]["passage"]), where
    opening, closing = texts[passages[0]], texts[passages[-1]]
    _check_span(opening, case["first"]["start"], len(opening.rstrip()), where)
    _check_span(closing, 0, case["last"]["end"], where)
    assert list(case["roles"]) == passages, where
    assert all(found and set(found) <= ROLES for found in case["roles"].values()), where
    figures = {figure.id.removeprefix(article.id) for figure in article.figures}
    assert len(set(case["figures"])) == len(case["figures"]) and set(case["figures"]) <= figures, where
    for place in case["diagnosis"]:
        _check_diagnosis(place, case, article, where)


def test_rows_fit_the_articles(gold: tuple[str, dict[str, Path]]) -> None:
    """Each row re-extracts from the article it names."""
    split, files = gold
    rows = _rows(split)
    assert [row["article"] for row in rows] == sorted({row["article"] for row in rows})
    for row in rows:
        article = _article(row, files)
        assert row["article"] == article.id
        for number, case in enumerate(row["cases"], start=1):
            _check_case(case, article, f"{article.id} case {number}")


@pytest.mark.parametrize("split", ["dev", "test"])
def test_rows_are_closed_and_split_as_documented(split: str) -> None:
    """Fields, reasons and the split rule of tests/gold/README.md."""
    for row in _rows(split):
        assert set(row) == ROW_FIELDS and row["split"] == split
        assert row["is_case_report"] is bool(row["cases"])
        assert row["reason"] == "" if row["is_case_report"] else row["reason"] in REASONS
        stem = re.sub(r"^(PMC\d+)\.\d+$", r"\1", row["file"].removesuffix(".xml"))
        assert sum(map(int, re.findall(r"\d", stem))) % 2 == (split == "test"), row["file"]
        if len(row["cases"]) == 1:
            assert row["cases"][0]["label_kind"] == "only"


def test_the_gold_is_large_and_varied() -> None:
    """At least 70 articles, 15 of them non-cases, every reason and every way of telling patients apart."""
    rows = _rows("dev") + _rows("test")
    assert len({row["article"] for row in rows}) == len(rows) >= 70
    assert sum(not row["is_case_report"] for row in rows) >= 15
    assert {row["reason"] for row in rows} == REASONS | {""}
    assert {case["label_kind"] for row in rows for case in row["cases"]} >= {"only", "numbered", "ordinal"}


def test_marked_abstracts_name_sentences_between_their_first_and_last() -> None:
    rows = json.loads((GOLD / "sentences_medline.json").read_text("utf-8"))
    marked = {row["pmid"] for row in json.loads((GOLD / "diagnoses_medline.json").read_text("utf-8"))}
    assert len({row["pmid"] for row in rows}) == len(rows)
    for row in rows:
        assert row["pmid"] in marked and re.fullmatch(r"[0-9a-f]{64}", row["sha256"]), row["pmid"]
        assert row["stated"] == sorted(set(row["stated"])), row["pmid"]
        assert all(row["first"] <= at <= row["last"] for at in row["stated"]), row["pmid"]


@pytest.mark.parametrize(("half", "count", "stated"), [("dev", 52, 108), ("test", 26, 53)])
def test_marked_sentences_of_written_reports_are_sentences_of_their_case(
    half: str, count: int, stated: int
) -> None:
    found = list(diagnosis_sentences.reports(half))
    assert len(found) == count and sum(len(item.starts) for item in found) == stated
    for item in found:
        text = item.told.passages[0].text
        assert item.starts <= {start for start, _ in sentence_spans(text)}, item.id
        assert f" {diagnosis_sentences.STATES}" not in f" {text}"
