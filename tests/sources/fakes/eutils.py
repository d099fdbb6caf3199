"""A loopback ESearch of db=pmc: history, the 9,999 ceiling, rate limit, errors inside HTTP 200.

It understands what medqrels sends: `(words) AND filter AND (licence OR …) AND 2024/01/01:…[pmcrdat]`.
"""

from __future__ import annotations

import collections
import json
import re
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal

from sources.sample.loopback import LoopbackServer, Reply, Request

KNOWN_FILTERS = frozenset(
    {
        "open_access",
        *(
            f"cc{name}_license"
            for name in ("0", "_by", "_by-sa", "_by-nc", "_by-nc-sa", "_by-nd", "_by-nc-nd")
        ),
    }
)
_PERIOD = re.compile(r"(\d{4})/(\d\d)/(\d\d):(\d{4})/(\d\d)/(\d\d)\[pmcrdat\]")
_FILTER = re.compile(r"([a-z0-9_-]+)\[filter\]")
_SET = re.compile(r"#(\d+)")

FaultKind = Literal["429", "html", "cut", "error", "error_object", "503", "echo_key"]
Faults = Callable[[int], FaultKind | None]
"""n-th request, from 1 -> what goes wrong with it."""


@dataclass(frozen=True)
class Article:
    """One article of PMC: `words` are what a query can ask for."""

    number: int
    released: date | None
    licence: str = "cc_by_license"
    is_open: bool = True
    words: frozenset[str] = frozenset({"case"})


