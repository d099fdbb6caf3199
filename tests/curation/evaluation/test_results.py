"""Results by facet with macro means, systems that shaped the benchmark, and a page that escapes."""

from pathlib import Path

import numpy as np
import pytest

from curation.evaluation.collection import Collection, open_collection
from curation.evaluation.page.render import render
from curation.evaluation.ranking import Ranking
from curation.evaluation.results import Measured, summarise
from tests.curation.evaluation.world import toy


@pytest.fixture
def collection(tmp_path: Path) -> Collection:
    release = toy()
    release.head["task_title"] = "Toy <b>task</b>"
    return open_collection(release.write(tmp_path))


def system(name: str, **places: list[int]) -> Measured:
    run = {
        query: Ranking(np.array(found, np.int32), np.arange(len(found), 0, -1).astype(float))
        for query, found in places.items()
    }
    return Measured(name, "run", run)


def test_facets_and_means(collection: Collection) -> None:
    systems = [system("good", q1=[0, 1], q2=[2], q3=[3]), system("bad", q1=[2], q2=[2], q3=[5, 3])]
    summary = summarise(collection, systems, 100).summary
    good, bad = summary["systems"]
    assert summary["queries_measured"] == 3 and summary["queries_without_positive"] == 1
    assert good["overall"]["nDCG@10"]["mean"] == 1.0
    assert bad["overall"]["R@1"]["mean"] == pytest.approx(1 / 3)
    eyes = bad["facets"]["specialty"]["ophthalmology"]
    assert eyes["RR"]["mean"] == 0.75 and eyes["RR"]["queries"] == 2
    assert bad["macro"]["specialty"]["RR"] == {"mean": 0.375, "gap": 0.75, "values": 2}
    assert set(bad["facets"]["label_status"]) == {"mixed", "structural"}
    assert {item["measure"] for item in summary["comparisons"]} == set(summary["measures"])
    difference = next(item for item in summary["comparisons"] if item["measure"] == "RR")
    assert difference["difference"] == pytest.approx(0.5)


def test_per_query_rows(collection: Collection) -> None:
    rows = summarise(collection, [system("one", q1=[0])], 100).per_query.to_pylist()
    assert [row["query-id"] for row in rows] == ["q1", "q2", "q3"]
    assert rows[0]["nDCG@10"] == pytest.approx(2 / (2 + 1 / np.log2(3)))
    assert rows[1]["nDCG@10"] == 0.0 and rows[1]["judged@10"] is None and rows[1]["retrieved"] == 0


def test_the_page_shows_every_system_and_escapes(collection: Collection) -> None:
    systems = [
        system("a<script>", q1=[0]),
        Measured("shaper", "bm25", system("x", q1=[1]).run, shaped=True, notes=("be careful & read",)),
        Measured("image", "image", None, why_not="no images"),
    ]
    page = render(summarise(collection, systems, 100).summary)
    assert "a&lt;script&gt;" in page and "<script" not in page
    assert "Toy &lt;b&gt;task" in page
    assert "shaper <span" in page and "be careful &amp; read" in page
    assert "<strong>image</strong> was not run: no images" in page
    assert page.count("<svg") == 3  # all queries, specialty, label status
    assert page.count("fewer than 30 articles") == 2  # as there are rows with intervals in both facets
    assert page == render(summarise(collection, systems, 100).summary)


def test_nothing_ran(collection: Collection) -> None:
    results = summarise(collection, [Measured("image", "image", None, why_not="no images")], 100)
    assert results.per_query.num_rows == 0 and results.summary["comparisons"] == []
    assert "No system ran" in render(results.summary)
