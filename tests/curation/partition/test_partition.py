"""Nothing is shared, nothing is lost silently, nothing published moves, no order matters."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from benchmarks.partition import ours
from benchmarks.partition_world import write_world
from curation.tasks.registry import TASKS as BUILT
from curation.tasks.registry import level
from schemas.errors import UsageError
from schemas.hashing import sha256_file
from tests.curation.partition.builders import (
    TASKS,
    Item,
    Outcome,
    Page,
    World,
    grown,
    listed,
    publish,
    run,
    shared,
)

EVERY = (*BUILT, "chart_reading")
"""Tasks of this code and one of another version of it."""

pytestmark = pytest.mark.timeout(600)  # many runs of the stage in one test
FEW = settings(
    max_examples=2 if settings.default is not None and settings.default.derandomize else 4,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[
        Phase.explicit,
        Phase.reuse,
        Phase.generate,
    ],  # shrinking would take minutes: a run is half a second
)
HASHES = ("f0f0f0f0f0f0f0f0", "f0f0f0f0f0f0f0f3", "f0f0f0f0f0f0f33f", "0123456789abcdef", "8000000000000000")
IMAGES = {f"image{number}": phash for number, phash in enumerate(HASHES)}
_NUMBERS = st.integers(0, 11)
_ARTICLES = st.one_of(_NUMBERS.map("pmc:PMC{}.1".format), _NUMBERS.map("europepmc:PMC{}".format))


def _items(prefix: str) -> st.SearchStrategy[Item]:
    return st.builds(
        Item,
        task=st.sampled_from(TASKS),
        name=st.integers(0, 40).map((prefix + "{}").format),
        article=_ARTICLES,
        positives=st.lists(st.integers(0, 9).map("d{}".format), max_size=2, unique=True).map(tuple),
        targets=st.lists(_NUMBERS.map("X:{}".format), max_size=1).map(tuple),
        text=st.sampled_from([None, None, None, None, "A cough!", "a  COUGH", "", "\U0001fac0", "e\u0301'"]),
        family=st.sampled_from(["", "", "", "", "f1"]),
        patient=st.sampled_from(["", "", "", "pmc:PMC1.1#case1", "pmc:PMC1.2#case1", "pmc:PMC1.2#case2"]),
        image=st.sampled_from([None, None, None, *IMAGES]),
    )


def worlds(prefix: str = "") -> st.SearchStrategy[World]:
    """Worlds that chain everything with everything; documents d0 … d9 exist in each task."""
    pages = st.lists(st.tuples(_ARTICLES, st.sampled_from([None, None, *IMAGES])), min_size=10, max_size=10)
    return st.builds(
        lambda items, places: World(
            items=tuple({item.id: item for item in items}.values()),
            pages=tuple(
                Page(task, f"d{number}", article, image=image)
                for task in TASKS
                for number, (article, image) in enumerate(places)
            ),
            images=IMAGES,
        ),
        st.lists(_items(prefix), min_size=8, max_size=16),  # left to itself half are nearly empty
        pages,
    )


def sound(world: World, outcome: Outcome) -> None:
    """No shared key, every query in exactly one table, groups inside one split."""
    assert shared(outcome) == {}
    kept, dropped = [row.query_id for row in outcome.assignments], [row.id for row in outcome.drops]
    assert sorted(kept + dropped) == sorted(item.id for item in world.items)
    places: dict[str, set[tuple[str, str]]] = {}
    for row in outcome.assignments:
        places.setdefault(row.group, set()).add((row.task, row.split))
        assert row.group <= row.query_id
    assert all(len(found) == 1 for found in places.values())
    assert all(row.detail for row in outcome.drops)


@FEW
@given(world=worlds(), share=st.sampled_from([0.0, 0.1, 0.5]), seed=st.integers(0, 99))
def test_no_two_tasks_or_splits_share_a_key_whatever_the_order_of_rows_and_shards(
    tmp_path_factory: pytest.TempPathFactory, world: World, share: float, seed: int
) -> None:
    one = run(tmp_path_factory.mktemp("w"), world, dev_share=share)
    sound(world, one)
    other = run(tmp_path_factory.mktemp("w"), world, dev_share=share, shuffle=seed, tasks=TASKS[::-1])
    for path in sorted(one.folder.glob("*.parquet")):
        assert sha256_file(path) == sha256_file(other.folder / path.name), path.name


@FEW
@given(world=worlds(), more=worlds("new"), third=worlds("third"))
def test_what_is_published_never_moves_when_rows_are_added(
    tmp_path_factory: pytest.TempPathFactory, world: World, more: World, third: World
) -> None:
    """New articles come as documents, and old queries take them as further positives."""
    first = run(tmp_path_factory.mktemp("w"), world, dev_share=0.5)
    released = publish(first, "1.0.0", 0)
    for number, addition in enumerate((more, third), 1):
        renamed = tuple(replace(page, id=f"{page.id}-{number}") for page in addition.pages)
        items = tuple(
            replace(item, positives=(*item.positives, f"d{position % 10}-{number}"))
            if item.positives
            else item
            for position, item in enumerate(world.items)
        )
        newer = tuple(
            replace(item, positives=tuple(f"{name}-{number}" for name in item.positives))
            for item in addition.items
        )
        before = first.places
        world = grown(replace(world, items=items), World(newer, renamed, IMAGES), released)
        first = run(tmp_path_factory.mktemp("w"), world, dev_share=0.5)
        sound(world, first)
        assert {name: first.places.get(name) for name in before} == before
        assert "overlap_withdrawn" not in first.reasons.values()
        released = publish(first, f"{number + 1}.0.0", number, released)


@FEW
@given(
    world=worlds(), more=worlds("new"), merges=st.lists(st.tuples(_NUMBERS, _NUMBERS), min_size=1, max_size=4)
)
def test_a_merge_withdraws_the_newer_and_nothing_moves(
    tmp_path_factory: pytest.TempPathFactory, world: World, more: World, merges: list[tuple[int, int]]
) -> None:
    first = run(tmp_path_factory.mktemp("w"), world, dev_share=0.5)
    more = replace(more, pages=())
    second_world = grown(world, more, publish(first, "1", 0))
    second = run(tmp_path_factory.mktemp("w"), second_world, dev_share=0.5)
    released = publish(second, "2", 1, second_world.published)
    pairs = tuple((f"X:{one}", f"X:{other}") for one, other in merges)
    merged_world = replace(second_world, published=tuple(released), merged=pairs)
    merged = run(tmp_path_factory.mktemp("w"), merged_world, dev_share=0.5)
    sound(merged_world, merged)
    for name, place in second.places.items():
        assert merged.places.get(name, place) == place
        if name not in merged.places:
            assert merged.reasons[name] == "overlap_withdrawn"
    again = publish(merged, "3", 2, released)
    repeated = run(tmp_path_factory.mktemp("w"), replace(merged_world, published=tuple(again)), dev_share=0.5)
    assert repeated.places == merged.places  # withdrawn once is withdrawn for good, and takes nobody along


def two(task: str, other: str, **settings: object) -> World:
    return World((Item(task, "a", **settings), Item(other, "b", **settings)))  # type: ignore[arg-type]


KINDS: tuple[dict[str, Any], ...] = (
    {"article": "pmc:PMC1.1"},
    {"text": "Chest pain, left"},
    {"family": "f"},
    {"patient": "pmc:PMC1.1#case2"},
    {"image": "image0"},
    {"image": "image3"},
    {"targets": ("X:1",)},
    {"positives": ("d1",)},
    {"positives": ("d2",)},
)


def test_each_kind_of_key_separates_tasks(tmp_path: Path) -> None:
    """Pairs of queries that share one key each, and nothing with another pair."""
    pairs = [
        (Item("case_study", f"a{number}", **kind), Item("clinical_case", f"b{number}", **kind))
        for number, kind in enumerate(KINDS)
    ]
    pages = [Page(task, "d1", "pmc:PMC5.1") for task in TASKS]
    pages += [Page(task, "d2", f"file:{task}", patient="file:x#case1") for task in TASKS]
    items = tuple(item for pair in pairs for item in pair)
    outcome = run(tmp_path / "w", World(items, tuple(pages), images=IMAGES))
    drops = {row.id: row for row in outcome.drops}
    for pair, kind in zip(pairs, KINDS, strict=True):
        (kept,) = (item.id for item in pair if item.id in outcome.places)
        (lost,) = (drops[item.id] for item in pair if item.id in drops)
        assert lost.reason == "overlap_other_task" and f"({kept})" in lost.detail, kind


def test_a_question_goes_to_one_task_and_its_collection_to_several(tmp_path: Path) -> None:
    items = [Item(task, name, "questions:exam", family=name) for task in TASKS[:2] for name in "abcdef"]
    outcome = run(tmp_path / "w", World(tuple(items)))
    assert sorted(name.rpartition("-")[2] for name in outcome.places) == list("abcdef")
    assert set(outcome.reasons.values()) == {"overlap_other_task"} and len(outcome.reasons) == 6
    assert not [key for key in outcome.keys if key.dimension == "article"]


def test_versions_and_mirrors_of_an_article_are_one(tmp_path: Path) -> None:
    names = ("pmc:PMC7.1", "pmc:PMC7.3", "europepmc:PMC7")
    world = World(tuple(Item(task, "q", name) for task, name in zip(TASKS, names, strict=True)))
    outcome = run(tmp_path / "w", world)
    assert len(outcome.assignments) == 1
    assert {(key.dimension, key.key) for key in outcome.keys if key.dimension == "article"} == {
        ("article", "pmc:PMC7")
    }


def test_a_target_of_a_task_without_target_concepts_binds_nothing(tmp_path: Path) -> None:
    world = two("case_study", "visual_context", targets=("X:1",))
    assert len(run(tmp_path / "w", world).assignments) == 2


def test_nearly_uniform_images_say_nothing(tmp_path: Path) -> None:
    flat = {"a": "8000000000000000", "b": "8000000000000001"}
    items = (Item("case_study", "a", image="a"), Item("clinical_case", "b", image="b"))
    assert len(run(tmp_path / "w", World(items, images=flat)).assignments) == 2


@pytest.mark.parametrize(("other", "kept"), [("f0f0f0f0f0f0f0ff", 1), ("f0f0f0f0f0f0f1ff", 2)])
def test_images_within_four_bits_are_one_family(tmp_path: Path, other: str, kept: int) -> None:
    items = (Item("case_study", "a", image="a"), Item("clinical_case", "b", image="b"))
    world = World(items, images={"a": "f0f0f0f0f0f0f0f0", "b": other})
    assert len(run(tmp_path / "w", world).assignments) == kept


def test_a_new_image_like_two_published_ones_is_dropped_and_they_stay(tmp_path: Path) -> None:
    items = (Item("case_study", "a", image="a"), Item("clinical_case", "b", image="b"))
    world = World(items, images={"a": "f0f0f0f0f0f0f0f0", "b": "f0f0f0f0f0f0f3ff"})
    first = run(tmp_path / "w", world)
    assert len(first.places) == 2
    bridge = World((Item("visual_context", "c", image="c"),), images={"c": "f0f0f0f0f0f0f0ff"})
    second = run(tmp_path / "w2", grown(world, bridge, publish(first, "1", 0)))
    assert {name: second.places.get(name) for name in first.places} == first.places
    assert second.reasons == {"visual_context-c": "overlap_other_task"}
    assert "published in 1" in second.drops[0].detail


def test_every_image_of_a_row_is_a_key(tmp_path: Path) -> None:
    """Two tasks show a like image, one as the second of a query, the other of a positive document."""
    world = World(
        (Item("case_study", "a", image="a", positives=("d",)), Item("clinical_case", "b", image="b")),
        pages=(Page("case_study", "d", "pmc:PMC9.1", image="e"),),
        images={"a": HASHES[3], "b": HASHES[0], "c": HASHES[1], "e": "00ff00ff00ff00ff"},
    )
    assert len(run(tmp_path, world).assignments) == 2
    for side, name, first in (("query", "case_study-a", "a"), ("document", "d", "e")):
        several = replace(world, several={"case_study": listed(side, name, first, "c")})
        outcome = run(tmp_path, several)
        assert len(outcome.assignments) == 1 and [str(row.reason) for row in outcome.drops] == [
            "overlap_other_task"
        ]
    alone = replace(several, items=several.items[:1])
    keys = {row.key for row in run(tmp_path, alone).keys if row.dimension == "image_family"}
    assert {f"phash:{HASHES[1]}", f"phash:{HASHES[3]}", "phash:00ff00ff00ff00ff"} <= keys


def test_a_new_positive_on_another_tasks_article_is_withheld(tmp_path: Path) -> None:
    items = (Item("case_study", "a", "pmc:PMC1.1", ("d1",)), Item("clinical_case", "b", "pmc:PMC2.1"))
    pages = (Page("case_study", "d1", "pmc:PMC3.1"), Page("case_study", "d2", "pmc:PMC2.1"))
    world = World(items, pages)
    first = run(tmp_path / "w", world)
    more = replace(world, items=(replace(items[0], positives=("d1", "d2")), items[1]))
    second = run(tmp_path / "w2", grown(more, World(), publish(first, "1", 0)))
    assert second.places == first.places
    assert [(row.query_id, row.corpus_id, row.key) for row in second.withheld] == [
        ("case_study-a", "d2", "pmc:PMC2")
    ]
    assert second.withheld[0].holder == "clinical_case/test clinical_case-b"
    assert all(row.since == "1" for row in second.assignments)


def test_a_key_once_published_never_serves_another_task(tmp_path: Path) -> None:
    """The query is gone, its article may not come back as another task's."""
    world = World((Item("case_study", "a", "pmc:PMC1.1"),))
    published = publish(run(tmp_path / "w", world), "1", 0)
    later = World((Item("clinical_case", "b", "pmc:PMC1.2"),), published=tuple(published))
    assert run(tmp_path / "w2", later).reasons == {"clinical_case-b": "overlap_other_task"}


