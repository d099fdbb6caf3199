"""Concept discrimination on an invented vocabulary: what stands beside the gold concept, what may not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.concept_links import FLOOR
from benchmarks.measure import read_result
from curation.extract.neutralise import restore
from curation.tasks.concept_discrimination.marks import mark
from curation.tasks.concept_discrimination.records import EarlierMember
from curation.tasks.concept_discrimination.sets_sql import MEMBERS, TIERS
from curation.tasks.concept_discrimination.task import TASK
from schemas.benchmark import Transform
from schemas.concept import DocumentConcept, Mention
from schemas.hashing import sha256_text
from schemas.vocabulary import ConceptMapping, ConceptName, ConceptRelation, RetiredConcept
from tests.curation.tasks.confusion_world import (
    ARTICLE,
    ELSEWHERE,
    FAR,
    GOLD,
    GOOD,
    PARENT,
    ROOT,
    TRAPS,
    TWIN,
    Vocabulary,
    build,
    definition,
    passage,
    source,
    vocabulary,
)

SAID = "The child was admitted with linnet pyrexia and went home."


@pytest.fixture(scope="module")
def near(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    """Rows of a query whose gold document shares no word with the marked ones."""
    return build(tmp_path_factory.mktemp("near"), vocabulary(), source(), passage(1, SAID))[2]


def test_every_trap_is_barred_for_its_own_reason(near: dict[str, list[Any]]) -> None:
    found = {row.concept: row.reason for row in near["checked"]}
    expected = {f"T:{name}": name for name in TRAPS} | {"T:same_name": "synonym", "T:hidden": "kind"}
    assert {concept: found[concept] for concept in expected} == expected
    assert {found[concept] for concept in GOOD[1:]} == {""}


def test_of_two_members_with_a_concept_below_both_one_is_taken(near: dict[str, list[Any]]) -> None:
    found = {row.concept: row for row in near["checked"]}
    barred = [row for row in (found[GOOD[0]], found[TWIN]) if row.reason]
    assert [row.reason for row in barred] == ["shared_with_member"]
    assert barred[0].detail in {GOOD[0], TWIN} - {barred[0].concept}


def test_a_set_has_the_gold_concept_and_seven_near_ones_of_the_highest_tier(
    near: dict[str, list[Any]],
) -> None:
    (query,) = near["queries"]
    members = [row for row in near["confusions"] if row.role == "member"]
    assert len(members) == MEMBERS and {row.kin for row in members} == {"sibling"}
    assert {row.concept for row in members} <= {*GOOD, TWIN}
    (gold,) = [row for row in near["confusions"] if row.role == "gold"]
    assert (gold.concept, gold.surface_distance, gold.names) == (GOLD, 0, 2)
    assert gold.below == ("T:below", "T:descendant", GOLD) and gold.above == ("T:gold", "T:grand", "T:parent")
    assert (query.tier, query.targets) == (TIERS["near", False], (GOLD,)) == ("3", (GOLD,))
    assert {row.id for row in near["documents"]} == {row.corpus_id for row in near["confusions"]}
    assert {row.license for row in near["documents"]} == {"CC-BY-4.0"}


def test_the_label_rests_on_the_words_of_the_passage(near: dict[str, list[Any]]) -> None:
    (query,), (label,) = near["queries"], near["qrels"]
    (evidence,) = label.evidence
    text = restore(query.text, query.transforms)
    assert "[[ linnet pyrexia ]]" in query.text and text.startswith(SAID)
    assert text[evidence.start : evidence.end] == evidence.text == "linnet pyrexia"


def test_shared_words_and_a_lot_decide_the_other_tiers(tmp_path: Path) -> None:
    told = vocabulary(gold_text=definition(670, "pyrexia"))
    passages = [passage(number, f"{SAID} It is number {number}.") for number in range(1, 6)]
    rows = build(tmp_path, told, source(), *passages)[2]
    kin: dict[str, set[str]] = {query.id: set() for query in rows["queries"]}
    for row in rows["confusions"]:
        kin[row.query_id].add(row.kin)
    assert {query.tier for query in rows["queries"]} == {"1", "2"} and len(rows["queries"]) == 5
    for query in rows["queries"]:
        assert kin[query.id] == {"itself", "far" if query.tier == "1" else "sibling"}
    far = {row.concept for row in rows["confusions"] if row.kin == "far"}
    assert far <= set(FAR)


def test_what_rests_on_no_author_alone_or_on_several_concepts_makes_no_query(tmp_path: Path) -> None:
    made = vocabulary()
    made.rows["names"].append(
        ConceptName(concept=GOOD[1], name="linnet pyrexia", source="T", term_type="BROAD")
    )
    other = "T:good2"
    texts = [
        passage(1, SAID),
        passage(2, f"It was {_name(made, other)} of the ward that was seen."),
        passage(3, f"The Clinical {_name(made, 'T:good3').capitalize()} Rating was used."),
        passage(4, f"It was severe {_name(made, 'T:good4')}, a kind of its own."),
        passage(5, "It was nothing anyone had called a name."),
    ]
    names = [_name(made, concept) for concept in (other, "T:good3", "T:good4")]
    longer = texts[3].text.index("severe"), texts[3].text.index(",")
    at = texts[1].text.index(names[0])
    mentions = (
        _mention(texts[3].id, *longer, texts[3].text, "T:other"),
        _mention(texts[1].id, at, at + len(names[0]), texts[1].text, "T:far01"),
    )
    keywords = ("Linnet pyrexia", *names, "unheard of", "called a name")
    kept, drops, rows = build(tmp_path, made, source(keywords=keywords), *texts, mentions=mentions)
    assert {row.detail: row.reason.value for row in drops} == {
        "A report": "not_in_a_passage",
        names[1]: "not_in_a_passage",
        names[2]: "not_in_a_passage",
        "unheard of": "not_in_a_passage",
    }
    assert len(kept["links"]) == 3 and rows["queries"] == []
    assert sorted(row.reason for row in rows["drops"]) == [
        "no_concept",
        "other_reading",
        "several_concepts",
    ]


def test_a_short_form_is_met_by_its_long_form_and_one_passage_asks_once(tmp_path: Path) -> None:
    made = vocabulary()
    made.rows["names"].append(ConceptName(concept=GOLD, name="LPX", source="T", term_type="AB"))
    keywords = ("LPX", _name(made, "T:good2"))
    first = passage(1, "It was linnet pyroxia (LPX) at first.")
    second = passage(2, f"The linnet pyroxia went on, without {keywords[1]}.")
    rows = build(tmp_path, made, source(keywords=keywords), first, second)[2]
    marked = {row.source_id: row.text.partition(" ]]")[0].partition("[[ ")[2] for row in rows["queries"]}
    assert marked[first.id] == "linnet pyroxia" and marked[second.id] in ("linnet pyroxia", keywords[1])
    assert [row.reason for row in rows["drops"] if row.unit == "query"] == ["same_passage"]


def test_distractors_that_are_right_or_nearly_so_are_barred(tmp_path: Path) -> None:
    """Short names, plurals, other orders of letters, and a third id that both are mapped to."""
    made = vocabulary()
    texts = {
        "plural_text": definition(601, "after", "linnet", "fevers"),
        "short_text": definition(602, "or", "LNP"),
        "other_case": definition(603, "or", "lnp"),
    }
    kin = ("third", "class", "short_name", "plural_name", "other_short", *texts)
    for name in kin:
        made.add(f"T:{name}", PARENT, text=texts.get(name, ""))
    names = {
        GOLD: ("LNP",),
        "T:short_name": ("LNP",),
        "T:other_short": ("Lnp", "LNQ"),
        "T:plural_name": ("Linnet’s fevers",),
    }
    made.rows["names"] += [
        ConceptName(concept=concept, name=name, source="T", term_type="SY")
        for concept, given in names.items()
        for name in given
    ]
    made.rows["mappings"] += [
        ConceptMapping(concept=concept, other=other, source="T", status="kept")
        for other, concepts in (("UMLS:C1", (GOLD, "T:third")), ("ICD10CM:A1", (GOLD, "T:class")))
        for concept in concepts
    ]
    rows = build(tmp_path, made, source(), passage(1, SAID))[2]
    found = {row.concept.removeprefix("T:"): row.reason for row in rows["checked"]}
    assert {name: found[name] for name in kin} == {
        "third": "mapped",
        "class": "",
        "short_name": "synonym",
        "plural_name": "synonym",
        "other_short": "",
        "plural_text": "names_anchor",
        "short_text": "names_anchor",
        "other_case": "",
    }


def test_a_release_lets_the_audit_find_names_and_ids_in_common_again(near: dict[str, list[Any]]) -> None:
    (gold,) = [row for row in near["confusions"] if row.role == "gold"]
    hashed = {sha256_text(f"{gold.query_id} {name}")[:16] for name in ("linnet fever", "linnet pyrexia")}
    assert set(gold.name_hashes) == hashed
    assert set(gold.id_hashes) == set() and "T:root" in gold.further
    for row in near["confusions"]:
        assert row is gold or not hashed & set(row.name_hashes)


@pytest.mark.parametrize(
    ("surface", "text", "is_shared"),
    [
        ("wheezing linnetosis", "wheezes are what it comes with", True),
        ("wheezing linnetosis", "linnetitis is what it comes with", False),
        ("linnet syndrome", "a syndrome of its own kind", False),
        ("linnet syndrome", "a linnet syndrome of its own", True),
        ("LNP", "the lnp is low in it", False),
        ("LNP", "what LNP is low in", True),
    ],
)
def test_words_that_many_names_have_share_no_surface(
    tmp_path: Path, surface: str, text: str, is_shared: bool
) -> None:
    made = vocabulary(definition(670, *text.split()))
    made.rows["names"].append(ConceptName(concept=GOLD, name=surface, source="T", term_type="SY"))
    for number in range(20):
        made.add(f"T:named{number}", ELSEWHERE, name=f"{'abcdefghijklmnopqrst'[number]}oma syndromes")
    said = passage(1, f"The child was admitted with {surface} and went home.")
    rows = build(tmp_path, made, source(keywords=(surface,)), said)[2]
    assert [row.word for row in rows["common_words"]] == ["syndromes"]
    (gold,) = rows["golds"]
    assert gold.is_shared is is_shared
    assert gold.common == (("syndrom",) if "syndrome" in surface else ())


def test_words_of_another_language_make_a_set_without_a_tier(tmp_path: Path) -> None:
    """They stand in no English definition, so that all of them would be called hard."""
    made = vocabulary(gold_text=definition(670, "pyrexia"))
    made.rows["names"].append(
        ConceptName(concept=GOLD, name="fiebre pardillo", source="T", term_type="PT", language="es")
    )
    text = "El niño tuvo fiebre pardillo y se vio en la sala, donde nada más se contó con estas palabras."
    said = replace(passage(1, text), language="es")
    article = source(language="es", keywords=("fiebre pardillo",), title="Un caso")
    rows = build(tmp_path, made, article, said)[2]
    assert [(query.language, query.tier) for query in rows["queries"]] == [("es", "")]
    assert {row.kin for row in rows["confusions"]} == {"itself", "sibling"}
    (gold,) = [row for row in rows["confusions"] if row.role == "gold"]
    assert gold.surface_distance == 0


def test_far_members_are_further_away_than_cousins(tmp_path: Path) -> None:
    """Three steps up and one down are as few as two up and two down: no place for a far member."""
    made = vocabulary(gold_text=definition(670, "pyrexia"))
    for number in range(40):
        made.add(f"T:high{number:02d}", ROOT)
    rows = build(tmp_path, made, source(), *(passage(n, f"{SAID} It is {n}.") for n in range(1, 6)))[2]
    reasons = {row.reason for row in rows["checked"] if row.concept.startswith("T:high")}
    assert "near_relative" in reasons and "" not in reasons
    assert {row.concept for row in rows["confusions"] if row.kin == "far"} <= set(FAR)


def test_its_pairs_are_labels_only_above_the_stated_floor() -> None:
    measured = read_result("concept_links")["sets"]
    is_below = any(found["precision"] < FLOOR for found in measured.values())
    assert bool(TASK.candidates_because) is is_below and not (is_below and TASK.gold_rules)
    for found in measured.values():
        assert f"{found['precision']:.2f}"[1:] in TASK.card
        assert str(round(found["precision"] * 100)) in TASK.candidates_because


def _name(made: Any, concept: str) -> str:
    return str(next(row.name for row in made.rows["names"] if row.concept == concept))


def _mention(text_id: str, start: int, end: int, text: str, concept: str) -> Mention:
    return Mention(
        article_id=ARTICLE,
        text_id=text_id,
        start=start,
        end=end,
        text=text[start:end],
        concept=concept,
        name="x",
    )


def _in_languages(made: Vocabulary) -> None:
    """Names of the gold concept and its siblings; all but those in Spanish and Chinese have a trap."""
    forms = {
        "es": "morbo {} del mar",
        "zh": "海之{}病",
        "ja": "海の{}熱",
        "fr": "mal {} de mer",
        "pt": "mal {} do mar",
        "it": "male {} di mare",
        "ru": "болезнь {} моря",
    }
    traps = {
        ("ja", GOOD[5]): "海之综合征",
        ("fr", GOOD[1]): "MAL-AB DE MER",
        ("pt", GOOD[2]): "mal aa do mar grave",
    }
    for number, concept in enumerate((GOLD, *GOOD, TWIN)):
        for language, form in forms.items():
            nth = "a" + "abcdefghij"[number] if language != "ru" else "абвгдежзи"[number]
            name = traps.get((language, concept), form.format(nth))
            restricted = language == "it" and concept == GOOD[3]
            made.rows["names"].append(
                ConceptName(
                    concept=concept, name=name, language=language, source="T",
                    term_type="CAND" if (language, concept) == ("zh", GOLD) else "PT",
                    atom="A1" if restricted else "", restriction=3 if restricted else 0,
                    tier="restricted" if restricted else "open",
                )
            )  # fmt: skip
    made.rows["names"].append(
        ConceptName(concept=GOOD[4], name="МОРСКАЯ ХВОРЬ", language="ru", source="T", term_type="SY")
    )
    made.rows["names"].append(
        ConceptName(concept=GOLD, name="морская хворь", language="ru", source="T", term_type="SY")
    )


def test_a_concept_that_icd_excludes_is_taken_before_siblings(
    near: dict[str, list[Any]], tmp_path: Path
) -> None:
    """A cousin comes after siblings; an Excludes1 note of the gold concept's category brings it in."""
    assert "T:cousin" not in {row.concept for row in near["confusions"]}
    made = vocabulary()
    for concept, code in ((GOLD, "E10.9"), ("T:cousin", "P70.2"), (GOOD[2], "P70.3")):
        made.rows["mappings"].append(
            ConceptMapping(concept=concept, other=f"ICD10CM:{code}", source="T", status="kept")
        )
    made.rows["relations"].append(
        ConceptRelation(concept="ICD10CM:P70.2", relation="excludes", other="ICD10CM:E10", source="ICD10CM")
    )
    rows = build(tmp_path, made, source(), passage(1, SAID))[2]
    assert {row.concept for row in rows["checked"] if row.is_seed} == {"T:cousin"}
    (cousin,) = [row for row in rows["confusions"] if row.concept == "T:cousin"]
    assert (cousin.kin, cousin.role) == ("cousin", "member") and len(rows["confusions"]) == 8


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    """The same in other languages."""
    made = vocabulary()
    made.rows["names"] = [row for row in made.rows["names"] if row.concept != "T:cousin"]
    _in_languages(made)
    return build(tmp_path_factory.mktemp("named"), made, source(), passage(1, SAID))[2]


