"""Questions with a suspect key on a real Label Studio: pushed without a release, answered, taken in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from annotation.client import Client
from curation.tasks.clinical_evidence.keys import KEYS, decided
from curation.tasks.clinical_evidence.records import Hardness
from flows.build.review_stages import bring_verdicts
from flows.cli.app import run_cli
from flows.engine.progress import SilentReporter
from flows.engine.runner import read_rows, table_files
from flows.engine.session import Session
from flows.engine.settings import Settings
from flows.engine.workspace import Workspace
from flows.review.brought import bring
from flows.review.label_studio import Server
from flows.review.server import KEY_VARIABLE, URL_VARIABLE
from flows.review.store import review_folder
from schemas.review import ReviewItem, ShownItem, Verdict, candidate_id
from schemas.stages import Drop
from tests.flows.review.small_review import Api, person

NAME = f"suspects/{KEYS.name}"
ANSWERS = {"right": "22", "wrong": "00", "two": "11", "open": "20"}
"""Question -> what its two annotators answer."""
PEOPLE = '[[annotator]]\npseudonym = "{0}"\naccount = "{1}@example.org"\n'


def item(unit: str, key: str = "B. Colchicine") -> ReviewItem:
    fields = {
        "language": "en",
        "query_text": f"A man has a hot, swollen toe ({unit}). What is given first?",
        "answer_options": "A. Allopurinol\nB. Colchicine <b>\nC. Rest",
        "answer_key": key,
    }
    shown = tuple(ShownItem(name=name, value=value) for name, value in fields.items())
    return ReviewItem(
        id=candidate_id(KEYS.kind, KEYS.name, unit, "", shown),
        unit=unit,
        article_id="questions:ours",
        language="en",
        license="CC0-1.0",
        shown=shown,
        why="0 of 3 right",
    )


def test_people_say_whether_a_suspect_key_is_right(
    label_studio: Server,
    workspace: Workspace,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def review(*words: str) -> Any:
        code = run_cli(["review", *words, "--json", "--workspace", str(workspace.root)])
        said = capsys.readouterr()
        assert code == 0, said
        return json.loads(said.out)

    client = Client(label_studio.url, label_studio.token)
    readers = {name: person(label_studio, client, f"key-{name}@example.org") for name in ("K1", "K2")}
    people = tmp_path / "people.toml"
    people.write_text("".join(PEOPLE.format(name, f"key-{name}") for name in readers), "utf-8")
    monkeypatch.setenv(URL_VARIABLE, label_studio.url)
    monkeypatch.setenv(KEY_VARIABLE, label_studio.token)
    items = {unit: item(unit) for unit in ANSWERS}
    bring(workspace, KEYS.name, KEYS.asking.version, {"items": (ReviewItem, list(items.values()))})

    planned = review("push", NAME, "--annotators", str(people), "--dry-run")
    sent = review("push", NAME, "--annotators", str(people))
    assert [queue["create"] for queue in sent[0]["queues"]] == [4, 4] and planned[0]["new"] == 4
    again = review("push", NAME, "--annotators", str(people))
    assert [(queue["create"], queue["skip"]) for queue in again[0]["queues"]] == [(0, 4), (0, 4)]
    for queue in sent[0]["queues"]:
        answer(readers[queue["annotator"]], queue["project"], items, int(queue["annotator"][1]) - 1)
    pulled = review("pull", NAME)
    assert [row["new"] for row in pulled[0]["people"]] == [4, 4]
    review("adjudicate", NAME)
    folder = review_folder(workspace, *NAME.split("/"))
    concluded = {row.query_id: row.grade for row in folder.verdicts()}
    assert concluded == {"right": 2, "wrong": 0, "two": 1}  # the fourth is disputed

    session = Session(Settings(workspace=workspace.root), workspace, SilentReporter())
    bring_verdicts(session, "suspects", KEYS)
    assert outcomes(workspace, items) == {
        "right": "review/unanimous@1", "wrong": "key_wrong", "two": "several_answers", "open": "key_suspect",
    }  # fmt: skip
    # another key is another question: the verdict is not of it, and people are asked anew
    items["right"] = item("right", "A. Allopurinol")
    bring(workspace, KEYS.name, KEYS.asking.version, {"items": (ReviewItem, list(items.values()))})
    bring_verdicts(session, "suspects", KEYS)
    assert outcomes(workspace, items)["right"] == "key_suspect"
    later = review("push", NAME, "--annotators", str(people), "--dry-run")
    assert later[0]["new"] == 1 and later[0]["ended"] == {"changed": 1}


def answer(reader: Api, project: int, items: dict[str, ReviewItem], place: int) -> None:
    """Answer every task of a project as one of the two people."""
    unit_of = {row.id: unit for unit, row in items.items()}
    head = reader("GET", f"/api/projects/{project}/")
    assert "Is the key the right answer" in head["label_config"]
    for name, task in reader.tasks(project).items():
        shown = json.dumps(task["data"])
        assert "Colchicine &lt;b&gt;" in shown and "0 of 3" not in shown
        reader.grade(task["id"], ANSWERS[unit_of[name]][place])


def outcomes(workspace: Workspace, items: dict[str, ReviewItem]) -> dict[str, str]:
    """Question -> rule of the verdict that lets it go on, or why it is dropped."""
    rows = read_rows(Verdict, table_files(workspace, f"{KEYS.verdicts}.verdicts"))
    found = {}
    for unit, asked in items.items():
        hard = Hardness(unit=unit, right=0, tries=3, models=1, is_suspect=True)
        (made,) = decided(hard, [asked], [row for row in rows if row.query_id == unit])
        found[unit] = made.reason.value if isinstance(made, Drop) else made.key_rule
    return found
