"""What is drawn for review from a published task: labelled, unjudged and random pairs, and known items.

The draw is a stratified random sample ordered by a hash of the release and the pair: the same on every
machine, and a larger sample holds a smaller one. What was drawn before counts towards the number.
"""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeVar, get_args

from annotation.layouts import SHOWN
from annotation.verdicts import binding
from schemas.errors import UsageError
from schemas.hashing import sha256_text
from schemas.review import Kind, Origin, ReviewCandidate, ShownItem, candidate_id

_Name = TypeVar("_Name", bound=Hashable)
Facet = Literal["specialty", "language", "tier"]
FACETS: tuple[Facet, ...] = get_args(Facet)
SHARES: Mapping[Origin, int] = {"positive": 4, "pool": 3, "random": 1}
"""How many of eight items are labelled pairs, unjudged results of systems, and pairs drawn by chance."""
BANDS = ((3, "rank 1-3"), (10, "rank 4-10"), (20, "rank 11-20"))
DEEPER = "rank 21 and below"
UNRANKED = "unranked"
GOLD_SHARE = 0.05
GOLD_GRADES = (2, 0)
Ending = Literal["gone", "excluded", "changed", "held_back"]
ENDINGS: Mapping[Ending, str] = {
    "gone": "the release no longer has the query or the document",
    "excluded": "the release excludes the pair, and not because of this review",
    "changed": "its text or image changed: the pair is asked about anew",
    "held_back": "it could name a patient, was reported, or was withdrawn",
}
"""Why an item is given to nobody any more. Answers stay, and so does the verdict they make."""
_RESERVED, _TRIES = 0.1, 50
"""One tenth of the pairs that could be known items are kept for that and are in no sample."""


@dataclass(frozen=True, slots=True)
class Facets:
    """What a query belongs to; '' is undecided."""

    specialty: str = ""
    language: str = "en"
    tier: str = ""


@dataclass(frozen=True, slots=True)
class Pair:
    """One query-document pair that may be drawn, and all that stays hidden from readers."""

    query_id: str
    corpus_id: str
    origin: Origin
    facets: Facets
    rule: str = ""
    rule_grade: int | None = None
    rank: int = 0
    systems: tuple[str, ...] = ()
    known_grade: int | None = None

    @property
    def key(self) -> tuple[str, str]:
        """Query and document."""
        return self.query_id, self.corpus_id

    @property
    def group(self) -> str:
        """What an estimate is made for: the rule of a labelled pair, the rank band of an unjudged result."""
        return group_of(self.origin, self.rule, self.rank)


def group_of(origin: Origin, rule: str, rank: int) -> str:
    """The group of a pair or candidate, see `Pair.group`."""
    if origin != "pool":
        return rule if origin == "positive" else str(origin)
    if not rank:
        return UNRANKED
    return next((name for last, name in BANDS if rank <= last), DEEPER)


def stratum_of(facets: Facets | ReviewCandidate, by: Sequence[Facet]) -> str:
    """Name of a stratum: the values of its facets, joined by '/'."""
    return "/".join(str(getattr(facets, name)) or "undecided" for name in by)


def check_facets(names: Iterable[str]) -> tuple[Facet, ...]:
    """The facets named, in a fixed order.

    Raises:
        UsageError: one is unknown.
    """
    given = set(names)
    if unknown := sorted(given - set(FACETS)):
        raise UsageError(f"no stratum {unknown[0]!r}", hint="strata: " + ", ".join(FACETS))
    return tuple(name for name in FACETS if name in given)


def reserved(seed: str, pair: Pair, gold_rules: tuple[str, ...]) -> bool:
    """Whether a pair is kept for known items; whatever the sample's size, so that no item changes sides.

    Args:
        seed: hash of the release.
        pair: one that may be drawn.
        gold_rules: beginnings of rules whose pairs are positives by construction.
    """
    if not pair.rule.startswith(gold_rules) or pair.rule_grade != GOLD_GRADES[0]:
        return False
    return int(_hash(seed, "reserved", pair)[:8], 16) < _RESERVED * 16**8


