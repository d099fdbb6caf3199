"""Who reads what: every item to k people, load balanced, matched by specialty; what was given never moves.

Pure and without chance: order is drawn from hashes, so the same people and items give the same queues on
every machine.
"""

from __future__ import annotations

import heapq
import tomllib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from schemas.errors import UsageError
from schemas.hashing import sha256_text
from schemas.review import Allotment, ReviewCandidate, Role


@dataclass(frozen=True, slots=True)
class Person:
    """One reader. No specialties: reads all alike; no languages: reads every one.

    `account` stays in the workspace's people.json and is in no other file.
    """

    pseudonym: str
    account: str = ""
    specialties: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    adjudicates: bool = False

    def reads(self, language: str) -> bool:
        """Whether the person reads a BCP-47 language."""
        primary = language.split("-")[0]
        return not self.languages or any(name.split("-")[0] == primary for name in self.languages)

    def match(self, specialty: str) -> int:
        """How well the person fits an item: 2 best, 0 another specialty."""
        if not specialty:
            return 2 if not self.specialties else 1
        if specialty in self.specialties:
            return 2
        return 0 if self.specialties else 1


@dataclass(frozen=True, slots=True)
class Given:
    """New allotments, and (candidate id, missing readers) of items for which too few people are left."""

    allotments: list[Allotment]
    short: list[tuple[str, int]]


def numbered(count: int) -> list[Person]:
    """People A1 … A`count`, of no stated specialty."""
    return [Person(f"A{number}") for number in range(1, count + 1)]


def read_people(text: str, file: str = "") -> list[Person]:
    """People of a TOML file: one `[[annotator]]` table each.

    Keys are pseudonym and, if wished, account, specialties, languages and adjudicator.

    Raises:
        UsageError: not TOML, an unknown key, a wrong type, a pseudonym that is missing or stands twice.
    """
    try:
        body = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"the list of annotators is not TOML: {error}", file=file) from error
    rows = body.get("annotator", [])
    if set(body) != {"annotator"} or not isinstance(rows, list):
        raise UsageError("the list of annotators holds [[annotator]] tables and nothing else", file=file)
    people = [_person(row, file) for row in rows]
    twice = [name for name, count in Counter(person.pseudonym for person in people).items() if count > 1]
    if twice:
        raise UsageError(f"two annotators are called {twice[0]!r}", file=file)
    return sorted(people, key=lambda person: person.pseudonym)


_KEYS: Mapping[str, type] = {
    "pseudonym": str,
    "account": str,
    "specialties": list,
    "languages": list,
    "adjudicator": bool,
}


def _person(row: Any, file: str) -> Person:
    given = row if isinstance(row, dict) else {}
    wrong = sorted(name for name, value in given.items() if not isinstance(value, _KEYS.get(name, ())))
    if wrong or not given.get("pseudonym"):
        told = f"{wrong[0]!r} is unknown or of a wrong type" if wrong else "a pseudonym is missing"
        raise UsageError(f"annotators: {told}", file=file, hint="keys: " + ", ".join(sorted(_KEYS)))
    return Person(
        given["pseudonym"],
        given.get("account", ""),
        tuple(sorted(map(str, given.get("specialties", ())))),
        tuple(sorted(map(str, given.get("languages", ())))),
        given.get("adjudicator", False),
    )


def assign(
    candidates: Iterable[ReviewCandidate], people: Sequence[Person], given: Sequence[Allotment], per_item: int
) -> Given:
    """Give every item to `per_item` readers, items with known grades all through each queue.

    Args:
        candidates: all items; those that have their readers already get no more.
        people: readers; those who only adjudicate are left out.
        given: what was given before; it stays, and new items follow it.
        per_item: readers of each item.

    Raises:
        UsageError: fewer readers than an item needs.
    """
    readers = [person for person in people if not person.adjudicates]
    if not 1 <= per_item <= len(readers):
        raise UsageError(
            f"{per_item} annotators per item, but there are only {len(readers)}",
            hint="name more people with --annotators, or choose a smaller --per-item",
        )
    items = sorted(candidates, key=lambda item: item.id)
    gold = allot([item for item in items if item.origin == "gold"], readers, given, per_item=per_item)
    so_far = [*given, *gold.allotments]
    rest = allot([item for item in items if item.origin != "gold"], readers, so_far, per_item=per_item)
    return Given(_interleaved(gold.allotments, rest.allotments, given), sorted(gold.short + rest.short))