def test_new_queries_that_chain_two_splits_lose_as_few_as_possible(tmp_path: Path) -> None:
    items = tuple(Item("case_study", f"q{number}", f"pmc:PMC{number}.1") for number in range(20))
    world = World(items)
    first = run(tmp_path / "w", world, dev_share=0.5)
    by_split = {split: [n for n, p in first.places.items() if p[1] == split] for split in ("test", "dev")}
    at = {item.id: item.article for item in items}
    chain = (
        Item("case_study", "one", at[by_split["test"][0]], ("d",)),
        Item("case_study", "two", at[by_split["dev"][0]], ("d",)),
        Item("case_study", "three", at[by_split["dev"][1]], ("d",)),
        Item("case_study", "both", at[by_split["test"][1]], ("e",)),
    )
    pages = (Page("case_study", "d", "pmc:PMC100.1"), Page("case_study", "e", at[by_split["dev"][2]]))
    second = run(tmp_path / "w2", grown(world, World(chain, pages), publish(first, "1", 0)), dev_share=0.5)
    assert second.reasons == {
        "case_study-one": "overlap_other_split",
        "case_study-both": "overlap_other_split",
    }
    assert second.places["case_study-two"] == second.places["case_study-three"] == ("case_study", "dev")


def test_a_merge_withdraws_the_newer_with_a_record_of_both(tmp_path: Path) -> None:
    old = World((Item("case_study", "a", targets=("X:1",)),))
    first = run(tmp_path / "w", old)
    more = World((Item("clinical_case", "b", targets=("X:2",)),))
    world = grown(old, more, publish(first, "1", 0))
    second = run(tmp_path / "w2", world)
    released = publish(second, "2", 1, world.published)
    merged = replace(world, published=tuple(released), merged=(("X:1", "X:3"), ("X:2", "X:3")))
    outcome = run(tmp_path / "w3", merged)
    assert outcome.places == {"case_study-a": ("case_study", "test")}
    (drop,) = outcome.drops
    assert drop.reason == "overlap_withdrawn"
    assert drop.detail == (
        "published in 2 as clinical_case/test; target_concept X:3 is held by case_study/test case_study-a,"
        " published in 1"
    )


