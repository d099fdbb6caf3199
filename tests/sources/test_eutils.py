"""Searching PMC: exactly the matching articles, whatever their dates, the server's mood or changes."""

from __future__ import annotations

import collections
import logging
import time
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from schemas.errors import FetchError, UsageError
from sources.eutils import RATE, RATE_WITH_KEY, EutilsContext, client_settings
from sources.http import PoliteClient
from sources.pmc.search import SearchResult, full_term, profile_filters, search_pmc
from tests.sources.fakes.eutils import Article, Eutils

SECRET = "0123456789abcdef0123456789abcdef0123"
DAY = date(2024, 3, 1)
Search = Callable[..., SearchResult]


def context_of(site: Eutils, **changes: Any) -> EutilsContext:
    bounds: dict[str, Any] = {
        "requests_per_second": 1e6,
        "burst": 10_000,
        "backoff_seconds": 0.001,
        "max_attempts": 5,
    }
    client = PoliteClient(client_settings("test@example.org", "0", endpoint=site.endpoint, **bounds))
    fields: dict[str, Any] = {
        "email": "test@example.org",
        "endpoint": site.endpoint,
        "ceiling": site.ceiling,
        "pause": lambda seconds: None,
    }
    return EutilsContext(client, **{**fields, **changes})


def articles(count: int, *, day: date = DAY, every: int = 1, **fields: Any) -> list[Article]:
    """Articles released one after another, `every` days apart."""
    return [Article(1000 + number, day + timedelta(days=number * every), **fields) for number in range(count)]


def names(found: list[Article]) -> tuple[str, ...]:
    return tuple(f"PMC{number}" for number in sorted(item.number for item in found))


@pytest.fixture
def site() -> Iterator[Eutils]:
    with Eutils(ceiling=10) as running:
        yield running


def test_a_small_result_takes_one_request(site: Eutils) -> None:
    site.articles = [
        *articles(7),
        Article(1, DAY, words=frozenset({"other"})),
        Article(2, DAY, is_open=False),
    ]
    found = search_pmc("case", context_of(site))
    assert found.pmcids == names(articles(7)) and found.count == 7 and len(site.forms) == 1
    [form] = site.forms
    assert (form["db"], form["retmode"], form["usehistory"]) == ("pmc", "json", "y")
    assert (form["tool"], form["email"]) == ("medqrels", "test@example.org") and "api_key" not in form
    assert "?" not in site.paths[0]  # nothing of the form stands in a URL
    assert form["term"] == found.term == full_term("case", "open") and found.query_translation


@pytest.mark.parametrize("profile", ["open", "noncommercial"])
def test_the_profile_decides_on_licences(site: Eutils, profile: Any) -> None:
    families = ["cc0", "cc_by", "cc_by-sa", "cc_by-nc", "cc_by-nc-sa", "cc_by-nd", "cc_by-nc-nd"]
    site.articles = [
        Article(number, DAY, licence=f"{family}_license") for number, family in enumerate(families, start=1)
    ]
    found = search_pmc("case", context_of(site), profile=profile)
    assert len(found.pmcids) == {"open": 3, "noncommercial": 5}[profile] == len(profile_filters(profile))
    assert found.pmcids == tuple(f"PMC{number}" for number in range(1, len(found.pmcids) + 1))
    assert all(name in found.term for name in (*profile_filters(profile), "open_access[filter]"))


dates = st.one_of(
    st.dates(date(1990, 1, 1), date(2100, 12, 31)),
    st.integers(0, 5).map(lambda days: DAY + timedelta(days=days)),  # bursts on few days
)
releases = st.lists(st.tuples(st.integers(1, 400), dates), max_size=60, unique_by=lambda pair: pair[0])


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    rows=releases,
    licences=st.lists(st.sampled_from(["cc0", "cc_by", "cc_by-sa"]), min_size=60, max_size=60),
    bounds=st.tuples(st.none() | dates, st.none() | dates),
    limit=st.none() | st.integers(1, 70),
    cap=st.integers(3, 30),
)
def test_cutting_finds_exactly_the_matching_set(
    rows: list[tuple[int, date]],
    licences: list[str],
    bounds: tuple[date | None, date | None],
    limit: int | None,
    cap: int,
) -> None:
    held = [
        Article(number, day, licence=f"{name}_license")
        for (number, day), name in zip(rows, licences, strict=False)
    ]
    busiest = collections.Counter((item.released, item.licence) for item in held)
    assume(max(busiest.values(), default=0) <= 25)
    since, until = bounds
    if since and until and since > until:
        since, until = until, since
    matching = [
        item for item in held if item.released and (since or date.min) <= item.released <= (until or date.max)
    ]
    with Eutils(held, ceiling=25, page_cap=cap) as site:
        found = search_pmc(
            "case",
            context_of(site),
            since=since.isoformat() if since else None,
            until=until.isoformat() if until else None,
            limit=limit,
        )
    first = sorted(matching, key=lambda item: (item.released, item.number))[:limit]
    assert found.pmcids == names(first)
    assert found.count == len(matching) and found.undated == 0
    if limit is None:
        assert sum(piece.count for piece in found.slices) == len(matching)


