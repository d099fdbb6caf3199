"""What derived.json says of systems on names in other languages, computed again from tables and run files.

Written apart from `curation.evaluation`: R@1 of each language, and the gap over sets that all languages have.
"""

from __future__ import annotations

import csv
import gzip
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from curation.audit.rule import Check, Collector, Context, NotApplicable, Outcome, Rule, side
from curation.audit.rules.confusion_names import planted_names
from curation.audit.rules.runs_expected import TOLERANCE
from curation.audit.rules.runs_looked import Looked, look_at, name_files, systems_of
from curation.audit.rules.runs_made import Damage, Runs, planted
from curation.evaluation.names import FOLDER, NAMED
from curation.published.query import Sandbox
from schemas.benchmark import CORE_LANGUAGES
from schemas.hashing import sha256_bytes, sha256_file

_SETS = """
    SELECT n.document_language AS language, n.id AS q, n.status, r."corpus-id" AS gold
    FROM named_queries n JOIN provenance_queries p ON p.id = n.id AND p.split = 'test'
    JOIN named_qrels r ON r."query-id" = n.id AND r.document_language = n.document_language AND r.score > 0
    ORDER BY ALL"""
_TABLES = ("named_queries", "named_qrels", "provenance_queries")
_FEWEST = 2
"""Languages, and sets, from which on there is a gap."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """Sets of split test by language: query -> its gold documents, and which have confirmed names alone."""

    gold: Mapping[str, Mapping[str, frozenset[str]]]
    official: Mapping[str, frozenset[str]]

    @property
    def core(self) -> list[str]:
        """Languages of the core that some set has confirmed names in."""
        return [language for language in CORE_LANGUAGES if self.official.get(language)]

    @property
    def shared(self) -> frozenset[str]:
        """Queries whose sets have confirmed names in every one of these."""
        held = [self.official[language] for language in self.core]
        return frozenset.intersection(*held) if len(held) >= _FEWEST else frozenset()


def _asked(context: Context) -> _Asked:
    """The sets that are asked in other languages.

    Raises:
        NotApplicable: there are none, or the release is older than run files on names.
    """
    files = name_files(look_at(context).derived).values()
    if files and not any("run_file" in said for _, _, said in files):
        raise NotApplicable("the results on names are older than run files on them")
    if any(table not in context.views for table in _TABLES):
        raise NotApplicable("no set is asked by names in another language")
    gold: dict[str, dict[str, set[str]]] = {}
    official: dict[str, set[str]] = {}
    for row in context.rows(_SETS, *_TABLES):
        gold.setdefault(row["language"], {}).setdefault(row["q"], set()).add(row["gold"])
        if row["status"] == "official":
            official.setdefault(row["language"], set()).add(row["q"])
    return _Asked(
        {language: {q: frozenset(found) for q, found in held.items()} for language, held in gold.items()},
        {language: frozenset(found) for language, found in official.items()},
    )


def _stated(looked: Looked) -> dict[str, Any] | None:
    """What derived.json says of names; None where it says nothing."""
    found = looked.derived.get(NAMED)
    return found if isinstance(found, dict) else None


def _missing(context: Context) -> Outcome:
    """Derived results that leave out a language, or tell of one that is not asked."""
    found, looked = Collector("name_results", "error"), look_at(context)
    asked = _asked(context)
    ran = any(item.get("status") == "measured" for item in systems_of(looked.results.get("test")).values())
    said = (_stated(looked) or {}).get("languages")
    languages = set(said) if isinstance(said, dict) else set()
    for language in sorted(set(asked.gold) - languages) if ran else ():
        found.add("derived.json does not say how systems do on names", side("derived.json", language))
    for language in sorted(languages - set(asked.gold)):
        found.add("derived.json tells of names that are not asked", side("derived.json", language))
    return found.outcome(len(asked.gold))


def _files(context: Context) -> Outcome:
    """Run files on names that are lost, elsewhere, or others."""
    found, looked = Collector("name_results", "error"), look_at(context)
    _asked(context)
    listed = name_files(looked.derived)
    for name, (_, _, said) in sorted(listed.items()):
        path = context.directory / name
        if said.get("run_file") != name or not path.is_file():
            found.add("the run file on names is missing, or another is named", side("runs", name))
        elif sha256_file(path) != said.get("run_sha256"):
            found.add("the run file on names is not the one whose hash is stated", side("runs", name))
    return found.outcome(len(listed))


def _counts(context: Context) -> Outcome:
    """Counts of sets, by language and of those that all have."""
    found, asked = Collector("name_results", "error"), _asked(context)
    stated = _stated(look_at(context))
    if stated is None:
        return found.outcome(0)
    wanted: dict[str, Any] = {"core": asked.core, "core_queries": len(asked.shared)}
    for language, held in asked.gold.items():
        wanted[f"languages/{language}/queries"] = len(held)
        wanted[f"languages/{language}/official"] = len(asked.official.get(language, ()))
    for place, value in wanted.items():
        said = _at(stated, place)
        if said != value:
            message = f"derived.json says {said}, the tables give {value}"
            found.add(message, side("derived.json", f"{NAMED}/{place}", str(said)), side("data", str(value)))
    return found.outcome(len(wanted))


def _means(context: Context) -> Outcome:
    """R@1 of every system in every language."""
    found, compared = Collector("name_results", "error"), 0
    asked, looked = _asked(context), look_at(context)
    for name, (language, system, said) in sorted(name_files(looked.derived).items()):
        right = _right(context.directory / name, asked.gold.get(language, {}))
        if right:
            compared += 1
            place = f"{NAMED}/languages/{language}/systems/{system}"
            _compare(found, place, said.get("mean"), math.fsum(right.values()) / len(right))
    return found.outcome(compared, "not computed again: intervals")


def _gaps(context: Context) -> Outcome:
    """The gap of every system over the sets that all languages of the core have."""
    found, compared = Collector("name_results", "error"), 0
    asked, looked = _asked(context), look_at(context)
    stated = _stated(looked)
    if stated is None or not asked.shared:
        return found.outcome(0)
    right: dict[str, dict[str, float]] = {}
    for name, (language, system, _) in name_files(looked.derived).items():
        ranked = _right(context.directory / name, asked.gold.get(language, {}))
        if ranked is not None and language in asked.core:
            right.setdefault(system, {})[language] = math.fsum(
                ranked[query] for query in sorted(asked.shared)
            ) / len(asked.shared)
    for system, means in sorted(right.items()):
        if set(means) == set(asked.core):
            compared += 1
            place = f"fairness/{system}/gap"
            _compare(found, f"{NAMED}/{place}", _at(stated, place), max(means.values()) - min(means.values()))
    return found.outcome(compared, "not computed again: intervals")


def _right(path: Path, gold: Mapping[str, frozenset[str]]) -> dict[str, float] | None:
    """Query -> 1 where its first document is its gold one, else 0; None of a file that cannot be read."""
    first: dict[str, tuple[int, str]] = {}
    try:
        with gzip.open(path, "rt", encoding="utf-8", newline="") as lines:
            for query, _, document, rank, *_ in csv.reader(lines, delimiter=" ", quoting=csv.QUOTE_NONE):
                if query not in first or int(rank) < first[query][0]:
                    first[query] = int(rank), document
    except (OSError, EOFError, ValueError):
        return None  # the check of files says so
    return {query: float(first.get(query, (0, ""))[1] in held) for query, held in gold.items()}


def _at(stated: Any, place: str) -> Any:
    """What stands at a place below an object; None for nothing."""
    for step in place.split("/"):
        stated = stated.get(step) if isinstance(stated, dict) else None
    return stated


def _compare(found: Collector, place: str, stated: Any, value: float) -> None:
    """Report a number that is not the one computed."""
    is_number = isinstance(stated, int | float) and not isinstance(stated, bool)
    if not is_number or not abs(stated - value) <= TOLERANCE:
        message = f"derived.json says {stated} on names, the run files give {value:.6f}"
        found.add(message, side("derived.json", place, str(stated)), side("data", place, f"{value:.6f}"))


_SYSTEM, _LANGUAGES = "bm25", ("es", "ja")


def _planted(number: int, place: str, wrong: object, *, lost: str = "") -> Damage:
    """Two sets in two languages with right results, of which one place is made wrong; `place` is named.

    The first set is ranked rightly in both languages, the second in Spanish alone: R@1 is 1 and .5, the gap
    .5. With `lost`, the run file of that language is not there.
    """

    def damage(made: Runs, sandbox: Sandbox) -> Sequence[str] | None:
        for table in ("named_queries", "named_qrels", "named_corpus"):
            sandbox.run(f"DELETE FROM {table}")
        for at in (number, number + 1):
            for language in _LANGUAGES:
                sandbox.run(planted_names(at, language, is_first=language == _LANGUAGES[0]))
        sandbox.run("UPDATE provenance_queries SET split = 'test' WHERE starts_with(id, 'canary:set')")
        said = _of_sets(made, [f"canary:set{at}" for at in (number, number + 1)])
        *above, last = place.split("/")
        held: Any = said
        for step in above:
            held = held[step]
        if wrong is None:
            del held[last]
        else:
            held[last] = wrong
        if lost:
            made.files[f"{FOLDER}/{lost}/{_SYSTEM}.trec.gz"] = None
        made.derived[NAMED] = said
        return [last if place.startswith("languages/") and "/" not in place[10:] else f"{NAMED}/{place}"]

    return damage


def _of_sets(made: Runs, queries: Sequence[str]) -> dict[str, Any]:
    """Right results on two planted sets, their run files among those of the release."""
    languages = {}
    for language, first in zip(_LANGUAGES, (("d0", "d0"), ("d0", "d1")), strict=True):
        lines = "".join(
            f"{query} Q0 {query}{document} 1 9.0 {_SYSTEM}\n"
            for query, document in zip(queries, first, strict=True)
        )
        content = gzip.compress(lines.encode(), mtime=0)
        name = f"{FOLDER}/{language}/{_SYSTEM}.trec.gz"
        made.files[name] = content
        mean = first.count("d0") / len(first)
        told = {"mean": mean, "run_file": name, "run_sha256": sha256_bytes(content)}
        languages[language] = {"queries": 2, "official": 2, "systems": {_SYSTEM: told}}
    return {
        "languages": languages,
        "core": list(_LANGUAGES),
        "core_queries": 2,
        "fairness": {_SYSTEM: {"gap": 0.5}},
    }


def _of_files(number: int, place: str, wrong: object, *, lost: str = "") -> Damage:
    """As :func:`_planted`; the run file of Japanese is named."""

    def damage(made: Runs, sandbox: Sandbox) -> Sequence[str] | None:
        _planted(number, place, wrong, lost=lost)(made, sandbox)
        return [f"{FOLDER}/ja/{_SYSTEM}.trec.gz"]

    return damage


_JA = f"languages/ja/systems/{_SYSTEM}"


def _checks() -> Iterator[Check]:
    yield Check(
        "derived.json leaves out a language of names, or tells of another",
        _missing,
        (
            planted("a language whose results are left out", _planted(61, "languages/ja", None)),
            planted("results of a language that is not asked", _planted(63, "languages/fr", {"systems": {}})),
        ),
    )
    yield Check(
        "a run file on names",
        _files,
        (
            planted("a run file on names that is lost", _of_files(65, f"{_JA}/low", 0.0, lost="ja")),
            planted("another run file on names", _of_files(67, f"{_JA}/run_sha256", "0" * 64)),
            planted("a run file on names elsewhere", _of_files(69, f"{_JA}/run_file", "runs/else.gz")),
        ),
    )
    yield Check(
        "a count of sets asked by names",
        _counts,
        (
            planted("more sets than are asked", _planted(71, "languages/es/queries", 9)),
            planted("more confirmed sets than there are", _planted(73, "languages/ja/official", 9)),
            planted("more sets in common than there are", _planted(75, "core_queries", 9)),
            planted("a core without one of its languages", _planted(77, "core", ["es"])),
        ),
    )
    yield Check(
        "R@1 of a system on names",
        _means,
        planted("an inflated R@1 on names", _of_mean(79)),
    )
    yield Check(
        "the gap of a system over languages of names",
        _gaps,
        planted("a gap that is made small", _planted(81, f"fairness/{_SYSTEM}/gap", 0.0)),
    )


def _of_mean(number: int) -> Damage:
    """As :func:`_planted`: the mean in Japanese is wrong; the system is named."""

    def damage(made: Runs, sandbox: Sandbox) -> Sequence[str] | None:
        _planted(number, f"{_JA}/mean", 0.9)(made, sandbox)
        return [f"{NAMED}/{_JA}"]

    return damage


RULES = (
    Rule(
        "name_results",
        1,
        "Results on names in other languages can be computed again",
        "Where sets are asked by names in other languages, derived.json says of each language how many sets "
        "there are, how many have confirmed names alone, and R@1 of every system; and over the sets that "
        "every language of the core has, the gap between the best and the worst. Run files are there, with "
        f"their hash, and give these numbers, to {TOLERANCE}. Intervals are not computed again.",
        "error",
        "values",
        checks=tuple(_checks()),
    ),
)
