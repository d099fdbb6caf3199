"""Every rule, exclusion and drop of image search against a synthetic literature whose truth is known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from curation.extract.neutralise import restore
from curation.extract.stage import extract
from curation.tasks.image_search.caption import ShownConcepts, read_shown, vagueness
from curation.tasks.image_search.facts import Report, shared_run
from curation.tasks.image_search.labels import common
from curation.tasks.image_search.story import Sentence, shortened, tell
from curation.tasks.image_search.task import TASK
from curation.tasks.shared.words import word_count
from flows.engine.database import run_set_stage
from flows.engine.runner import run_records
from schemas.article import Article
from schemas.case import Case, CaseSpan
from schemas.concept import Mention
from schemas.extracted import Figure, Passage, Source
from schemas.hashing import sha256_text
from schemas.record import from_table, to_table
from tests.curation.builders import ID, article, figure
from tests.curation.tasks.image_world import FINDINGS, HISTORY, LAST_SCAN, World, rows_of, world

OWN, SAME, CASE = (2, "own-image"), (1, "same-case"), (2, "case-image")
FINDING, ORGANISM, PLACE, WARD = "MONDO:1", "MESH:2", "MESH:3", "MESH:4"
A, B, C, G = "pmc:PMC1.1", "pmc:PMC2.1", "pmc:PMC3.1", "pmc:PMC7.1"
LABELS: dict[str, dict[str, tuple[int, str]]] = {
    f"{A}#F1": {f"{A}#F1/1": OWN, f"{A}#F2/1": SAME},
    f"{A}#F2": {f"{A}#F2/1": OWN, f"{A}#F1/1": SAME},
    f"{A}#F3": {f"{A}#F3/1": OWN, f"{C}#F4/1": OWN},
    f"{A}#F4": {f"{A}#F4/1": OWN},
    f"{A}#F6": {f"{A}#F6/1": OWN, f"{A}#F6/2": OWN},
    f"{A}#F7": {f"{A}#F7/1": OWN},
    f"{A}#case1": {f"{A}#F{n}": CASE for n in ("1/1", "2/1", "3/1", "4/1", "6/1", "6/2")},
    f"{B}#F15": {f"{B}#F15/1": OWN},
    f"{B}#F21": {f"{B}#F21/1": OWN},
    f"{C}#F1": {f"{A}#F1/1": OWN},
    f"{C}#F2": {f"{A}#F2/1": OWN},
    f"{C}#F3": {f"{C}#F3/1": OWN},
    f"{G}#F1": {f"{G}#F1/1": OWN},
    f"{G}#F2": {f"{G}#F2/1": OWN},
    f"{G}#case1": {f"{G}#F1/1": CASE},
}
"""Query's record -> image -> grade and rule, over all articles."""
DROPS = {
    "document": {
        f"{A}#F5/1": "no_clinical_image",
        f"{B}#F1/1": "third_party",
        f"{B}#F2/1": "licence_not_allowed",
        f"{B}#F3/1": "image_missing",
        f"{B}#F9/1": "no_clinical_image",
        f"{B}#F10/1": "flagged_image",
        f"{B}#F11/1": "label_in_image",
        f"{B}#F12/1": "label_in_image",
        f"{B}#F13/1": "no_clinical_image",
        f"{B}#F14/1": "no_clinical_image",
        f"{B}#F16/1": "flagged_image",
        f"{B}#F17/1": "no_clinical_image",
        f"{B}#F18/1": "no_clinical_image",
        "pmc:PMC4.1#F1/1": "retracted",
        "pmc:PMC5.1#F1/1": "licence_not_allowed",
        "pmc:PMC6.1#F1/1": "not_human",
    },
    "query": {
        f"{A}#F5": "no_clinical_image",
        f"{B}#F1": "third_party",
        f"{B}#F2": "licence_not_allowed",
        f"{B}#F3": "image_missing",
        f"{B}#F4": "no_graphic",
        f"{B}#F5": "no_caption",
        f"{B}#F6": "short_caption",
        f"{B}#F7": "long_caption",
        f"{B}#F8": "vague_caption",
        f"{B}#F9": "no_clinical_image",
        f"{B}#F10": "flagged_image",
        f"{B}#F11": "label_in_image",
        f"{B}#F12": "label_in_image",
        f"{B}#F13": "no_clinical_image",
        f"{B}#F14": "no_clinical_image",
        f"{B}#F16": "flagged_image",
        f"{B}#F17": "no_clinical_image",
        f"{B}#F18": "no_clinical_image",
        f"{B}#F19": "vague_caption",
        f"{B}#F20": "vague_caption",
        f"{B}#F22": "vague_caption",
        f"{B}#case1": "short_case",
        f"{G}#case2": "short_case",
        f"{G}#case3": "no_graphic",
        **{f"pmc:PMC4.1#{name}": "retracted" for name in ("F1", "case1")},
        **{f"pmc:PMC5.1#{name}": "licence_not_allowed" for name in ("F1", "case1")},
        **{f"pmc:PMC6.1#{name}": "not_human" for name in ("F1", "case1")},
    },
}
MERGED = {
    ("query", f"{C}#F4", "duplicate_query", f"{A}#F3"),
    ("document", f"{C}#F1/1", "duplicate_document", f"{A}#F1/1"),
    ("document", f"{C}#F2/1", "duplicate_document", f"{A}#F2/1"),
}


