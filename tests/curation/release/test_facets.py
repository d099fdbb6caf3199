"""What decided the facets of a query is released: two levels, confidence, evidence; no names of concepts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from curation.audit import audit
from curation.audit.rules.facets import RULES
from curation.release import identified
from schemas.article import Graphic, Translated
from schemas.facet_table import FACET_DECISIONS
from schemas.label import Label, LabelEvidence, RecordLabels
from schemas.record import column, record, to_table
from tests.curation.release.known import World, run_sql
from tests.curation.release.test_identified import SAID, withheld


@record
class Shown:
    """What is read of a figure."""

    id: str = column("figure")
    article_id: str = column("article")
    caption: str = column("caption")
    graphics: tuple[Graphic, ...] = column("its images")
    translations: tuple[Translated, ...] = column("none", default=())


def decided(
    record: str, article: str, facet: Any, value: str, *, text: str = "as written", **rest: Any
) -> Label:
    evidence = LabelEvidence(
        rule=f"{facet}.{value}.strong", place=rest.pop("place", "caption"), text=text, points=1.0
    )
    made = Label(
        id=record, article_id=article, facet=facet, rank=1, value=value, confidence=0.9, evidence=(evidence,)
    )
    return replace(made, **rest)


def write(world: World, name: str, kind: type, rows: Sequence[Any]) -> None:
    path = world.root / f"{name}.parquet"
    pq.write_table(to_table(kind, rows), path)
    world.more[name] = [path]


def facets(directory: Path) -> dict[tuple[str, str, int], dict[str, Any]]:
    (file,) = FACET_DECISIONS.files(directory)
    rows = pq.read_table(file).to_pylist()
    return {(row["query-id"], row["facet"], row["rank"]): row for row in rows}


def world_with_labels(world: World) -> list[Label]:
    """Labels of the first query's figure and article; the query of the other article is a case's."""
    first = world.queries[0]
    figure, article = first.source_id, first.article_id
    case = next(item for item in world.queries if item.article_id != article)
    of_case = f"{case.article_id}#case1"
    world.queries[world.queries.index(case)] = replace(case, source_id=of_case, modality="oct")
    whole = RecordLabels(
        id=article, article_id=article, unit="article", domain="clinical_case", domain_confidence=0.9
    )
    own = replace(whole, id=figure, unit="figure", modalities=("ct",), regions=("abdomen",))
    world.labels = [whole, own]
    shown = [
        Shown(
            id=item.source_id,
            article_id=item.article_id,
            caption=item.text,
            graphics=(item.image,) if item.image else (),
        )
        for item in (first, replace(case, source_id=f"{case.article_id}#F9"))
    ]
    write(world, "figures", Shown, shown)
    return [
        decided(article, article, "domain", "clinical_case", text="Case report", place="subject"),
        decided(article, article, "body_system", "digestive", confidence=0.4),
        decided(article, article, "country", "FR"),
        decided(figure, article, "modality", "ct", parent="radiology"),
        decided(
            figure, article, "region", "liver", parent="abdomen", place="concept", text="MESH:D008099 Liver"
        ),
        decided(figure, article, "region", "pelvis", rank=2, place="concept", text="Pelvis", confidence=0.2),
        decided(figure, article, "specialty", "", confidence=0.0, reason="no_evidence"),
        decided(f"{case.article_id}#F9", case.article_id, "modality", "oct", parent="ophthalmology"),
        decided(f"{case.article_id}#F9", case.article_id, "region", "eye"),
    ]


def test_levels_confidence_and_evidence_are_released(world: World) -> None:
    first, article = world.queries[0], world.queries[0].article_id
    write(world, "facets", Label, world_with_labels(world))
    case = next(item for item in world.queries if item.modality == "oct")
    sibling = next(item for item in world.queries if item.article_id == article and item.id != first.id)
    directory = world.release()
    found = facets(directory)
    assert set(found) == {
        *((first.id, *key) for key in (("domain", 1), ("modality", 1), ("region", 1), ("region", 2))),
        (sibling.id, "domain", 1),
        (case.id, "modality", 1),
    }
    ct = found[first.id, "modality", 1]
    assert (ct["value"], ct["parent"], ct["confidence"], ct["record"]) == (
        "ct",
        "radiology",
        0.9,
        first.source_id,
    )
    assert ct["evidence"] == [
        {"rule": "modality.ct.strong", "place": "caption", "text": "as written", "points": 1.0}
    ]
    assert found[sibling.id, "domain", 1]["record"] == article
    assert found[case.id, "modality", 1]["record"] == f"{case.article_id}#F9"  # the image it shows
    quoted = [found[first.id, "region", rank]["evidence"][0]["text"] for rank in (1, 2)]
    assert quoted == ["MESH:D008099", ""]  # a vocabulary's name may be restricted
    (rule,) = (row for row in audit(directory, run_sql, plant=False).rules if row.rule == RULES[0].id)
    assert (rule.status, rule.compared) == ("passed", len(found))


def test_what_decided_is_what_agrees_with_the_query(world: World) -> None:
    """A task may take a facet from the figure it shows where the case says otherwise, or leave it open."""
    labels = world_with_labels(world)
    case = next(item for item in world.queries if item.modality == "oct")
    labels.append(decided(case.source_id, case.article_id, "region", "pelvis", parent="abdomen"))
    world.queries[world.queries.index(case)] = replace(case, modality="", region="eye")
    write(world, "facets", Label, labels)
    directory = world.release()
    found = {key[1]: row for key, row in facets(directory).items() if key[0] == case.id}
    assert {facet: row["value"] for facet, row in found.items()} == {"region": "eye"}
    assert found["region"]["record"] == f"{case.article_id}#F9"
    (rule,) = (row for row in audit(directory, run_sql, plant=False).rules if row.rule == RULES[0].id)
    assert rule.status == "passed"


def test_evidence_that_could_name_a_patient_withholds_the_query(world: World) -> None:
    labels = world_with_labels(world)
    labels[0] = decided(labels[0].id, labels[0].id, "domain", "clinical_case", text=SAID, place="heading")
    write(world, "facets", Label, labels)
    directory = world.release()
    gone = {item.id for item in world.queries if item.article_id == labels[0].id}
    assert {name for name, row in withheld(directory).items() if row[0] == "query"} == gone
    assert not any(SAID in str(row) for row in facets(directory).values())
    assert identified.VERSION > 2