@pytest.mark.parametrize(
    "names",
    [("es",), ("es", "pt", "fr"), ("es", "pt restricted"), ()],
    ids=["one less", "one more", "one that is restricted", "none"],
)
def test_members_are_named_in_the_languages_that_the_gold_concept_is(
    names: tuple[str, ...], tmp_path: Path
) -> None:
    """A cousin has Spanish and Portuguese names, as the gold concept and siblings; one sibling differs."""
    made = vocabulary()
    for number, concept in enumerate((GOLD, *GOOD, TWIN, "T:cousin")):
        for said in names if concept == GOOD[1] else ("es", "pt"):
            language, _, tier = said.partition(" ")
            row = ConceptName(
                concept=concept, name=f"mal {'abcdefghij'[number] * 3}", language=language, source="T",
                term_type="PT", tier="restricted" if tier else "open",
            )  # fmt: skip
            made.rows["names"].append(row)
    rows = build(tmp_path, made, source(), passage(1, SAID))[2]
    members = {row.concept: row.languages for row in rows["confusions"] if row.role == "member"}
    assert GOOD[1] not in members and members["T:cousin"] == 2 and len(members) == MEMBERS
    assert {row.document_language for row in rows["named_queries"]} == {"es", "pt"}


def test_far_members_are_drawn_among_those_named_in_the_same_languages(tmp_path: Path) -> None:
    """Eight of three hundred far concepts are: a draw that does not look for them would find one or two."""
    made = vocabulary(gold_text=definition(670, "pyrexia"))
    more = [f"T:farther{number:03d}" for number in range(270)]
    for number, concept in enumerate(more):
        told = " ".join(f"{'abcdefghij'[number % 10]}{number}{place}y" for place in "abcdefghij")
        made.add(concept, "T:twig", name=f"Farther {number}", text=told)
    for number, concept in enumerate((GOLD, *more[::35])):
        made.rows["names"].append(
            ConceptName(concept=concept, name=f"mal {'abcdefghij'[number] * 3}", language="pt", source="T")
        )
    passages = [passage(number, f"{SAID} It is number {number}.") for number in range(1, 6)]
    rows = build(tmp_path, made, source(), *passages)[2]
    far = {row.concept for row in rows["confusions"] if row.kin == "far"}
    assert far and far <= set(more[::35])


