"""English words: spelling and inflection folded, so that different writings of one word become equal.

Snowball's English stemmer also strips derivation ("hepatitis" and "hepatic" both give "hepat"), which merges
different findings; here only spelling, number and participles are folded. Forms need not be words.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

_DATA = tomllib.loads((Path(__file__).parent / "data" / "english.toml").read_text("utf-8"))
_IRREGULAR: dict[str, str] = dict(pair.split("=") for pair in _DATA["irregular"].split())
_PLURALS: list[tuple[str, str]] = [tuple(pair.split("=")) for pair in _DATA["plurals"].split()]
_BRITISH = (
    (re.compile(r"ae(?!$|s$)"), "e"),
    (re.compile(r"oe(?!$|s$)"), "e"),
    (re.compile(r"our(?=$|s$|ed$|ing$|al|less)"), "or"),
    (re.compile(r"sulph"), "sulf"),
    (re.compile(r"leuc(?=[ao])"), "leuk"),
    (re.compile(r"([iy])s(?=e$|ed$|ing$|ation|ers?$)|(?<=i)(?<!iti)s(?=es$)"), r"\1z"),
    (re.compile(r"tre(?=$|s$|d$)"), "ter"),
    (re.compile(r"bre(?=$|s$)"), "ber"),
)
_VOWEL = re.compile(r"[aeiouy]")
_DOUBLED = re.compile(r"([bdfgklmnprt])\1$")


def fold_english(word: str) -> str:
    """One form for the spellings and numbers of a lower-case word without accents.

    >>> [fold_english(word) for word in ("tumours", "naevi", "metastases", "vertebrae", "oedema")]
    ['tumor', 'nevus', 'metastasis', 'vertebra', 'edema']
    """
    if len(word) < 4:
        return word
    known = _IRREGULAR.get(word)
    if known is not None:
        return known
    if len(word) > 4 and _may_be_british(word):
        for pattern, american in _BRITISH:
            word = pattern.sub(american, word)
    return _singular(word)


def _may_be_british(word: str) -> bool:
    return (
        ("e" in word and ("ae" in word or "oe" in word or "leuc" in word or "tre" in word or "bre" in word))
        or (
            "s" in word
            and ("ise" in word or "isi" in word or "isa" in word or "yse" in word or "ysi" in word)
        )
        or ("u" in word and ("our" in word or "ulph" in word))
    )


def _singular(word: str) -> str:
    last = word[-1]
    if last == "s":
        return _without_s(word)
    if last == "i" and len(word) > 3 and word[-2] not in "aou":
        return word[:-1] + "us"
    if last == "m" and word.endswith("um") and len(word) > 5:
        return word[:-2] + "a"
    if last == "e" and word.endswith("ae") and len(word) > 5:
        return word[:-1]
    return word[:-2] if last == "a" and word.endswith("mata") else word


def _without_s(word: str) -> str:
    if word.endswith(("ss", "us", "is")):
        return word[:-1] if len(word) > 6 and word.endswith(("iss", "uss")) else word
    for ending, singular in _PLURALS:
        if word.endswith(ending) and len(word) > len(ending) + 1:
            return word[: -len(ending)] + singular
    return word[:-1]


def participle_root(word: str) -> str:
    """A folded word without -ing and -ed.

    >>> participle_root("fused"), participle_root("slanting"), participle_root("bleed")
    ('fus', 'slant', 'bleed')
    """
    for ending in ("ing", "ed"):
        if word.endswith(ending) and len(word) > 4 and not word.endswith(("eed", "thing")):
            stem = word[: -len(ending)]
            if len(stem) > 2 and _VOWEL.search(stem):
                return stem[:-1] + "y" if stem.endswith("i") else _DOUBLED.sub(r"\1", stem)
    return word
