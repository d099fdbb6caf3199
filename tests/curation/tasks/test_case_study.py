"""Whole worlds of cases with known truth, and each rule of what may be asked, shown and paired."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from curation.extract.neutralise import restore
from curation.tasks.case_study.task import TASK
from schemas.article import Licence
from schemas.hashing import sha256_text
from tests.curation.tasks.case_truth import VIA, truth, world
from tests.curation.tasks.case_world import Built, Patient, Report, curie, run, story

TEXT = story(1)
GRADED = {"same-diagnosis": 2, "parent": 1, "child": 1, "grandparent": 1, "grandchild": 1, "sibling": 1}

WORLDS = ((1, 30), (2, 30), (3, 30), (2, 6))
"""Seed and number of articles; in the small one some cases find no partner."""


def pmc(number: int) -> str:
    return f"pmc:PMC{number}.1"


def one(number: int, concept: str, **changes: Any) -> Report:
    """An article with one patient of its own text."""
    return Report(pmc(number), [Patient([story(number)], concept=concept, **changes)])


def found(built: Built) -> dict[tuple[str, str], str]:
    """Relation or exclusion of every pair that is not simply unjudged."""
    labels = {
        pair: row.rule.removeprefix("case_study/").removesuffix("@1") for pair, row in built.labels().items()
    }
    assert not labels.keys() & built.excluded().keys()
    return labels | built.excluded()


@pytest.mark.parametrize(("seed", "articles"), WORLDS)
def test_every_pair_of_a_known_world_is_judged_as_it_is(seed: int, articles: int, tmp_path: Path) -> None:
    cases = world(seed, articles)
    expected, lost = truth(cases)
    built = run(list({id(told.report): told.report for told in cases}.values()), tmp_path)
    assert found(built) == expected
    assert built.reasons("query") == lost
    assert {query.source_id for query in built.queries} == {told.id for told in cases} - lost.keys()
    for pair, row in built.labels().items():
        assert row.score == GRADED[expected[pair]]
        assert row.label_status == "structural"


def test_the_known_worlds_hold_every_rule_and_exclusion() -> None:
    seen: Counter[str] = Counter()
    for seed, articles in WORLDS:
        pairs, lost = truth(world(seed, articles))
        seen += Counter(pairs.values()) + Counter(lost.values())
    wanted = {
        *GRADED,
        *("own_case", "same_article", "same_patient", "related_diagnosis", "mentions_target"),
        *("duplicate_query", "no_relevant_case", "only_same_article", "open_diagnosis", "weak_diagnosis"),
        "no_clinical_image",
    }
    assert wanted <= seen.keys()


def test_a_world_does_not_depend_on_the_order_of_its_articles(tmp_path: Path) -> None:
    reports = list({id(told.report): told.report for told in world(4, articles=15)}.values())
    first = run(reports, tmp_path)
    assert run(reports[::-1], tmp_path).tables == first.tables


def test_evidence_re_extracts_and_labels_name_their_link(tmp_path: Path) -> None:
    cases = world(5, 20)
    built = run(list({id(told.report): told.report for told in cases}.values()), tmp_path)
    assert built.labels()
    concepts = {told.id: told.patient.concept for told in cases}
    documents = {row.id: row for row in built.per_article["documents"]}
    for (asked, _), row in built.labels().items():
        pair = next(
            item
            for item in built.tables["pairs"]
            if (item.query_id, item.corpus_id) == (row.query_id, row.corpus_id)
        )
        assert {item.text_id.partition("#")[0] for item in row.evidence} == {
            asked.partition("#")[0],
            pair.case_id.partition("#")[0],
        }
        for item in row.evidence:
            if item.text_id in documents:
                source = restore(documents[item.text_id].text, documents[item.text_id].transforms)
            else:
                assert item.text_id.endswith("#title")
                source = "A patient with a rare finding"
            assert source[item.start : item.end] == item.text
        mine, theirs = concepts[asked], concepts[pair.case_id]
        rule = row.rule.removeprefix("case_study/").removesuffix("@1")
        if rule == "sibling":
            assert row.via in {curie(VIA.get(f"{mine} {theirs}", "")), curie(VIA.get(f"{theirs} {mine}", ""))}
        else:
            assert row.via == curie(theirs if rule in ("same-diagnosis", "parent", "grandparent") else mine)


def test_patients_of_one_article_are_labelled_apart(tmp_path: Path) -> None:
    twins = Report(
        pmc(1), [Patient([story(1)], "gout"), Patient([story(2)], "gout"), Patient([story(3)], "cyst")]
    )
    built = run([twins, one(4, "gout")], tmp_path)
    apart = built.labels("same_article")
    assert set(apart) == {(f"{pmc(1)}#case1", f"{pmc(1)}#case2"), (f"{pmc(1)}#case2", f"{pmc(1)}#case1")}
    for row in apart.values():
        assert (row.rule, row.score, row.via) == ("case_study/same-article@1", 2, "MONDO:gout")
    assert built.excluded()[f"{pmc(1)}#case1", f"{pmc(1)}#case2"] == "same_article"
    assert built.excluded()[f"{pmc(1)}#case1", f"{pmc(1)}#case3"] == "same_article"
    assert {pair[1] for pair in built.labels() if pair[0] == f"{pmc(1)}#case1"} == {f"{pmc(4)}#case1"}


def test_an_article_alone_with_its_patients_asks_nothing(tmp_path: Path) -> None:
    twins = Report(pmc(1), [Patient([story(1)], "gout"), Patient([story(2)], "gout")])
    built = run([twins], tmp_path)
    assert built.reasons("query") == dict.fromkeys(
        (f"{pmc(1)}#case1", f"{pmc(1)}#case2"), "only_same_article"
    )
    assert not built.queries and not built.tables["same_article"] and not built.tables["excluded"]
    assert len(built.documents) == 2


def test_what_a_query_and_a_document_publish(tmp_path: Path) -> None:
    built = run(
        [one(1, "gout"), one(2, "gout", graphics=2, regions=("head",)), one(3, "", kind="chart")], tmp_path
    )
    query = next(row for row in built.queries if row.source_id == f"{pmc(2)}#case1")
    document = next(row for row in built.documents if row.id == query.source_id)
    assert (query.text, query.text_sha256) == (document.text, sha256_text(story(2)))
    assert query.image is not None and query.image.path == "m/1.jpg" and query.image_count == 2
    assert document.image == query.image
    assert (query.targets, query.hides_target) == (("MONDO:gout",), False)
    assert query.patient_id == document.patient_id == f"{pmc(2)}#case1"
    assert (query.specialty, query.modality, query.region, query.tier) == ("pulmonology", "ct", "head", "")
    first = next(row for row in built.queries if row.source_id == f"{pmc(1)}#case1")
    assert first.region == "thorax"
    assert (document.specialty, document.genre) == ("pulmonology", "case-report")
    other = next(row for row in built.documents if row.id == f"{pmc(3)}#case1")
    assert other.image is None


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"concept": ""}, "open_diagnosis"),
        ({"concept": "", "contenders": ("gout", "cyst")}, "open_diagnosis"),
        ({"confidence": 0.49}, "weak_diagnosis"),
        ({"concept": "disease"}, "general_diagnosis"),
        ({"concept": "unknown"}, "general_diagnosis"),
        ({"graphics": 0}, "no_graphic"),
        ({"kind": "chart"}, "no_clinical_image"),
        ({"kind": "compound"}, "no_clinical_image"),
        ({"kind": ""}, "no_clinical_image"),
        ({"flags": ("face", "text_unchecked")}, "flagged_image"),
        ({"flags": ("face_unchecked", "sensitive")}, "flagged_image"),
        ({"figure": {"is_third_party": True}}, "third_party"),
        ({"figure": {"licence": Licence(spdx="CC-BY-NC-4.0", evidence="jats:fig")}}, "licence_not_allowed"),
        ({"figure": {"graphics": ()}}, "no_graphic"),
    ],
)
def test_cases_that_ask_nothing_are_documents_all_the_same(
    changes: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    built = run([one(1, **{"concept": "gout", **changes}), one(2, "gout")], tmp_path)
    assert built.reasons("query")[f"{pmc(1)}#case1"] == reason
    assert built.reasons("document") == {}
    is_paired = reason not in ("open_diagnosis", "weak_diagnosis", "general_diagnosis")
    assert bool(built.labels()) is is_paired
    image = next(row for row in built.documents if row.id == f"{pmc(1)}#case1").image
    assert (image is None) is is_paired


def test_without_the_need_of_an_image_such_cases_ask(tmp_path: Path) -> None:
    built = run([one(1, "gout", kind="chart"), one(2, "gout")], tmp_path, require_image=False)
    query = next(row for row in built.queries if row.source_id == f"{pmc(1)}#case1")
    assert (query.image, query.image_count, query.modality) == (None, 0, "")


@pytest.mark.parametrize(
    ("source", "text", "reason"),
    [
        ({"is_retracted": True}, TEXT, "retracted"),
        ({"scope": "not_human"}, TEXT, "not_human"),
        ({"licence": Licence(spdx="CC-BY-ND-4.0", evidence="jats")}, TEXT, "licence_not_allowed"),
        ({}, story(1, words=49), "short_case"),
    ],
)
def test_cases_that_do_not_enter(source: dict[str, Any], text: str, reason: str, tmp_path: Path) -> None:
    built = run([Report(pmc(1), [Patient([text], "gout")], source=source), one(2, "gout")], tmp_path)
    name = f"{pmc(1)}#case1"
    assert built.reasons("document") == {name: reason}
    assert built.reasons("query") == {name: reason, f"{pmc(2)}#case1": "no_relevant_case"}


def test_a_box_of_a_book_is_judged_by_its_own_text(tmp_path: Path) -> None:
    book = Report(pmc(1), [Patient([TEXT], "gout")], source={"scope": "not_a_patient", "is_book": True})
    built = run([book, one(2, "gout")], tmp_path)
    assert {row.genre for row in built.documents} == {"book", "case-report"}


@pytest.mark.parametrize(
    ("text", "image", "together"),
    [
        ("CC-BY-4.0", "CC0-1.0", "CC-BY-4.0"),
        ("CC0-1.0", "CC-BY-4.0", "CC-BY-4.0"),
        ("CC-BY-4.0", "CC-BY-NC-4.0", "CC-BY-NC-4.0"),
        ("CC-BY-SA-4.0", "CC-BY-NC-4.0", ""),
        ("CC-BY-4.0", "CC-BY-ND-4.0", ""),
        ("LicenseRef-CC-BY", "CC-BY-4.0", "LicenseRef-CC-BY"),
    ],
)
def test_text_and_image_are_published_under_a_licence_that_fits_both(
    text: str, image: str, together: str, tmp_path: Path
) -> None:
    figure = {"licence": Licence(spdx=image, evidence="jats:fig")}
    source = {"licence": Licence(spdx=text, evidence="jats:license")}
    of = Report(pmc(1), [Patient([TEXT], "gout", figure=figure)], source=source)
    (document,) = run([of], tmp_path, licence_profile="noncommercial").documents
    assert document.license == (together or text)
    assert (document.image is not None) is bool(together)
    if together:
        assert document.license_evidence == "text: jats:license; image: jats:fig"


def test_negated_names_do_not_count_and_an_open_case_counts_with_its_whole_article(tmp_path: Path) -> None:
    reports = [
        one(1, "gout"),
        one(2, "gout"),
        one(3, "cyst", denies=("gout",)),
        one(4, "cyst", names=("gout",)),
        Report(pmc(5), [Patient([story(5)], "cyst")], names=("gout",)),
        Report(pmc(6), [Patient([story(6)], "")], names=("gout",)),
        Report(pmc(7), [Patient([story(7)], "", contenders=("gout", "cyst"))]),
        Report(pmc(8), [Patient([story(8)], "gout", confidence=0.2)]),
    ]
    excluded = run(reports, tmp_path).excluded()
    named = {
        pair[1] for pair, why in excluded.items() if why == "mentions_target" and pair[0] == f"{pmc(1)}#case1"
    }
    assert named == {f"{pmc(number)}#case1" for number in (4, 6, 7, 8)}


def test_every_grade_and_exclusion_is_defined() -> None:
    assert [grade.score for grade in TASK.grades] == [2, 1, 0]
    assert {
        "own_case",
        "same_article",
        "same_patient",
        "related_diagnosis",
        "mentions_target",
    } <= TASK.all_exclusions.keys()


@pytest.mark.parametrize(
    ("one_concept", "other_concept", "one_system", "other_system", "expected"),
    [
        ("haematoma", "haematoma", ("digestive",), ("cardiovascular",), "related_diagnosis"),
        ("haematoma", "haematoma", ("digestive",), (), "related_diagnosis"),
        ("haematoma", "haematoma", ("digestive", "immune"), ("immune",), "same-diagnosis"),
        ("colon_haematoma", "heart_haematoma", ("digestive",), ("cardiovascular",), "related_diagnosis"),
        ("colon_haematoma", "heart_haematoma", ("digestive",), ("digestive",), "sibling"),
        ("haematoma", "heart_haematoma", ("digestive",), ("cardiovascular",), "related_diagnosis"),
        ("bacterial", "viral", ("respiratory",), ("nervous",), "sibling"),
        ("gout", "gout", ("musculoskeletal",), ("urinary",), "same-diagnosis"),
    ],
)
def test_a_lesion_that_may_be_anywhere_joins_only_one_body_system(
    one_concept: str,
    other_concept: str,
    one_system: tuple[str, ...],
    other_system: tuple[str, ...],
    expected: str,
    tmp_path: Path,
) -> None:
    same = [one(3, one_concept, systems=one_system)]  # so that the query has a positive in any case
    built = run(
        [one(1, one_concept, systems=one_system), one(2, other_concept, systems=other_system), *same],
        tmp_path,
    )
    pairs = found(built)
    assert pairs[f"{pmc(1)}#case1", f"{pmc(2)}#case1"] == expected


@pytest.mark.parametrize(
    ("concept", "one_site", "other_site", "expected"),
    [
        ("haematoma", ("limbs",), ("head_neck",), "related_diagnosis"),
        ("haematoma", ("limbs", "thorax"), ("thorax",), "same-diagnosis"),
        ("haematoma", ("limbs",), (), "same-diagnosis"),
        ("gout", ("limbs",), ("head_neck",), "same-diagnosis"),
    ],
)
def test_a_lesion_of_what_is_everywhere_joins_only_one_region(
    concept: str, one_site: tuple[str, ...], other_site: tuple[str, ...], expected: str, tmp_path: Path
) -> None:
    system = ("cardiovascular",)
    same = [one(3, concept, systems=system, sites=one_site)]  # so that the query has a positive in any case
    built = run(
        [
            one(1, concept, systems=system, sites=one_site),
            one(2, concept, systems=system, sites=other_site),
            *same,
        ],
        tmp_path,
    )
    assert found(built)[f"{pmc(1)}#case1", f"{pmc(2)}#case1"] == expected


def test_a_case_lists_all_its_images_where_they_are_asked_for(tmp_path: Path) -> None:
    reports = [
        one(1, "gout", graphics=3),
        one(2, "gout", graphics=8),
        one(3, "gout", graphics=1),
        one(4, "gout", graphics=2, kind="chart"),
    ]
    built = run(reports, tmp_path, max_images=6)
    plain = run(reports, tmp_path)
    rows = built.tables["images"]
    sides = Counter((row.side, row.source_id.partition("#")[0]) for row in rows)
    assert sides == {
        (side, pmc(number)): count for side in ("query", "document") for number, count in ((1, 3), (2, 6))
    }
    firsts = {row.id: row.image for row in rows if row.position == 1}
    rows_of: list[Any] = [*built.queries, *built.documents]
    for row in rows_of:
        assert row.id not in firsts or firsts[row.id] == row.image
    assert [row.position for row in rows if row.side == "document" and row.id == f"{pmc(1)}#case1"] == [
        1,
        2,
        3,
    ]
    left = {row.id: str(row.reason) for row in built.drops if row.unit == "row_image"}
    assert left == {f"{pmc(2)}#case1 {pmc(2)}#F1/{n}": "too_many_images" for n in (7, 8)}
    assert not plain.tables["images"] and not any(row.unit == "row_image" for row in plain.drops)
    for table in ("queries", "documents", "qrels", "excluded"):
        assert built.tables[table] == plain.tables[table]


def test_an_image_that_may_not_be_shown_is_no_image_of_the_case(tmp_path: Path) -> None:
    reports = [one(1, "gout", graphics=3), one(2, "gout")]
    shared = Licence(spdx="CC-BY-NC-4.0", evidence="caption")
    reports[0].patients[0].figure = {"licence": shared}
    built = run(reports, tmp_path, max_images=6)
    assert not built.tables["images"]
