"""The card's part on baseline runs: from published files alone, escaped, and loadable by its configs."""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import datasets
import lxml.etree
import numpy as np
import pyarrow as pa
import pytest
from markdown_it import MarkdownIt

from curation.derived.distractors import make_distractors
from curation.derived.pools import PoolOptions, SplitRuns, make_pools
from curation.derived.subsets import NanoOptions, make_nano
from curation.evaluation.collection import Collection, Head, open_collection
from curation.evaluation.ranking import Ranking, Run
from curation.evaluation.results import Measured, summarise
from curation.published.manifest import read_manifest
from curation.published.writer import write_table
from curation.release import card, facts, plots, results
from curation.release.write import Written
from schemas.errors import ReleaseError
from schemas.tables import DERIVED, DIAGNOSTICS, SUBSETS
from tests.curation.release.known import make_world, run_sql

HOSTILE = "st:<img src=x onerror=alert(1)>|![p](http://x/p.png)`*]&"


def run(collection: Collection, shift: int) -> Run:
    """Documents from the `shift`-th on, without those that are left out."""
    size = len(collection.corpus_ids)
    order = np.roll(np.arange(size, dtype=np.int32), -shift)
    made = {}
    for query in collection.queries:
        kept = order[~np.isin(order, collection.left_out.get(query.id, np.empty(0, np.int32)))]
        made[query.id] = Ranking(kept, np.linspace(1, 0.1, len(kept), dtype=np.float64))
    return made


def derive(written: Written) -> tuple[str, ...]:
    """What flows do on real systems, on two made-up rankings."""
    assert written.splits == ("test",)
    directory = written.directory
    collection = open_collection(directory, head=Head.of(written.head))
    runs = {"bm25": run(collection, 0), HOSTILE: run(collection, 3)}
    systems = [
        Measured(
            "bm25", "bm25", runs["bm25"], {"k1": 0.9, "stemmers": {"en": "porter"}, "max": None}, shaped=True
        ),
        Measured(HOSTILE, "st", runs[HOSTILE], {"prompt": HOSTILE}, notes=(f"beware {HOSTILE}",)),
        Measured("image", "image", None, why_not="the documents have no images"),
    ]
    summary = summarise(collection, systems, 100).summary
    del summary["release"]["release_hash"]
    pools = make_pools([SplitRuns(collection, runs)], PoolOptions(depth=2), directory)
    make_distractors(collection, 3, directory)
    nano = make_nano(collection, {"bm25": runs["bm25"]}, NanoOptions(2, 1), directory)
    assert pools is not None and nano.is_made
    write_table(SUBSETS, [subset(collection)], directory)
    write_table(DIAGNOSTICS, [diagnostics(collection)], directory)
    notes = {
        "conditions": {"image_only": {"system": "", "why_not": f"no {HOSTILE}"}},
        "needs_tolerance": 0.05,
    }
    write(directory, "results", {"test": summary})
    write(directory, "diagnostics", {"test": notes})
    write(
        directory,
        "derived",
        {"pools": dataclasses.asdict(pools), "nano": dataclasses.asdict(nano), "subsets": []},
    )
    return pools.shaped_by


def subset(collection: Collection) -> pa.Table:
    ids = sorted(query.id for query in collection.queries)[:2]
    rows = [{"subset": "specialty", "kind": "query", "id": name} for name in ids]
    return pa.Table.from_pylist(rows, schema=SUBSETS.schema)


def diagnostics(collection: Collection) -> pa.Table:
    row = {
        "text_only": 0.5,
        "image_only": None,
        "text_and_image": 0.75,
        "needs": "",
        "bm25_solvable": True,
        "candidates": 4,
        "chance": 0.25,
        "chance_first": 0.125,
        "shortcuts": ["length/longest"],
        "shortcut_scores": [{"shortcut": "length/longest", "ndcg": 0.5}],
    }
    rows = [{"query-id": query.id, **row} for query in collection.queries]
    return pa.Table.from_pylist(rows, schema=DIAGNOSTICS.schema)


def write(directory: Path, name: str, content: Mapping[str, Any]) -> None:
    path = directory / "runs" / f"{name}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The known release with runs and all that follows; read-only for tests."""
    return make_world(tmp_path_factory.mktemp("released")).release(derive=derive)


@pytest.fixture(scope="module")
def text(released: Path) -> str:
    return (released / "card/results.md").read_text(encoding="utf-8")


def rendered(directory: Path, page: str = "card/results.md") -> str:
    prose = dict.fromkeys(card.PROSE, "Said.")
    return card.render(read_manifest(directory), facts.compute(directory, run_sql), prose)[page]


def section(text: str) -> str:
    return text[text.index("## Baseline runs") :]