class Made:
    """The world and what the task makes of it."""

    def __init__(self, folder: Path) -> None:
        self.world: World = world(folder / "raw")
        self.tables = self.world.tables()
        self.types = self.world.types()
        self._bring_near()
        self.kept, self.drops, self.counts = run_records(
            TASK.per_article, self.tables, TASK.per_article.params, {"types": self.types}
        )
        inputs = {}
        for view, (name, kind) in TASK.over_all.inputs.items():
            path = folder / f"{view}.parquet"
            pq.write_table(to_table(kind, self.kept[name.partition(".")[2]]), path)
            inputs[view] = [path]
        out = folder / "out"
        out.mkdir()
        files, self.units, _ = run_set_stage(TASK.over_all, inputs, out, "1GB")
        self.all: dict[str, list[Any]] = {
            name: from_table(
                sql.row, pq.read_table(out / files["_dropped" if name == "drops" else name].file)
            )
            for name, sql in TASK.over_all.outputs.items()
        }

    def _bring_near(self) -> None:
        """Give one image a hash three bits from another's."""
        images = rows_of(self.tables, type(self.tables["images.images"][0]))
        bits = int(images[f"{G}#F1/1"].phash, 16) ^ 0b1001 ^ (1 << 60)
        near = images[f"{C}#F3/1"]
        rows = self.tables["images.images"]
        rows[rows.index(near)] = type(near)(**{**_fields(near), "phash": f"{bits:016x}"})


def _fields(row: Any) -> dict[str, Any]:
    return {name: getattr(row, name) for name in row.__dataclass_fields__}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return Made(tmp_path_factory.mktemp("image_search"))


def test_every_label_and_no_other(made: Made) -> None:
    source = {query.id: query.source_id for query in made.all["queries"]}
    found: dict[str, dict[str, tuple[int, str]]] = {name: {} for name in source.values()}
    for row in made.all["qrels"]:
        assert row.rule.startswith("image_search/")
        assert row.rule[-2:] == ("@2" if "case-image" in row.rule else "@1")
        found[source[row.query_id]][row.corpus_id] = (row.score, row.rule[13:-2])
    assert found == LABELS
    assert {row.score for row in made.all["qrels"]} == {grade.score for grade in TASK.grades} - {0}


def test_every_image_and_every_record_is_kept_or_dropped_with_its_reason(made: Made) -> None:
    for unit, reasons in DROPS.items():
        assert {row.id: str(row.reason) for row in made.drops if row.unit == unit} == reasons
        assert made.counts[unit]["in"] == made.counts[unit]["kept"] + made.counts[unit]["dropped"]
    assert {(row.unit, row.id, str(row.reason), row.detail) for row in made.all["drops"]} == MERGED
    held = {image for labels in LABELS.values() for image in labels}
    unasked = {f"{B}#F{n}/1" for n in (5, 6, 7, 8, 19, 20, 22)}
    assert {row.id for row in made.all["documents"]} == held | unasked


