"""Sections and articles as documents of visual_context: what stands in them, and the labels they get."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError

from curation.extract.neutralise import restore
from curation.extract.stage import extract
from curation.release.withdrawal import rests_on
from curation.similarity.text.repeats import Repeats
from curation.tasks.shared.granularity import Piece, without
from curation.tasks.shared.support.settings import SupportSettings
from curation.tasks.visual_context.build import is_self_match
from flows.engine.database import connect
from schemas.article import Article, ArticleTable, Licence, Section
from schemas.benchmark import Document, Part, Qrel, Transform
from schemas.extracted import Float
from schemas.record import to_table
from schemas.withdrawal import Withdrawn
from tests.curation.builders import ID, article, figure
from tests.curation.tasks.test_visual_context import CAPTION, LONG, merged

OTHER = "Photograph of the resected lobe with a pale tumour beneath the pleura."
UNCITED = "Spirometry before and after the operation, in litres per second."
ROWS = "Drug | Day 1\nAspirin | 100 mg"


def table(number: int, after: int, **values: Any) -> ArticleTable:
    given: dict[str, Any] = {
        "id": f"{ID}#T{number}",
        "number": number,
        "xml_id": f"T{number}",
        "caption": "Doses by day (see Fig. 1).",
        "rows": ROWS,
        "section": 1,
        "part": "body",
        "after": after,
        "after_figures": 0,
    }
    return ArticleTable(**{**given, **values})


def one() -> Article:
    """Two sections: a figure cited in the first, one cited in both, one in neither, and tables."""
    texts = [
        f"{LONG} ([F1|Fig. 1]).",
        f"{LONG}, as before.",
        "A short remark.",
        f"{LONG} of the lobe ([F2|Fig. 2]). {CAPTION} Nothing else was seen.",
    ]
    made = article(
        texts,
        [
            replace(figure(1, "Figure 1", CAPTION), after=1),
            replace(figure(2, "Figure 2", OTHER), after=2),
            replace(figure(3, "Figure 3", UNCITED), after=3, section=2),
        ],
        sections=(
            Section(number=1, parent=0, title="Case", part="body"),
            Section(number=2, parent=0, title="Course", part="body"),
        ),
    )
    passages = tuple(replace(item, section=1 if at < 2 else 2) for at, item in enumerate(made.passages))
    own = Licence(spdx="CC-BY-NC-4.0", evidence="jats:table-wrap/permissions")
    tables = (
        table(1, 1, after_figures=1),
        table(2, 2, rows="", section=2),
        table(3, 2, licence=own, section=2),
        table(4, 4, part="floats", section=0, xml_id="unlinked"),
    )
    return replace(made, passages=passages, tables=tables)


def shown(found: dict[str, list[Any]], name: str) -> Document:
    made: list[Document] = found["documents"]
    return next(item for item in made if item.id == f"{ID}#{name}")


def labels(found: dict[str, list[Any]], table: str) -> dict[tuple[str, str], Any]:
    sources = {query.id: query.source_id.partition("#")[2] for query in found["queries"]}
    return {
        (sources[row.query_id], row.corpus_id.partition("#")[2]): getattr(
            row, "score" if table == "qrels" else "reason"
        )
        for row in found[table]
    }


def test_a_section_is_its_passages_with_tables_and_captions_in_place() -> None:
    found = merged([one()], granularity="section")
    first, second = shown(found, "section1"), shown(found, "section2")
    assert first.text.split("\n") == [f"{LONG}.", "Doses by day.", *ROWS.split("\n"), f"{LONG}, as before."]
    assert second.text == f"A short remark.\n{UNCITED}\n{LONG} of the lobe. Nothing else was seen."
    parts = {part.part_id.partition("#")[2]: part for part in found["parts"]}
    assert {name: str(part.left_out) for name, part in parts.items() if part.left_out} == {
        "F1": "shows_query",
        "F2": "shows_query",
        "T2": "no_text",
        "T3": "licence_not_allowed",
    }
    caption = parts["F3"]
    assert second.text[caption.start : caption.end] == UNCITED
    assert restore(second.text, second.transforms)[caption.source_start : caption.source_end] == UNCITED
    assert all(part.start == part.end for part in found["parts"] if part.left_out)
    assert parts["p4"].position > parts["F3"].position > parts["p3"].position


def test_grades_are_the_highest_of_the_passages_and_evidence_re_extracts() -> None:
    found = {level: merged([one()], granularity=level) for level in ("passage", "section", "article")}
    ids = {level: {query.id for query in rows["queries"]} for level, rows in found.items()}
    assert ids["passage"] == ids["section"] == ids["article"]
    assert labels(found["passage"], "qrels") == {("F1", "p1"): 2, ("F2", "p4"): 2}
    assert labels(found["section"], "qrels") == {("F1", "section1"): 2, ("F2", "section2"): 2}
    assert labels(found["article"], "qrels") == {("F1", "article"): 2, ("F2", "article"): 2}
    assert labels(found["section"], "excluded") == {
        ("F1", "section2"): "own_article",
        ("F2", "section1"): "own_article",
    }
    assert found["article"]["excluded"] == []
    places = sorted(part.position for part in found["article"]["parts"])
    assert places == list(range(1, len(places) + 1))
    for level in ("section", "article"):
        for qrel in found[level]["qrels"]:
            held = next(item for item in found[level]["documents"] if item.id == qrel.corpus_id)
            source = restore(held.text, held.transforms)
            for evidence in qrel.evidence:
                assert evidence.text_id == held.id
                assert source[evidence.start : evidence.end] == evidence.text
                assert "Fig." in evidence.text
    assert found["passage"]["parts"] == found["passage"]["passage_labels"] == []


@pytest.mark.parametrize("level", ["section", "article"])
def test_no_document_holds_a_query(level: str) -> None:
    found = merged([one()], granularity=level)
    for query in found["queries"]:
        for document in found["documents"]:
            assert not is_self_match(query.text, document.text)


def test_equal_passages_of_two_articles_share_their_labels() -> None:
    other = article([f"{LONG}, as before.", f"{LONG} ([F1|Fig. 1])."], [], id="pmc:PMC2.1")
    other = replace(other, passages=other.passages[1:])
    found = merged([one(), other], granularity="section")
    copy = next(part for part in found["document_parts"] if part.part_id == "pmc:PMC2.1#p2")
    assert copy.same_as == f"{ID}#p1"
    (lifted,) = [qrel for qrel in found["qrels"] if qrel.corpus_id.startswith("pmc:PMC2.1")]
    assert [evidence.text_id for evidence in lifted.evidence] == [f"{ID}#p1"]


def test_what_the_file_keeps_apart_stands_behind_the_passage_that_cites_it() -> None:
    of = one()
    linked = replace(of.tables[0], part="floats", after=4, section=0)
    passages = (of.passages[0], replace(of.passages[1], xrefs=()), *of.passages[2:])
    cites = article([f"{LONG} ([T1/table|Table 1])."], []).passages[0]
    of = replace(of, passages=(*passages[:2], replace(cites, id=f"{ID}#p3", section=2), passages[3]))
    of = replace(of, tables=(linked, of.tables[3]))
    floats = {row.id: row for row in extract(of) if isinstance(row, Float)}
    assert (floats[f"{ID}#T1"].after, floats[f"{ID}#T1"].section) == (3, 2)
    assert floats[f"{ID}#T4"].after == -1
    assert [row.position for row in floats.values()] == list(range(1, 6))
    (unlinked,) = [
        part for part in merged([of], granularity="article")["parts"] if part.part_id.endswith("#T4")
    ]
    assert (unlinked.left_out, unlinked.start) == ("no_place", unlinked.end)


def test_a_sentence_taken_out_is_put_back_with_what_was_changed_in_it() -> None:
    source = f"First (Fig. 1) one. {CAPTION[:-1]} (Fig. 2). The last."
    text = f"First one. {CAPTION} The last."
    at = len(f"First one. {CAPTION}") - 1
    changes = (
        Transform(start=5, end=5, original=" (Fig. 1)", rule="figure_pointer"),
        Transform(start=at, end=at, original=" (Fig. 2)", rule="figure_pointer"),
    )
    assert restore(text, changes) == source
    piece = Piece("p", "passage", 1, (1, 0), source, text, changes)
    shorter = without(piece, Repeats([CAPTION]).sentences(text), "query_caption")
    assert shorter.text == "First one. The last."
    assert restore(shorter.text, shorter.transforms) == source


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (CAPTION, [CAPTION]),
        (f"It was late. {CAPTION[:-1]} and a cyst.", [f"{CAPTION[:-1]} and a cyst."]),
        ("Computed tomography of the chest was normal.", []),
        (
            "Contrast enhanced computed tomography of the thorax showing one spiculated nodule. Later.",
            ["Contrast enhanced computed tomography of the thorax showing one spiculated nodule."],
        ),
        ("", []),
    ],
)
def test_sentences_that_repeat_a_caption(text: str, found: list[str]) -> None:
    assert [text[start:end] for start, end in Repeats([CAPTION, OTHER]).sentences(text)] == found


def test_a_document_rests_on_every_part_that_stands_in_it() -> None:
    found = merged([one()], granularity="section")
    names = {"parts": Part, "documents": Document, "qrels": Qrel}
    gone = [
        Withdrawn(id=f"{ID}#p3", unit="passage", reason="privacy"),
        Withdrawn(id=f"{ID}#F1", unit="figure", reason="privacy"),
    ]
    with connect() as connection:
        for name, kind in names.items():
            connection.register(name, to_table(kind, found[name]))
        connection.register("withdrawn", to_table(Withdrawn, gone))
        rows = connection.sql(rests_on("documents", "document", "", "parts")).fetchall()
        assert [(row[0], row[-1]) for row in rows] == [(f"{ID}#section2", f"{ID}#p3")]
        assert not connection.sql(rests_on("documents", "document")).fetchall()


def test_a_level_that_a_task_does_not_have_is_an_error() -> None:
    with pytest.raises(ValidationError, match="'passage' or 'article'"):
        SupportSettings(granularity="section")  # type: ignore[arg-type]
