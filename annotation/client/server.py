"""What medqrels asks of a Label Studio server, by label-studio-sdk: projects, tasks, answers, accounts."""

from __future__ import annotations

import email.utils
import functools
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urljoin

from annotation.client.transport import Patience, Transport, UnconfirmedError
from annotation.sync.answers import TaskAnswers, task_answers
from annotation.sync.tasks import HeldTask, held_task
from schemas.errors import FetchError, UsageError

if TYPE_CHECKING:
    from label_studio_sdk import LabelStudio
    from label_studio_sdk.core.request_options import RequestOptions

T = TypeVar("T")
PAGE, FIRST_PAGE = 1000, 100
"""Most tasks of one listing, and how many the first one has: a task with images inside is of megabytes."""
PAGE_CHARACTERS = 16 << 20
"""What a listing's task data are meant to come to; the page before says how large tasks are."""
TITLE_CHARACTERS = 50
"""Longest title Label Studio takes."""
_PROJECT = "id,title,description,created_at,label_config,expert_instruction"
_TASK = "id,data,meta,total_annotations,cancelled_annotations,updated_at"
# `include` also names what is listed of each annotation.
_ANSWER = f"{_TASK},overlap,is_labeled,annotations,result,completed_by,was_cancelled,lead_time"
_COUNTS = ("total_annotations", "cancelled_annotations", "overlap", "is_labeled")
_READ = ("id", "data", "meta", *_COUNTS, "annotations")
"""What is read of a task."""
_BLIND = {
    "show_annotation_history": False,
    "show_collab_predictions": False,
    "show_skip_button": False,
    "enable_empty_annotation": False,
    "show_instruction": True,
    "maximum_annotations": 1,
    "sampling": "Sequential sampling",
}
"""Settings of every project: one answer per task, in order, nobody else's in sight.

A task that somebody else answered needs one more, or it counts as done (annotation.sync.wrong_overlaps); more
for all of them would leave every task undone in the list of projects, and break their order.
"""


@dataclass(frozen=True, slots=True)
class Project:
    """A project as the server holds it. `created_at` tells it from another one that got the same id."""

    id: int
    title: str
    description: str
    created_at: str
    config: str
    instruction: str


