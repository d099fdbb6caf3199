"""Country of an article: that of its corresponding author's affiliation, else of its first author's."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from curation.labels.lexicon import Entry, Hit, Lexicon
from curation.labels.taxonomy import phrases, read_data
from curation.labels.votes import undecided
from schemas.article import Affiliation
from schemas.errors import MedqrelsError
from schemas.label import Label, LabelEvidence

_CODE = re.compile(r"[A-Z]{2}")
_TAIL = 60
_MAIL = re.compile(r"(?<![\w-])(A|B|CH|D|DK|E|F|FIN|I|L|N|NL|PL|S)-(?=\d{4,5}\b)")
"""Country letters before a post code, as European post writes them."""
_MAIL_CODES = dict(A="AT", B="BE", D="DE", E="ES", F="FR", FIN="FI", I="IT", L="LU", N="NO", S="SE")
_ZIP = r"\b({codes})\.?,? +\d{{5}}(?:-\d{{4}})?\b"


@dataclass(frozen=True, slots=True)
class Countries:
    """Names of countries and their WHO regions."""

    who: Mapping[str, str]
    names: Lexicon
    states: Lexicon
    zip_code: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Found:
    """A country read in an affiliation."""

    code: str
    rule: str
    text: str
    sure: float


@functools.lru_cache(maxsize=1)
def countries() -> Countries:
    """The countries of countries.toml.

    Raises:
        MedqrelsError: a code twice, an unknown region, or one name for two countries.
    """
    return parse(read_data("countries.toml"))


def parse(data: Mapping[str, Any]) -> Countries:
    """Countries out of what the TOML file says; raises as `countries`."""
    who: dict[str, str] = {}
    names: dict[str, str] = {}
    for region, rows in data["names"].items():
        if region not in data["regions"] and region != "none":
            raise MedqrelsError(f"countries: {region} is none of the regions")
        for code, stated in rows.items():
            if not _CODE.fullmatch(code) or code in who:
                raise MedqrelsError(f"countries: code {code!r} is malformed or declared twice")
            who[code] = "" if region == "none" else region
            for name in phrases(stated):
                if names.setdefault(name, code) != code:
                    raise MedqrelsError(f"countries: {name!r} names {names[name]} and {code}")
    states = [Entry(code, "strong", name) for code, text in data["states"].items() for name in phrases(text)]
    if unknown := sorted({entry.label for entry in states} - set(who)):
        raise MedqrelsError(f"countries: states of {unknown[0]}, which is not listed")
    return Countries(
        who=who,
        names=Lexicon(Entry(code, "strong", name) for name, code in names.items()),
        states=Lexicon(states),
        zip_code=re.compile(_ZIP.format(codes="|".join(phrases(data["post_codes"]["US"])))),
    )


def read(affiliation: Affiliation) -> Found | None:
    """The country of one affiliation: by code, country element, text, post code, state; None if by none."""
    known = countries()
    code = affiliation.country_code.strip().upper()
    if code in known.who:
        return Found(code, "country.code", code, 1.0)
    if found := _last(known.names, affiliation.country):
        return Found(found.entries[0].label, "country.element", affiliation.country, 1.0)
    return _in_text(known, affiliation.text)


def _last(lexicon: Lexicon, text: str) -> Hit | None:
    hits = lexicon.find(text)
    return hits[-1] if hits else None


def _in_text(known: Countries, text: str) -> Found | None:
    """The last country named; `University of Georgia, Athens, GA 30602` is told by its post code."""
    state = _last(known.states, text)
    zips = list(known.zip_code.finditer(text))
    named = [
        hit
        for hit in known.names.find(text)
        if not (state and state.start <= hit.start < state.end)  # New Mexico
    ]
    shown = text[-_TAIL:].strip()
    if named and not (zips and zips[-1].start() > named[-1].start):
        at_end = not any(letter.isalpha() for letter in text[named[-1].end :])
        return Found(
            named[-1].entries[0].label,
            "country.name_at_end" if at_end else "country.name_inside",
            named[-1].text if at_end else shown,
            0.95 if at_end else 0.7,
        )
    if zips:
        return Found("US", "country.post_code", zips[-1].group(), 0.9)
    if mail := _MAIL.search(text):
        code = _MAIL_CODES.get(mail.group(1), mail.group(1))
        return Found(code, "country.mail_code", text[mail.start() : mail.end() + 5], 0.8)
    if state:
        at_end = not any(letter.isalpha() for letter in text[state.end :])
        return Found(state.entries[0].label, "country.state", state.text, 0.8 if at_end else 0.6)
    return None


def labels(record: str, affiliations: Sequence[Affiliation]) -> Iterator[Label]:
    """Country of the corresponding author, then the first author's where it is another."""
    if not affiliations:
        yield undecided(record, record, "country", "no_affiliation")
        return
    found: dict[str, tuple[Found, str]] = {}
    for whose in ("corresponding", "first", "article"):
        for item in affiliations:
            if item.author == whose and (one := read(item)):
                found.setdefault(one.code, (one, whose))
                break
        if found and whose == "first":
            break  # affiliations of nobody in particular count only where no author's tells
    if not found:
        near = [
            LabelEvidence(rule="country.none", place="affiliation", text=item.text[-_TAIL:], points=0.0)
            for item in affiliations[:2]
        ]
        yield undecided(record, record, "country", "no_country", near)
        return
    for rank, (one, whose) in enumerate(found.values(), start=1):
        evidence = LabelEvidence(
            rule=f"{one.rule}.{whose}", place="affiliation", text=one.text, points=one.sure
        )
        yield Label(
            id=record,
            article_id=record,
            facet="country",
            rank=rank,
            value=one.code,
            parent=countries().who[one.code],
            confidence=one.sure,
            evidence=(evidence,),
        )
