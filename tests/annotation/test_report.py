from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lxml import html

from annotation.agreement.coefficients import COEFFICIENTS, Undefined
from annotation.agreement.drift import chart
from annotation.agreement.intervals import agreement
from annotation.report import plots, words
from annotation.report.render import MAX_PAIRS, render
from annotation.report.summary import summarise
from schemas.errors import InputError
from tests.annotation.simulated_review import answer, candidate, simulate
from tests.browser import Tab, chromium
from tests.curation.audit.test_page_browser import FAINT, OVERFLOWING

SCALE = (0, 1, 2)


@pytest.fixture(scope="module")
def summary() -> dict[str, Any]:
    return summarise(*simulate(240, gold_every=4, fails_after=0.5), SCALE, resamples=400)


def parse(text: str) -> Any:
    return html.fromstring(text)


def of(summary: dict[str, Any], **wanted: str) -> list[dict[str, Any]]:
    return [row for row in summary["figures"] if all(row[key] == value for key, value in wanted.items())]


def test_the_summary_counts_what_was_answered() -> None:
    items = [candidate(0), candidate(1), candidate(2, gold=2), candidate(3)]
    rows = [
        answer(items[0], "A1", 2, 1, seconds=30),
        answer(items[0], "A2", 1, 1, seconds=10),
        answer(items[1], "A1", 0, 2, seconds=50),
        answer(items[1], "A2", None, 2, reason="ambiguous"),
        answer(items[2], "A1", 2, 3),
        answer(items[2], "A2", 0, 3),
        replace(answer(items[3], "A1", 0, 4), state="conflict"),
        replace(answer(items[3], "A2", 1, 4), state="superseded"),
        answer(candidate(99), "A2", 1, 5),
        replace(answer(items[0], "judge", 0, 1), role="judge"),
        replace(answer(items[0], "ADJ1", 2, 1), role="adjudicator"),
    ]
    made = summarise(items, rows, SCALE, resamples=50)
    assert made["counts"] == {
        "items": 3,
        "gold_items": 1,
        "items_answered": 2,
        "items_graded_twice": 1,
        "people": 2,
        "answers": 4,
        "gold_answers": 2,
        "grades": 3,
        "cannot_judge": 1,
        "left_out": {"conflict": 1, "superseded": 1, "unknown_candidate": 1},
    }
    (said,) = (line for line in words.opening(made) if line.startswith("Answers not counted"))
    assert "1 that the same annotator replaced by another one" in said and "form of an item" not in said
    assert made["confusions"] == [
        {"first": "A1", "second": "A2", "items": 2,
         "rows": [[0, 0, 0, 1], [0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0]]}
    ]  # fmt: skip
    first, second = made["annotators"]
    assert first["grades"] == {"0": 1, "1": 0, "2": 2} and first["cannot_judge"] == {}
    assert first["seconds"] == {
        "known": 2, "first_quartile": 35.0, "median": 40.0, "third_quartile": 45.0, "total": 80.0,
    }  # fmt: skip
    assert second["cannot_judge"] == {"ambiguous": 1} and second["seconds"]["known"] == 1
    gold = {
        row["annotator"]: (row["accuracy"], row["bias"], row["course"]) for row in made["gold"]["annotators"]
    }
    assert gold == {"A1": (1.0, 0.0, [0]), "A2": (0.0, -2.0, [chart().step - 1])}
    for row in of(made, dimension="all"):
        assert row["items"] == 1 and row["reason"] in (Undefined.ONE_ITEM, Undefined.ONE_GRADE)


