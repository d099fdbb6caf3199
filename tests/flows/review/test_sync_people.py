"""What people do on the server is told, and never overwritten; items no longer asked keep their answers."""

from __future__ import annotations

from flows.engine.workspace import Workspace
from flows.review.label_studio import Server
from flows.review.sync import pull, push, status
from tests.flows.review.small_review import Api, candidate, form, give, review, target

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