def test_results_are_shown_with_reasons_and_marks(released: Path, text: str) -> None:
    shown = section(text)
    assert "4 of 4 queries of split `test` measured, 8 documents" in shown
    (row,) = [line for line in shown.splitlines() if line.startswith("| `bm25` † |")]
    summary = json.loads((released / "runs/results.json").read_text())["test"]
    overall = summary["systems"][0]["overall"]
    assert f"{overall['nDCG@10']['mean']:.3f}" in row and f"{overall['RR']['mean']:.3f}" in row
    assert f"({overall['nDCG@10']['low']:.3f} to {overall['nDCG@10']['high']:.3f})" in row
    assert "`image` was not run: the documents have no images." in shown
    assert "† This system shaped the candidate pools" in shown
    assert "With so few articles the intervals are too narrow." in shown
    assert "- `bm25`: k1=0.9, stemmers: en" in shown


def test_what_was_derived_is_shown(text: str) -> None:
    shown = section(text)
    assert "No system took part in the test for likely positives." in shown
    assert "| text alone | — | 4 | 0.500 (0.500 to 0.500) |" in shown
    assert "| image alone | not run: no st:" in shown
    assert "text and image - text only +0.250 (+0.250 to +0.250)." in shown
    assert "| length/longest | 4 | 100.0 % (100.0 to 100.0) | 12.5 % | 0.500 | 0.250 | +0.250" in shown
    assert "BM25 ranks a positive first for 100.0 % (100.0 to 100.0) of the queries." in shown
    assert "2 queries over 3 documents" in shown
    assert "Its rank correlation to the whole release was not measured." in shown
    assert "| `specialty` | 2 | all | undecided 2 |" in shown


def changed(released: Path, folder: Path, name: str, change: Callable[[Any], None]) -> str:
    """The card of a copy in which one file under runs/ says something else."""
    target = folder / "copy"
    shutil.copytree(released, target)
    path = target / "runs" / f"{name}.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    change(content)
    path.write_text(json.dumps(content), encoding="utf-8")
    return section(rendered(target))


def test_conditions_by_systems_that_shaped_the_pools_are_marked(released: Path, tmp_path: Path) -> None:
    def named(content: Any) -> None:
        systems = {"text_only": "bm25", "text_and_image": "reciprocal rank fusion of bm25 and other"}
        systems["image_only"] = "other, bm25"
        content["test"]["conditions"] = {name: {"system": system} for name, system in systems.items()}

    assert "What shaped the candidate pools took part" not in section(rendered(released))
    shown = changed(released, tmp_path, "diagnostics", named)
    assert "| text alone | bm25 † | 4 |" in shown
    assert "of bm25 and other † | 4 |" in shown
    assert "| image alone | not run" in shown
    assert "† What shaped the candidate pools took part" in shown


def test_the_best_system_by_facet_is_marked_if_it_shaped_the_pools(released: Path, tmp_path: Path) -> None:
    def best(content: Any) -> None:
        summary = content["test"]
        summary["facets"]["modality"] = {"CT": 3, "": 1}
        for system in summary["systems"]:
            if system["status"] == "measured":
                overall = system["overall"]
                overall["nDCG@10"]["mean"] = 1.0 if system["name"] == "bm25" else 0.0
                system["facets"]["modality"] = {"CT": overall, "": overall}
                macro = {"mean": 1.0, "gap": 0.0, "values": 1}
                system["macro"]["modality"] = dict.fromkeys(summary["measures"], macro)

    shown = changed(released, tmp_path, "results", best)
    (line,) = [line for line in shown.splitlines() if "of the best system" in line]
    assert "bm25" in line and " †, by facet" in line
    assert "| best minus worst of them | | – |" in shown  # one value is no spread


def test_orders_under_labels_of_judge_and_people_are_told(released: Path, tmp_path: Path) -> None:
    told = {"measure": "condensed-nDCG@10", "queries": 41, "pairs": 123}
    lacking = {"status": "not_run", "why_not": f"2 systems ran {HOSTILE}", **told}
    found = {
        **told, "status": "measured", "why_not": "", "tau": 0.3333, "low": -0.5, "high": 1.0,
        "systems": {"bm25": {"judge": 0.5, "people": 0.25}, HOSTILE: {"judge": 0.1, "people": 0.2}},
    }  # fmt: skip

    def shown(content: dict[str, Any], place: str) -> str:
        return changed(
            released, tmp_path / place, "results",
            lambda results: results["test"].update(judge_and_people=content),
        )  # fmt: skip

    assert "people" not in section(rendered(released))
    text = shown(found, "measured")
    assert "over 123 pairs of 41 queries that both graded" in text
    assert "Kendall's τ of the systems' orders 0.333 (-0.500 to 1.000)." in text
    assert "| `bm25` | 0.500 | 0.250 |" in text and "<img src=x" not in MarkdownIt("commonmark").render(text)
    text = shown(lacking, "lacking")
    assert "not run, 2 systems ran" in text and "<img src=x" not in MarkdownIt("commonmark").render(text)