def test_a_larger_limit_only_adds(site: Eutils) -> None:
    site.articles = articles(40, every=3)
    small, large = (search_pmc("case", context_of(site), limit=limit) for limit in (4, 23))
    assert small.pmcids == names(site.articles[:4]) and large.pmcids == names(site.articles[:23])
    site.articles += [Article(5, DAY + timedelta(days=900))]  # released later, though of a low number
    assert search_pmc("case", context_of(site), limit=4).pmcids == small.pmcids


def test_of_one_day_a_limit_takes_the_lowest_numbers(site: Eutils) -> None:
    site.articles = [Article(number, DAY) for number in (11, 5, 90, 7, 30)] + [Article(1, DAY + timedelta(1))]
    assert search_pmc("case", context_of(site), limit=3).pmcids == ("PMC5", "PMC7", "PMC11")


def test_a_full_day_is_cut_by_licence(site: Eutils) -> None:
    kinds = ["cc0_license", "cc_by_license", "cc_by-sa_license"]
    site.articles = [Article(number, DAY, licence=kinds[number % 3]) for number in range(1, 28)]
    found = search_pmc("case", context_of(site))
    assert found.pmcids == names(site.articles)
    assert {(piece.since, piece.filter, piece.count) for piece in found.slices} == {
        ("2024-03-01", f"{kind}[filter]", 9) for kind in kinds
    }


def test_a_day_that_cannot_be_cut_is_named(site: Eutils) -> None:
    site.articles = [Article(number, DAY) for number in range(1, 30)]
    with pytest.raises(
        UsageError, match=r"29 articles of cc_by_license\[filter\] were released on 2024-03-01"
    ):
        search_pmc("case", context_of(site))


def test_articles_without_a_release_date_are_counted(site: Eutils, caplog: pytest.LogCaptureFixture) -> None:
    site.articles = [*articles(15), Article(1, None), Article(2, None)]
    found = search_pmc("case", context_of(site))
    assert (found.count, found.undated, len(found.pmcids)) == (17, 2, 15) and "2 matching" in caplog.text


def test_at_the_real_ceiling() -> None:
    with Eutils(articles(9_999 + 40)) as site:
        found = search_pmc("case", context_of(site))
    assert len(found.pmcids) == 10_039 and len(found.slices) > 1
    assert all(piece.count <= 9_999 for piece in found.slices) and len(site.forms) < 25


def test_a_server_with_a_lower_ceiling_than_documented(site: Eutils) -> None:
    site.articles = articles(45)
    assert search_pmc("case", context_of(site, ceiling=9_999)).pmcids == names(site.articles)


@pytest.mark.parametrize("kind", ["429", "html", "cut", "error", "error_object", "503"])
def test_a_bad_answer_is_asked_again(site: Eutils, kind: Any) -> None:
    site.articles = articles(35)
    site.faults = lambda n: kind if n % 3 else None
    assert search_pmc("case", context_of(site)).pmcids == names(site.articles)


@pytest.mark.parametrize("kind", ["html", "cut", "error", "error_object"])
def test_an_answer_that_stays_bad_is_an_error_not_an_empty_result(site: Eutils, kind: Any) -> None:
    site.faults = lambda n: kind
    with pytest.raises(FetchError, match="no usable answer after 4 attempts"):
        search_pmc("case", context_of(site))
    assert len(site.forms) == 4