def test_a_set_is_asked_in_a_language_by_one_name_for_each_of_its_documents(
    named: dict[str, list[Any]],
) -> None:
    (query,) = named["queries"]
    members = {row.corpus_id for row in named["confusions"]}
    assert {(row.document_language, row.status) for row in named["named_queries"]} == {
        ("es", "official"),
        ("zh", "candidate"),
    }
    assert {row.query_id for row in named["named_queries"]} == {query.id}
    for language in ("es", "zh"):
        documents = {row.id: row for row in named["named_corpus"] if row.language == language}
        assert documents.keys() == members and len({row.text for row in documents.values()}) == 8
        assert {row.license for row in documents.values()} == {"CC-BY-4.0"}
    gold = next(row.corpus_id for row in named["confusions"] if row.role == "gold")
    assert {row.corpus_id for row in named["named_qrels"]} == {gold}
    assert "vocabulary:T" in {row.id for row in named["collections"]}


def test_a_name_that_would_be_right_too_or_is_in_no_fitting_script_drops_the_set_in_that_language(
    named: dict[str, list[Any]],
) -> None:
    dropped = {row.id.partition("/")[2]: row for row in named["drops"] if row.unit == "set"}
    assert {*GOOD[1:]} <= {row.concept for row in named["confusions"]}
    expected = {
        "de": "no_name_in_language",
        "ja": "name_not_in_language",
        "fr": "shared_name",
        "pt": "names_gold_concept",
        "it": "restricted_name",
        "ru": "shared_name",
    }
    assert {language: row.reason for language, row in dropped.items()} == expected
    assert dropped["ru"].detail == f"{GOLD} {GOOD[4]}" and dropped["pt"].detail == GOOD[2]