def test_figures_are_those_of_the_agreement_package_without_gold_items(summary: dict[str, Any]) -> None:
    candidates, annotations = simulate(240, gold_every=4, fails_after=0.5)
    column = {"A1": 0, "A2": 1, "A3": 2}
    table = {item.id: [float("nan")] * 3 for item in candidates if item.known_grade is None}
    for row in annotations:
        if row.candidate_id in table and row.grade is not None:
            table[row.candidate_id][column[row.annotator]] = row.grade
    expected = agreement([table[name] for name in sorted(table)], SCALE, resamples=400)
    found = of(summary, dimension="all")
    assert [(row["coefficient"], row["value"], row["low"], row["high"]) for row in found] == [
        (str(item.coefficient), item.value, item.low, item.high) for item in expected
    ]
    assert {row["group"] for row in of(summary, dimension="annotator_pair")} == {"A1|A2", "A1|A3", "A2|A3"}
    assert {row["group"] for row in of(summary, dimension="specialty")} >= {"cardiology", "unknown"}


def test_the_same_rows_in_any_order_give_the_same_page(summary: dict[str, Any]) -> None:
    candidates, annotations = simulate(240, gold_every=4, fails_after=0.5)
    draw = random.Random(1)
    draw.shuffle(candidates)
    draw.shuffle(annotations)
    again = summarise(candidates, annotations, SCALE, resamples=400)
    assert json.dumps(again) == json.dumps(summary)
    assert render(again) == render(summary)


def test_rows_that_cannot_be_are_refused() -> None:
    item = candidate(1)
    with pytest.raises(InputError, match="two current answers"):
        summarise([item], [answer(item, "A1", 0, 1), answer(item, "A1", 1, 2)], SCALE)
    with pytest.raises(InputError, match="grade 3"):
        summarise([item], [answer(item, "A1", 3, 1), answer(item, "A2", 0, 1)], SCALE)
    with pytest.raises(InputError, match="one dataset, task and kind, not of 2"):
        summarise([item, candidate(2, task="summary")], [], SCALE)


def test_the_opening_says_what_there_is_and_what_is_too_little(summary: dict[str, Any]) -> None:
    text = "\n".join(words.opening(summary))
    main = of(summary, dimension="all", coefficient="krippendorff_alpha_ordinal")[0]
    assert "3 annotators answered 180 of 180 items" in text
    assert f"Krippendorff's ordinal α is {main['value']:.2f}" in text
    assert "Alarm: A3 misses more gold items" in text
    assert "Too little to say: " in text
    alarmed = [row for row in summary["gold"]["annotators"] if row["alarm_at"]]
    assert [row["annotator"] for row in alarmed] == ["A3"]

    items = [candidate(number) for number in range(40)]
    nobody = words.opening(summarise(items, [], SCALE))
    assert nobody == ["Nobody has answered any of the 40 items yet."]
    alone = words.opening(summarise(items, [answer(item, "A1", 2, n) for n, item in enumerate(items)], SCALE))
    assert "1 annotator answered 40 of 40 items" in alone[0] and "No item has two grades" in alone[0]
    assert alone[1] == "Krippendorff's ordinal α is undefined: fewer than two annotators gave a grade."
    skewed = [
        answer(item, name, 1 if number == 3 and name == "A2" else 2, number)
        for number, item in enumerate(items)
        for name in ("A1", "A2")
    ]
    assert any("99 % of all grades are 2" in line.replace("\xa0", " ") for line in words.opening(
        summarise(items, skewed, SCALE, resamples=200)
    ))  # fmt: skip


def test_every_figure_and_reason_has_words() -> None:
    assert set(words.COEFFICIENTS) == {str(name) for name in COEFFICIENTS}
    assert {str(reason) for reason in Undefined} <= set(words.REASONS)
    assert set(words.SHORT_REASONS) == {str(reason) for reason in Undefined}


def test_percentages_are_never_rounded_to_none_or_all() -> None:
    shown = [words.percent(value).replace("\xa0", " ") for value in (0.0, 0.001, 0.5, 0.999, 1.0, None)]
    assert shown == ["0 %", "1 %", "50 %", "99 %", "100 %", "–"]