def allot(
    items: Sequence[ReviewCandidate],
    people: Sequence[Person],
    given: Sequence[Allotment],
    *,
    per_item: int,
    role: Role = "annotator",
    barred: Collection[tuple[str, str]] = (),
) -> Given:
    """Give items to people who may read them; the loads of all people end within 1 where that is possible.

    Args:
        items: what to give.
        people: who may get something.
        given: what was given before, in any role.
        per_item: people each item shall have in this role.
        role: of the new allotments.
        barred: (candidate id, pseudonym) pairs that may not be.
    """
    held: dict[str, set[str]] = defaultdict(set)
    loads: Counter[str] = Counter({person.pseudonym: 0 for person in people})
    places: Counter[str] = Counter()
    for row in given:
        if row.role == role:
            held[row.candidate_id].add(row.annotator)
            loads[row.annotator] += row.annotator in loads
        places[row.annotator] = max(places[row.annotator], row.place)
    open_items = [item for item in items if len(held[item.id]) < per_item]
    able = {
        item.id: [
            person
            for person in people
            if person.reads(item.language)
            and person.pseudonym not in held[item.id]
            and (item.id, person.pseudonym) not in barred
        ]
        for item in open_items
    }
    needs = {item.id: min(per_item - len(held[item.id]), len(able[item.id])) for item in open_items}
    quota = _quotas(loads, able, needs)
    chosen: list[tuple[str, ReviewCandidate]] = []
    open_to = Counter(person.pseudonym for item in open_items for person in able[item.id])
    for item in sorted(open_items, key=lambda one: _scarcity(one, able[one.id])):
        for person in _choose(item, able[item.id], needs[item.id], quota, open_to):
            quota[person.pseudonym] -= 1
            chosen.append((person.pseudonym, item))
        for person in able[item.id]:
            open_to[person.pseudonym] -= 1
    made = _placed(chosen, places, role)
    short = [
        (item.id, missing)
        for item in open_items
        if (missing := per_item - len(held[item.id]) - needs[item.id]) > 0
    ]
    return Given(made, sorted(short))


def _scarcity(item: ReviewCandidate, able: Sequence[Person]) -> tuple[bool, int, str]:
    """Items of a specialty that few people state come first, while those still have room."""
    stated = sum(person.match(item.specialty) == 2 for person in able) if item.specialty else 0
    return stated == 0, stated, sha256_text(item.id)


def _quotas(
    loads: Mapping[str, int], able: Mapping[str, Sequence[Person]], needs: Mapping[str, int]
) -> Counter[str]:
    """How many of the new items each person gets: always one more for who has least, while they may."""
    most = Counter(person.pseudonym for people in able.values() for person in people)
    heap = [(loads[name], sha256_text(name), name) for name in sorted(most)]
    heapq.heapify(heap)
    quota: Counter[str] = Counter()
    for _ in range(sum(needs.values())):
        if not heap:
            break
        load, tie, name = heapq.heappop(heap)
        quota[name] += 1
        if quota[name] < most[name]:
            heapq.heappush(heap, (load + 1, tie, name))
    return quota


def _choose(
    item: ReviewCandidate,
    able: Sequence[Person],
    count: int,
    quota: Mapping[str, int],
    open_to: Mapping[str, int],
) -> list[Person]:
    """The people an item goes to: who must to fill their quota, then the best match, then most room."""

    def key(person: Person) -> tuple[bool, bool, int, int, str]:
        name = person.pseudonym
        room = quota[name]
        is_forced = room > 0 and room >= open_to[name]
        return (
            not is_forced,
            room <= 0,
            -person.match(item.specialty),
            -room,
            sha256_text(f"{item.id}\x00{name}"),
        )

    return sorted(able, key=key)[:count]


def _placed(
    chosen: Iterable[tuple[str, ReviewCandidate]], places: Mapping[str, int], role: Role
) -> list[Allotment]:
    """Allotments in the order of a hash of person and item, after what the person has."""
    queues: dict[str, list[ReviewCandidate]] = defaultdict(list)
    for name, item in chosen:
        queues[name].append(item)
    return [
        Allotment(candidate_id=item.id, task=item.task, annotator=name, role=role, place=place)
        for name in sorted(queues)
        for place, item in enumerate(
            sorted(queues[name], key=lambda one: sha256_text(f"{name}\x00{one.id}")), start=places[name] + 1
        )
    ]


def _interleaved(
    gold: Sequence[Allotment], rest: Sequence[Allotment], given: Sequence[Allotment]
) -> list[Allotment]:
    """Both kinds in one queue per person: the i-th of g known items somewhere in the i-th of g equal parts.

    Where in its part is drawn by a hash: at equal distances, whoever counts would know them.
    """
    start: Counter[str] = Counter()
    for row in given:
        start[row.annotator] = max(start[row.annotator], row.place)
    made = []
    for name in sorted({row.annotator for row in (*gold, *rest)}):
        known = [row for row in gold if row.annotator == name]
        other = [row for row in rest if row.annotator == name]
        total = len(known) + len(other)
        at = set()
        for number, row in enumerate(known):
            first, end = number * total // len(known), (number + 1) * total // len(known)
            at.add(first + int(sha256_text(f"{name}\x00{row.candidate_id}")[:8], 16) % (end - first))
        queue_known, queue_other = iter(known), iter(other)
        for place in range(total):
            row = next(queue_known if place in at else queue_other)
            made.append(
                Allotment(
                    candidate_id=row.candidate_id,
                    task=row.task,
                    annotator=name,
                    role=row.role,
                    place=start[name] + place + 1,
                )
            )
    return made
