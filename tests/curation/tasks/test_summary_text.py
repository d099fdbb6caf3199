"""Which text a summary query holds: no title, name, conclusion, aim, finding, copied sentence; one by one."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from curation.extract.neutralise import neutralise_caption, restore
from curation.tasks.shared.study_names import Names, unnamed
from curation.tasks.shared.words import tokens_of
from curation.tasks.summary.abstract import released_abstract
from curation.tasks.summary.bars import barred_grams
from curation.tasks.summary.headings import closing_section, is_closing_sentence, is_summing_sentence
from schemas.article import Article, Translated
from schemas.benchmark import Query
from schemas.hashing import sha256_text
from tests.curation.builders import passage
from tests.curation.tasks.summary_corpus import figured, per_article, report, sentence, text


def only_query(of: Article, **params: Any) -> Query:
    rows, drops = per_article([of], **params)
    assert len(rows["queries"]) == 1, drops
    query: Query = rows["queries"][0]
    return query


def with_passages(number: int, *texts: str, section: int = 1) -> Article:
    """`report` with further passages at its end."""
    made = report(number)
    more = tuple(
        passage(len(made.passages) + at, item, article=made.id, section=section)
        for at, item in enumerate(texts, start=1)
    )
    return dataclasses.replace(made, passages=made.passages + more)


@pytest.mark.parametrize("section", [3, 4])
def test_conclusion_sections_stay_out_by_title_and_by_type(section: int) -> None:
    kept = with_passages(1, sentence("last"), section=2)
    assert sentence("last") in only_query(kept).text
    assert sentence("last") not in only_query(with_passages(1, sentence("last"), section=section)).text


def test_a_sentence_that_concludes_ends_its_passage() -> None:
    end = f"In conclusion, {sentence('end').lower()}"
    query = only_query(with_passages(1, f"{sentence('before')} {end} {sentence('after')}", section=2))
    assert sentence("before") in query.text
    assert "conclusion" not in query.text
    assert sentence("after") not in query.text


def test_words_of_abstract_and_title_stay_out() -> None:
    base = report(1, translated_titles=(Translated(language="pt", text=sentence("titulo", 7)),))
    copied = tokens_of(base.abstracts[0].text)[10:24]
    twelve = " ".join(tokens_of(base.abstracts[0].text)[30:42])
    title = base.title.removesuffix(": a case report")
    straddling = tokens_of(base.abstracts[0].text)[44:58]
    texts = {
        "copied": f"Copied {' '.join(copied)} here.",
        "twelve": f"Twelve {twelve} here and there once more, at last, for good, in the end.",
        "title": f"Named {title.lower()} here.",
        "translated": f"Named {sentence('titulo', 7).lower()}",
        "across": f"Across {' '.join(straddling[:7])}. {' '.join(straddling[7:]).capitalize()} over.",
    }
    of = dataclasses.replace(
        with_passages(1, *texts.values(), section=2), translated_titles=base.translated_titles
    )
    query = only_query(of, max_context_words=1000)
    assert texts["twelve"] in query.text
    assert "Copied" not in query.text
    assert "Named" not in query.text
    assert "Across" not in query.text and "over." not in query.text
    for taken in of.abstracts:
        stream = tokens_of(query.text)
        assert (
            not {tuple(stream[at : at + 13]) for at in range(len(stream) - 12)}
            & barred_grams([taken.text], [])[13]
        )


def test_what_a_pointer_parts_is_copied_all_the_same() -> None:
    base = report(1)
    words = tokens_of(base.abstracts[0].text)[10:24]
    parted = f"Parted {' '.join(words[:7])} ([F1|Fig. 1]) {' '.join(words[7:])} here."
    assert "Parted" not in only_query(with_passages(1, parted, section=2)).text


def test_context_is_bounded_and_nearest_to_the_citing_sentence() -> None:
    long = [text(f"far {at}", 4) for at in range(12)]
    made = with_passages(1, *long, section=2)
    query = only_query(made, max_context_words=200)
    body = query.text.split("\n", 1)[1]
    assert 150 <= len(body.split()) <= 200
    assert "Fig" not in query.text and "[F1" not in query.text
    assert long[-1] not in query.text
    assert query.text.startswith("Axial scan.")
    assert query.transforms


@pytest.mark.parametrize(
    ("title", "is_closing"),
    [
        ("Conclusions", True),
        ("6. Conclusion and outlook", True),
        ("Discussion/Conclusions", True),
        ("Key points", True),
        ("What this study adds", True),
        ("Graphical abstract", True),
        ("Conclusiones", True),
        ("Considerações finais", True),
        ("Points clés", True),
        ("Schlussfolgerung", True),
        ("Conclusioni", True),
        ("Заключение", True),
        ("结论", True),
        ("まとめ", True),
        ("Introduction", False),
        ("Background & Summary", False),
        ("Primary endpoint", False),
        ("Summary of product characteristics", False),
        ("Discussion", False),
    ],
)
def test_titles_of_closing_sections(title: str, is_closing: bool) -> None:
    assert bool(closing_section(("Results", title))) is is_closing


@pytest.mark.parametrize(
    ("text", "is_closing"),
    [
        ("In conclusion, rest helps.", True),
        ("To summarize, rest helps.", True),
        ("Em resumo, o repouso ajuda.", True),
        ("En conclusión, el reposo ayuda.", True),
        ("Zusammenfassend hilft Ruhe.", True),
        ("综上所述，休息有益。", True),
        ("In short-term follow-up rest helped.", False),
        ("The conclusion of therapy was in May.", False),
    ],
)
def test_sentences_that_conclude(text: str, is_closing: bool) -> None:
    assert is_closing_sentence(text) is is_closing


@pytest.mark.parametrize(
    ("text", "is_summing"),
    [
        ("The aim of the present study was to count steps.", True),
        ("Our results clearly suggest that rest helps.", True),
        ("Thus, this case report highlights the use of rest.", True),
        ("Herein, we describe two patients with gout.", True),
        ("We report the case of a man with gout.", True),
        ("We found that rest helps.", True),
        ("We here report first results.", True),
        ("Against this background, we hypothesised that rest helps.", True),
        ("It is a trial in which we will assess whether rest helps.", True),
        ("In this small pilot study, we sought to count steps.", True),
        ("In our study, both tests revealed that rest helps.", True),
        ("These results provide a reason to rest.", True),
        ("This study was a trial to clarify rest.", True),
        ("Results showed that rest helps.", True),
        ("O objetivo deste estudo foi contar passos.", True),
        ("Nuestros resultados sugieren que el reposo ayuda.", True),
        ("On laparotomy we found a cyst.", False),
        ("These findings suggested gout, and rest was begun.", False),
        ("This case presents with fever.", False),
        ("The patient aimed to walk again.", False),
        ("In this study, we used a scale.", False),
        ("The data were stored for a year.", False),
        ("El estudio se hizo en mayo.", False),
    ],
)
def test_sentences_that_tell_aim_or_finding(text: str, is_summing: bool) -> None:
    assert is_summing_sentence(text) is is_summing


def test_aims_and_findings_stay_out_and_their_passage_stays() -> None:
    aim = f"The aim of this study was to see {sentence('aim').lower()}"
    query = only_query(
        with_passages(1, f"{sentence('before')} {aim} {sentence('after')}", section=2), max_context_words=1000
    )
    assert "The aim" not in query.text
    assert f"{sentence('before')} {sentence('after')}" in query.text


def test_edited_copies_stay_out() -> None:
    base = report(1)
    words = sentence("1 abstract 2").split()
    edited = " ".join([*words[:5], "of", *words[5:9], "new", *words[10:]])
    query = only_query(with_passages(1, f"{edited} {sentence('next')}", section=2), max_context_words=1000)
    assert sentence("1 abstract 2") in base.abstracts[0].text
    assert edited not in query.text and sentence("next") in query.text


def test_registration_numbers_of_the_abstract_stay_out() -> None:
    base = with_passages(
        1, f"Registered as NCT01234567 {sentence('one')} {sentence('two')} See NCT07654321.", section=2
    )
    (own,) = base.abstracts
    query = only_query(
        dataclasses.replace(
            base, abstracts=(dataclasses.replace(own, text=f"{own.text}\nTrial\nNCT01234567."),)
        ),
        max_context_words=1000,
    )
    assert "NCT01234567" not in query.text
    assert f"{sentence('two')} See [registry number]." in query.text


def test_references_after_a_full_stop_stay_with_their_sentence() -> None:
    end = "In conclusion, [2] helps."
    query = only_query(
        with_passages(1, f"{sentence('cited')} [3-6]. {sentence('next')} {end}", section=2),
        max_context_words=1000,
    )
    assert f"{sentence('cited')} [3-6]. {sentence('next')}" in query.text
    copied = only_query(
        with_passages(1, f"The aim of this study was rest. [3-6]. {sentence('next')}", section=2)
    )
    assert "[3-6]" not in copied.text and sentence("next") in copied.text


def test_a_sentence_does_not_end_within_brackets() -> None:
    whole = f"Steps (by scale. The more, the better) were counted. {sentence('next')}"
    query = only_query(with_passages(1, whole, section=2), max_context_words=1000)
    assert whole in query.text
    aim = f"The aim of this study (by scale. The more, the better) was rest. {sentence('next')}"
    query = only_query(with_passages(1, aim, section=2), max_context_words=1000)
    assert "the better" not in query.text and sentence("next") in query.text


def test_a_sentence_that_lost_its_list_stays_out() -> None:
    lost = f"The delay was due to Therefore, rest helps. {sentence('next')}"
    query = only_query(with_passages(1, lost, section=2), max_context_words=1000)
    assert "Therefore" not in query.text and sentence("next") in query.text


AIM = "The aim of this study was rest."


@pytest.mark.parametrize(
    ("before", "opening", "stays"),
    [
        (AIM, "It was", False),
        (AIM, "These were", False),
        (AIM, "However,", False),
        (AIM, "In such cases,", False),
        (AIM, "To our knowledge, this was", False),
        (AIM, "(3) It is known that", False),
        (AIM, "It is known that", True),
        (AIM, "In this study", True),
        (AIM, "Thisbe was", True),
        (sentence("before"), "It was", True),
        ("", "It was", True),
    ],
)
def test_a_sentence_that_needs_the_one_left_out_before_it_stays_out(
    before: str, opening: str, stays: bool
) -> None:
    linked = f"{opening} {sentence('linked').lower()}"
    text = " ".join(
        filter(None, (before, linked, f"Moreover, {sentence('chained').lower()}", sentence("next")))
    )
    query = only_query(with_passages(1, text, section=2), max_context_words=1000)
    assert (linked in query.text) is stays
    assert (sentence("chained").lower() in query.text) is stays
    assert sentence("next") in query.text


def test_a_sentence_that_only_points_stays_out() -> None:
    query = only_query(
        with_passages(1, f"{sentence('near')} See Figure 1. {sentence('next')}", section=2),
        max_context_words=1000,
    )
    assert f"{sentence('near')} {sentence('next')}" in query.text


def test_a_long_caption_is_parted_at_its_panels() -> None:
    panels = [f"({letter}) {sentence(f'panel {letter}', 40)}" for letter in "abcd"]
    figures = figured(1, caption=" ".join(panels))
    query = only_query(report(1, **figures))
    assert panels[0] in query.text and panels[1] in query.text
    assert panels[2] not in query.text


def test_names_of_the_study_are_taken_out_and_lead_back() -> None:
    source = "RESTore study flow (Fig. 2). In the RESTore trial (Fig. 3) RESTored joints rest."
    released = unnamed(*neutralise_caption(source, "en"), Names(frozenset({"RESTore"})))
    assert released[0] == "Study flow. In the trial RESTored joints rest."
    assert restore(*released) == source
    query = only_query(
        with_passages(1, f"The RESTore trial ran. {sentence('after')}", section=2), max_context_words=1000
    )
    assert "RESTore trial" in query.text
    named = dataclasses.replace(
        with_passages(1, f"The RESTore trial ran. {sentence('after')}", section=2),
        title="Rest in gout: the RESTore trial",
    )
    query = only_query(named, max_context_words=1000)
    assert f"The trial ran. {sentence('after')}" in query.text
    assert sha256_text(restore(query.text, query.transforms)) == query.text_sha256


@pytest.mark.parametrize(
    ("text", "released"),
    [
        (
            "Rest helps.\nElectronic supplementary material\nThe online version (10.1/x) has more.",
            "Rest helps.",
        ),
        (
            "Rest (Fig. 1) helps.\nFull protocol\nIs attached.\nSupplementary Information\nMore.",
            "Rest helps.",
        ),
        ("Rest helps.\nTrial registration\nISRCTN12345678.\nFull protocol\nIs attached.", "Rest helps."),
        ("Results\nRest helps.\nFunding\nNone.", "Results\nRest helps."),
        ("Rest helps.\nTrial registration: ISRCTN12345678. Registered in 2015.", "Rest helps."),
        ("Rest helps.\nContact: rest@example.org", "Rest helps."),
        ("Funding\nNone.\nResults\nRest helps.", "Funding\nNone.\nResults\nRest helps."),
        ("Trial registration\nISRCTN12345678.", "Trial registration\n[registry number]."),
        ("Supplementary materials were used for rest.", "Supplementary materials were used for rest."),
        ("Supplementary data\n" + "Rest helps. " * 50, "Supplementary data\n" + "Rest helps. " * 50),
    ],
)
def test_notes_of_the_publisher_end_an_abstract(text: str, released: str) -> None:
    made = released_abstract(text, "en")
    assert made[0] == released
    assert restore(*made) == text


def test_the_name_of_another_study_stays() -> None:
    other = "Rest was better in the SLEEPeR trial than at work, and the SLEEPeR trial was large."
    made = with_passages(1, f"{other} {sentence('after')}", section=2)
    abstract = dataclasses.replace(
        made.abstracts[0], text=f"{made.abstracts[0].text} We ask what the SLEEPeR trial left open."
    )
    made = dataclasses.replace(made, abstracts=(abstract, *made.abstracts[1:]))
    assert other in only_query(made, max_context_words=1000).text


def test_items_of_a_list_stay_out_with_the_one_before_them() -> None:
    items = ("(1) Rest was timed at home.", "(2) Sleep was timed at home.", AIM, "(4) Work was timed.")
    query = only_query(with_passages(1, *items, section=2), max_context_words=1000)
    assert all(item in query.text for item in items[:2]) and "(4)" not in query.text