def test_pairs_set_apart(made: Made) -> None:
    source = {query.id: query.source_id for query in made.all["queries"]}
    found = {(source[row.query_id], row.corpus_id): row.reason for row in made.all["excluded"]}
    assert not found.keys() & {(q, d) for q, labels in LABELS.items() for d in labels}
    assert set(found.values()) == {"own_article", "same_case_image", "near_image"} <= set(TASK.all_exclusions)
    assert found[f"{A}#F1", f"{A}#F3/1"] == found[f"{A}#F1", f"{A}#F4/1"] == "same_case_image"
    assert found[f"{A}#F1", f"{A}#F7/1"] == found[f"{A}#case1", f"{A}#F7/1"] == "own_article"
    assert found[f"{G}#case1", f"{G}#F2/1"] == "own_article"
    assert found[f"{G}#F1", f"{C}#F3/1"] == found[f"{C}#F3", f"{G}#F1/1"] == "near_image"
    for query in made.all["queries"]:
        mine = {row.id for row in made.all["documents"] if row.article_id == query.article_id}
        told = {d for q, d in found if q == query.source_id} | LABELS[query.source_id].keys()
        assert mine <= told, "an image of the query's own article is left unjudged"


def test_documents_are_images_alone(made: Made) -> None:
    for row in made.all["documents"]:
        assert (row.text, row.title, row.transforms) == ("", "", ())
        assert row.text_sha256 == sha256_text("")
        assert row.image is not None and (made.world.raw / row.image.path).is_file()
    owners = {row.id: row.patient_id for row in made.all["documents"]}
    assert (owners[f"{A}#F1/1"], owners[f"{A}#F7/1"]) == (f"{A}#case1", "")


def test_queries_lead_back_to_their_source_and_name_no_figure(made: Made) -> None:
    figures = rows_of(made.tables, Figure)
    by_source = {query.source_id: query for query in made.all["queries"]}
    for name, query in by_source.items():
        source = restore(query.text, query.transforms)
        assert sha256_text(source) == query.text_sha256
        assert "Fig" not in query.text and query.image is None and query.targets == ()
        if "#case" not in name:
            assert source == figures[name].caption
    story = by_source[f"{A}#case1"]
    passages = rows_of(made.tables, Passage)
    told, last = "\n".join(passages[f"{A}#p{n}"].text for n in (1, 2)), f"{LAST_SCAN} (Fig. 6)."
    assert restore(story.text, story.transforms) == f"{told}\n{last}"
    assert story.text.startswith(HISTORY) and "operated" not in story.text and FINDINGS not in story.text
    assert (story.modality, story.region, story.patient_id) == ("", "", f"{A}#case1")
    chest = by_source[f"{A}#F3"]
    assert (chest.modality, chest.region, chest.specialty) == ("ct", "thorax", "neurology")


def test_a_story_tells_of_every_image_that_its_case_cites(made: Made) -> None:
    stories = {query.id: query for query in made.all["queries"] if query.source_id == f"{A}#case1"}
    rows = [row for row in made.all["qrels"] if row.query_id in stories]
    assert len(rows) == 6
    for row in rows:
        source = restore(stories[row.query_id].text, stories[row.query_id].transforms)
        assert all(span.text in source and span.text_id != row.corpus_id for span in row.evidence)


def test_a_long_story_keeps_its_opening_and_what_cites_its_images(made: Made) -> None:
    params = {**TASK.per_article.params, "max_case_words": 80}
    kept, _, _ = run_records(TASK.per_article, made.tables, params, {"types": made.types})
    (story,) = [row for row in kept["queries"] if row.source_id == f"{A}#case1"]
    assert word_count(story.text) <= 80 and story.text.startswith(HISTORY)
    assert "drowsy" not in story.text and "Tissue was taken" in story.text and LAST_SCAN in story.text
    assert sha256_text(restore(story.text, story.transforms)) == story.text_sha256
    assert sum(row.query_id == story.id for row in kept["qrels"]) == 6


