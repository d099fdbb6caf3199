"""Which PMC articles answer a query: E-utilities searches cut by release date until every piece fits.

A piece counts only when as many ids arrive as its count states; otherwise it is asked again, so that a result
is complete although PMC changes while it is being asked.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from schemas import licences
from schemas.errors import FetchError, UsageError
from sources.eutils import Answer, EutilsContext, Unusable, esearch

FIRST_DAY, LAST_DAY = date(1990, 1, 1), date(2100, 12, 31)
OPEN_ACCESS = "open_access[filter]"
LICENCE_FILTERS = {
    "cc0": "cc0_license[filter]",
    "by": "cc_by_license[filter]",
    "by-sa": "cc_by-sa_license[filter]",
    "by-nc": "cc_by-nc_license[filter]",
    "by-nc-sa": "cc_by-nc-sa_license[filter]",
}
"""Licence family -> search filter of PMC, which finds no article whose licence PMC does not know."""

_ISO = re.compile(r"\d{4}-\d{2}-\d{2}")
_MAX_CHANGES = 25
_ONE_DAY = timedelta(days=1)
_log = logging.getLogger("medqrels.sources.pmc.search")


@dataclass(frozen=True, slots=True)
class Slice:
    """One piece of a search: release dates (ISO, inclusive), a licence filter, its count; '' means none."""

    since: str
    until: str
    filter: str
    count: int


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search found.

    Attributes:
        term: the query as asked, with the filters of the profile.
        query_translation: how PMC understood it.
        count: articles that match, dates included; `limit` does not lower it.
        undated: matching articles without a release date, which a search cut by date cannot reach.
        pmcids: `PMC…`, unique, by number.
        slices: the pieces asked, by date.
        warnings: what PMC remarked on the query.
    """

    term: str
    query_translation: str
    count: int
    undated: int
    pmcids: tuple[str, ...]
    slices: tuple[Slice, ...]
    warnings: tuple[str, ...]


Part = tuple[set[int], tuple[Slice, ...]]


def profile_filters(profile: licences.Profile) -> tuple[str, ...]:
    """PMC's licence filters of a profile, in alphabetical order of the licence families."""
    return tuple(
        LICENCE_FILTERS[name] for name in sorted(licences.PROFILES[profile] & LICENCE_FILTERS.keys())
    )


def full_term(query: str, profile: licences.Profile) -> str:
    """The query with the filters every crawl adds: open access, and the licences of the profile.

    Raises:
        UsageError: an empty query, or quotes or parentheses that do not close and would swallow the filters.
    """
    query = " ".join(query.split())
    if not query:
        raise UsageError("the query is empty", hint="medqrels crawl pmc --query 'case report AND pneumonia'")
    outside = re.sub(r'"[^"]*"', "", query)
    depth = lowest = 0
    for character in outside:
        depth += {"(": 1, ")": -1}.get(character, 0)
        lowest = min(lowest, depth)
    if '"' in outside or depth or lowest < 0:
        raise UsageError("the query has an unclosed quote or parenthesis", record=query)
    return f"({query}) AND {OPEN_ACCESS} AND ({' OR '.join(profile_filters(profile))})"


def search_pmc(
    query: str,
    context: EutilsContext,
    *,
    since: str | None = None,
    until: str | None = None,
    limit: int | None = None,
    profile: licences.Profile = "open",
) -> SearchResult:
    """Find the PMCIDs that answer a query.

    A limit takes the articles released first (of one day, the lowest PMCIDs): what PMC releases later comes
    after them, so a larger limit, or the same one asked again, adds articles and replaces none.

    Args:
        query: Entrez syntax of db=pmc.
        context: client, identity and patience.
        since: first PMC release date, ISO (2024-01-31).
        until: last PMC release date, inclusive.
        limit: most articles wanted.
        profile: licence profile; its filters are added.

    Raises:
        UsageError: a query PMC does not understand, an invalid date or limit, or more than 9,999 articles of
            one licence released in one day.
        FetchError: E-utilities does not answer, or its counts keep changing.
    """
    first, last = period(since, until)
    if limit is not None and limit < 1:
        raise UsageError("a limit is at least 1")
    search = _Search(full_term(query, profile), profile_filters(profile), context)
    is_dated = since is not None or until is not None
    root = search.ask(_period(first, last) if is_dated else "", retmax=context.ceiling)
    wanted = root.count if limit is None else min(limit, root.count)
    undated = 0
    if is_dated or wanted < root.count or root.count > context.ceiling:
        dated = root if is_dated else search.ask(_period(first, last), retmax=context.ceiling)
        undated = max(0, root.count - dated.count)
        ids, slices = search.first(first, last, wanted, dated)
    else:
        ids, slices = search.whole("", root)
    if undated:
        _log.warning("%d matching articles have no PMC release date and are not selected", undated)
    return SearchResult(
        term=search.term,
        query_translation=root.translation,
        count=len(ids) + undated if limit is None else root.count,  # PMC may have grown meanwhile
        undated=undated,
        pmcids=tuple(f"PMC{number}" for number in sorted(ids)),
        slices=slices,
        warnings=(*root.warnings, *(f"not known: {name}" for name in sorted(search.unknown_filters))),
    )


def period(since: str | None, until: str | None) -> tuple[date, date]:
    """First and last release date of a search.

    Raises:
        UsageError: not ISO dates, or in the wrong order.
    """
    first, last = _day(since, "since", FIRST_DAY), _day(until, "until", LAST_DAY)
    if first > last:
        raise UsageError(f"since {first} is after until {last}")
    return first, last


