"""What people do on the server is told, and never overwritten; items no longer asked keep their answers."""

from __future__ import annotations

import json

import pytest

from annotation.assignment import Person
from flows.cli.app import run_cli
from flows.engine.workspace import Workspace
from flows.review.label_studio import Server
from flows.review.people import note_accounts
from flows.review.server import KEY_VARIABLE, URL_VARIABLE
from flows.review.sync import pull, push, status
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

    def medqrels(*words: str) -> tuple[int, str]:
        code = run_cli(["review", *words, "--workspace", str(workspace.root)])
        said = capsys.readouterr()
        return code, said.out + said.err

    folder, where = review(workspace, "strange", 3, ("S1", "S2")), target(server)
    logins = {name: f"{name.lower()}@example.org" for name in ("S1", "S2")}
    note_accounts(workspace, [Person(name, login) for name, login in logins.items()])
    s1, s2 = (person(server, where.client, login) for login in logins.values())
    one, two = (item["project"] for item in push(folder, where))
    (first, task), (second, task_2), (_, task_3) = (
        (name, sent["id"]) for name, sent in Api(server).tasks(one).items()
    )
    strange = s2.grade(task, "0")
    s2.grade(task_2, "1")
    privacy = [*form("cannot_judge"), {**form("privacy")[0], "from_name": "reason"}]
    # Of an account without a pseudonym; a report is heard wherever it is given.
    Api(server)("POST", f"/api/tasks/{task_2}/annotations", {"result": privacy})
    s1.grade(task_2, "2")
    s1.grade(task_3, "2")
    assert next_task(s1, one) is None, "Label Studio takes the first task for done"

    # The pull gives the owner the task back, and says what happened.
    (found,) = json.loads(medqrels("pull", "strange", "--json")[1])
    made = found["people"]
    assert found["reports"] == 1
    assert next_task(s1, one) == task and next_task(s2, one) is None
    assert counts(s1, one) == (2, 3, 2, 3)
    assert [(item["answers"], item["set_aside"]) for item in made] == [(2, {"foreign_annotator": 3}), (0, {})]
    link = f"{server.url}/projects/{one}/data?task="
    account = f"account {where.client.account()[0]}"
    told = {item["answer"]: item for item in made[0]["aside"]}
    assert [
        (
            item["candidate_id"],
            item["place"],
            item["project_of"],
            item["link"],
            item["given_by"],
            item["grade"],
        )
        for item in told.values()
    ] == [
        (first, 1, "S1", f"{link}{task}", "S2", 0),
        (second, 2, "S1", f"{link}{task_2}", "S2", 1),
        (second, 2, "S1", f"{link}{task_2}", account, None),
    ]
    code, text = medqrels("pull", "strange")
    assert f"{first}, place 1, in the project of S1, by S2: grade 0 {link}{task}" in text
    assert "@" not in text + json.dumps(made)
    s1.grade(task, "2")
    assert next_task(s1, one) is None and counts(s1, one) == (3, 3, 3, 3), "done means done"
    medqrels("pull", "strange")
    assert [(item["done"], item["foreign"]) for item in status(folder)] == [(3, 3), (0, 0)]
    assert "3 answers in another person's project; next: medqrels review foreign" in medqrels("status")[1]

    # A decision needs a name, a reason, and an answer that can be somebody's.
    decision = ("--by", "Ada M.", "--why", "wrong tab")
    code, text = medqrels("foreign", "strange")
    assert code == 1 and all(f"{name}: {item['candidate_id']}" in text for name, item in told.items())
    mine, other, nobody = told
    assert medqrels("foreign", "--assign", mine)[0] == 2
    code, text = medqrels("foreign", "--assign", nobody, *decision)
    assert code == 2 and "has no pseudonym" in text and f"--ask-again {nobody}" in text
    for choice in (("--ask-again", nobody), ("--assign", mine), ("--assign", other)):
        assert medqrels("foreign", *choice, *decision)[0] == 0
    assert set(grades(folder, "S2").values()) == {(0, "current"), (1, "current")}, "at once"
    before = folder.path.joinpath("annotations.parquet").read_bytes()
    made = json.loads(medqrels("pull", "strange", "--json")[1])[0]["people"]
    assert [(item["answers"], item["set_aside"]) for item in made] == [(3, {}), (2, {})]
    assert folder.path.joinpath("annotations.parquet").read_bytes() == before
    code, text = medqrels("foreign", "strange")
    assert code == 0 and text.count("by Ada M.: wrong tab") == 3

    # Changed there, it is a conflict like any other; the answer in the own project goes before it.
    s2("PATCH", f"/api/annotations/{strange}/", {"result": form("1")})
    assert medqrels("pull", "strange")[0] == 1 and medqrels("foreign", "strange")[0] == 0
    assert medqrels("pull", "strange", "--accept")[0] == 0
    s2.grade(Api(server).tasks(two)[first]["id"], "2")
    assert medqrels("pull", "strange")[0] == 0
    states = {(row.grade, row.state) for row in folder.annotations() if row.candidate_id == first}
    assert states == {(2, "current"), (0, "superseded"), (1, "superseded")}

    # The server is lost: what was decided is not.
    Api(server)("DELETE", f"/api/projects/{one}/")
    push(folder, where)
    medqrels("pull", "strange")
    assert [
        (row.grade, row.state)
        for row in folder.annotations()
        if (row.candidate_id, row.annotator) == (second, "S2")
    ] == [(1, "current")]