def test_evidence_re_extracts(made: Made) -> None:
    texts = {name: row.caption for name, row in rows_of(made.tables, Figure).items()}
    texts |= {name: row.text for name, row in rows_of(made.tables, Passage).items()}
    rules: Counter[str] = Counter()
    for row in made.all["qrels"]:
        rules[row.rule] += 1
        assert row.evidence
        for span in row.evidence:
            assert span.text and texts[span.text_id][span.start : span.end] == span.text
    (same,) = [row for row in made.kept["qrels"] if row.score == 1 and row.corpus_id == f"{A}#F2/1"]
    told = {span.text for span in same.evidence}
    assert "brain" in told and any(text.endswith("CT") for text in told)
    assert any(span.text_id == f"{A}#p2" and "Fig. 2" in span.text for span in same.evidence)


def test_an_image_nobody_read_says_so(made: Made) -> None:
    checks = {row.id: row.text_check for row in made.all["image_checks"]}
    assert checks.keys() == {row.id for row in made.all["documents"]}
    assert checks[f"{A}#F2/1"] == "passed"
    assert checks[f"{A}#F1/1"] == "not_run"


def test_flagged_images_are_released_only_on_demand(made: Made) -> None:
    params = {**TASK.per_article.params, "release_flagged": True}
    kept, drops, _ = run_records(TASK.per_article, made.tables, params, {"types": made.types})
    flags = {row.id: row.flags for row in kept["facts"]}
    assert flags[f"{B}#F10/1"] == ("face",) and flags[f"{B}#F16/1"] == ("sensitive",)
    assert "flagged_image" not in {str(row.reason) for row in drops}


def test_no_inputs_no_rows(made: Made) -> None:
    tables = made.tables | {"images.images": []}
    kept, drops, _ = run_records(TASK.per_article, tables, TASK.per_article.params, {"types": made.types})
    assert not any(kept.values())
    assert {str(row.reason) for row in drops if row.id == f"{A}#F1/1"} == {"image_corrupt"}


@pytest.mark.parametrize(
    ("text", "seen", "run"),
    [
        ("Axial CT of the brain with a mass.", "R  CT OF THE BRAIN", "ct of the brain"),
        ("Panels (a) b c d e f.", "A B C D E F", ""),
        ("Day 12 13 14 15 16 of the stay.", "12 13 14 15 16", ""),
        ("Axial CT of the brain.", "CT brain axial", ""),
        ("Axial CT.", "", ""),
    ],
)
def test_words_an_image_shares_with_its_query(text: str, seen: str, run: str) -> None:
    assert shared_run(text, seen, 4) == run


def _sentence(at: int, words: int, cites: bool = False, passage: str = "p1") -> Sentence:
    span = CaseSpan(passage_id=passage, start=100 * at, end=100 * at + 99, role="findings")
    return Sentence(span, span, words, cites)


@pytest.mark.parametrize(
    ("max_words", "kept"),
    [
        (100, [0, 1, 2, 3, 4, 5]),
        (50, [0, 1, 3, 4]),
        (35, [0, 3, 4]),
        (25, [0, 4]),
        (5, [4]),
    ],
)
def test_what_a_long_story_keeps(max_words: int, kept: list[int]) -> None:
    """Sentences of ten words, the third of twelve; the fifth cites an image, the fourth stands before it."""
    sentences = [_sentence(at, 12 if at == 2 else 10, cites=at == 4) for at in range(6)]
    assert [sentences.index(item) for item in shortened(sentences, max_words)] == kept


def report_of(of: Article, mentions: Sequence[Mention] = (), cases: Sequence[Case] = ()) -> Report:
    rows = list(extract(of))
    (source,) = [row for row in rows if isinstance(row, Source)]
    figures = [row for row in rows if isinstance(row, Figure)]
    passages = [row for row in rows if isinstance(row, Passage)]
    return Report.of(source, [of], figures, passages, cases, [], mentions, [], [], [])


