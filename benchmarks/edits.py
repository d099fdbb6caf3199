"""Reads what `neutralise` and `split_label` change in real texts: drawn samples against a reader's marks.

Every edit of every passage, caption and abstract of the shared data is made in memory, and those of further
texts (`benchmarks.edit_texts`). Samples were drawn by hash, in proportion to language and place, or are all
that one kind of text holds; they were read and marked (tests/gold/edits.json). A mark names its edit by where
it is and by a hash of what is to be read there: an edit that comes out otherwise has none any more.

    python -m benchmarks.edits                         score the marks, save the result
    python -m benchmarks.edits unmarked [--seed S]     print edits that have no mark, all or a sample of them
"""

from __future__ import annotations

import argparse
import collections
import hashlib
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from benchmarks.edit_texts import Edit, articles, edits_beside, edits_of, unread_edits
from benchmarks.measure import RESULTS, ROOT, save
from benchmarks.pointed_articles import edits_of_pointed_articles
from benchmarks.principal_diagnosis import interval

MARKS = ROOT / "tests" / "gold" / "edits.json"
CASES = ROOT / "tests" / "curation" / "extract" / "neutralise_cases.txt"
CASES_BROKEN_BEFORE = (85, 26, 35, 40, 52)
"""How many of 286, 110, 106, 52 and 217 generated cases were broken before the repairs."""
CASES_FIRST_MET = {"cases": 216, "broken": 17}
"""The second and third list, run first after repairs that did not know them."""
SIZE = 1000
TARGET = 0.003
INVENTED = "articles invented by others"
"""The sample of `tests/gold/written_articles`: all their edits, read before anything they show was mended."""
INVENTED_LATER = "articles invented by others, second"
"""The same of articles that came later, read after the repairs that the first half of `POINTED` led to."""
POINTED = (
    "pointers of every kind, one half, before the repairs",
    "pointers of every kind, the unread half, after them (12 of 618 before)",
)
"""`tests/gold/pointed_articles`: articles written to hold as many kinds of pointers as there are."""


def sample(edits: Iterable[Edit], seed: str, size: int = SIZE) -> list[Edit]:
    """So many edits: of each language and place its share, of those the lowest by a hash of where they are.

    Args:
        edits: all of them.
        seed: of the hash.
        size: how many.
    """
    strata: dict[str, list[Edit]] = {}
    for edit in edits:
        strata.setdefault(edit.stratum, []).append(edit)
    total = sum(map(len, strata.values()))
    drawn: list[Edit] = []
    taken = seen = 0
    for _, group in sorted(strata.items(), key=lambda item: (-len(item[1]), item[0])):
        seen += len(group)
        share = size * seen // total - taken  # what rounding left over goes to the next
        taken += share
        group.sort(key=lambda edit: hashlib.sha256(f"{seed} {edit.at}".encode()).digest())
        drawn += group[:share]
    return drawn


def shown(number: int, edit: Edit) -> str:
    """One edit on one line."""
    line = f"{edit.before}⟦{edit.original}→{edit.replacement}⟧{edit.after}".replace("\n", "⏎")
    return f"{number} {edit.stratum}| {line}"


def score(verdicts: Iterable[tuple[str, str, str]]) -> dict[str, Any]:
    """Share of broken edits, of all and by place and language, with Wilson's 95 % interval.

    Args:
        verdicts: where an edit is, its language and place ("en noun put in"), "whole" or what is broken.
    """
    groups: dict[str, list[str]] = {}
    for _, stratum, verdict in verdicts:
        language, _, place = stratum.partition(" ")
        for name in ("all", place, f"language {language}"):
            groups.setdefault(name, []).append(verdict)
    return {name: _share(group) for name, group in sorted(groups.items())}


def _share(verdicts: Sequence[str]) -> dict[str, Any]:
    broken = collections.Counter(verdict for verdict in verdicts if verdict != "whole")
    return {
        "edits": len(verdicts),
        "broken": broken.total(),
        "share": round(broken.total() / len(verdicts), 4),
        "interval": list(interval(broken.total(), len(verdicts))),
        "classes": dict(sorted(broken.items())),
    }


def marked(edits: Iterable[Edit], marks: Mapping[str, Mapping[str, str]]) -> tuple[list[Any], list[Edit]]:
    """Edits with their verdicts, and those that have none.

    Args:
        edits: edits of the code as it is.
        marks: hash by place of those found whole, and "hash class" of those found broken.
    """
    told, unmarked = [], []
    for edit in edits:
        broken, _, kind = marks["broken"].get(edit.at, "").partition(" ")
        if marks["whole"].get(edit.at) == edit.seen:
            told.append((edit.at, edit.stratum, "whole"))
        elif broken == edit.seen:
            told.append((edit.at, edit.stratum, kind))
        else:
            unmarked.append(edit)
    return told, unmarked


