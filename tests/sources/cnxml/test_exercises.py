"""Exercises of a module: which become questions and which do not; no corpus holds their text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from curation.extract.stage import EXTRACT
from flows.engine.runner import run_records
from schemas.article import Article, RawArticle
from schemas.errors import WorkspaceError
from schemas.extracted import Figure, Passage
from schemas.hashing import sha256_bytes
from schemas.question import Question, QuestionCollection
from schemas.stages import Drop
from sources.cnxml.exercises import EXERCISES, questions
from sources.cnxml.keys import choice_key, is_open, option_letters, truth_key
from tests.sources.cnxml.conftest import raw_module
from tests.sources.fakes.openstax import collection, figure, module

Reader = Callable[..., Article]
PARTS = {"collection": collection({"The Heart": ("m1", "m2")})}


def exercise(problem: str, solution: str = "", *, name: str = "e1", after: str = "") -> str:
    told = f"<solution><para>{solution}</para></solution>" if solution else ""
    return f'<exercise id="{name}"><problem>{problem}</problem>{told}{after}</exercise>'


def choice(text: str, *options: str, style: str = "upper-alpha") -> str:
    items = "".join(f"<item>{option}</item>" for option in options)
    return f'<para>{text}</para><list list-type="enumerated" number-style="{style}">{items}</list>'


def ask(body: str, **raw: Any) -> tuple[list[Question], list[Drop], QuestionCollection]:
    section = f'<section class="multiple-choice"><title>Multiple Choice</title>{body}</section>'
    data = module(section, title="Rhythms", metadata="<md:language>en</md:language>")
    *rows, account = questions(data, raw_module(**raw), PARTS)
    assert isinstance(account, QuestionCollection)
    found = [row for row in rows if isinstance(row, Question)]
    drops = [row for row in rows if isinstance(row, Drop)]
    assert (account.records, account.questions) == (len(rows), len(found))
    return found, drops, account


def one(body: str) -> Question:
    [question], [], _ = ask(body)
    return question


def why(body: str) -> tuple[str, str]:
    [], [drop], _ = ask(body)
    assert drop.unit == "question"
    return drop.reason.value, drop.detail


def test_a_choice_is_a_question_with_its_place_options_key_and_explanation() -> None:
    question = one(
        exercise(
            choice("Which <term>ion</term> leaves (K<sup>+</sup>)?", "Na", "<para>K</para>", "Ca"),
            "B. It follows its gradient.",
            after="<commentary><para>See the table.</para></commentary>",
        )
    )
    assert (question.id, question.collection, question.number) == (
        "openstax:invented/m2#e1", "openstax:invented/m2", 1,
    )  # fmt: skip
    assert question.section == "Rhythms > Multiple Choice"
    assert question.text == "Which ion leaves (K⁺)?"
    assert [(each.letter, each.text) for each in question.options] == [("A", "Na"), ("B", "K"), ("C", "Ca")]
    assert (question.correct, question.answer) == (("B",), "")
    assert question.explanation == "It follows its gradient.\nSee the table."
    assert (question.language, question.licence.spdx, question.is_synthetic) == ("en", "CC-BY-4.0", False)


def test_words_and_truth_are_answers() -> None:
    blank = one(exercise("<para>A fast rhythm is called ________.</para><para> </para>", "tachycardia"))
    assert (blank.text, blank.answer) == ("A fast rhythm is called ________.", "tachycardia")
    truth = one(exercise("<para>Atria beat first.</para>", "True. The node lies there."))
    assert (truth.answer, truth.explanation, truth.options) == ("True", "The node lies there.", ())
    essay = one(
        exercise(
            "<para>Explain flutter.</para>", "It is a circle.</para><list><item>a wave</item></list><para>"
        )
    )
    assert essay.answer == "It is a circle.\na wave"


@pytest.mark.parametrize(
    ("body", "reason", "detail"),
    [
        (exercise("<para>Why?</para>"), "no_key", "multiple-choice: no solution"),
        (exercise("<para>Why?</para>", " "), "no_key", "a solution without text"),
        (exercise("<para>Why?</para>", "Answers will vary."), "open_essay", "no answer is"),
        (exercise(choice("Look.", "x", "y") + figure("q"), "A"), "needs_figure", "a <graphic>"),
        (exercise('<para>See <link target-id="f"/>. Why?</para>', "a wave"), "needs_figure", "refers to"),
        (exercise("<para>Name the part shown below.</para>", "a wave"), "needs_figure", "'shown below'"),
        (
            exercise("<para>What is it?</para><equation>x</equation>", "a wave"),
            "needs_figure",
            "<disp-formula>",
        ),
        (
            exercise("<para>As in the previous question, why?</para>", "a wave"),
            "needs_other_exercise",
            "previous",
        ),
        (exercise("<para>(a) Name it. (b) Say why.</para>", "a wave"), "several_parts", "(a) and (b)"),
        (exercise(choice("Name:", "one", "two"), "the first is x, the second y"), "several_parts", "none of"),
        (exercise(choice("Which?", "x", "y", style="lower-roman"), "i"), "several_parts", "1 lists"),
        (exercise(choice("Which?", "x", "y") + choice("And?", "z", "w"), "A"), "several_parts", "2 lists"),
        (exercise(choice("Which?", "x", "y"), "C"), "record_invalid", "the key names 'c'"),
        (exercise(choice("Which?", "x", " "), "A"), "record_invalid", "an option without text"),
        (exercise("<para>Which?</para>", "B"), "record_invalid", "a letter, but no option"),
        (exercise("", "B"), "record_invalid", "no text"),
        (
            exercise('<para><link url="#ost/api/ex/inv-ch01-ex001"/></para>'),
            "text_elsewhere",
            "OpenStax's service",
        ),
        (
            '<note class="x check-your-understanding"><list><item>What is a wave?</item></list></note>',
            "no_key",
            "check-your-understanding",
        ),
    ],
)
def test_what_makes_no_question_is_a_drop_that_says_why(body: str, reason: str, detail: str) -> None:
    given, said = why(body)
    assert given == reason and detail in said


def test_sections_tell_matching_and_personal_exercises() -> None:
    table = "<table id='t'><tgroup><tbody><row><entry>IgA</entry></row></tbody></tgroup></table>"
    body = (
        f"<section class='matching'>{exercise('<para>Match.</para>' + table, 'd, a')}</section>"
        f"<section class='personal-application'>{exercise('<para>You?</para>', 'I do.', name='e2')}</section>"
        f"<section class='review-questions'>{exercise('<para>See the row.</para>' + table, 'IgA', name='e3')}"
        "</section>"
    )
    *drops, _ = questions(module(body), raw_module(), PARTS)
    assert [(row.reason.value, row.id[-2:]) for row in drops if isinstance(row, Drop)] == [
        ("several_parts", "e1"), ("open_essay", "e2"), ("needs_figure", "e3"),
    ]  # fmt: skip


def test_ids_are_unique_and_no_other_records() -> None:
    asked = "<para>Why?</para>"
    names = ["x", "x", "p3", "exercise2", ""]
    found, _, _ = ask("".join(exercise(asked, f"because {name}", name=name) for name in names))
    assert [each.id.partition("#")[2] for each in found] == [
        "x", "exercise2", "exercise3", "exercise4", "exercise5",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("solution", "correct", "explanation"),
    [
        ("C", ("C",), ""),
        ("c", ("C",), ""),
        ("(B)", ("B",), ""),
        ("A, C", ("A", "C"), ""),
        ("C and A", ("A", "C"), ""),
        ("a, b, and c", ("A", "B", "C"), ""),
        ("A i C", ("A", "C"), ""),
        ("Answer: B", ("B",), ""),
        ("B; a wave turns", ("B",), "a wave turns"),
        ("A, because it is", ("A",), "because it is"),
        ("B (see above)", ("B",), "(see above)"),
        ("The second", ("B",), ""),
        ("A wave that turns", None, ""),
        ("", None, ""),
    ],
)
def test_letters_of_a_solution(solution: str, correct: tuple[str, ...] | None, explanation: str) -> None:
    key = choice_key(solution, [("A", "the first"), ("B", "the second"), ("C", "the third")])
    assert (key.correct if key else None) == correct
    assert not key or key.explanation == explanation


def test_an_option_that_begins_like_a_letter_is_no_letter() -> None:
    options = [("A", "E. coli"), ("B", "A. baumannii"), ("C", "A")]
    assert [key.correct for said in ("A. baumannii", "A", "C") if (key := choice_key(said, options))] == [
        ("B",), ("A",), ("C",),
    ]  # fmt: skip
    key = choice_key("A. It grows in the gut.", options)
    assert key and (key.correct, key.explanation) == (("A",), "It grows in the gut.")


def test_letters_are_those_the_book_prints() -> None:
    assert option_letters("lower-alpha", 2, "B") == ("a", "b")
    assert option_letters("arabic", 2, "2") == ("1", "2")
    assert option_letters("", 2, "B") == ("A", "B")
    question = one(exercise(choice("Which?", "x", "y", style="lower-alpha"), "B"))
    assert question.correct == ("b",)


def test_words_of_two_languages() -> None:
    assert truth_key("fałsz") and truth_key("Prawda, bo tak.") and not truth_key("True fungi have walls.")
    assert is_open("Odpowiedzi mogą się różnić.") and is_open("Answers may vary widely.")
    assert is_open("Odpowiedzi mogą być różne. Na przykład …") and not is_open("The rate varies.")


def test_a_module_that_cannot_be_read_is_a_drop_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_bytes(b"<html/>")
    stored = raw_module(sha256=sha256_bytes(b"<html/>"))
    raws = [stored, RawArticle(id="x:1", source="pmc", locator="x", path="a.xml", sha256="0" * 64)]
    kept, drops, _ = run_records(EXERCISES, {"crawl.raw": raws}, dict(EXERCISES.params), {"raw": tmp_path})
    assert kept == {"questions": [], "collections": []}
    assert [(drop.unit, drop.id, drop.reason) for drop in drops] == [
        ("collection", "openstax:invented/m2", "not_an_article")
    ]
    with pytest.raises(WorkspaceError, match="have changed since"):
        list(EXERCISES.process(raw_module(), raw=tmp_path))


def test_no_text_of_an_exercise_is_in_the_running_text(read: Reader) -> None:
    """Every place of an exercise holds a word of its own; the places exercises may stand in are varied."""
    words = iter(f"secret{number}" for number in range(1_000))

    def full() -> str:
        para, item, note, cell, quote, own, told, step, more, said = (next(words) for _ in range(10))
        return (
            f"<exercise><title>{next(words)}</title><problem><title>{own}</title><para>{para}"
            f"<list><item>{item}</item></list></para><note><title>{note}</title><para>{note}</para></note>"
            f"<table><tgroup><tbody><row><entry>{cell}</entry></row></tbody></tgroup></table>"
            f"<quote><para>{quote}</para></quote></problem><solution><para>{told}</para><list><item>{step}"
            f"</item></list></solution><solution><para>{more}</para></solution><commentary><para>{said}</para>"
            "</commentary></exercise>"
        )

    article = read(
        f"<para>Kept {full()} too.</para>{full()}<section class='s'><title>S</title>{full()}</section>"
        f"<note class='x'><para>Boxed.</para>{full()}</note><example>{full()}</example>"
        f"<list><item>Listed {full()}</item></list><quote>{full()}</quote>"
        f"<note class='x check-your-understanding'><title>{next(words)}</title><para>{next(words)}</para>"
        f"<list><item>{next(words)}</item></list>{full()}</note>",
        after=f"<glossary><definition><term>t</term><meaning>m {full()}</meaning></definition></glossary>",
    )
    rows = list(EXTRACT.process(article, **EXTRACT.params))
    texts = [row.text for row in rows if isinstance(row, Passage)]
    texts += [row.caption for row in rows if isinstance(row, Figure)]
    assert [text for text in texts if "secret" in text] == []
    assert {"Kept too.", "Boxed.", "Listed"} <= set(texts)
    assert Counter("secret" in section.title for section in article.sections)[True] == 0