def test_left_out_by_the_spec(tmp_path: Path) -> None:
    world = two("case_study", "clinical_case", article="pmc:PMC1.1")
    outcome = run(tmp_path / "w", world, leave_out=["case_study-a", "unheard-of", "it's"])
    assert outcome.reasons == {"case_study-a": "named_in_spec"}
    assert outcome.places == {"clinical_case-b": ("clinical_case", "test")}


def test_dev_is_near_its_share_and_large_groups_stay_in_test(tmp_path: Path) -> None:
    large = tuple(Item("case_study", f"l{number}", "pmc:PMC0.1") for number in range(60))
    small = tuple(Item("case_study", f"s{number}", f"pmc:PMC{number // 2 + 1}.1") for number in range(340))
    outcome = run(tmp_path / "w", World(large + small), dev_share=0.1)
    dev = [name for name, (_, split) in outcome.places.items() if split == "dev"]
    assert 32 <= len(dev) <= 40
    assert not any(name.startswith("case_study-l") for name in dev)
    assert not [
        name
        for name, (_, split) in run(tmp_path / "w2", World(large + small), dev_share=0).places.items()
        if split == "dev"
    ]


@pytest.mark.parametrize(("together", "expected"), [(1, 4), (2, 4), (3, 0)])
def test_a_small_task_of_small_groups_has_a_dev_split(tmp_path: Path, together: int, expected: int) -> None:
    items = tuple(Item("case_study", f"q{n}", f"pmc:PMC{n // together + 1}.1") for n in range(90))
    places = run(tmp_path / "w", World(items), dev_share=0.05).places
    dev = [int(name.removeprefix("case_study-q")) for name, (_, split) in places.items() if split == "dev"]
    assert len(dev) == expected
    assert all(set(range(n - n % together, n - n % together + together)) <= set(dev) for n in dev)