def test_hostile_names_stay_text(text: str) -> None:
    html = MarkdownIt("commonmark", {"html": True}).enable("table").render(section(text))
    tree = lxml.etree.HTML(html)
    assert [image.get("src") for image in tree.iter("img")] == ["../figures/results.svg"]
    assert not [item for item in tree.iter() if any(str(name).startswith("on") for name in item.attrib)]
    assert not list(tree.iter("a"))
    widths = {len(row) for row in tree.findall(".//table")[0].iter("tr")}
    assert len(widths) == 1  # no cell was opened by a name


def test_the_figure_is_one_well_formed_file(released: Path, tmp_path: Path) -> None:
    numbers = facts.compute(released, run_sql)
    plots.write(tmp_path, numbers)
    data = (tmp_path / results.FIGURE).read_bytes()
    assert data.decode() == plots.figure(numbers)
    tree = lxml.etree.fromstring(data)
    assert not {lxml.etree.QName(item).localname for item in tree.iter()} & {
        "script",
        "image",
        "foreignObject",
    }
    assert len(tree.findall(".//{*}path")) == 2 and "prefers-color-scheme: dark" in data.decode()
    assert any("onerror" in (item.text or "") for item in tree.iter("{*}title"))


def test_the_same_files_give_the_same_card(released: Path) -> None:
    numbers = facts.compute(released, run_sql)
    published = {name: (released / name).read_text("utf-8") for name in card.PAGES}
    assert card.render(read_manifest(released), numbers, card.prose_of(published[card.README])) == published


def test_every_new_table_loads_by_its_config(
    released: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    names = [table.name for table in DERIVED]
    assert set(names) | {"pools", "pool_checksums"} <= set(datasets.get_dataset_config_names(str(released)))
    for name in names:
        found = datasets.load_dataset(
            str(released), name, split="test", streaming=True, cache_dir=str(tmp_path)
        )
        assert next(iter(found)), name


def test_without_runs_there_is_one_line(known: Path) -> None:
    shown = section(rendered(known)).splitlines()
    assert [line for line in shown if line] == [
        "## Baseline runs",
        "No baseline systems were run on this release.",
    ]
    assert plots.figure(facts.compute(known, run_sql)) is None


def test_an_image_task_says_that_text_was_not_read(known: Path) -> None:
    assert "The check is **not run** as far as the published files tell" in rendered(known, "card/labels.md")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("results", '{"test": {"systems": []}}'),
        ("results", "[1]"),
        ("results", '{"test": NaN}'),
        ("results", '{"test": "\\ud800"}'),
        ("results", "[" * 100_000),
        ("derived", '{"pools": {"held_back": {"a": "<b>"}, "likely_positives": 0}}'),
    ],
)
def test_files_of_another_form_are_refused(released: Path, tmp_path: Path, name: str, content: str) -> None:
    target = tmp_path / "copy"
    shutil.copytree(released, target)
    (target / "runs" / f"{name}.json").write_text(content, encoding="utf-8")
    with pytest.raises(ReleaseError, match=r"JSON|form expected"):
        rendered(target)


def test_a_number_that_is_text_is_refused(released: Path, tmp_path: Path) -> None:
    target = tmp_path / "copy"
    shutil.copytree(released, target)
    path = target / "runs/results.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    content["test"]["queries"] = "<script>"
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(ReleaseError, match="form expected"):
        rendered(target)


def system(name: str, mean: float) -> dict[str, Any]:
    return {"name": name, "overall": {"nDCG@10": {"mean": mean}}}


def pair(a: str, b: str, p: float) -> dict[str, Any]:
    return {"a": a, "b": b, "measure": "nDCG@10", "p_holm": p}


@pytest.mark.parametrize(
    ("different", "letters"),
    [
        ((), {"w": "a", "x": "a", "y": "a", "z": "a"}),
        (("wz",), {"w": "a", "x": "ab", "y": "ab", "z": "b"}),
        (("wy", "wz", "xz"), {"w": "a", "x": "ab", "y": "bc", "z": "c"}),
        (("wx", "wy", "wz", "xy", "xz", "yz"), {"w": "a", "x": "b", "y": "c", "z": "d"}),
    ],
)
def test_systems_share_a_letter_exactly_when_no_difference_was_shown(
    different: Sequence[str], letters: Mapping[str, str]
) -> None:
    systems = [system(name, mean) for name, mean in zip("wxyz", (0.9, 0.7, 0.5, 0.3), strict=True)]
    pairs = [
        pair(a, b, 0.01 if a + b in different else 0.2)
        for place, a in enumerate("wxyz")
        for b in "wxyz"[place + 1 :]
    ]
    assert results.groups(systems, pairs) == letters
    assert results.groups(systems, pairs[1:]) == {}
