"""A query's answer is written down before anything is fetched, and asked again only on demand."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from flows.crawl.pmc_selection import (
    QUERIES,
    PmcQuery,
    recorded,
    select_query,
    selected_pmcids,
)
from flows.crawl.selection import STAGE, select, selections
from flows.engine.workspace import Workspace
from schemas.errors import FetchError, UsageError, WorkspaceError
from sources.eutils import EutilsContext, client_settings
from sources.http import PoliteClient
from tests.sources.fakes.eutils import Article, Eutils

ASKED = PmcQuery("case  report")
SECRET = "5ecre7" * 6


@pytest.fixture
def site() -> Iterator[Eutils]:
    days = [date(2024, 1, 1) + timedelta(days=number) for number in range(30)]
    words = frozenset({"case", "report"})
    with Eutils([Article(100 + n, day, words=words) for n, day in enumerate(days)], ceiling=10) as running:
        yield running


def context_of(site: Eutils) -> EutilsContext:
    bounds: dict[str, Any] = {"requests_per_second": 1e6, "burst": 10_000, "backoff_seconds": 0.001}
    client = PoliteClient(client_settings("test@example.org", "0", endpoint=site.endpoint, **bounds))
    return EutilsContext(
        client,
        "test@example.org",
        api_key=SECRET,
        endpoint=site.endpoint,
        ceiling=site.ceiling,
        pause=lambda seconds: None,
    )


def files(workspace: Workspace) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (workspace.stage(STAGE) / QUERIES).iterdir()}


def test_the_record_holds_what_was_asked_and_found(workspace: Workspace, site: Eutils) -> None:
    made = select_query(workspace, ASKED, context_of(site))
    assert made.count == len(made.pmcids) == 30 and made.pmcids[0] == "PMC100"
    assert sum(piece.count for piece in made.slices) == 30
    assert "cc_by_license[filter]" in made.term and "open_access[filter]" in made.term
    assert recorded(workspace, ASKED) == made
    assert selections(workspace) == []  # the record is no crawl shard
    [body] = files(workspace).values()
    assert SECRET.encode() not in body and b"127.0.0.1" not in body


def test_a_crash_before_the_first_fetch_asks_nothing_again(
    workspace: Workspace, site: Eutils, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = select_query(workspace, ASKED, context_of(site))
    asked = len(site.forms)
    real, calls = os.replace, iter(range(9))

    def killed(*arguments: Any) -> None:
        if next(calls) == 1:
            raise KeyboardInterrupt
        real(*arguments)

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(os, "replace", killed)
        select(workspace, "pmc", made.pmcids, 10)
    site.articles.append(Article(999, date(2024, 5, 1), words=frozenset({"case", "report"})))
    again = select_query(workspace, ASKED, context_of(site))
    assert again == made and len(site.forms) == asked
    assert sum(len(item.locators) for item in select(workspace, "pmc", again.pmcids, 10)) == 30
    assert selected_pmcids(workspace) == sorted(made.pmcids)


def test_a_crash_while_asking_leaves_no_record(workspace: Workspace, site: Eutils) -> None:
    site.faults = lambda n: "error" if n > 5 else None
    with pytest.raises(FetchError):
        select_query(workspace, ASKED, context_of(site))
    assert recorded(workspace, ASKED) is None
    site.faults = lambda n: None
    assert len(select_query(workspace, ASKED, context_of(site)).pmcids) == 30


def test_refresh_asks_anew_and_new_articles_form_new_shards(workspace: Workspace, site: Eutils) -> None:
    first = select(workspace, "pmc", select_query(workspace, ASKED, context_of(site)).pmcids, 20)
    site.articles.append(Article(999, date(2024, 5, 1), words=frozenset({"case", "report"})))
    made = select_query(workspace, ASKED, context_of(site), refresh=True)
    assert made.pmcids[-1] == "PMC999" and recorded(workspace, ASKED) == made
    shards = select(workspace, "pmc", made.pmcids, 20)
    assert [item.locators for item in shards if item not in first] == [("PMC999",)]


def test_the_same_answers_give_the_same_bytes(workspace: Workspace, site: Eutils, tmp_path: Path) -> None:
    other = Workspace(tmp_path / "other")
    select_query(workspace, ASKED, context_of(site))
    site.articles.reverse()
    select_query(other, PmcQuery(" case report "), context_of(site))
    assert files(workspace) == files(other)


def test_every_difference_of_a_question_is_another_record() -> None:
    asked = [
        PmcQuery("case"),
        PmcQuery("Case"),
        PmcQuery("case", since="2024-01-01"),
        PmcQuery("case", until="2024-01-01"),
        PmcQuery("case", limit=5),
        PmcQuery("case", profile="noncommercial"),
    ]
    assert len({item.name for item in asked}) == len(asked)


def test_dates_and_limit_reach_the_search(workspace: Workspace, site: Eutils) -> None:
    asked = PmcQuery("case report", since="2024-01-05", until="2024-01-20", limit=12)
    made = select_query(workspace, asked, context_of(site))
    assert made.pmcids == tuple(f"PMC{number}" for number in range(104, 116)) and made.count == 16


def test_an_empty_answer_is_refused_and_not_recorded(workspace: Workspace, site: Eutils) -> None:
    site.articles.append(Article(1, date(2024, 1, 1), is_open=False, words=frozenset({"closed"})))
    asked = PmcQuery("closed")
    with pytest.raises(UsageError, match="no article matches"):
        select_query(workspace, asked, context_of(site))
    assert recorded(workspace, asked) is None
    with pytest.raises(UsageError, match="no PMC article has been selected"):
        selected_pmcids(workspace)


@pytest.mark.parametrize("damage", ["", "[]", "{", '{"pmc_query": {}}', '{"pmc_query": {"asked": 1}}'])
def test_a_damaged_record_is_named_and_refresh_mends_it(
    workspace: Workspace, site: Eutils, damage: str
) -> None:
    made = select_query(workspace, ASKED, context_of(site))
    path = workspace.stage(STAGE) / QUERIES / f"{made.name}.json"
    path.write_text(damage)
    with pytest.raises(WorkspaceError, match="damaged") as caught:
        select_query(workspace, ASKED, context_of(site))
    assert caught.value.file == str(path) and "--refresh" in caught.value.hint
    assert select_query(workspace, ASKED, context_of(site), refresh=True) == made


def test_a_record_under_another_name_is_refused(workspace: Workspace, site: Eutils) -> None:
    made = select_query(workspace, ASKED, context_of(site))
    path = workspace.stage(STAGE) / QUERIES / f"{made.name}.json"
    path.rename(path.with_name(f"{PmcQuery('other').name}.json"))
    with pytest.raises(WorkspaceError, match="does not match its file name"):
        recorded(workspace, PmcQuery("other"))


@pytest.mark.parametrize(
    "asked",
    [
        PmcQuery(" "),
        PmcQuery("(case"),
        PmcQuery("case", since="yesterday"),
        PmcQuery("case", since="2024-02-01", until="2024-01-31"),
        PmcQuery("case", limit=0),
    ],
)
def test_what_cannot_be_asked_is_found_before_asking(asked: PmcQuery) -> None:
    with pytest.raises(UsageError):
        asked.check()
    ASKED.check()
