"""Queries over single panels: what cites "Fig. 1B" is found by panel B, and nothing else changes."""

from __future__ import annotations

import dataclasses
from collections import Counter

from curation.extract.neutralise import restore
from curation.tasks.visual_context import panels
from curation.tasks.visual_context.build import is_self_match
from schemas.article import Article, Licence
from schemas.benchmark import Qrel
from schemas.image import FigureImage, PanelBox
from tests.curation.builders import ID, article, figure
from tests.curation.tasks.test_visual_context import LONG, excluded, merged, pairs

LETTERED = (
    "Computed tomography of the chest. (A) Axial view with a nodule of the upper lobe. (B) Coronal view with"
    " a nodule of the upper lobe. (C) The same after treatment (see Fig. 2). Scale bars: 1 cm."
)


def boxes(figure_id: str, letters: str = "ABC", side: int = 100) -> FigureImage:
    """A figure of panels in a row."""
    found = tuple(
        PanelBox(
            panel_id=f"{figure_id}.{letter}",
            letter=letter,
            left=at * 110,
            top=5,
            right=at * 110 + side,
            bottom=5 + side,
        )
        for at, letter in enumerate(letters)
    )
    return FigureImage(
        id=f"{figure_id}/1",
        article_id=figure_id.partition("#")[0],
        figure_id=figure_id,
        sha256="ab",
        path="m/F1.jpg",
        format="png",
        mode="RGB",
        width=400,
        height=200,
        is_fitting=True,
        phash="0" * 16,
        thumbnail="",
        kind="",
        panels=found,
    )


def lettered() -> Article:
    """One figure of three panels, cited whole, by panels, by a range, by all its letters."""
    return article(
        [
            f"{LONG} ([F1|Fig. 1A]).",
            f"{LONG} once more ([F1|Fig. 1B–C]). He recovered and left the hospital soon after.",
            f"{LONG} twice ([F1|Fig. 1]).",
            f"{LONG} thrice ([F1|Fig. 1A–C]).",
            f"Nothing is cited here. {LONG}.",
            "It had grown by two centimetres within the first three months ([F1|Fig. 1B]).",
            f"{LONG} and later. The nodule is seen ([F1|Fig. 1A]), and so are lymph nodes ([F1|Fig. 1C]).",
        ],
        [figure(1, "Figure 1", LETTERED)],
    )


def test_what_cites_a_panel_is_found_by_the_panel() -> None:
    found = merged([lettered()], [boxes(f"{ID}#F1")], panels=True)
    asked = {query.source_id.partition("#")[2]: query for query in found["queries"]}
    assert asked.keys() == {"F1", "F1.A", "F1.B", "F1.C"}
    rows = {
        name: [row for row in (*found["qrels"], *found["excluded"]) if row.query_id == query.id]
        for name, query in asked.items()
    }
    assert pairs(rows["F1.A"]).keys() == {"p1", "p7"}
    assert pairs(rows["F1.B"]) == {"p2": (2, panels.CITES_PANEL)}
    assert pairs(rows["F1.C"]).keys() == {"p2", "p7"}
    aside = {"p2": "cites_figure", "p3": "cites_figure", "p4": "cites_figure", "p5": "own_article"}
    assert excluded(rows["F1.A"]) == {**aside, "p6": "cites_figure"}
    assert excluded(rows["F1.B"])["p6"] == "short_passage"
    (evidence,) = next(row.evidence for row in rows["F1.B"] if isinstance(row, Qrel))
    assert evidence.text.endswith("(Fig. 1B–C).") and "recovered" not in evidence.text
    query = asked["F1.C"]
    source = "Computed tomography of the chest.\n(C) The same after treatment (see Fig. 2)."
    assert "Fig. 2" not in query.text and restore(query.text, query.transforms) == source
    assert query.image == asked["F1"].image  # the partition keeps them in one family
    place = next(row for row in found["panels"] if row.query_id == query.id)
    assert (place.letter, place.left, place.top, place.right, place.bottom) == ("C", 220, 5, 320, 105)
    parts = LETTERED[: place.lead_end], LETTERED[place.caption_start : place.caption_end]
    assert "\n".join(parts) == source


def test_where_only_clinical_images_ask_a_panel_is_one_by_itself() -> None:
    seen = boxes(f"{ID}#F1")
    kinds = dict(zip("ABC", ("radiology", "chart", ""), strict=True))
    parts = tuple(dataclasses.replace(box, kind=kinds[box.letter]) for box in seen.panels)
    of_both = dataclasses.replace(seen, kind="compound", panels=parts)
    found = merged([lettered()], [of_both], panels=True, clinical_only=True)
    assert [query.source_id for query in found["queries"]] == [f"{ID}#F1.A"]
    left = {row.id.rpartition("#")[2]: (str(row.reason), row.detail) for row in found["left_out"]}
    assert left["F1.B"] == ("no_clinical_image", "kind chart")
    assert left["F1.C"] == ("no_clinical_image", "kind undecided")
    assert left["F1"][0] == "no_clinical_image"


def test_panels_that_make_no_query_are_told() -> None:
    of = lettered()
    unseen = merged([of], [], panels=True)
    assert {str(row.reason) for row in unseen["left_out"] if row.unit == "panel"} == {"no_panel_box"}
    tiny = merged([of], [boxes(f"{ID}#F1", side=40)], panels=True)
    assert Counter(row.detail for row in tiny["left_out"] if row.unit == "panel") == {"40 × 40 pixels": 3}
    uncited = dataclasses.replace(of, passages=of.passages[:1])
    left = merged([uncited], [boxes(f"{ID}#F1")], panels=True)["left_out"]
    reasons = {row.id[-1]: str(row.reason) for row in left if row.unit == "panel"}
    assert reasons == {"B": "no_citing_passage", "C": "no_citing_passage"}
    fixed = [figure(1, "Figure 1", LETTERED, licence=Licence(spdx="CC-BY-ND-4.0", evidence="jats"))]
    barred = merged([dataclasses.replace(of, figures=tuple(fixed))], [boxes(f"{ID}#F1")], panels=True)
    assert not barred["queries"]
    assert {str(row.reason) for row in barred["left_out"] if row.unit == "panel"} == {"third_party"}


def test_panels_are_made_where_they_are_asked_for_only() -> None:
    one = merged([lettered()], [boxes(f"{ID}#F1")])
    many = merged([lettered()], [boxes(f"{ID}#F1")], panels=True)
    assert not one["panels"] and [query.source_id for query in one["queries"]] == [f"{ID}#F1"]
    assert [row for row in many["queries"] if row.source_id == f"{ID}#F1"] == one["queries"]
    assert many["documents"] == one["documents"]


def test_larger_documents_show_no_caption_of_a_panel() -> None:
    found = merged([lettered()], [boxes(f"{ID}#F1")], panels=True, granularity="section")
    shown = {part.part_id.partition("#")[2]: part.left_out for part in found["parts"]}
    assert shown["F1"] == "shows_query"
    assert len(found["panels"]) == 3
    for document in found["documents"]:
        assert not any(is_self_match(query.text, document.text) for query in found["queries"])