def populations(pairs: Iterable[Pair], by: Sequence[Facet]) -> dict[tuple[Origin, str, str], int]:
    """(origin, group, stratum) -> pairs a sample is drawn from."""
    sizes: dict[tuple[Origin, str, str], int] = defaultdict(int)
    for pair in pairs:
        sizes[pair.origin, pair.group, stratum_of(pair.facets, by)] += 1
    return dict(sorted(sizes.items()))


def draw(
    pairs: Iterable[Pair],
    sample: int | None,
    by: Sequence[Facet],
    seed: str,
    had: Collection[tuple[str, str]] = (),
) -> list[Pair]:
    """A sample of pairs, by query and document.

    Origins share the number as SHARES says; inside an origin each stratum gets one pair and then pairs in
    proportion to its size (Sainte-Laguë), so that a larger number only adds.

    Args:
        pairs: all that may be drawn, without the reserved ones.
        sample: how many; all of them when None.
        by: facets that make strata, beside rule or rank band.
        seed: hash of the release.
        had: pairs drawn before; they are taken first.
    """
    listed = list(pairs)
    if sample is None or sample >= len(listed):
        return sorted(listed, key=lambda pair: pair.key)
    strata: dict[Origin, dict[tuple[str, str], list[Pair]]] = {origin: {} for origin in SHARES}
    for pair in listed:
        name = (pair.group, stratum_of(pair.facets, by))
        strata[pair.origin].setdefault(name, []).append(pair)
    sizes = {origin: sum(map(len, parts.values())) for origin, parts in strata.items()}
    chosen: list[Pair] = []
    for origin, count in seats(SHARES, sizes, sample).items():
        parts = strata[origin]
        room = {name: len(found) for name, found in parts.items()}
        for name, number in seats(room, room, count, each=1).items():
            order = sorted(parts[name], key=lambda pair: (pair.key not in had, _hash(seed, "draw", pair)))
            chosen += order[:number]
    return sorted(chosen, key=lambda pair: pair.key)


def seats(
    weights: Mapping[_Name, int], room: Mapping[_Name, int], count: int, *, each: int = 0
) -> dict[_Name, int]:
    """Share out `count` by highest averages with odd divisors, each name up to its room; largest first.

    A larger count only adds: nobody gets less of it.

    Args:
        weights: what the shares are in proportion to.
        room: most that each may get.
        count: how many.
        each: how many each name gets, turn by turn, before proportions decide.
    """
    order = sorted(weights, key=lambda name: (-weights[name], str(name)))
    got = dict.fromkeys(order, 0)
    heap = [(*_turn(weights[name], 0, each), at) for at, name in enumerate(order) if room.get(name, 0) > 0]
    heapq.heapify(heap)
    for _ in range(count):
        if not heap:
            break
        *_, at = heapq.heappop(heap)
        name = order[at]
        got[name] += 1
        if got[name] < room[name]:
            heapq.heappush(heap, (*_turn(weights[name], got[name], each), at))
    return got


def _turn(weight: int, got: int, each: int) -> tuple[float, int]:
    """Whose turn it is comes first: who has fewer than `each`, by how few; then by the next average."""
    return (-math.inf, got) if got < each else (-weight / (2 * got + 1), 0)


