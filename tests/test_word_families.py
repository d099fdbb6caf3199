"""Word families counted in names: what is kept, and what two concepts tell apart."""

from __future__ import annotations

import tomllib

from curation.concepts.normalise import language_of
from scripts import word_families as families


def bags(names: dict[str, set[str]], form: str) -> families.Bags:
    return families.bags(names, language_of("en"), lambda word: str(getattr(word, form)))


def test_words_of_one_stem_are_kept_where_names_agree_and_none_differ() -> None:
    sites = ("stalk", "tumor", "cyst", "ridge")
    names = {f"T:{place}": {f"Fimbral {site}", f"Fimbrus {site}"} for place, site in enumerate(sites)}
    names |= {f"T:1{place}": {f"Velal {site}"} for place, site in enumerate(sites)}
    names |= {f"T:2{place}": {f"Velus {site}"} for place, site in enumerate(sites)}
    found = families.derived(bags(names, "inflection"), language_of("en"))
    assert ("fimbral", "fimbrus") in found
    assert ("velal", "velus") not in found


def test_words_of_two_stems_need_many_contexts_that_differ() -> None:
    words = [
        f"{first}{last}" for first in ("kal", "mor", "tep", "ziv") for last in ("an", "ep", "it", "ox", "ur")
    ]
    names = {f"T:{place}": {f"Brusk {word}", f"Plint {word}"} for place, word in enumerate(words)}
    names |= {
        f"T:9{place}": {f"Gorl {word} kedge", f"Drent {word} kedge"} for place, word in enumerate(words)
    }
    names |= {f"T:8{place}": {f"Brusk {word} toe"} for place, word in enumerate(words)}
    found = families.alike(bags(names, "key"))
    assert ["brusk", "plint"] in found
    assert not any("gorl" in group for group in found)  # all beside one word
    names |= {f"T:7{place}": {f"Plint {word} toe"} for place, word in enumerate(words)}
    assert not families.alike(bags(names, "key"))  # now as many tell the two apart


def test_a_word_that_may_be_left_out_is_no_synonym_of_what_stays() -> None:
    assert families.optional({"T:1": frozenset({("asthma",), ("asthma", "disease")})})["disease"] == 1.0


def test_the_committed_file_is_one_the_script_writes() -> None:
    text = families.DESTINATION.read_text("utf-8")
    tables = {
        name: {head: words.split() for head, words in rows.items()}
        for name, rows in tomllib.loads(text).items()
    }
    assert families.text_of(tables) == text
    words = [word for table in ("spellings", "near") for row in tables[table].values() for word in row]
    assert len(words) == len(set(words))