def test_rate_limits_are_kept() -> None:
    def ask(rate: float, allowed: int) -> tuple[float, int]:
        with Eutils(articles(30), ceiling=25, per_second=allowed) as site:
            options = client_settings("a@example.org", "0", endpoint=site.endpoint, has_key=rate > 3)
            assert (options.requests_per_second, options.burst) == (rate, 1)
            context = EutilsContext(
                PoliteClient(options), "a@example.org", endpoint=site.endpoint, ceiling=25
            )
            started = time.monotonic()
            search_pmc("case", context, since="2024-02-01", until="2024-04-30")
            return (time.monotonic() - started) * rate / (len(site.forms) - 1), site.refused

    for rate, allowed in ((RATE, 3), (RATE_WITH_KEY, 10)):
        spread, refused = ask(rate, allowed)
        assert spread > 0.95 and refused == 0


def test_counts_that_change_meanwhile_are_asked_again(site: Eutils) -> None:
    site.articles = articles(60)

    last = DAY + timedelta(days=63)

    def release(number: int) -> None:
        if number == 6:  # the first day has been read by then, the last one has not
            site.articles += [Article(5001, DAY), Article(5002, last)]

    site.before = release
    found = search_pmc("case", context_of(site), since=DAY.isoformat(), until=last.isoformat())
    assert found.pmcids == names(site.articles) and found.count == 62
    assert len(found.pmcids) == sum(piece.count for piece in found.slices)


@pytest.mark.parametrize("since", [None, "2024-01-01"])
def test_a_withdrawal_while_reading_pages(site: Eutils, since: str | None) -> None:
    site.articles, site.page_cap = articles(9), 4

    def withdraw(number: int) -> None:
        if number == 2:
            site.articles.pop(0)
            site.forget_history()

    site.before = withdraw
    assert search_pmc("case", context_of(site), since=since).pmcids == names(site.articles)
    assert len(site.articles) == 8


def test_counts_that_never_settle_end_in_an_error(site: Eutils) -> None:
    site.articles, site.page_cap = articles(9), 4
    site.before = lambda n: site.forget_history()
    with pytest.raises(FetchError, match="kept changing"):
        search_pmc("case", context_of(site))


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("", "query is empty"),
        ("case) OR (all", "unclosed quote"),
        ("(case", "unclosed quote"),
        ('"case', "unclosed quote"),
        ("case AND xyzzyq", "does not know 'xyzzyq'"),
        ("case AND nothing_such[filter]", r"does not know 'nothing_such\[filter\]'"),
    ],
)
def test_a_query_that_cannot_work_is_refused(site: Eutils, query: str, message: str) -> None:
    site.articles = articles(3)
    with pytest.raises(UsageError, match=message):
        search_pmc(query, context_of(site))


@pytest.mark.parametrize(
    "options",
    [
        {"since": "01/02/2024"},
        {"until": "2024-02-30"},
        {"since": "20240101"},
        {"limit": 0},
        {"since": "2024-02-01", "until": "2024-01-01"},
    ],
)
def test_options_that_cannot_work_are_refused(site: Eutils, options: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        search_pmc("case", context_of(site), **options)
    assert not site.forms


def test_a_contact_address_is_required(site: Eutils) -> None:
    for changes in ({"email": ""}, {"tool": ""}):
        with pytest.raises(UsageError, match="contact address and a tool name"):
            search_pmc("case", context_of(site, **changes))
    assert not site.forms


def test_the_key_is_sent_and_never_shown(site: Eutils, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    site.articles = articles(3)
    context = context_of(site, api_key=SECRET)
    found = search_pmc("case", context)
    assert site.forms[0]["api_key"] == SECRET
    seen = [repr(found), repr(context)]
    site.faults = lambda n: "echo_key"
    with pytest.raises(FetchError) as caught:
        search_pmc("case", context)
    site.faults = lambda n: "503"
    with pytest.raises(FetchError) as also:
        search_pmc("case", context)
    seen += [str(error.value) + repr(error.value.attrs()) for error in (caught, also)]
    assert "bad key …" in caught.value.message
    assert "esearch.fcgi" in caplog.text  # the HTTP library's own lines are among what is checked
    assert not any(SECRET in text for text in [*seen, caplog.text])


def test_a_refused_key_is_named_as_such(site: Eutils) -> None:
    with pytest.raises(FetchError, match="refuses the request") as caught:
        search_pmc("case", context_of(site, api_key="wrong"))
    assert "API key" in caught.value.hint and "wrong" not in str(caught.value)


def test_an_address_without_the_service_is_an_error(site: Eutils) -> None:
    with pytest.raises(FetchError, match="no E-utilities at this address"):
        search_pmc("case", context_of(site, endpoint=site.endpoint.replace("eutils", "none")))