class Eutils(LoopbackServer):
    """Context manager: ESearch on a free port of 127.0.0.1.

    Args:
        articles: what PMC holds; may be changed while it runs.
        ceiling: most ids of one search.
        faults: what goes wrong.
        per_second: requests per second and address before 429, None for no limit.
        before: called with the request's number before it is answered, to change the articles.
        page_cap: most ids of one answer, as a server that gives less than retmax.
    """

    def __init__(
        self,
        articles: Iterable[Article] = (),
        *,
        ceiling: int = 9_999,
        faults: Faults = lambda n: None,
        per_second: int | None = None,
        before: Callable[[int], None] = lambda n: None,
        page_cap: int = 10_000,
    ) -> None:
        self.articles = list(articles)
        self.ceiling = ceiling
        self.faults = faults
        self.per_second = per_second
        self.before = before
        self.page_cap = page_cap
        self.forms: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.refused = 0
        self._arrivals: collections.deque[float] = collections.deque()
        self._sets: dict[tuple[str, str], list[int]] = {}
        self._lock = threading.Lock()

    @property
    def endpoint(self) -> str:
        """Base URL of the utilities."""
        return f"{self.root}/entrez/eutils/"

    def forget_history(self) -> None:
        """Lose every stored set."""
        self._sets.clear()

    def answer(self, request: Request) -> Reply:
        """The reply to one request."""
        if request.path != "/entrez/eutils/esearch.fcgi":
            return Reply(404)
        return Reply(*self._reply(request.target, request.fields))

    def _reply(self, path: str, form: dict[str, str]) -> tuple[int, bytes, dict[str, str]]:
        with self._lock:
            self.paths.append(path)
            self.forms.append(form)
            number = len(self.forms)
            self.before(number)
            if self._is_too_fast():
                return self._rate_limited()
            fault = self.faults(number)
            if fault is not None:
                return self._faulty(fault, form)
            if form.get("api_key") == "wrong":
                row = {"error": "API key invalid", "api-key": "wrong", "type": "api key", "status": "unknown"}
                return 400, json.dumps(row).encode(), {}
            if not form.get("tool") or "@" not in form.get("email", ""):
                return 400, b'{"error":"tool and email are required"}', {}
            return 200, json.dumps(self._search(form)).encode(), {"X-RateLimit-Limit": "3"}

    def _is_too_fast(self) -> bool:
        now = time.monotonic()
        while self._arrivals and now - self._arrivals[0] >= 1.0:
            self._arrivals.popleft()
        if self.per_second is not None and len(self._arrivals) >= self.per_second:
            return True
        self._arrivals.append(now)
        return False

    def _rate_limited(self) -> tuple[int, bytes, dict[str, str]]:
        self.refused += 1
        row = {"error": "API rate limit exceeded", "api-key": "127.0.0.1", "count": "4", "limit": "3"}
        return 429, json.dumps(row).encode(), {"X-RateLimit-Limit": "3", "X-RateLimit-Remaining": "0"}

    def _faulty(self, fault: FaultKind, form: dict[str, str]) -> tuple[int, bytes, dict[str, str]]:
        if fault == "429":
            return self._rate_limited()
        if fault == "503":
            return 503, b"busy", {}
        if fault == "html":
            return 200, b"<!DOCTYPE html><html><body>NCBI is down</body></html>", {}
        if fault == "cut":
            return 200, json.dumps(self._search(form)).encode()[:-7], {}
        if fault == "error_object":
            return 200, b'{"error":"API rate limit exceeded"}', {}
        text = (
            f"bad key {form.get('api_key')}" if fault == "echo_key" else "Search Backend failed: read timeout"
        )
        return 200, json.dumps({"header": {}, "esearchresult": {"ERROR": text}}).encode(), {}

    def _search(self, form: dict[str, str]) -> dict[str, Any]:
        term, start = form["term"], int(form.get("retstart", "0"))
        most = min(int(form.get("retmax", "20")), self.page_cap, self.ceiling)
        if start > self.ceiling - 1:
            text = (
                "Search Backend failed: Exception:\n'retstart' cannot be larger than 9998. For PubMed, "
                "ESearch can only retrieve the first 9,999 records matching the query."
            )
            return {"header": {}, "esearchresult": {"ERROR": text}}
        history = _SET.fullmatch(term)
        env = form.get("WebEnv") or f"MCID_{len(self.forms):06d}"
        if history:
            numbers = self._sets.get((env, history[1]))
            if numbers is None:
                return {"header": {}, "esearchresult": {"ERROR": "Unable to obtain query #1"}}
        else:
            numbers = self._matching(term)
        key = str(1 + sum(one == env for one, _ in self._sets))
        if form.get("usehistory") == "y":
            self._sets[env, key] = numbers
        result: dict[str, Any] = {
            "count": str(len(numbers)),
            "retmax": str(most),
            "retstart": str(start),
            "querykey": key,
            "webenv": env,
            "idlist": [str(number) for number in numbers[start : start + most]],
            "translationset": [],
            "querytranslation": term.replace("pmcrdat", "PMC Release Date"),
        }
        missing = [] if history else self._not_found(term)
        if missing:
            result["errorlist"] = {"phrasesnotfound": missing, "fieldsnotfound": []}
        if not numbers:
            result["warninglist"] = {
                "phrasesignored": [],
                "quotedphrasesnotfound": [],
                "outputmessages": ["No items found."],
            }
        return {"header": {"type": "esearch", "version": "0.3"}, "esearchresult": result}

    def _matching(self, term: str) -> list[int]:
        words, filters, alternatives = _read(term)
        period = _PERIOD.search(term)
        first = last = None
        if period:
            year, month, day, year2, month2, day2 = map(int, period.groups())
            first, last = date(year, month, day), date(year2, month2, day2)
        found = [
            item
            for item in self.articles
            if words <= item.words
            and ("open_access" not in filters or item.is_open)
            and all(item.licence == name for name in filters - {"open_access"})
            and (not alternatives or item.licence in alternatives)
            and (first is None or (item.released is not None and first <= item.released <= (last or first)))
        ]
        # "db=pmc has no usable sort": any order, but the same for the same articles.
        return sorted((item.number for item in found), key=lambda number: (number * 2654435761) % 2**32)

    def _not_found(self, term: str) -> list[str]:
        words, filters, _ = _read(term)
        vocabulary = {"case", *(word for item in self.articles for word in item.words)}
        strange = [f"{name}[filter]" for name in sorted(filters - KNOWN_FILTERS)]
        return sorted(words - vocabulary) + strange


def _read(term: str) -> tuple[set[str], set[str], set[str]]:
    """Words and filters that must hold, and licences of which one must."""
    head, _, rest = term.partition(") AND ")
    inner = re.search(r"\(([^()]*\[filter\][^()]*)\)", rest)
    alternatives = set(_FILTER.findall(inner[1])) if inner else set()
    outside = rest.replace(inner[0], "") if inner else rest
    required = set(_FILTER.findall(head)) | set(_FILTER.findall(outside))
    text = re.sub(r"[a-z0-9_-]+\[\w+\]", " ", head)
    words = {word for word in re.findall(r"[a-z]+", text.lower()) if word not in {"and", "or"}}
    return words, required, alternatives
