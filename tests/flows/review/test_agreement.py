from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest
from cyclopts import App

from annotation.agreement.coefficients import Coefficient
from annotation.agreement.planner import plan
from annotation.verdicts import read_log, replay
from flows.cli import review_results as verbs
from flows.engine.workspace import Workspace
from flows.review import agreement
from flows.review.adjudication import ADJUDICATOR, DISPUTED, adjudicate
from flows.review.agreement import Assumptions, describe_plan, plan_review, report, scale_of
from flows.review.store import ReviewFolder, review_folder
from schemas.errors import MedqrelsError, UsageError
from schemas.review import Allotment, ReviewAnnotation, ShownItem
from tests.annotation.simulated_review import CONFUSION, candidate, simulate

Run = Callable[..., Any]


@pytest.fixture
def folder(workspace: Workspace) -> ReviewFolder:
    """A review of 80 items that three clinicians answered."""
    made = review_folder(workspace, "simulated", "visual_context")
    candidates, annotations = simulate(80)
    made.write_candidates(candidates)
    write_annotations(made, annotations)
    made.write_json("frame.json", {"per_item": 3})
    made.write_allotments(
        Allotment(candidate_id=item.id, task=item.task, annotator=name, role="annotator", place=place)
        for name in CONFUSION
        for place, item in enumerate(candidates, start=1)
    )
    return made


def write_annotations(folder: ReviewFolder, rows: list[ReviewAnnotation]) -> None:
    folder._write("annotations", ReviewAnnotation, sorted(rows, key=lambda row: row.id))