@pytest.mark.parametrize(
    ("caption", "named", "concept", "is_vague"),
    [
        ("Clinical picture on arrival at the emergency department.", "emergency department", WARD, True),
        ("PAS stain of a smear showing Aspergillus.", "Aspergillus", ORGANISM, False),
        ("PAS stain of a smear with macrophages.", "macrophages", WARD, True),
        ("Scan showing the old fracture.", "fracture", FINDING, True),
        ("Scan showing a burst fracture.", "burst fracture", FINDING, False),
        ("Scan showing a clival fracture.", "fracture", FINDING, False),
        ("Scan showing an oral round fracture.", "fracture", FINDING, False),
        ("Scan showing a clot in the IVC (arrow).", "clot", FINDING, False),
        ("ECG of the same day showing a clot.", "clot", FINDING, True),
        ("View of the uvula with a splint.", "uvula", PLACE, False),
        ("View of the uvula on the third day.", "uvula", PLACE, True),
    ],
)
def test_a_short_caption_tells_a_finding_an_organism_or_a_place(
    caption: str, named: str, concept: str, is_vague: bool
) -> None:
    text = "The inferior vena cava (IVC) was seen. An electrocardiogram (ECG) was taken."
    report = report_of(
        article([text], [figure(1, "Fig. 1", caption)]),
        [
            Mention(article_id=ID, text_id=f"{ID}#F1", start=caption.index(named),
                    end=caption.index(named) + len(named), text=named, concept=concept, name=named)
        ],
    )  # fmt: skip
    shown = ShownConcepts(frozenset({FINDING}), frozenset({ORGANISM}), frozenset({PLACE}))
    assert bool(vagueness(report, report.figures[0], caption, shown)) is is_vague


def test_what_an_image_can_show_is_told_by_semantic_types(made: Made) -> None:
    shown = read_shown(made.types)
    assert shown.findings == {"MONDO:0005315"}
    assert shown.organisms == {"MESH:D006658"}
    assert shown.places == {"MESH:D014684"}


def test_no_sentence_of_a_story_leans_on_one_that_is_left_out() -> None:
    texts = [
        "A man of 54 years came with gout. He was given rest. Since then he had no pain. He slept.",
        "The knee was opened and washed out.",
        "Therefore, it was imaged ([F1|Fig. 1]). He rose. However, he fell.",
    ]
    of = article(texts, [figure(1, "Fig. 1", "A knee.")])
    told = {"A man of 54 years came with gout.": "presentation", "He was given rest.": "course"}
    told["Since then he had no pain. He slept."] = "presentation"
    spans = [
        CaseSpan(passage_id=f"{ID}#p1", start=at, end=at + len(said), role=role)  # type: ignore[arg-type]
        for said, role in told.items()
        for at in [texts[0].index(said)]
    ]
    spans += [
        CaseSpan(passage_id=f"{ID}#p{n}", start=0, end=len(of.passages[n - 1].text), role="course")
        for n in (2, 3)
    ]
    case = Case(id=f"{ID}#case1", article_id=ID, number=1, label="", rule="section",
                spans=tuple(spans), figures=(f"{ID}#F1",))  # fmt: skip
    story = tell(report_of(of, cases=[case]), case, {f"{ID}#F1"}, 300).text
    assert story is not None and story.released.split("\n") == [
        "A man of 54 years came with gout. He slept.",
        "The knee was opened and washed out.",
        "Therefore, it was imaged.",
    ]


@pytest.mark.parametrize(
    ("labels", "one"),
    [
        ([("mri",), ("mri",)], "mri"),
        ([("mri", "ct")], ""),
        ([("mri",), ("mri", "ct")], ""),
        ([("mri",), ("ct",)], ""),
        ([("mri",), ()], ""),
        ([()], ""),
        ([], ""),
    ],
)
def test_a_label_holds_for_every_figure_or_not_at_all(labels: list[tuple[str, ...]], one: str) -> None:
    assert common(labels) == one