def known_items(
    kept: Iterable[Pair],
    queries: Mapping[str, Facets],
    documents: Sequence[tuple[str, str]],
    may_pair: Callable[[str, str], bool],
    count: int,
    seed: str,
) -> list[Pair]:
    """Items with a known grade: half positives by construction, half random pairs of two specialties.

    Args:
        kept: labelled pairs that are reserved for this.
        queries: facets of every query.
        documents: (id, specialty) of the corpus in id order; '' specialties are not used.
        may_pair: whether a query and a document are neither judged, excluded, found by a system nor related.
        count: how many items; fewer where there are not enough.
        seed: hash of the release.
    """
    ordered = sorted(kept, key=lambda pair: _hash(seed, "gold", pair))
    made = [replace(pair, origin="gold", known_grade=GOLD_GRADES[0]) for pair in ordered[: (count + 1) // 2]]
    decided = [item for item in documents if item[1]]
    order = sorted(queries, key=lambda query: sha256_text(f"{seed}\x00negative\x00{query}"))
    wrong: list[Pair] = []
    for query in order:
        if len(wrong) >= count // 2 or not decided:
            break
        facets = queries[query]
        for turn in range(_TRIES if facets.specialty else 0):
            document, specialty = decided[_number(seed, query, turn) % len(decided)]
            if specialty != facets.specialty and may_pair(query, document):
                wrong.append(Pair(query, document, "gold", facets, known_grade=GOLD_GRADES[1]))
                break
    return made + wrong


def random_pairs(
    queries: Mapping[str, Facets],
    corpus_ids: Sequence[str],
    may_pair: Callable[[str, str], bool],
    seed: str,
) -> list[Pair]:
    """One pair drawn by chance for each query that has one; its documents come from all the corpus.

    Args:
        queries: facets of every query.
        corpus_ids: in id order.
        may_pair: see `known_items`.
        seed: hash of the release.
    """
    found = []
    for query, facets in sorted(queries.items()):
        for turn in range(_TRIES if corpus_ids else 0):
            document = corpus_ids[_number(seed, query, _TRIES + turn) % len(corpus_ids)]
            if may_pair(query, document):
                found.append(Pair(query, document, "random", facets))
                break
    return found


def make_candidate(
    pair: Pair,
    dataset: str,
    task: str,
    fields: Mapping[str, str],
    *,
    is_sensitive: bool = False,
) -> ReviewCandidate:
    """The candidate that shows a pair.

    Args:
        pair: what was drawn.
        dataset: dataset name.
        task: task name.
        fields: values by field name, see annotation.layouts.SHOWN; empty ones are left out.
        is_sensitive: whether an image is to be blurred until clicked.
    """
    has_image = bool(fields.get("query_image") or fields.get("document_image"))
    kind: Kind = "relevance_image" if has_image else "relevance_text"
    shown = tuple(ShownItem(name=name, value=fields[name]) for name in SHOWN[kind] if fields.get(name))
    return ReviewCandidate(
        id=candidate_id(kind, task, pair.query_id, pair.corpus_id, shown),
        dataset=dataset,
        task=task,
        kind=kind,
        query_id=pair.query_id,
        corpus_id=pair.corpus_id,
        shown=shown,
        is_sensitive=is_sensitive,
        origin=pair.origin,
        rule=pair.rule,
        rule_grade=pair.rule_grade,
        rank=pair.rank,
        systems=pair.systems,
        known_grade=pair.known_grade,
        specialty=pair.facets.specialty,
        language=pair.facets.language,
        tier=pair.facets.tier,
    )


def continued(
    before: Iterable[ReviewCandidate],
    shown: Mapping[tuple[str, str], ReviewCandidate],
    answered: Collection[str],
) -> dict[tuple[str, str], ReviewCandidate]:
    """What each pair is asked with from now on: the form people answered, while text and image are the same.

    A candidate of before keeps its origin, rule and rank: they say why it was drawn then.

    Args:
        before: candidates so far, of any pair.
        shown: pair -> the candidate that shows it as it is now.
        answered: ids of candidates that somebody answered.
    """
    forms: dict[tuple[str, str], list[ReviewCandidate]] = defaultdict(list)
    for item in sorted(before, key=lambda item: item.id):
        forms[item.query_id, item.corpus_id].append(item)
    found = {}
    for pair, item in shown.items():
        answered_forms = [one for one in forms[pair] if one.id in answered and binding(one) == binding(item)]
        choice = answered_forms or forms[pair]
        same = next((one for one in choice if one.id == item.id), None)
        found[pair] = same or next(iter(answered_forms), item)
    return found


def _hash(seed: str, purpose: str, pair: Pair) -> str:
    return sha256_text(f"{seed}\x00{purpose}\x00{pair.query_id}\x00{pair.corpus_id}")


def _number(seed: str, query: str, turn: int) -> int:
    return int(sha256_text(f"{seed}\x00random\x00{query}\x00{turn}")[:12], 16)