class Client:
    """One account's view of a server.

    Args:
        url: address of the server.
        api_key: a legacy token (40 hex digits) or a personal access token.
        allow_plain_http: send the token over http to a host that is not this one.
        patience: tries and waits.

    Raises:
        UsageError: the address is not one the token may be sent to.
    """

    def __init__(
        self,
        url: str,
        api_key: str,
        *,
        allow_plain_http: bool = False,
        patience: Patience | None = None,
    ) -> None:
        self.url = url.rstrip("/")
        self._http = Transport(self.url, api_key, allow_plain_http, patience or Patience())

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def account(self) -> tuple[int, str]:
        """(id, e-mail address) of the account whose token this is.

        Raises:
            UsageError: the server refuses the token.
        """

        def read(studio: LabelStudio) -> tuple[int, str]:
            user = studio.users.whoami()
            return int(user.id), str(user.email)

        return self._http.ask(read)

    def accounts(self) -> dict[str, int]:
        """E-mail address in lower case -> id, of everybody in the organisation."""
        return self._http.ask(
            lambda studio: {str(user.email).lower(): int(user.id) for user in studio.users.list()}
        )

    def now(self) -> datetime:
        """The server's clock, in whole seconds; it also stamps what changes there."""
        said = self._http.ask(lambda studio: studio.versions.with_raw_response.get().headers.get("date", ""))
        try:
            return email.utils.parsedate_to_datetime(said).astimezone(UTC)
        except (TypeError, ValueError) as error:
            raise FetchError("the review server does not state its time", file=self.url) from error

    # Projects

    def find_project(self, marker: str) -> Project | None:
        """The project whose description holds the marker; the oldest if there are several."""
        found = []
        for number in range(1, 10_000):
            rows, more = self._http.ask(functools.partial(_project_page, number))
            found += [project for project in rows if marker in project.description.split()]
            if not more:
                break
        return min(found, key=lambda project: project.id, default=None)

    def ensure_project(
        self,
        marker: str,
        title: str,
        description: str,
        config: str,
        instruction: str,
        *,
        rename: bool = False,
    ) -> Project:
        """Find the project of a marker, or make it; its layout and guidelines become those given.

        Args:
            marker: the word by which it is found again; it is put at the end of the description.
            title: cut after TITLE_CHARACTERS.
            description: what people read below the title.
            config: layout.
            instruction: guidelines, HTML.
            rename: a project that is there gets this title and description too.

        Raises:
            UsageError: the server refuses the layout, e.g. because answers use what it no longer has.
        """
        found = self.find_project(marker)
        named = {"title": title[:TITLE_CHARACTERS], "description": f"{description} {marker}".strip()}
        if found is None:
            body = {
                **named,
                "label_config": config,
                "expert_instruction": instruction,
                **_BLIND,
            }
            try:
                return self._http.ask(
                    lambda studio: _project(studio.projects.create(request_options=_with(body))), repeat=False
                )
            except UnconfirmedError:
                found = self.find_project(marker)
                if found is None:
                    raise
        changed = {"label_config": config} if found.config != config else {}
        if found.instruction != instruction:
            changed["expert_instruction"] = instruction
        if rename and (found.title, found.description) != tuple(named.values()):
            changed |= named
        if changed:
            number, options = found.id, _with(changed)
            return self._http.ask(
                lambda studio: _project(studio.projects.update(number, request_options=options))
            )
        return found

    def hide_columns(self, project: int, columns: Sequence[str]) -> None:
        """Make the project's list of tasks without some columns, before anybody has opened it.

        Args:
            project: id of the project; one whose list somebody has opened keeps it as it is.
            columns: as `hiddenColumns` of a view, e.g. `tasks:data.image`.
        """
        views = self._http.ask(lambda studio: [int(view.id) for view in studio.views.list(project=project)])
        if not views:
            hidden = {name: list(columns) for name in ("explore", "labeling")}
            data = {"title": "Tasks", "type": "list", "target": "tasks", "hiddenColumns": hidden}
            options = _with({"data": data})
            self._http.ask(lambda studio: studio.views.create(project=project, request_options=options))

    def serve_local_files(self, project: int, path: str) -> None:
        """Let a project show files of a folder on the server's own disk (a storage that imports nothing)."""
        stored = self._http.ask(
            lambda studio: [str(item.path) for item in studio.import_storage.local.list(project=project)]
        )
        if path not in stored:
            self._http.ask(
                lambda studio: studio.import_storage.local.create(
                    project=project, path=path, title="medqrels images", use_blob_urls=True
                )
            )

    # Tasks

    def tasks(self, project: int, after: int = 0) -> Iterator[HeldTask]:
        """Tasks of a project with a greater id than `after`, by id."""
        # Asked for apart: listed with each task, drafts take four times as long as all the rest.
        begun = set(self._pages(project, [_HAS_DRAFT], "id", lambda row: int(row["id"]), int))

        def read(row: Mapping[str, Any]) -> HeldTask:
            return held_task(row, has_draft=row["id"] in begun)

        yield from self._pages(project, [_greater("id", after)], _TASK, read, _held_id)

    def answers(self, project: int, since: str = "") -> Iterator[TaskAnswers]:
        """Tasks with their annotations, by id: all, or those changed at `since` or later (ISO 8601, UTC)."""
        items = []
        if since:
            items.append(_filter("updated_at", "greater_or_equal", "Datetime", since))
        yield from self._pages(project, items, _ANSWER, task_answers, _answered_id)

    def _pages(
        self,
        project: int,
        items: list[dict[str, Any]],
        include: str,
        parse: Callable[[Mapping[str, Any]], T],
        id_of: Callable[[T], int],
    ) -> Iterator[T]:
        last, size = 0, FIRST_PAGE
        while True:  # by id, not by page number: tasks that come or go meanwhile shift no page
            query = {
                "filters": {"conjunction": "and", "items": [*items, _greater("id", last)]},
                "ordering": ["tasks:id"],
            }
            ask = functools.partial(_task_page, project, size, include, json.dumps(query), parse)
            found = self._http.ask(ask)
            yield from (row for row, _ in found)
            if len(found) < size:
                return
            last = id_of(found[-1][0])
            characters = sum(count for _, count in found)
            size = max(1, min(PAGE, PAGE_CHARACTERS * len(found) // max(characters, 1)))

    def count_tasks(self, project: int) -> int:
        """How many tasks a project holds."""
        return self._http.ask(
            lambda studio: int(studio.tasks.list(project=project, page_size=1, include="id").response.total)
        )

    def import_tasks(self, project: int, payloads: Sequence[Mapping[str, Any]]) -> list[int]:
        """Send new tasks, once; their ids, in order.

        Raises:
            UnconfirmedError: no reply, or one that says nothing: they may be there, or some of them.
            UsageError: the server refuses them.
        """

        def send(studio: LabelStudio) -> list[int]:
            made = studio.projects.import_tasks(project, request=sent, return_task_ids=True)
            ids = [int(name) for name in getattr(made, "task_ids", None) or ()]  # unknown to its type
            if len(ids) != len(payloads):
                raise ValueError("another number of tasks")
            return ids

        sent: list[Any] = list(payloads)
        return self._http.ask(send, repeat=False)

    def update_task(self, task: int, payload: Mapping[str, Any]) -> None:
        """Replace what the payload names of a task, e.g. its data."""
        options = _with(payload)
        self._http.ask(lambda studio: studio.tasks.update(str(task), request_options=options))

    def delete_untouched(self, project: int, tasks: Collection[int]) -> None:
        """Delete those of the tasks that have no annotation or draft at that moment: the server checks."""
        listed = sorted(tasks)
        for start in range(0, len(listed), PAGE):
            body = {
                "selectedItems": {"all": False, "included": listed[start : start + PAGE]},
                "filters": {
                    "conjunction": "and",
                    "items": [
                        _filter("total_annotations", "equal", "Number", 0),
                        _filter("cancelled_annotations", "equal", "Number", 0),
                        _filter("draft_exists", "equal", "Boolean", False),
                    ],
                },
            }
            options = _with(body)
            self._http.ask(
                functools.partial(_act, action="delete_tasks", project=project, request_options=options)
            )

    # Accounts

    def add_account(self, login: str, password: str) -> None:
        """Make an account by an invitation to the organisation, unless there is one of this address.

        Raises:
            UsageError: the server refuses the address or password.
        """
        if login.lower() in self.accounts():
            return
        invitation = self._http.ask(lambda studio: studio.organizations.invites.get_invite_link().invite_url)
        page = urljoin(f"{self.url}/", str(invitation or ""))
        self._http.submit_form(page, {"email": login, "password": password})
        if login.lower() not in self.accounts():
            raise UsageError(
                "the review server could not create the account",
                record=login,
                hint="use an e-mail address and a password of at least eight characters",
            )


def _with(body: Mapping[str, Any]) -> RequestOptions:
    """Options by which a request of the SDK carries a body as it is."""
    return {"additional_body_parameters": dict(body)}


def _project(held: Any) -> Project:
    """A project from any of the SDK's kinds of project."""
    return Project(
        id=int(held.id),
        title=str(held.title),
        description=str(held.description or ""),
        created_at=_as_written(held.created_at),
        config=str(held.label_config or ""),
        instruction=str(held.expert_instruction or ""),
    )


def _as_written(moment: Any) -> str:
    """A time as the server writes it; the SDK reads those it knows."""
    if not moment:
        raise ValueError("no time")
    return moment.isoformat().replace("+00:00", "Z") if isinstance(moment, datetime) else str(moment)


def _project_page(number: int, studio: LabelStudio) -> tuple[list[Project], bool]:
    """One page of projects, and whether there are more."""
    listed: Any = studio.projects.list(include=_PROJECT, page=number, page_size=100)
    return [_project(row) for row in listed.response.results], bool(listed.response.next)


def _task_page(
    project: int,
    size: int,
    include: str,
    query: str,
    parse: Callable[[Mapping[str, Any]], T],
    studio: LabelStudio,
) -> list[tuple[T, int]]:
    """One page of tasks, each with how many characters its data hold."""
    listed: Any = studio.tasks.list(
        project=project, page_size=size, fields="all", resolve_uri=False, include=include, query=query
    )
    rows = [{name: getattr(row, name, None) for name in _READ} for row in listed.response.tasks]
    return [(parse(row), _characters(row)) for row in rows]


def _act(studio: LabelStudio, *, action: Any, project: int, request_options: RequestOptions) -> None:
    studio.actions.create(id=action, project=project, request_options=request_options)


def _characters(row: Mapping[str, Any]) -> int:
    """How much text and how many embedded images a task holds."""
    data = row.get("data")
    values = data.values() if isinstance(data, Mapping) else ()
    return sum(len(value) for value in values if isinstance(value, str))


def _held_id(task: HeldTask) -> int:
    return task.id


def _answered_id(task: TaskAnswers) -> int:
    return task.task_id


def _filter(field: str, operator: str, kind: str, value: Any) -> dict[str, Any]:
    return {"filter": f"filter:tasks:{field}", "operator": operator, "type": kind, "value": value}


def _greater(field: str, value: int) -> dict[str, Any]:
    return _filter(field, "greater", "Number", value)


_HAS_DRAFT = _filter("draft_exists", "equal", "Boolean", True)
