"""Files in the forms of published collections: field names as published, content invented here."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from schemas.article import RawArticle
from schemas.question import Citation, Question, Snippet
from schemas.stages import Drop
from sources.questions import QuestionsContext, discover, fetch
from tests.sources.fakes.questions import FULL, SIDECAR, opened, put, read, run


@pytest.fixture
def context(tmp_path: Path) -> Iterator[QuestionsContext]:
    with opened(tmp_path) as made:
        yield made


def frenchmedmcqa(
    context: QuestionsContext, folder: Path
) -> tuple[list[Question], dict[str, int], list[tuple[str, str]]]:
    """Questions of the three files of a folder, how many records each has, and what was dropped."""
    for split_name in ("train", "dev", "test"):
        (context.root / f"{split_name}.meta.toml").write_text(
            f'name = "frenchmedmcqa-{split_name}"\nfile = "{folder / split_name}.json"\n'
            'licence = "Apache-2.0"\nlanguage = "fr"\npreset = "frenchmedmcqa"\n',
            encoding="utf-8",
        )
    raws = [fetch(locator, context) for locator in discover(context.root)]
    questions, collections, drops = run(context, *(raw for raw in raws if isinstance(raw, RawArticle)))
    assert all(len(each.options) == 5 and each.correct for each in questions)
    counts = {each.name: each.records for each in collections}
    return questions, counts, [(each.id, each.detail) for each in drops]


def test_files_in_the_form_of_frenchmedmcqa(context: QuestionsContext, tmp_path: Path) -> None:
    def invented(number: int, name: str, *right: str) -> dict[str, Any]:
        return {
            "id": name * 64,
            "question": f"Laquelle de ces substances inventées porte le numéro {number} ?",
            "answers": {letter: f"substance {letter}{number}" for letter in "abcde"},
            "correct_answers": list(right),
            "subject_name": "pharmacie",
            "type": "simple" if len(right) == 1 else "multiple",
            "nbr_correct_answers": len(right),
        }

    files = {
        "train": [invented(1, "a", "b"), invented(2, "b", "a", "e"), invented(3, "a", "d")],
        "dev": [invented(4, "d", "c")],
        "test": [invented(5, "e", "a", "b", "c")],
    }
    for name, rows in files.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(rows, indent=4), encoding="utf-8")
    questions, counts, drops = frenchmedmcqa(context, tmp_path)
    assert counts == {"frenchmedmcqa-train": 3, "frenchmedmcqa-dev": 1, "frenchmedmcqa-test": 1}
    assert drops == [("questions:frenchmedmcqa-train@3", "line 37: its id is that of record 1")]
    assert sorted(len(each.correct) for each in questions) == [1, 1, 2, 3]


def preset(name: str, more: str = "") -> str:
    return SIDECAR + f'preset = "{name}"\nsynthetic = true\n{more}'


def test_files_in_the_form_of_medqa(context: QuestionsContext) -> None:
    invented = {
        "question": "A man of invented age cannot hum. Which invented drug helps?",
        "answer": "humamab",
        "options": {"A": "silentol", "B": "humamab"},
        "meta_info": "step1",
        "answer_idx": "B",
        "metamap_phrases": ["man", "hum"],
    }
    [question], _, [drop] = read(context, [invented, {**invented, "answer_idx": "E"}], preset("medqa"))
    assert (question.correct, question.answer, question.subject) == (("B",), "humamab", "step1")
    assert question.is_synthetic and len(question.id) == len("questions:ours/") + 16
    assert "correct option 'E' is not among" in drop.detail


def test_files_in_the_form_of_medmcqa(context: QuestionsContext) -> None:
    invented = {
        "id": "invented-1",
        "question": "Which invented nerve hums?",
        "opa": "first", "opb": "second", "opc": "third", "opd": "fourth",
        "cop": 2, "choice_type": "single", "exp": None, "subject_name": "Anatomy", "topic_name": "Humming",
    }  # fmt: skip
    [question], _, drops = read(context, [invented], preset("medmcqa", "correct_from = 1\n"))
    assert (question.correct, question.subject, question.explanation, drops) == (("B",), "Anatomy", "", [])
    [question], _, _ = read(context, [invented], preset("medmcqa", "correct_from = 0\n"))
    assert question.correct == ("C",)
    refused = fetch(put(context, [invented], preset("medmcqa")), context)
    assert isinstance(refused, Drop) and "needs correct_from" in refused.detail


def test_files_in_the_form_of_medxpertqa(context: QuestionsContext) -> None:
    invented = {
        "id": "Invented-1",
        "question": "A choir cannot hum. What next?\nAnswer Choices: (A) wait (B) sing, then hum",
        "options": {"A": "wait", "B": "sing, then hum"},
        "label": "B",
        "medical_task": "Treatment",
        "body_system": "Nervous",
        "question_type": "Reasoning",
    }
    rows = [
        invented,
        {**invented, "id": "2", "question": "A choir hums. What next?"},
        {**invented, "id": "3", "question": "What next?\nAnswer Choices: (A) wait (B) sing"},
        {**invented, "id": "4", "images": ["choir.png"]},
    ]
    questions, [collection], drops = read(context, rows, preset("medxpertqa"))
    assert {each.text for each in questions} == {
        "A choir cannot hum. What next?", "A choir hums. What next?",
    }  # fmt: skip
    assert {(each.correct, each.subject) for each in questions} == {(("B",), "Nervous")}
    assert [(drop.id, drop.reason) for drop in drops] == [
        ("questions:ours@3", "record_invalid"), ("questions:ours@4", "needs_figure"),
    ]  # fmt: skip
    assert collection.records == 4


BIOASQ: dict[str, Any] = {
    "id": "abc",
    "body": "Does invented humming help?",
    "type": "yesno",
    "documents": ["http://www.ncbi.nlm.nih.gov/pubmed/7", "http://www.ncbi.nlm.nih.gov/pubmed/8"],
    "ideal_answer": ["Yes, it helps.", "It does."],
    "exact_answer": "yes",
    "snippets": [
        {
            "document": "http://www.ncbi.nlm.nih.gov/pubmed/7",
            "text": "humming  helped",
            "beginSection": "abstract", "offsetInBeginSection": 12,
            "endSection": "abstract", "offsetInEndSection": 27,
        },
        {"document": {"pmid": 8}, "text": "it hums", "begin_section": "title", "begin": 0},
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    "before", ["", '{"version": "1 [x] {\\"questions\\": [", "of": {"questions": [1]}, ']
)
@pytest.mark.parametrize("indent", [None, 2])
def test_files_in_the_form_of_bioasq(context: QuestionsContext, before: str, indent: int | None) -> None:
    held = json.dumps({"questions": [BIOASQ, {**BIOASQ, "id": "def", "snippets": 7}]}, indent=indent)
    data = before + held[1:] if before else held
    data = data[:-1] + ', "after": [{"id": "none"}]}'
    assert len(json.loads(data)["questions"]) == 2
    [question], [collection], [drop] = read(context, data.encode(), preset("bioasq"))
    assert (question.text, question.answer, question.subject) == (
        "Does invented humming help?", "Yes, it helps.\nIt does.", "yesno",
    )  # fmt: skip
    assert [each.target for each in question.citations] == ["7", "8"]
    first, second = question.snippets
    assert first == Snippet(
        source=Citation(kind="pmid", target="7"),
        text="humming  helped",
        begin_section="abstract", begin=12, end_section="abstract", end=27,
    )  # fmt: skip
    assert (second.source.target, second.begin, second.end, second.end_section) == ("8", 0, None, "")
    assert (collection.records, drop.id) == (2, "questions:ours@2")
    line = data.count("\n", 0, data.index('"def"')) - (1 if indent else 0)
    assert drop.detail == f"line {line + 1}: snippets are no list"


def test_a_list_of_records_that_is_not_there(context: QuestionsContext) -> None:
    for data in (b'{"body": "x"}', b'{"of": {"questions": []}}', b'{"questions": {}}'):
        questions, _, [drop] = read(context, data, preset("bioasq"))
        assert (questions, drop.unit) == ([], "collection")
        assert "no list under 'questions'" in drop.detail
    cut, _, [drop] = read(context, json.dumps({"questions": [BIOASQ]}).encode()[:-30], preset("bioasq"))
    assert (cut, drop.unit) == ([], "question")


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"text": " "}, "no text"),
        ({"document": None}, "no document"),
        ({"document": {"pmid": "x"}}, "not a PMID"),
        ({"offsetInBeginSection": -1}, "begin is no offset"),
        ({"offsetInBeginSection": "1"}, "begin is no offset"),
        ({"offsetInEndSection": 12}, "ends at 12, before it begins at 12"),
        ({"endSection": 1}, "end_section is no text"),
    ],
)
def test_snippets_that_cannot_be(context: QuestionsContext, change: dict[str, Any], what: str) -> None:
    row = {**FULL, "snippets": [{**BIOASQ["snippets"][0], **change}]}
    [], _, [drop] = read(context, [row])
    assert what in drop.detail


@pytest.mark.sibling("test_files_in_the_form_of_frenchmedmcqa")
def test_frenchmedmcqa(context: QuestionsContext, shared_data: Path) -> None:
    _, counts, drops = frenchmedmcqa(context, shared_data / "vocab" / "FrenchMedMCQA")
    assert counts == {"frenchmedmcqa-dev": 312, "frenchmedmcqa-test": 622, "frenchmedmcqa-train": 2171}
    assert drops == [("questions:frenchmedmcqa-train@1221", "line 22435: its id is that of record 1188")]
