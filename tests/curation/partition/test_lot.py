"""An article that two tasks could ask about goes to one of them by lot, whatever it holds."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from schemas.label import RecordLabels
from tests.curation.partition.builders import Item, Outcome, World, grown, publish, run, shared

BOTH = ("summary", "visual_context")


def article(number: int) -> str:
    return f"pmc:PMC{number}.1"


def label(number: int, domain: str, specialty: str) -> RecordLabels:
    return RecordLabels(
        id=article(number),
        article_id=article(number),
        unit="article",
        domain=domain,
        specialties=(specialty,),
    )


def world(articles: int, figures: tuple[int, ...] = (1, 2, 6, 12)) -> World:
    """Articles with one summary query and 1, 2, 6 or 12 of visual context; case reports and studies."""
    items = []
    for number in range(articles):
        items.append(Item("summary", f"s{number}", article(number)))
        many = figures[number % len(figures)]
        items += [Item("visual_context", f"v{number}-{figure}", article(number)) for figure in range(many)]
    labels = tuple(
        label(
            number,
            ("clinical_case", "clinical_study")[number % 3 == 0],
            ("oncology", "urology")[number % 5 == 0],
        )
        for number in range(articles)
    )
    return World(tuple(items), labels=labels)


def owners(outcome: Outcome) -> dict[int, str]:
    found = {}
    for name, (task, _) in outcome.places.items():
        found[int(name.split("-")[1][1:])] = task
    return found


def test_every_stratum_is_shared_out_evenly(tmp_path: Path) -> None:
    outcome = run(tmp_path / "w", world(240), tasks=BOTH)
    assert shared(outcome) == {}
    held = owners(outcome)
    assert len(held) == 240
    strata: dict[tuple[int, bool, bool], Counter[str]] = {}
    for number, task in held.items():
        strata.setdefault((number % 4, number % 3 == 0, number % 5 == 0), Counter())[task] += 1
    assert all(abs(count["summary"] - count["visual_context"]) <= 2 for count in strata.values())
    assert Counter(held.values()) == {"summary": 120, "visual_context": 120}


def test_a_weight_is_a_share_of_articles(tmp_path: Path) -> None:
    outcome = run(tmp_path / "w", world(120), tasks=BOTH, weights={"summary": 0.5, "visual_context": 1.5})
    assert Counter(owners(outcome).values()) == {"summary": 30, "visual_context": 90}


def test_the_lot_says_who_has_the_article(tmp_path: Path) -> None:
    outcome = run(tmp_path / "w", world(2), tasks=BOTH)
    assert {drop.reason for drop in outcome.drops} == {"overlap_other_task"}
    assert all("by lot" in drop.detail for drop in outcome.drops)


def test_a_drop_says_who_has_an_article_that_was_lost_after_the_lot(tmp_path: Path) -> None:
    made = world(12, (1, 12))
    items = (*made.items, *(Item("case_study", f"c{number}", article(number)) for number in range(12)))
    outcome = run(tmp_path / "w", replace(made, items=items), tasks=(*BOTH, "case_study"))
    held = owners(outcome)
    told = [drop for drop in outcome.drops if "by lot" in drop.detail]
    assert told and "case_study" in held.values()
    for drop in told:
        winner = drop.detail.split(" goes to ")[1].split()[0]
        owner = held[int(drop.id.split("-")[1][1:])]
        assert drop.detail.endswith("by lot" if winner == owner else f"by lot; its query went to {owner}")
    assert any(drop.detail.endswith("went to case_study") for drop in told)


def test_what_is_published_is_drawn_no_more(tmp_path: Path) -> None:
    first = run(tmp_path / "w", world(12), tasks=BOTH)
    more = replace(world(40), labels=())
    later = replace(grown(World(), more, publish(first, "1.0.0", 0)), labels=world(40).labels)
    second = run(tmp_path / "w2", later, tasks=BOTH)
    assert {name: second.places.get(name) for name in first.places} == first.places
    assert len(owners(second)) == 40


@pytest.mark.parametrize("other", ["case_study", "clinical_case"])
def test_other_tasks_contend_with_who_drew_the_article(tmp_path: Path, other: str) -> None:
    """An article is worth as much to visual context with twelve figures as with one."""
    made = world(12, (1, 12))
    items = (*made.items, *(Item(other, f"c{number}", article(number)) for number in range(12)))
    held = Counter(owners(run(tmp_path / "w", replace(made, items=items), tasks=(*BOTH, other))).values())
    assert held[other] + held["summary"] + held["visual_context"] == 12