def _day(text: str | None, name: str, default: date) -> date:
    if text is None:
        return default
    try:
        if not _ISO.fullmatch(text):
            raise ValueError(text)
        return date.fromisoformat(text)
    except ValueError:
        raise UsageError(f"{name}: {text[:40]!r} is not a date", hint="write it as 2024-01-31") from None


def _period(first: date, last: date) -> str:
    return f"{first:%Y/%m/%d}:{last:%Y/%m/%d}[pmcrdat]"


class _Search:
    """One search; counts how often PMC changed underneath it."""

    def __init__(self, term: str, filters: Sequence[str], context: EutilsContext) -> None:
        self.term = term
        self._filters = filters
        self._context = context
        self._ceiling = context.ceiling
        self._changes = 0
        self.unknown_filters: set[str] = set()

    def ask(self, also: str, *, retmax: int) -> Answer:
        """One ESearch of the query and a further condition ('' for none)."""
        answer = esearch(f"{self.term} AND {also}" if also else self.term, self._context, retmax=retmax)
        # A period that matches nothing may be reported like a misspelt phrase.
        unknown = [item for item in answer.not_found if "pmcrdat" not in item.lower()]
        own = {_bare(name) for name in (OPEN_ACCESS, *self._filters)}
        theirs = [item for item in unknown if _bare(item) not in own]
        if theirs:
            shown = ", ".join(map(repr, theirs))
            raise UsageError(f"PMC does not know {shown}", record=self.term, hint="correct the query")
        self.unknown_filters.update(item for item in unknown if _bare(item) in own)
        return answer

    def whole(self, also: str, answer: Answer) -> Part:
        """All ids of a condition without dates that fits into one search."""
        while True:
            ids = self._pages(answer)
            if len(ids) == answer.count:
                return ids, (Slice("", "", "", answer.count),)
            self._changed()
            answer = self.ask(also, retmax=self._ceiling)
            if answer.count > self._ceiling:
                return self.collect(FIRST_DAY, LAST_DAY)

    def collect(self, first: date, last: date, answer: Answer | None = None, expected: int = 0) -> Part:
        """All ids released in a period; `answer` is one already at hand, `expected` a guess of the count."""
        while True:
            # Pieces that are sure to be cut again are asked for their count alone.
            answer = answer or self.ask(
                _period(first, last), retmax=self._ceiling if expected <= 2 * self._ceiling else 0
            )
            if answer.count <= self._ceiling:
                ids = self._pages(answer)
                if len(ids) == answer.count:
                    piece = Slice(first.isoformat(), last.isoformat(), "", answer.count)
                    return ids, (piece,) if ids else ()
            else:
                ids, slices = self._cut(first, last, answer.count)
                if len(ids) in (answer.count, self.ask(_period(first, last), retmax=0).count):
                    return ids, slices
            self._changed()
            answer = None

    def first(self, first: date, last: date, wanted: int, answer: Answer | None = None) -> Part:
        """The `wanted` articles of a period that were released first."""
        answer = answer or self.ask(_period(first, last), retmax=self._ceiling)
        if answer.count <= wanted:
            return self.collect(first, last, answer)
        if first == last:
            ids, slices = self.collect(first, last, answer)
            return set(sorted(ids)[:wanted]), slices
        middle = _middle(first, last)
        ids, slices = self.first(first, middle, wanted)
        if len(ids) < wanted:
            more, further = self.first(middle + _ONE_DAY, last, wanted - len(ids))
            return ids | more, slices + further
        return ids, slices

    def _cut(self, first: date, last: date, count: int) -> Part:
        if first == last:
            return self._by_licence(first)
        middle = _middle(first, last)
        ids, slices = self.collect(first, middle, expected=count // 2)
        more, further = self.collect(middle + _ONE_DAY, last, expected=count - len(ids))
        return ids | more, slices + further

    def _by_licence(self, day: date) -> Part:
        """A day above the ceiling, cut by licence: the query demands one of them, so none is lost."""
        ids: set[int] = set()
        slices = []
        for name in self._filters:
            answer = self.ask(f"{_period(day, day)} AND {name}", retmax=self._ceiling)
            if answer.count > self._ceiling:
                raise UsageError(
                    f"{answer.count} articles of {name} were released on {day}: one search cannot give them",
                    record=self.term,
                    hint="narrow the query, or leave this day out with --since and --until",
                )
            ids |= self._pages(answer)
            if answer.count:
                slices.append(Slice(day.isoformat(), day.isoformat(), name, answer.count))
        return ids, tuple(slices)

    def _pages(self, answer: Answer) -> set[int]:
        """The ids of an answer; what it did not bring is read from the set the server keeps of it."""
        ids, seen = set(answer.ids), len(answer.ids)
        while seen < answer.count and answer.web_env and answer.query_key:
            try:
                more = esearch(
                    f"#{answer.query_key}",
                    self._context,
                    retmax=self._ceiling - seen,
                    retstart=seen,
                    web_env=answer.web_env,
                    attempts=2,
                )
            except Unusable as problem:  # the set is gone: the caller sees too few ids and asks anew
                if "retstart" in str(problem) and seen:  # the server's ceiling is lower than documented
                    self._ceiling = min(self._ceiling, seen)
                break
            if not more.ids:
                break
            ids.update(more.ids)
            seen += len(more.ids)
        return ids

    def _changed(self) -> None:
        self._changes += 1
        if self._changes > _MAX_CHANGES:
            raise FetchError(
                "PMC's counts kept changing while its answers were read",
                record=self.term,
                hint="run the same command again later",
            )
        self._context.pause(1.0)


def _bare(phrase: str) -> str:
    """A filter's name as PMC may report it: without field, quotes and underscores."""
    return phrase.partition("[")[0].strip().strip('"').replace("_", " ").lower()


def _middle(first: date, last: date) -> date:
    return first + (last - first) // 2