@pytest.fixture
def run(workspace: Workspace, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a verb in the workspace: JSON, or text with `text=True`."""
    app = App(result_action="return_value", exit_on_error=False)
    for verb in (verbs.agreement, verbs.plan, verbs.adjudicate):
        app.command(verb)

    def call(*words: str, text: bool = False) -> Any:
        extra = [] if text else ["--json"]
        assert app([*words, "--workspace", str(workspace.root), *extra]) == 0
        said = capsys.readouterr().out
        return said if text else json.loads(said)

    return call


def hashes(folder: ReviewFolder) -> dict[str, str]:
    return {
        item.name: hashlib.sha256(item.read_bytes()).hexdigest() for item in sorted(folder.path.iterdir())
    }


def test_agreement_writes_a_page_and_figures_that_a_rerun_repeats(folder: ReviewFolder, run: Run) -> None:
    made = run("agreement", "simulated/visual_context")
    before = hashes(folder)
    figures = json.loads((folder.path / "agreement.json").read_text("utf-8"))
    assert made == [{**figures, "page": str(folder.path / "agreement.html")}]
    assert figures["scale"] == [0, 1, 2] and figures["counts"]["people"] == 3
    text = run("agreement", text=True)
    assert "simulated/visual_context\n3 annotators answered 70 of 70 items" in text
    assert hashes(folder) == before
    assert "A1" in text + json.dumps(figures)


def test_the_page_can_go_elsewhere(folder: ReviewFolder, run: Run, tmp_path: Path) -> None:
    run("agreement", "--out", str(tmp_path / "out" / "mine.html"))
    assert sorted(item.name for item in (tmp_path / "out").iterdir()) == ["mine.html", "mine.json"]
    assert "Made from mine.json" in (tmp_path / "out" / "mine.html").read_text("utf-8")
    assert not (folder.path / "agreement.html").exists()
    with pytest.raises(UsageError, match=r"must end in \.html"):
        run("agreement", "--out", str(tmp_path / "mine"))


def test_a_review_that_is_not_there_is_refused(folder: ReviewFolder, run: Run, workspace: Workspace) -> None:
    with pytest.raises(UsageError, match="no review of 'simulated/summary'"):
        run("agreement", "simulated/summary")
    other = review_folder(workspace, "simulated", "summary")
    other.write_candidates([candidate(1, task="summary")])
    with pytest.raises(UsageError, match="one page, but there are 2 reviews"):
        run("agreement", "--out", "both.html")
    assert report(other)[0]["scale"] == [0, 2]
    other.write_candidates([])
    with pytest.raises(MedqrelsError, match="no candidates"):
        report(other)


def test_the_scale_of_a_choice_is_that_of_its_options() -> None:
    options = json.dumps([{"id": str(number), "name": "x", "text": "y"} for number in range(4)])
    item = replace(candidate(1), kind="confusion", shown=(ShownItem(name="options", value=options),))
    assert scale_of([item]) == [0, 1, 2, 3, 4]


def test_a_plan_says_items_hours_and_what_it_assumes(folder: ReviewFolder, run: Run) -> None:
    made = run("plan", "--half-width", ".1", "--annotators", "4")
    assert made["items"] == plan(0.1, prior=0.7, annotators=4).items and made["annotators"] == 4
    assert {value["from"] for value in made["assumed"].values()} == {"default"}
    text = run("plan", "--half-width", ".1", text=True)
    assert text.startswith(f"{made['items']} items with 2 annotators each give a 95 % interval of ±0.1")
    for part in ("hours", "0.40 0.20 0.20 0.20 (default)", "45 (default)", "one group"):
        assert part in text
    share = run("plan", "--measure", "proportion", "--per-item", "1", "--prior", ".9")
    assert share["items"] == plan(0.05, prior=0.9, measure="proportion", per_item=1).items
    assert "prevalence" not in share["assumed"]


def test_a_plan_can_rest_on_the_answers_so_far(folder: ReviewFolder, run: Run) -> None:
    figures = report(folder)[0]
    main = next(row for row in figures["figures"] if row["coefficient"] == figures["main"])
    made = run("plan", "simulated/visual_context", "--per-item", "3", "--seconds-per-item", "20")
    assert made["assumed"]["prior"] == {"value": round(main["value"], 3), "from": "answers"}
    assert made["assumed"]["seconds_per_item"] == {"value": 20.0, "from": "given"}
    assert sum(made["assumed"]["prevalence"]["value"]) == pytest.approx(1)
    with pytest.raises(UsageError, match="lies from"):
        plan_review(0.05, Assumptions("gwet_ac1", prior=-0.9))


def test_a_plan_rests_on_answers_however_few_they_are(
    folder: ReviewFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Few answers may agree less than at random, or wholly; the plan goes by the nearest that can be."""

    def planned(seen: float | None) -> dict[str, Any]:
        told = {"prior": seen, "grades": 3, "prevalence": None, "seconds_per_item": None}
        monkeypatch.setattr(agreement, "_seen", lambda *_: told)
        made = plan_review(0.1, Assumptions("krippendorff_alpha_ordinal"), folder)
        assert made["assumed"]["prevalence"] == {"value": (0.4, 0.3, 0.3), "from": "default"}
        return made

    worse = planned(-0.059)
    assert worse["assumed"]["prior"] == {"value": 0.0, "from": "answers", "seen": -0.059}
    assert "value of the figure: 0 (from the answers so far, which say -0.059: the nearest" in describe_plan(
        worse
    )
    assert planned(1.0)["assumed"]["prior"]["value"] == 0.99
    assert planned(0.5)["assumed"]["prior"] == {"value": 0.5, "from": "answers"}
    assert planned(None)["assumed"]["prior"]["from"] == "default"


def test_measures_are_those_of_the_agreement_package() -> None:
    assert get_args(verbs.Measure) == (*map(str, Coefficient), "proportion")


def test_adjudication_gives_disputes_to_a_third_person_once(folder: ReviewFolder, run: Run) -> None:
    before = hashes(folder)
    planned = run("adjudicate", "--dry-run")
    assert hashes(folder) == before
    made = run("adjudicate", "simulated/visual_context")
    assert (
        made[0]["disputed"] == [{**row, "adjudicator": ADJUDICATOR} for row in planned[0]["disputed"]]
        and made[0]["disputed"]
    )
    third = [row for row in folder.allotments() if row.role == "adjudicator"]
    assert {row.candidate_id for row in third} == {row["candidate_id"] for row in made[0]["disputed"]}
    assert sorted(row.place for row in third) == list(range(1, len(third) + 1))
    shown = json.dumps(folder.json(DISPUTED))
    assert "Annotator 1: " in shown and not any(f'"{name}' in shown for name in CONFUSION)

    after = hashes(folder)
    again = run("adjudicate")
    assert hashes(folder) == after
    assert (again[0]["new_allotments"], again[0]["new_log_lines"]) == (0, 0)
    text = run("adjudicate", text=True)
    assert f"{len(third)} items for an adjudicator" in text and "got an adjudicator" not in text


def test_the_third_person_decides_and_the_log_replays(folder: ReviewFolder) -> None:
    first = adjudicate(folder)
    disputed = {row["candidate_id"] for row in first["disputed"]}
    rows = folder.annotations()
    template = rows[0]
    third = [
        replace(template, id=f"ann:third{number}", candidate_id=name, annotator=ADJUDICATOR,
                role="adjudicator", grade=number % 3, reason="", sequence=number)
        for number, name in enumerate(sorted(disputed))
    ]  # fmt: skip
    write_annotations(folder, [*rows, *third])
    second = adjudicate(folder)
    assert second["disputed"] == [] and second["verdicts"] == 80
    verdicts = {row.candidate_id: row for row in folder.verdicts()}
    for row in third:
        found = verdicts[row.candidate_id]
        assert (found.grade, found.label_status, found.annotations) == (row.grade, "adjudicated", (row.id,))
    assert all(row.label_status == "expert" for name, row in verdicts.items() if name not in disputed)
    log = read_log((folder.path / "log.jsonl").read_text("utf-8"))
    assert replay(folder.annotations(), log) == folder.verdicts()
    assert disputed <= folder.json(DISPUTED).keys()


def test_named_adjudicators_share_the_disputes(folder: ReviewFolder, run: Run, tmp_path: Path) -> None:
    people = tmp_path / "people.toml"
    people.write_text(
        '[[annotator]]\npseudonym = "C1"\nadjudicator = true\n'
        '[[annotator]]\npseudonym = "C2"\nadjudicator = true\n'
        '[[annotator]]\npseudonym = "A1"\n',
        "utf-8",
    )
    made = run("adjudicate", "--annotators", str(people))
    loads = [row["adjudicator"] for row in made[0]["disputed"]]
    assert set(loads) == {"C1", "C2"} and abs(loads.count("C1") - loads.count("C2")) <= 1
    assert run("adjudicate")[0]["new_allotments"] == 0
    with pytest.raises(UsageError, match="cannot be read"):
        run("adjudicate", "--annotators", str(tmp_path / "absent.toml"))