def test_of_a_restricted_name_only_its_origin_and_hash_are_told(named: dict[str, list[Any]]) -> None:
    recipes = {row.concept: row for row in named["name_recipes"]}
    assert len(recipes) == 8 and {row.document_language for row in recipes.values()} == {"it"}
    secret = recipes[GOOD[3]]
    assert (secret.text, secret.atom, secret.license) == ("", "A1", "LicenseRef-restricted-T")
    assert secret.text_sha256 == sha256_text("male ae di mare") and recipes[GOLD].text == "male aa di mare"
    assert "male ae" not in str(named["named_corpus"]) + str(named["drops"])


def test_marks_move_what_stands_behind_them_and_come_off_again() -> None:
    changes = (
        Transform(start=2, end=2, original="xx", rule="r"),
        Transform(start=9, end=10, original="", rule="r"),
    )
    text, made = mark("ab cdef gh", changes, 3, 7)
    assert text == "ab [[ cdef ]] gh"
    assert restore(text, made) == "abxx cdef g"


def test_it_declares_what_it_is() -> None:
    assert TASK.extra_tables[0] == "confusions" and [grade.score for grade in TASK.grades] == [2, 0]


def sets(rows: dict[str, list[Any]]) -> set[tuple[str, str, str]]:
    return {(row.query_id, row.concept, row.kin) for row in rows["confusions"]}


