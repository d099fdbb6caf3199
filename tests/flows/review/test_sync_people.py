"""What people do on the server is told, and never overwritten; items no longer asked keep their answers."""

from __future__ import annotations

import json

import pytest

from flows.cli.app import run_cli
from flows.engine.workspace import Workspace
from flows.review.foreign import foreign
from flows.review.label_studio import Server
from flows.review.server import KEY_VARIABLE, URL_VARIABLE
from flows.review.sync import pull, push, status
from flows.review.text import pulled
from tests.flows.review.small_review import Api, candidate, form, give, grades, person, review, target

"""One worker has the team's server."""


def test_what_people_do_on_the_server_is_told_and_not_overwritten(
    server: Server, workspace: Workspace
) -> None:
    folder = review(workspace, "people", 12)
    where = target(server)
    project = push(folder, where)[0]["project"]
    accounts = where.client.accounts()
    mine = {"A1": accounts[server.login]}
    api = Api(server)
    tasks = [sent["id"] for sent in api.tasks(project).values()]
    given = [api.grade(task, "2") for task in tasks[:5]]
    assert pull(folder, where.client, mine)[0]["new"] == 5
    assert {row.seconds for row in folder.annotations()} == {4.2}

    api("PATCH", f"/api/annotations/{given[0]}/", {"result": form("0")})  # graded anew
    api("DELETE", f"/api/annotations/{given[1]}/")
    api("DELETE", f"/api/tasks/{tasks[2]}/")  # with its answer
    data = api("GET", f"/api/tasks/{tasks[3]}/")["data"]
    api("PATCH", f"/api/tasks/{tasks[3]}/", {"data": {**data, "left": "<p>other</p>"}})
    api("DELETE", f"/api/tasks/{tasks[6]}/")
    api("POST", f"/api/projects/{project}/import", [{"data": {**data, "left": "by hand"}}])

    made = push(folder, where)[0]
    assert made["create"] == made["duplicates"] == made["refresh"] == 0
    assert sorted(item["kind"] for item in made["conflicts"]) == ["deleted", "deleted", "edited", "foreign"]
    found = pull(folder, where.client, mine)[0]
    assert found["conflicts"] == 3 and found["set_aside"] == {"task_edited": 1}
    states = sorted((row.grade, row.state) for row in folder.annotations())
    assert (
        states == [(0, "conflict"), (2, "conflict"), (2, "conflict"), (2, "conflict")] + [(2, "current")] * 2
    )
    assert status(folder)[0]["conflicts"] == 7 and status(folder)[0]["done"] == 2

    assert push(folder, where, restore=True)[0]["create"] == 2
    pull(folder, where.client, mine, accept=True)
    states = sorted((row.grade, row.state) for row in folder.annotations())
    assert (
        states == [(0, "current"), (2, "current"), (2, "current"), (2, "superseded")] + [(2, "withdrawn")] * 2
    )


def test_answers_to_what_is_asked_no_more_stay_and_count(server: Server, workspace: Workspace) -> None:
    folder = review(workspace, "newer", 6)
    where = target(server)
    project = push(folder, where)[0]["project"]
    api = Api(server)
    sent = api.tasks(project)
    rows = folder.candidates()
    for row in (rows[0], rows[1], rows[5]):
        api.grade(sent[row.id]["id"], "1")
    pull(folder, where.client, {})
    number = int(rows[0].query_id[1:])
    newer = candidate("newer", number, "another passage")
    folder.write_candidates([*rows, newer])
    give(folder, [newer, *rows[2:5], rows[5]])  # 0 superseded, 1 withdrawn
    made = push(folder, where)[0]
    assert (made["create"], made["supersede"], made["withdraw"]) == (1, 1, 1)
    assert len(api.tasks(project)) == 7
    pull(folder, where.client, {})
    states = {row.candidate_id: row.state for row in folder.annotations()}
    assert states == dict.fromkeys((rows[0].id, rows[1].id, rows[5].id), "current")
    give(folder, rows)
    assert push(folder, where)[0]["create"] == 0
    pull(folder, where.client, {})
    assert {row.state for row in folder.annotations()} == {"current"}
    begun = sent[rows[4].id]["id"]
    api("POST", f"/api/tasks/{begun}/drafts", {"result": form("1"), "lead_time": 1.0})
    give(folder, rows[:2])
    push(folder, where)
    assert set(api.tasks(project)) == {rows[0].id, rows[1].id, rows[4].id, rows[5].id}
    where.client.delete_untouched(project, [task["id"] for task in sent.values()])
    assert len(api.tasks(project)) == 4, "the server itself spares what was answered or begun"


def counts(api: Api, project: int) -> tuple[int, ...]:
    """Done and all of one account's queue, done and all of the project's card."""
    names = ("queue_done", "queue_total", "finished_task_number", "task_number")
    told = api("GET", f"/api/projects/{project}/", include=",".join(names))
    return tuple(told[name] for name in names)


def next_task(api: Api, project: int) -> int | None:
    """The task that the page would show to an account next."""
    try:
        return int(api("POST", "/api/dm/actions", {}, id="next_task", project=project)["id"])
    except AssertionError as error:
        assert "There are no tasks" in str(error) or "404" in str(error)
        return None


