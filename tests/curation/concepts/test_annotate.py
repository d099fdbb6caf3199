"""A document's mentions: short forms mean what the document says, and flags come from the sentence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest

from curation.concepts.annotate import PART, WHOLE, Text, annotate, annotate_many
from curation.concepts.matcher import Match
from schemas.concept import Mention

NAMES = {
    "made fever": "MADE:1",
    "fever": "MADE:2",
    "kidney disease": "MADE:3",
    "cold thing": "MADE:4",
    "ct": "MADE:5",
    "mf scale": "MADE:6",
    "covi-19": "MADE:7",
    "oddococcus ruber": "MADE:8",
    "ruber": "MADE:9",
    "o. ruber fever": "MADE:10",
    "odd-even disease": "MADE:11",
    "cold thing fever": "MADE:12",
    "even": "MADE:13",
}


class Exact:
    """Finds lower-cased names; the longest from left to right."""

    def find(self, text: str, language: str = "en", *, overlaps: bool = False) -> list[Match]:
        low = text.lower()
        found: list[Match] = []
        for name, concept in sorted(NAMES.items(), key=lambda item: -len(item[0])):
            start = low.find(name)
            while start >= 0:
                end = start + len(name)
                free = overlaps or all(end <= match.start or match.end <= start for match in found)
                if free and not low[end : end + 1].isalnum() and not low[start - 1 : start].isalnum():
                    found.append(Match(start, end, concept, name))
                start = low.find(name, start + 1)
        return sorted(found, key=lambda match: (match.start, -match.end, match.concept))

    def find_many(
        self, texts: Iterable[str], language: str = "en", *, overlaps: bool = False
    ) -> Iterator[list[Match]]:
        for text in texts:
            yield self.find(f"{text}", language, overlaps=overlaps)


def read(*texts: str) -> list[Mention]:
    numbered = [Text(f"t{number}", text) for number, text in enumerate(texts)]
    found = annotate("doc", numbered, Exact())
    for mention in found:
        assert texts[int(mention.text_id[1:])][mention.start : mention.end] == mention.text
    return found


def told(mentions: Iterable[Mention]) -> list[tuple[str, str, str, str]]:
    return [(row.text_id, row.text, row.concept, row.rule) for row in mentions]


def test_short_forms_take_the_concept_of_their_long_form() -> None:
    found = read("He had made fever (MF) twice.", "MF came back.", "The MF scale is another thing.")
    assert told(found) == [
        ("t0", "made fever", "MADE:1", "exact"),
        ("t0", "MF", "MADE:1", "short_form"),
        ("t1", "MF", "MADE:1", "short_form"),
        ("t2", "MF scale", "MADE:6", "exact"),
    ]
    assert found[1].score == WHOLE and found[0].score == 1.0


def test_a_long_form_that_only_ends_in_a_concept_counts_less() -> None:
    found = read("She has chronic kidney disease (CKD).", "CKD grew worse.")
    assert [(row.text, row.concept, row.score) for row in found] == [
        ("kidney disease", "MADE:3", 1.0),
        ("CKD", "MADE:3", PART),
        ("CKD", "MADE:3", PART),
    ]


@pytest.mark.parametrize(
    ("long", "language", "is_told"),
    [
        ("Journal of Odd Fever (JOF)", "en", False),  # stands for a journal
        ("Index for Kidney Disease (IKD)", "en", False),
        ("ovixazine, talamide, fever (OTF)", "en", False),  # one of several
        ("cough and fever (CF)", "en", False),
        ("cough/fever (CF)", "en", False),
        ("acute kidney disease (AKD)", "en", True),
        ("high-grade polar kidney disease (HPKD)", "en", False),
        ("tallow-related kidney disease (TRKD)", "en", True),
        ("polar kidney disease (PKD)", "en", True),
        ("ion beam kidney disease (IBKD)", "en", False),  # may be another thing
        ("animal kidney disease (AKD)", "en", False),
        ("tallow kidney disease (TKD)", "sv", True),
        ("non-odd kidney disease (NKD)", "en", False),
        ("late unusual polar kidney disease (LUPKD)", "en", False),  # says too little of it
        ("odd fever (OF)", "en", False),
        ("index odontológico fever (IOF)", "es", False),  # Spanish heads stand first
    ],
)
def test_a_short_form_is_what_the_head_of_its_long_form_is(long: str, language: str, is_told: bool) -> None:
    text = f"They had {long} last."
    found = annotate("doc", [Text("t0", text, language)], Exact())
    assert [row.rule for row in found] == ["exact", *["short_form"] * is_told], long


def test_a_species_is_known_by_the_initial_of_its_genus() -> None:
    found = read("O. ruber grew.", "Oddococcus ruber and O. ruber fever.", "P. ruber, O.ruber, of O. Ruber.")
    assert told(found) == [
        ("t0", "O. ruber", "MADE:8", "short_form"),
        ("t1", "Oddococcus ruber", "MADE:8", "exact"),
        ("t1", "O. ruber fever", "MADE:10", "exact"),
        ("t2", "ruber", "MADE:9", "exact"),  # another genus
        ("t2", "O.ruber", "MADE:8", "short_form"),
        ("t2", "Ruber", "MADE:9", "exact"),
    ]
    assert [row.text for row in read("O. ruber grew.")] == ["ruber"], "nobody said which genus"


def test_a_short_form_of_something_else_is_not_looked_up() -> None:
    assert [row.text for row in read("CT showed nothing.")] == ["CT"]
    found = read("Cognitive therapy (CT) helped.", "CT was given for a cold thing.")
    assert [row.text for row in found] == ["cold thing"]


def test_a_long_form_is_not_what_follows_a_hyphen_in_it() -> None:
    assert told(read("A non-made fever (NMF).", "NMF again."))[1:] == []


def test_a_short_form_that_is_hardly_anything_else_is_looked_up() -> None:
    found = read("Coordinated ovine viral disease 19 (COVI-19).", "COVI-19 spread.")
    assert told(found) == [("t0", "COVI-19", "MADE:7", "exact"), ("t1", "COVI-19", "MADE:7", "exact")]


def test_flags_come_from_the_sentence() -> None:
    negated, family, plain = read("There was no fever.", "His mother had a cold thing.", "A made fever.")
    assert negated.is_negated and not negated.is_family
    assert family.is_family and not family.is_negated
    assert not (plain.is_negated or plain.is_family or plain.is_historical or plain.is_hypothetical)


def test_languages_are_read_apart_and_order_is_kept() -> None:
    asked: list[tuple[str, int]] = []

    class Noting(Exact):
        def find_many(
            self, texts: Iterable[str], language: str = "en", *, overlaps: bool = False
        ) -> Iterator[list[Match]]:
            those = list(texts)
            asked.append((language, len(those)))
            yield from super().find_many(those, language, overlaps=overlaps)

    texts = [Text("a", "fever"), Text("b", "cold thing", "fr"), Text("c", "made fever"), Text("d", "")]
    found = annotate("doc", texts, Noting())
    assert asked == [("en", 3), ("fr", 1)]
    assert [row.text_id for row in found] == ["a", "b", "c"]


def test_documents_read_together_give_what_each_gives_alone() -> None:
    documents = [
        ("one", [Text("a", "A made fever (MF)."), Text("b", "No MF.")]),
        ("two", [Text("a", "MF and cold thing"), Text("b", "Oddococcus ruber; O. ruber", "fr")]),
        ("three", []),
        ("four", [Text("a", "fever" + " of" * 50_000)]),
        ("five", [Text("a", "no fever")]),
    ]
    together = list(annotate_many(documents, Exact()))
    assert together == [annotate(*document, Exact()) for document in documents]
    assert [len(found) for found in together] == [3, 3, 0, 1, 1]


def test_a_short_form_inside_a_name_does_not_break_it() -> None:
    found = told(read("Odd-even (OE) disease is rare.", "OE disease or OE, OE-like."))
    assert found == [
        ("t0", "Odd-even (OE) disease", "MADE:11", "short_form"),
        ("t1", "OE disease", "MADE:11", "short_form"),
        ("t1", "OE", "MADE:11", "short_form"),
        ("t1", "OE", "MADE:11", "short_form"),
    ]


def test_a_name_goes_on_behind_a_short_form_of_its_own() -> None:
    found = told(read("A cold thing (CT), or CT fever; CT and fever.", "CT. Fever"))
    assert found == [
        ("t0", "cold thing", "MADE:4", "exact"),
        ("t0", "CT", "MADE:4", "short_form"),
        ("t0", "CT fever", "MADE:12", "short_form"),
        ("t0", "CT", "MADE:4", "short_form"),
        ("t0", "fever", "MADE:2", "exact"),
        ("t1", "CT", "MADE:4", "short_form"),
        ("t1", "Fever", "MADE:2", "exact"),
    ]


def test_what_stands_under_a_heading_of_the_past_is_of_the_past() -> None:
    text = Text("a", "A made fever. No cold thing.", heading="Past medical history")
    fever, cold = annotate("doc", [text], Exact())
    assert fever.is_historical and not fever.is_negated
    assert cold.is_historical and cold.is_negated


@pytest.mark.parametrize("overlaps", [False, True])
def test_overlaps_are_passed_on(overlaps: bool) -> None:
    found = annotate("doc", [Text("a", "A made fever.")], Exact(), overlaps=overlaps)
    assert [row.text for row in found] == (["made fever", "fever"] if overlaps else ["made fever"])


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("(American Fever Society, 2013)", 0),
        ("(Fever et al. 2013; Cold Thing and Fever, 2014)", 0),
        ("(Fever was high, 2013)", 1),  # a sentence
        ("(see the Fever, 2013), and Fever", 1),
        ("Fever, 2013", 1),
        ("(Fever and Odd 2013)", 0),
        ("Odd and Fever (2013) and Fever & Odd (2014a, 2015)", 0),
        ("Fever et al. saw it; Odd and Fever et al. did not", 0),
        ("(Fever 2013; see Odd 2014)", 0),
        ("in Fever 2013 and the fever 2013", 2),
        ("between Fever and Odd (1914–1918)", 1),
        ("It was seen in fever and Odd (2013)", 1),
    ],
)
def test_authors_before_a_year_name_no_concept(text: str, count: int) -> None:
    assert len(read(text)) == count


def test_pointers_to_tables_and_figures_name_no_concept() -> None:
    NAMES["figures"], NAMES["appendix"] = "MADE:11", "MADE:12"
    try:
        assert told(read("See Appendix 1 and Figures 2-5.")) == []
        assert len(read("The appendix was removed, Fever 1.")) == 2
    finally:
        del NAMES["figures"], NAMES["appendix"]