def test_nothing_at_all(tmp_path: Path) -> None:
    assert run(tmp_path / "w", World(), tasks=EVERY).assignments == []


def test_hostile_rows(tmp_path: Path) -> None:
    nasty = ["'; DROP TABLE x; --", "\x00", "\u202e", "NULL", "a" * 200_000, "#", "pmc:", "pmc:.", "."]
    items = [Item("case_study", f"n{n}'", text, text=text, patient=text) for n, text in enumerate(nasty)]
    items += [
        Item("clinical_case", f"n{n}'", text, text=text, targets=(text,)) for n, text in enumerate(nasty)
    ]
    world = World(tuple(items), images={"image0": "not hex", "image1": ""})
    outcome = run(tmp_path / "w", world)
    sound(world, outcome)
    assert len(outcome.assignments) == len(nasty)


@pytest.mark.parametrize(
    ("tasks", "settings"),
    [
        ((), {}),
        (("case_study", "case_study"), {}),
        (("summary",), {"dev_share": 0.6}),
        (("summary",), {"weights": {"summary": 0}}),
        (("summary",), {"weights": {"case_study": 1}}),
    ],
)
def test_wrong_settings_are_refused(tmp_path: Path, tasks: tuple[str, ...], settings: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        run(tmp_path / "w", World(), tasks=tasks, **settings)


def test_the_policy_is_what_the_stage_assumes() -> None:
    """A task's keys of a dimension are compared with every other task that has such keys."""
    for task in EVERY:
        for other in EVERY:
            for dimension in ("target_concept", "query", "article", "patient", "image_family"):
                both = {level(one, one, dimension) for one in (task, other)}
                assert (level(task, other, dimension) == "zero") == (both == {"zero"})


LONG = "A glass blower of sixty came in with burning eyes and a cough that had lasted eleven weeks in all"
NEAR = LONG.replace("sixty", "fifty").replace("eleven", "twelve")


def test_near_copies_of_a_query_go_to_one_task_and_one_split(tmp_path: Path) -> None:
    others = tuple(Item("case_study", f"o{number}", text=f"{number} words apart") for number in range(40))
    near = [Item("case_study", "a", text=LONG), Item("clinical_case", "b", text=NEAR)]
    outcome = run(tmp_path / "two", World((*near, *others)))
    (lost,) = outcome.reasons
    assert lost in {item.id for item in near} and outcome.reasons[lost] == "overlap_other_task"
    kept = next(item.id for item in near if item.id != lost)
    assert [key.key[:5] for key in outcome.keys if key.query_id == kept and key.dimension == "query"].count(
        "near:"
    ) == 1
    same = (replace(near[0], name="b", text=NEAR), near[0], replace(near[0], name="c", text=NEAR.upper()))
    outcome = run(tmp_path / "one", World((*same, *others)), dev_share=0.5)
    assert len({outcome.places[item.id] for item in same}) == 1
    apart = [replace(near[0], targets=("X:1",)), replace(near[1], targets=("X:2",))]
    assert run(tmp_path / "apart", World((*apart, *others))).reasons == {}


def test_a_near_copy_of_a_published_query_is_dropped_and_equal_ones_count_in_any_form(tmp_path: Path) -> None:
    first = World((Item("case_study", "a", text=LONG),))
    released = publish(run(tmp_path / "first", first), "1.0.0", 0)
    assert not any(row.key.startswith("near:") for row in released)
    more = World((Item("clinical_case", "b", text=NEAR), Item("visual_context", "c", text=f"\u2028{LONG}")))
    second = run(tmp_path / "second", grown(first, more, released))
    assert second.reasons == {
        "clinical_case-b": "overlap_other_task",
        "visual_context-c": "overlap_other_task",
    }
    forms = (
        "5 \u00b5m ﬁbres of a cafe\u0301-brown kind",
        "\uff15\u00a0\u03bcm fibres of a caf\u00e9\u2011brown kind",
    )
    pair = World(tuple(Item(task, "x", text=text) for task, text in zip(TASKS, forms, strict=False)))
    assert len(run(tmp_path / "forms", pair).places) == 1


def test_the_made_up_world_has_every_input_of_the_stage(tmp_path: Path) -> None:
    """What `benchmarks.partition` measures on is partitioned, here a sliver of it."""
    write_world(tmp_path / "world", 2_000)
    made = ours(tmp_path / "world", tmp_path / "out")
    assert made["rows"]["assignments"] > 0
