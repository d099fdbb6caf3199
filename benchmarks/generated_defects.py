"""Retellings of invented vignettes with one planted defect each, 200 of a class, and some without.

A defect changes the facts of a patient, or the retelling, before anybody looks at it: nothing here shares
code with the checks (curation/fidelity). Quotes and passages of other patients come with clean ones as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from benchmarks.generated_vignettes import (
    TELLINGS,
    Pair,
    Synonyms,
    clean,
    drawn,
    facts,
    options,
    original,
    retold,
)

ANSWER, SIDE, NEGATION, NUMBER, QUOTE, PATIENT = CLASSES = (
    "answer leak",
    "swapped laterality",
    "lost negation",
    "changed number",
    "quote that is not there",
    "patient narrating itself",
)
_LEAKS = (
    "{text} The findings point to {name}.",
    "{text} A colleague mentioned {name}.",
    "In view of possible {name}, advice is sought. {text}",
    "{text} There is no doubt about {name}.",
    "{text} (Answer: {name})",
)
_OTHER = {"left": "right", "right": "left"}


def answer_leaks(count: int, answers: Sequence[str], names: Synonyms, synonyms: Synonyms) -> Iterator[Pair]:
    """Retellings that say the answer: by its name, another name, other letters, or its words apart.

    Args:
        count: how many.
        answers: names of diseases.
        names: their other names.
        synonyms: those of symptoms.
    """
    for number in range(count):
        pair = clean(number, answers, synonyms)
        answer = pair.facts.answer
        known = [answer, *names.get(answer, ())]
        said = known[drawn("leak name", number) % len(known)]
        manner, words = drawn("leak manner", number) % 4, answer.split()
        if manner == 1:
            said = said.upper()
        elif manner == 2 and len(words) == 2:
            said = f"a {words[1]} of the {words[0]} kind"
        elif manner == 3:
            said = said.replace(" ", "  ", 1).replace("-", " ")
        text = _LEAKS[drawn("leak", number) % len(_LEAKS)].format(text=pair.made, name=said)
        yield replace(pair, group=ANSWER, made=text, planted=said)


def swapped_sides(count: int, answers: Sequence[str], synonyms: Synonyms) -> Iterator[Pair]:
    """Retellings in which one part of the body, or both, changed sides."""
    for number in range(count):
        told = facts(number, answers)
        which = drawn("swap", number) % 3
        changed = replace(told, side=_OTHER[told.side]) if which != 1 else told
        if which != 0:
            changed = replace(changed, other_side=_OTHER[told.other_side])
        made = retold(changed, synonyms, number)
        planted = told.part if which != 1 else told.other_part
        yield Pair(SIDE, told, original(told), made, options(told, answers), planted)


def lost_negations(count: int, answers: Sequence[str], synonyms: Synonyms) -> Iterator[Pair]:
    """Retellings that affirm what the vignette denies."""
    for number in range(count):
        told = facts(number, answers)
        which = drawn("negation", number) % 4
        if which == 3:
            planted, changed = "smoke", replace(told, smokes=True)
        else:
            planted = told.lacks[which]
            left = tuple(item for item in told.lacks if item != planted)
            changed = replace(told, has=(*told.has, planted), lacks=left)
        made = retold(changed, synonyms, number)
        yield Pair(NEGATION, told, original(told), made, options(told, answers), planted)


def changed_numbers(count: int, answers: Sequence[str], synonyms: Synonyms) -> Iterator[Pair]:
    """Retellings with one value changed, exchanged with another, or given in another unit."""
    for number in range(count):
        told = facts(number, answers)
        changes = (
            replace(told, age=told.age + 1 + drawn("by", number) % 9),
            replace(told, duration=told.duration + 1),
            replace(told, dose=told.dose * 10),
            replace(told, temperature=_shifted(told.temperature, number)),
            replace(told, pulse=_turned_round(told.pulse)),
            replace(told, systolic=told.systolic + 10),
            replace(told, haemoglobin=_shifted(told.haemoglobin, number)),
            replace(told, sodium=told.protein, protein=told.sodium),
            replace(told, systolic=told.diastolic, diastolic=told.systolic),
            replace(told, since=told.since + 1),
            replace(told, unit={"day": "week", "week": "month", "month": "week"}[told.unit]),
        )
        changed = changes[drawn("number", number) % len(changes)]
        made = retold(changed, synonyms, number)
        yield Pair(NUMBER, told, original(told), made, options(told, answers))


def _shifted(value: str, number: int) -> str:
    tenths = round(float(value) * 10) + 1 + drawn("shift", number) % 7
    return f"{tenths // 10}.{tenths % 10}"


def _turned_round(value: int) -> int:
    turned = int(str(value)[::-1])
    return turned if turned != value else value + 3


@dataclass(frozen=True, slots=True)
class Quoted:
    """A text and words that are said to stand in it."""

    group: str
    text: str
    quote: str


def quotes(count: int, answers: Sequence[str], *, is_clean: bool) -> Iterator[Quoted]:
    """Quotes that stand in a vignette, or nearly: a word changed, left out or turned, two places joined."""
    for number in range(count):
        told = facts(number, answers)
        text = original(told)
        sentences = text.split(". ")
        at = drawn("quoted", number) % (len(sentences) - 1)
        words = sentences[at].split()
        first = drawn("from", number) % max(1, len(words) - 6)
        part = words[first : first + 6]
        if is_clean:
            yield Quoted("", text, _printed(" ".join(part), number))
            continue
        manner = drawn("misquoted", number) % 5
        if manner == 0:
            part[len(part) // 2] = "allegedly"
        elif manner == 1:
            del part[len(part) // 2]
        elif manner == 2:
            part[1], part[2] = part[2], part[1] + "x" * (part[1] == part[2])
        elif manner == 3:
            part = [*part[:3], *sentences[at + 1].split()[-3:]]
        else:
            part = TELLINGS[0](replace(told, age=told.age + 1), str).split()[2:10]
        yield Quoted(QUOTE, text, " ".join(part))


def _printed(quote: str, number: int) -> str:
    """The quote as models print it: as it is, with other spacing, or with a full stop of their own."""
    return (quote, f" {quote} ", quote.replace(" ", "\n", 1), quote)[drawn("printed", number) % 4]


@dataclass(frozen=True, slots=True)
class Passage:
    """A query and a passage that tells of its patient, of another one, or of the disease."""

    group: str
    query: str
    passage: str


_AROUND = (
    "We describe the case. {}",
    "{} The outcome was good, and the literature holds few such reports.",
    "In our department we saw the following. {} We discuss the choice of treatment below.",
)
_OF_DISEASE = (
    "{0} is seen in adults of any age. Typical signs are {1} and {2}, and in about {3} % of patients "
    "{4} is found. Most patients recover within {5} weeks of treatment.",
    "In a series of {3} patients with {0}, {1} was the first sign in half of them, while {2} and {4} came "
    "later. A man of {5} years was the youngest.",
    "Treatment of {0} rests on rest, {1} being treated as it comes; {2} mg were given in one study, and "
    "{4} was seen in {3} of them.",
)


def passages(count: int, answers: Sequence[str], synonyms: Synonyms, *, is_clean: bool) -> Iterator[Passage]:
    """Passages that tell the query's own patient again, in part or whole, or somebody else's story."""
    for number in range(count):
        told = facts(number, answers)
        around = _AROUND[drawn("around", number) % len(_AROUND)]
        if is_clean and number % 2:
            text = _OF_DISEASE[drawn("of disease", number) % len(_OF_DISEASE)]
            passage = text.format(told.answer, told.has[0], told.has[1], told.dose, told.lacks[0], told.age)
        elif is_clean:  # another patient with the same complaint, disease and drug
            other = facts(number + 100_000, answers)
            alike = replace(other, complaint=told.complaint, part=told.part, has=told.has, sex=told.sex)
            passage = around.format(retold(replace(alike, drug=told.drug), synonyms, number))
        else:
            whole = retold(told, synonyms, number + 1) if number % 3 else original(told)
            sentences = whole.split(". ")
            kept = ". ".join(sentences[: len(sentences) - drawn("cut", number) % 2])
            passage = around.format(kept)
        yield Passage("" if is_clean else PATIENT, original(told), passage)