def members(rows: dict[str, list[Any]]) -> set[str]:
    return {row.concept for row in rows["confusions"] if row.role == "member"}


@pytest.mark.parametrize("gold_text", ["", definition(670, "pyrexia")], ids=["near", "near or far"])
def test_a_set_that_was_published_stands_when_articles_come_or_go(tmp_path: Path, gold_text: str) -> None:
    """How well known a concept is draws members, and every article changes that."""
    made = vocabulary(gold_text)
    passages = [passage(number, f"{SAID} Number {number}.") for number in range(1, 5)]
    before = build(tmp_path / "before", made, source(), *passages)[2]
    assert {row.tier for row in before["queries"]} == ({"1", "2"} if gold_text else {"3"})
    stood = [
        EarlierMember(query_id=row.query_id, concept=row.concept, kin=row.kin) for row in before["confusions"]
    ]
    known = [
        DocumentConcept(
            article_id=f"pmc:PMC{number}.1", concept=concept, name=concept, mentions=1, asserted=1
        )
        for number in range(10, 20)
        for concept in sorted({row.concept for row in before["confusions"]})[::2]
    ]
    given: dict[str, list[Any]] = {"found_concepts": known}
    after = build(tmp_path / "after", made, source(), *passages, given=given)[2]
    assert sets(after) != sets(before)
    again = build(tmp_path / "again", made, source(), *passages, given=given | {"earlier": stood})[2]
    assert sets(again) == sets(before)
    assert [row.tier for row in again["queries"]] == [row.tier for row in before["queries"]]


def test_a_published_member_that_may_stand_no_more_is_replaced(
    tmp_path: Path, near: dict[str, list[Any]]
) -> None:
    stood = [
        EarlierMember(query_id=row.query_id, concept=row.concept, kin=row.kin) for row in near["confusions"]
    ]
    made, gone = vocabulary(), sorted(members(near))[0]
    made.rows["retired"].append(RetiredConcept(concept=gone, source="T"))
    after = build(tmp_path / "w", made, source(), passage(1, SAID), given={"earlier": stood})[2]
    assert gone not in members(after) and len(members(after) & members(near)) == MEMBERS - 1
