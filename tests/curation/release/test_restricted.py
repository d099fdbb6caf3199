"""Restricted vocabulary strings stay in: a planted one stops the release, an article's own words do not."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from schemas.benchmark import Query
from schemas.errors import ReleaseError
from schemas.extracted import Passage
from schemas.hashing import sha256_text
from schemas.record import to_table
from schemas.vocabulary import ConceptName, Tier
from tests.curation.release.known import PASSAGES, Caption, World

OPEN: list[tuple[str, str, Tier]] = [("MADE:1", "Invented fever", "open"), ("MADE:2", "赤い熱", "terms")]
CLOSED: list[tuple[str, str, Tier]] = [
    ("UMLS:C0000001", "Chronic imaginary fever of the left hand", "restricted"),
    ("UMLS:C0000002", "Frontal view of the thorax", "restricted"),
    ("UMLS:C0000003", "想像上の慢性熱", "restricted"),
    ("UMLS:C0000004", "invented FEVER", "restricted"),
    ("UMLS:C0000005", "Xq", "restricted"),
    ("UMLS:C0000006", "Ultrasound of the pleura found septations and debris", "restricted"),
]


def names(folder: Path, rows: Sequence[tuple[str, str, Tier]]) -> list[Path]:
    path = folder / "names.parquet"
    made = [ConceptName(concept=concept, name=name, source="MADE", tier=tier) for concept, name, tier in rows]
    pq.write_table(to_table(ConceptName, made), path)
    return [path]


@pytest.fixture
def closed(world: World, tmp_path: Path) -> World:
    """The known build in a workspace that holds restricted names, with the passages it comes from."""
    passages = [
        Passage(
            id=f"{article}#p{number}",
            article_id=article,
            number=number,
            section=1,
            text=text,
            text_sha256=sha256_text(text),
            language="en",
        )
        for article, texts in PASSAGES.items()
        for number, text in enumerate(texts, start=1)
    ]
    path = tmp_path / "passages.parquet"
    pq.write_table(to_table(Passage, passages), path)
    world.more = {"names": names(tmp_path, [*OPEN, *CLOSED]), "passages": [path]}
    captions = tmp_path / "figures.parquet"
    pq.write_table(to_table(Caption, world.captions()), captions)
    world.more["figures"] = [captions]
    return world


def planted(world: World, text: str, **changes: Any) -> World:
    first = world.queries[0]
    world.queries[0] = dataclasses.replace(first, text=text, **changes)
    return world


def test_an_article_s_own_words_are_not_the_vocabulary_s(closed: World) -> None:
    assert closed.release().is_dir()


@pytest.mark.parametrize(
    "text",
    [
        "What causes chronic imaginary fever of the left hand?",
        "Chronic  imaginary-fever, of the LEFT hand",
        "この患者は想像上の慢性熱を示す。",
        "xq",
    ],
)
def test_a_planted_name_stops_the_release(closed: World, text: str) -> None:
    with pytest.raises(ReleaseError, match="restricted sources") as caught:
        planted(closed, text).release()
    assert caught.value.record == closed.queries[0].id
    assert not list((closed.root / "releases").rglob("*.md"))


@pytest.mark.parametrize(
    "text", ["How is invented fever treated?", "赤い熱とは何ですか", "An xq of 7", "Nothing of the kind"]
)
def test_names_that_an_open_source_gives_too_may_go(closed: World, text: str) -> None:
    assert planted(closed, text).release().is_dir()


def test_a_claimed_origin_is_checked(closed: World) -> None:
    """Neither another text's hash nor the hash of the planted text itself makes it an article's."""
    text = "Chronic imaginary fever of the left hand"
    for claim in (closed.queries[1].text_sha256, sha256_text(text)):
        with pytest.raises(ReleaseError, match="restricted sources"):
            planted(closed, text, text_sha256=claim).release()


def test_a_title_that_is_no_article_s_is_checked(closed: World) -> None:
    first = closed.documents[0]
    closed.documents[0] = dataclasses.replace(first, title="Chronic imaginary fever of the left hand")
    with pytest.raises(ReleaseError, match="restricted sources"):
        closed.release()


def test_without_the_sources_every_text_is_checked(closed: World) -> None:
    closed.more |= {"passages": [], "figures": []}
    with pytest.raises(ReleaseError, match="2 such names"):
        closed.release()


def test_without_a_vocabulary_there_is_nothing_to_check(closed: World) -> None:
    closed.more["names"] = []
    assert isinstance(planted(closed, "Chronic imaginary fever of the left hand").queries[0], Query)
    assert closed.release().is_dir()
