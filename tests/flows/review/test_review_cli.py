"""The verbs `review push|pull|status` on a team's server, by the variables of the environment."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import requests

from annotation.client import Client, Patience
from annotation.sync import KnownTask
from flows.cli.app import run_cli
from flows.engine.workspace import Workspace
from flows.review.label_studio import Server
from flows.review.notes import Noted, write_noted
from flows.review.server import KEY_VARIABLE, URL_VARIABLE
from flows.review.store import review_folder
from schemas.review import ReviewAnnotation, Role
from tests.flows.review.lossy_proxy import proxy
from tests.flows.review.small_release import TASK, small_release
from tests.flows.review.small_review import Api, form, person, review

"""One worker has the team's server."""
REVIEWED = ReviewAnnotation(
    id="", candidate_id="", task=TASK, annotator="", role="annotator", grade=None, seconds=3.0
)
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def medqrels(
    workspace: Workspace, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Run:
    """Run one command on the workspace; its exit code, stdout and stderr."""
    monkeypatch.delenv(URL_VARIABLE, raising=False)
    monkeypatch.delenv(KEY_VARIABLE, raising=False)

    def run(*words: str) -> tuple[int, str, str]:
        code = run_cli(["review", *words, "--workspace", str(workspace.root)])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def told(answer: tuple[int, str, str], code: int = 0) -> Any:
    """What a command with --json printed."""
    assert answer[0] == code, answer
    return json.loads(answer[1])


def personal_token(server: Server) -> str:
    """A personal access token of the server's first account, which may have one at a time."""
    headers = {"Authorization": f"Token {server.token}"}
    before = requests.get(f"{server.url}/api/token/", headers=headers, timeout=30).json()
    for item in before:
        body = {"refresh": item["token"]}
        requests.post(f"{server.url}/api/token/blacklist/", json=body, headers=headers, timeout=30)
    made = requests.post(f"{server.url}/api/token/", headers=headers, timeout=30)
    return str(made.json()["token"])


def people(path: Path) -> Path:
    path.write_text(
        '[[annotator]]\npseudonym = "R1"\naccount = "R1@example.org"\n'
        '[[annotator]]\npseudonym = "R2"\naccount = "r2@example.org"\n'
    )
    return path


def test_a_review_on_a_teams_server_by_command_line(
    server: Server, workspace: Workspace, medqrels: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Pushed with a legacy token, pulled with a personal access token."""
    small_release(workspace, "team")
    client = Client(server.url, server.token)
    readers = {name: person(server, client, f"{name.lower()}@example.org") for name in ("R1", "R2")}
    named = ("--annotators", str(people(tmp_path / "people.toml")))

    planned = told(medqrels("push", f"team/{TASK}", *named, "--dry-run", "--json"))  # no server is named yet
    assert planned[0]["allotted"] == {"R1": 30, "R2": 30} and planned[0]["queues"] == []
    assert not (workspace.root / "review").exists()

    monkeypatch.setenv(URL_VARIABLE, server.url)
    monkeypatch.setenv(KEY_VARIABLE, server.token)
    sent = told(medqrels("push", f"team/{TASK}", *named, "--json"))[0]["queues"]
    assert [(item["annotator"], item["create"]) for item in sent] == [("R1", 30), ("R2", 30)]
    for again in (("team@1.0.0",), (f"team/{TASK}", "--dry-run")):
        code, text, _ = medqrels("push", *again, *named)
        assert code == 0 and text.count("30 there already") == 2 and f"{server.url}/projects/" in text

    token = personal_token(server)
    monkeypatch.setenv(KEY_VARIABLE, token)
    answered_and_pulled(medqrels, readers, sent[0]["project"])
    standing = told(medqrels("status", "--json"))
    assert standing["server"] == server.url
    assert [item["done"] for item in standing["reviews"][0]["people"]] == [4, 0]
    code, text, _ = medqrels("status", f"team/{TASK}")
    assert code == 0 and server.url in text and "30 items drawn" in text
    (row,) = (line.split() for line in text.splitlines() if line.startswith("  R1 "))
    assert row == ["R1", "30", "30", "4", "0", "0", "1"], "assigned, on the server, answered, …"
    assert f"next: medqrels review pull team/{TASK} later: 56 answers are still to come" in text

    small_release(workspace, "team", "1.0.1", queries=8)
    for more, count, undrawn in (((), 0, 8), (("--sample", "35"), 5, 4)):
        push = ("push", f"team/{TASK}", *named, *more, "--json")
        planned, sent = told(medqrels(*push, "--dry-run")), told(medqrels(*push))
        assert planned == sent, "a dry run says what the push then does"
        assert [item["create"] for item in sent[0]["queues"]] == [count, count]
        assert sent[0]["undrawn"] == undrawn
    code, text, _ = medqrels("push", f"team/{TASK}", *named)
    assert code == 0 and "4 pairs of the release not drawn: --sample N with N above 35 draws more" in text
    assert "login" not in text, "those of a team's server are in the list of annotators"

    accounts = workspace.root / "review" / "people.json"
    for path in (item for item in workspace.root.rglob("*") if item.is_file() and item != accounts):
        held = path.read_bytes()
        assert not any(word.encode() in held for word in (server.token, token, "@example.org")), path


def answered_and_pulled(medqrels: Run, readers: dict[str, Api], project: int) -> None:
    """R1 answers four items of R1's project, R2 one; then R1 thinks again."""
    tasks = list(readers["R1"].tasks(project).values())
    images = [task["data"]["left_image"].startswith("data:image/png;base64,") for task in tasks]
    assert sum(images) == 5, "those of the query with an image, which is inside the tasks"
    answers = [readers["R1"].grade(task["id"], "2") for task in tasks[:4]]
    readers["R2"].grade(tasks[5]["id"], "0")
    found = told(medqrels("pull", "--json"))[0]["people"]
    assert [(item["answers"], item["new"]) for item in found] == [(4, 4), (0, 0)]
    assert found[0]["set_aside"] == {"foreign_annotator": 1}
    readers["R1"]("PATCH", f"/api/annotations/{answers[0]}/", {"result": form("0")})
    code, text, _ = medqrels("pull", f"team/{TASK}")
    link = f"{readers['R1'].url}/projects/{project}/data?task={tasks[0]['id']}"
    assert code == 1 and "1 conflict:" in text and link in text and tasks[0]["data"]["candidate_id"] in text
    assert "counted before: grade 2; there now: grade 0" in text
    assert f"medqrels review pull team/{TASK} --accept" in text
    readers["R1"]("PATCH", f"/api/annotations/{answers[0]}/", {"result": form("1")})  # and once more
    pulled = told(medqrels("pull", "team", "--json"), 1)[0]["people"]
    status = told(medqrels("status", "--json"))["reviews"][0]["people"]
    for person_now in (pulled[0], status[0]):
        (named,) = person_now["in_conflict"]
        assert (named["kind"], named["task_id"], named["link"]) == ("changed", tasks[0]["id"], link)
        assert (named["counted"]["grade"], [item["grade"] for item in named["there"]]) == (2, [1])
    assert pulled[1]["in_conflict"] == status[1]["in_conflict"] == []
    readers["R1"]("DELETE", f"/api/annotations/{answers[0]}/")
    code, text, _ = medqrels("pull", "team")
    assert code == 1 and "counted before: grade 2; there now: no answer" in text
    readers["R1"].grade(tasks[0]["id"], "0")
    assert medqrels("pull", "team", "--accept")[0] == 0
    assert told(medqrels("status", "--json"))["reviews"][0]["people"][0]["in_conflict"] == []


def test_readers_per_item_hold_for_the_whole_review(workspace: Workspace, medqrels: Run) -> None:
    small_release(workspace, "readers")
    push = ("push", f"readers/{TASK}", "--draw-only", "--sample")
    assert told(medqrels(*push, "5", "--per-item", "3", "--json"))[0]["allotted"] == {
        "A1": 5,
        "A2": 5,
        "A3": 5,
    }
    folder = review_folder(workspace, "readers", TASK)
    before = folder.path.joinpath("allotments.parquet").read_bytes()
    for other in ("2", "4"):
        code, _, error = medqrels(*push, "10", "--per-item", other)
        assert code == 2 and f"has 3 annotators, not {other}" in error and "leave out --per-item" in error
    assert folder.path.joinpath("allotments.parquet").read_bytes() == before
    code, text, _ = medqrels(*push, "10")
    assert code == 0 and "A3: 10 to send" in text and folder.json("frame.json")["per_item"] == 3
    before = folder.path.joinpath("allotments.parquet").read_bytes()
    frame = folder.json("frame.json")
    assert medqrels("push", f"readers/{TASK}", "--draw-only")[0] == 0  # as the last time: no larger
    assert folder.path.joinpath("allotments.parquet").read_bytes() == before
    assert folder.json("frame.json") == frame and frame["sample"] == 10


def test_a_draw_tells_what_ended_and_which_number_draws_more(workspace: Workspace, medqrels: Run) -> None:
    small_release(workspace, "ends")
    push = ("push", f"ends/{TASK}", "--draw-only")
    code, text, _ = medqrels(*push, "--sample", "8")
    assert code == 0 and "  8 items, 8 of them new\n" in text and "nobody any more" not in text
    assert "17 pairs of the release not drawn: --sample N with N above 8 draws more" in text
    assert f"next: medqrels review judge ends/{TASK}" in text
    small_release(workspace, "ends", "1.0.1", queries=2)
    made = told(medqrels(*push, "--dry-run", "--json"))[0]
    code, text, _ = medqrels(*push)
    ended = made["ended"]["gone"]
    assert code == 0 and 0 < ended < 8 == ended + made["candidates"]
    many = f"{ended} item{'s' if ended > 1 else ''} given to nobody any more"
    assert f"  {many}: the release no longer has the query or the document; answers stay\n" in text
    assert f"ends/{TASK}\n  8 items drawn, {ended} given to nobody any more" in medqrels("status")[1]


def test_each_verb_names_the_next_one_up_to_the_release(workspace: Workspace, medqrels: Run) -> None:
    name = f"medqrels-sample/{TASK}"
    folder = review(workspace, "medqrels-sample", 3, ("A1", "A2"))
    rows = folder.candidates()

    def coming(verb: str = "status") -> str:
        text = medqrels(verb, name)[1]
        (line,) = (line for line in text.splitlines() if line.strip().startswith("next: "))
        return line.partition("next: ")[2]

    def answer(annotator: str, role: Role, *grades: int) -> None:
        made = [
            replace(REVIEWED, id=f"ann:{annotator}{n}", candidate_id=row.id, grade=grade, sequence=n)
            for n, (row, grade) in enumerate(zip(rows, grades, strict=False), 1)
        ]
        others = [row for row in folder.annotations() if row.annotator != annotator]
        folder.write_annotations([*others, *(replace(row, annotator=annotator, role=role) for row in made)])

    def sent(annotator: str, role: Role) -> None:
        own = [row for row in folder.allotments() if (row.annotator, row.role) == (annotator, role)]
        tasks = {row.candidate_id: KnownTask(n, ("q", "d")) for n, row in enumerate(own)}
        write_noted(folder, annotator, role, Noted(1, tasks=tasks))

    assert coming() == f"medqrels review push {name} sends 6 tasks"
    sent("A1", "annotator")
    sent("A2", "annotator")
    assert coming() == f"medqrels review pull {name} later: 6 answers are still to come"
    answer("A1", "annotator", 0, 0, 0)
    answer("A2", "annotator", 0, 2)
    meanwhile = f"medqrels review adjudicate {name} gives 1 item to an adjudicator and writes the verdicts"
    assert coming() == f"medqrels review pull {name} later: 1 answer is still to come; meanwhile {meanwhile}"
    answer("A2", "annotator", 0, 2, 0)
    assert coming() == meanwhile
    assert coming("adjudicate") == f"medqrels review push {name} sends 1 task"
    (third,) = (row for row in folder.allotments() if row.role == "adjudicator")
    sent(third.annotator, "adjudicator")
    waiting = f"medqrels review pull {name} later: 1 answer is still to come from adjudicators"
    assert coming() == coming("adjudicate") == waiting
    rows = [row for row in rows if row.id == third.candidate_id]
    answer(third.annotator, "adjudicator", 0)
    assert coming() == f"medqrels review adjudicate {name} writes the verdicts"
    release = (
        "medqrels release medqrels-sample makes a release with 3 verdicts; its version follows from what"
    )
    assert coming("adjudicate").startswith(release) and coming().startswith(release)
    assert run_cli(["release", "medqrels-sample", "--dry-run"]) == 0, "the command that is named is one"


def test_what_is_wrong_is_said_without_the_token(
    server: Server, workspace: Workspace, medqrels: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_release(workspace, "wrong")
    small_release(workspace, "empty", queries=0)
    push = ("push", f"wrong/{TASK}", "--sample", "3")

    def refused(*words: str) -> str:
        code, _, error = medqrels(*words)
        assert code == 2, error
        assert not (workspace.root / "review" / "wrong").exists()
        return error

    error = refused(*push)
    assert "no review server is running" in error and URL_VARIABLE in error and KEY_VARIABLE in error
    assert "no review of 'wrong'" in refused("pull", "wrong")
    monkeypatch.setenv(URL_VARIABLE, server.url)
    assert KEY_VARIABLE in refused(*push)
    token = "f" * 40
    monkeypatch.setenv(KEY_VARIABLE, token)
    error = refused(*push, "--log-level", "DEBUG") + refused(*push, "--json")
    assert "refuses the token" in error and KEY_VARIABLE in error and token not in error
    monkeypatch.setenv(URL_VARIABLE, server.url.replace("http://", f"http://admin:{token}@"))
    error = refused(*push) + refused("status")
    assert "holds more than an address" in error and token not in error
    monkeypatch.setenv(URL_VARIABLE, server.url)
    monkeypatch.setenv(KEY_VARIABLE, server.token)
    assert "no release of 'nothing'" in refused("push", f"nothing/{TASK}")
    assert "no task 'summary'" in refused("push", "wrong/summary")
    assert "nothing to review" in refused("push", f"empty/{TASK}")


def test_a_server_that_stops_answering_mid_way(
    server: Server, workspace: Workspace, medqrels: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Patience, "wait", lambda self, attempt, asked="": 0.01)
    monkeypatch.setattr("flows.review.sync.BATCH_TASKS", 10)
    small_release(workspace, "stops")
    monkeypatch.setenv(KEY_VARIABLE, server.token)
    push = ("push", f"stops/{TASK}", "--per-item", "1")
    with proxy(server) as (state, url):
        monkeypatch.setenv(URL_VARIABLE, url)
        state.lose = lambda method, path: sum("/import" in path for path in state.paths) > 1
        code, _, error = medqrels(*push)
    assert code == 3 and "cannot be reached" in error and "the same command continues from here" in error
    assert server.token not in error and state.lost > 1
    monkeypatch.setenv(URL_VARIABLE, server.url)
    made = told(medqrels(*push, "--json"))[0]["queues"][0]
    assert 10 <= made["skip"] < 30 and made["create"] == 30 - made["skip"] and made["duplicates"] == 0
    assert len(Api(server).tasks(made["project"])) == 30
    with proxy(server) as (state, url):
        monkeypatch.setenv(URL_VARIABLE, url)
        state.lose = lambda method, path: "annotations" in path
        code, _, error = medqrels("pull", "stops")
    assert code == 3 and server.token not in error
    monkeypatch.setenv(URL_VARIABLE, url)  # nobody listens there any more
    code, _, error = medqrels("pull", "stops", "--json")
    assert code == 3 and "cannot be reached" in json.loads(error)["message"]