def cases() -> list[tuple[bool, str, str, str]]:
    """Generated cases: whether it comes out whole, language, source, released text."""
    rows = []
    for line in CASES.read_text("utf-8").splitlines():
        language, source, released = line.split("|")
        rows.append((not language.startswith("!"), language.lstrip("!"), source, released))
    return rows


def result() -> dict[str, Any]:
    """What is saved: each sample as it was read, the code as it is, the generated cases."""
    gold = json.loads(MARKS.read_text("utf-8"))
    edits = every_edit()
    told, unmarked = marked(edits, gold["now"])
    samples = {
        name: score((row["at"], row["edit"], row["verdict"]) for row in _rows(read))
        for name, read in gold["samples"].items()
    }
    wholes = [is_whole for is_whole, *_ in cases()]
    return {
        "edits": len(edits),
        "samples": samples,
        "now": {"unmarked": len(unmarked), **score(told)},
        "cases": {
            "all": len(wholes),
            "languages": len({language for _, language, *_ in cases()}),
            "broken_before": sum(CASES_BROKEN_BEFORE),
            "broken": wholes.count(False),
        },
    }


def every_edit() -> list[Edit]:
    """Edits of the shared articles, of texts no rule came from, of what stands beside, of `POINTED`."""
    own = [edit for article in articles() for edit in edits_of(article)]
    return [*own, *unread_edits(), *edits_beside(), *edits_of_pointed_articles()]


def _rows(read: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """One sample, place by place."""
    for stratum, places in read["read"].items():
        for at in places:
            yield {"at": at, "edit": stratum, "verdict": read["broken"].get(at, "whole")}


def section() -> list[str]:
    """The lines of the benchmarks page."""
    found = json.loads((RESULTS / "edits.json").read_text("utf-8"))
    lines = [
        "## Edits of released text",
        "",
        f"{found['edits']:,} edits are made in the shared articles, in texts from which no rule was written "
        "(tables, MEDLINE abstracts, eight further articles, sentences in seven languages) and in what "
        "stands beside the articles (translations, reviews, notes), and in articles invented to hold every "
        "kind of pointer: pointers and identifiers taken "
        "out, labels cut. Broken: ungrammatical, meaning lost, something left over or cut in half; one "
        "developer's reading (`tests/gold/README.md`). Each sample was drawn from edits nobody had read, "
        "and read before what it showed was repaired. "
        "`python -m benchmarks.edits`",
        "",
        "| read | edits | broken | share (95 %) | what |",
        "|---|---:|---:|---:|---|",
    ]
    for name, row in (*found["samples"].items(), ("all, as they are now", found["now"])):
        all_of = row["all"]
        low, high = (f"{100 * bound:.1f}" for bound in all_of["interval"])
        what = ", ".join(f"{kind} {count}" for kind, count in sorted(all_of["classes"].items()))
        share = f"{100 * all_of['share']:.1f} % ({low}–{high})"
        lines.append(f"| {name} | {all_of['edits']:,} | {all_of['broken']} | {share} | {what} |")
    invented = found["samples"][INVENTED]["all"]
    later = found["samples"][INVENTED_LATER]["all"]
    unread = found["samples"][POINTED[1]]["all"]
    not_real = {INVENTED, INVENTED_LATER, *POINTED}
    last = [row["all"] for name, row in found["samples"].items() if name not in not_real][-1]
    verdict = "met" if last["share"] <= TARGET else "missed"
    made = found["cases"]
    return [
        *lines,
        "",
        f"Target ≤ {100 * TARGET:.1f} % of unread edits: {verdict} ({100 * last['share']:.1f} % in the last "
        f"sample of real texts, {100 * invented['share']:.1f} % in whole articles by others, "
        f"{100 * later['share']:.1f} % in later ones, {100 * unread['share']:.1f} % where every kind "
        "of pointer stands close together). "
        f"Without a mark: {found['now']['unmarked']}. Of {made['all']} generated cases in "
        f"{made['languages']} languages {made['broken_before']} came out broken before the repairs, "
        f"{made['broken']} do now; of {CASES_FIRST_MET['cases']} that were written after the first repairs, "
        f"{CASES_FIRST_MET['broken']} did when they were first run (before the repairs "
        f"{sum(CASES_BROKEN_BEFORE[1:3])}).",
        "",
    ]


def main() -> int:
    """Score the marks, or print what has none."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("what", nargs="?", choices=("score", "unmarked"), default="score")
    options.add_argument("--seed", help="print a sample of 1,000, drawn by this seed")
    given = options.parse_args()
    if given.what == "score":
        print(save("edits", result()))
        return 0
    marks = json.loads(MARKS.read_text("utf-8"))["now"]
    _, unmarked = marked(every_edit(), marks)
    for number, edit in enumerate(sample(unmarked, given.seed) if given.seed else unmarked):
        print(shown(number, edit))
    return 0


if __name__ == "__main__":
    sys.exit(main())