def test_an_answer_in_anothers_project_stalls_nobody(
    server: Server, workspace: Workspace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(URL_VARIABLE, server.url)
    monkeypatch.setenv(KEY_VARIABLE, server.token)
    folder, where = review(workspace, "strange", 3, ("S1", "S2")), target(server)
    names = ("S1", "S2")
    accounts = {name: person(server, where.client, f"{name.lower()}@example.org") for name in names}
    ids = {name: where.client.accounts()[f"{name.lower()}@example.org"] for name in names}
    one, two = (item["project"] for item in push(folder, where))
    tasks = [(name, sent["id"]) for name, sent in Api(server).tasks(one).items()]
    accounts["S2"].grade(tasks[0][1], "0")
    Api(server).grade(tasks[1][1], "0")  # of an account without a pseudonym
    for _, task in tasks[1:]:
        accounts["S1"].grade(task, "2")
    assert next_task(accounts["S1"], one) is None, "Label Studio takes the first task for done"

    made = pull(folder, where.client, ids)
    assert next_task(accounts["S1"], one) == tasks[0][1] and counts(accounts["S1"], one) == (2, 3, 2, 3)
    assert next_task(accounts["S2"], one) is None
    assert [(item["answers"], item["set_aside"]) for item in made] == [(2, {"foreign_annotator": 2}), (0, {})]
    aside = {item["given_by"]: item for item in made[0]["aside"]}
    assert set(aside) == {"S2", f"account {where.client.account()[0]}"}
    told = aside["S2"]
    assert told["link"] == f"{server.url}/projects/{one}/data?task={tasks[0][1]}"
    assert (told["candidate_id"], told["place"], told["project_of"]) == (tasks[0][0], 1, "S1")
    text = pulled([{"review": "strange/visual_context", "people": made, "reports": 0}], dry_run=False)
    line = next(line for line in text.splitlines() if tasks[0][0] in line)
    assert all(word in line for word in ("place 1", "project of S1", "by S2: grade 0", told["link"]))
    assert "@" not in text + json.dumps(made)
    accounts["S1"].grade(tasks[0][1], "2")
    assert next_task(accounts["S1"], one) is None and counts(accounts["S1"], one) == (3, 3, 3, 3)
    again = pull(folder, where.client, ids)
    assert again[0]["answers"] == 3 and [item["foreign"] for item in status(folder)] == [2, 0]

    def medqrels(*words: str) -> tuple[int, str]:
        code = run_cli(["review", "foreign", *words, "--workspace", str(workspace.root)])
        said = capsys.readouterr()
        return code, said.out + said.err

    decision = ("--by", "Ada M.", "--why", "wrong tab")
    code, text = medqrels("strange")
    assert code == 1 and told["answer"] in text and told["link"] in text and "--assign" in text
    assert medqrels("--assign", told["answer"])[0] == 2, "nobody says who decides"
    nobody = next(item for name, item in aside.items() if name != "S2")["answer"]
    code, text = medqrels("--assign", nobody, *decision)
    assert code == 2 and "has no pseudonym" in text and "--ask-again" in text
    assert medqrels("--ask-again", nobody, *decision)[0] == 0
    assert medqrels("--assign", told["answer"], *decision)[0] == 0
    at_once = grades(folder, "S2")
    assert list(at_once.values()) == [(0, "current")]
    before = folder.path.joinpath("annotations.parquet").read_bytes()
    made = pull(folder, where.client, ids)
    assert [(item["answers"], item["set_aside"]) for item in made] == [(3, {}), (1, {})]
    assert folder.path.joinpath("annotations.parquet").read_bytes() == before
    code, text = medqrels("strange", "--json")
    (found,) = json.loads(text)
    assert code == 0 and found["standing"] == [] and len(found["decisions"]) == 2

    mine = [sent["id"] for sent in Api(server).tasks(one).values()][:1]
    given = Api(server)("GET", f"/api/tasks/{mine[0]}/annotations")
    theirs = next(item["id"] for item in given if item["completed_by"] == ids["S2"])
    accounts["S2"]("PATCH", f"/api/annotations/{theirs}/", {"result": form("1")})
    made = pull(folder, where.client, ids)
    assert made[1]["conflicts"] == 1 and foreign(str(workspace.root), "strange")[0]["standing"] == []
    assert pull(folder, where.client, ids, accept=True)[1]["conflicts"] == 0
    assert {
        row.grade for row in folder.annotations() if row.annotator == "S2" and row.state == "current"
    } == {1}

    own = next(sent["id"] for name, sent in Api(server).tasks(two).items() if name == tasks[0][0])
    accounts["S2"].grade(own, "2")  # the own project's answer wins
    made = pull(folder, where.client, ids)
    assert (made[1]["answers"], made[1]["conflicts"]) == (1, 0)
    states = {(row.grade, row.state) for row in folder.annotations() if row.annotator == "S2"}
    assert states == {(0, "superseded"), (1, "superseded"), (2, "current")}