def test_places_in_plots() -> None:
    axis = plots.agreement_axis([0.2, -0.05])
    assert (axis.low, axis.high, axis.ticks[0]) == (-0.2, 1.0, -0.2)
    assert axis.place(-0.2) == 3 and axis.place(1.0) == 97 and axis.place(0.4) == 50
    assert axis.place(-7) == 3
    assert plots.agreement_axis([-0.9]).ticks == (-1.0, -0.5, 0.0, 0.5, 1.0)
    assert plots.seconds_axis(61).ticks == (0.0, 20.0, 40.0, 60.0, 80.0)
    svg = parse(plots.whisker(axis, 0.4, 0.1, 0.7))
    assert svg.find("circle").get("cx") == "50.0%"
    assert [plots.shade(count, 100) for count in (0, 1, 20, 50, 100)] == [0, 1, 3, 5, 5]


def test_everything_shown_is_escaped_and_nothing_is_loaded() -> None:
    bad = "<script>alert(1)</script>"
    items = [candidate(number, gold=2 if number % 5 == 0 else None, specialty=bad) for number in range(20)]
    items = [replace(item, dataset=f"d{bad}") for item in items]
    rows = [
        answer(item, name, number % 3 if number % 7 else None, number, reason="" if number % 7 else bad)
        for number, item in enumerate(items)
        for name in (f"A{bad}", 'A2" onload="x')
    ]
    page = render(summarise(items, rows, SCALE, resamples=50))
    tree = parse(page)
    assert not tree.xpath("//script") and not tree.xpath("//@onload")
    assert bad in tree.text_content()
    assert not tree.xpath("//@src") and all(link in ("data:,", "#figures") for link in tree.xpath("//@href"))


def test_the_page_is_made_for_screen_readers(summary: dict[str, Any]) -> None:
    tree = parse(render(summary))
    assert not [cell for cell in tree.xpath("//th") if cell.get("scope") not in ("row", "col", "rowgroup")]
    assert not tree.xpath("//table[not(caption)]")
    outer = [svg for svg in tree.xpath("//svg") if not svg.xpath("ancestor::svg")]
    assert all(svg.get("aria-hidden") or (svg.get("role") and svg.get("aria-label")) for svg in outer)
    labels = tree.xpath("//svg[@role='img']/@aria-label")
    assert any("alarm at gold item" in label for label in labels if label.startswith("A3"))


def test_of_many_pairs_those_that_agree_least_are_shown() -> None:
    items = [candidate(number) for number in range(30)]
    draw = random.Random(2)
    rows = [
        answer(item, f"A{who}", number % 3 if who != 5 else draw.choice(SCALE), number)
        for number, item in enumerate(items)
        for who in range(1, 7)
    ]
    made = summarise(items, rows, SCALE, resamples=20)
    assert len(made["confusions"]) == 15
    tree = parse(render(made))
    captions = [caption.text_content() for caption in tree.xpath("//table[@class='heat']/caption")]
    assert len(captions) == MAX_PAIRS and sum("A5" in caption for caption in captions) == 5


@pytest.fixture(scope="module")
def tab() -> Iterator[Tab]:
    with chromium() as opened:
        yield opened


def test_the_page_in_a_browser(tab: Tab, summary: dict[str, Any], tmp_path: Path) -> None:
    page = tmp_path / "agreement.html"
    page.write_text(render(summary), "utf-8")
    for width in (1280, 400):
        for dark in (False, True):
            tab.open(page, width=width, dark=dark)
            wide, elements = tab.run(OVERFLOWING)
            assert wide <= 0 and not elements, (width, elements)
            assert tab.run(FAINT) == [], (width, dark)
    assert tab.complaints() == [] and tab.requests() == [page.as_uri()]
    tab.press("Tab", 9)
    assert tab.run("document.activeElement.textContent") == "Skip to the figures"
    images = [node for node in tab.tree() if node["role"]["value"] == "image"]
    assert any("limit" in node["name"]["value"] for node in images)
    assert tab.print(tmp_path / "page.pdf").read_bytes()[:4] == b"%PDF"
