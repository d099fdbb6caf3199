"""Names that the vocabulary has in English only, found in texts of other languages word by word.

HPO's translations are parted by a hash of the concept: from four fifths the meanings of words are learned
(IBM Model 1 over the words of a translation and those of each English name of its concept; German compounds
whole and parted), the last fifth is looked for in an index of English names alone. Right: the whole name is
read as its concept, or as one that shares an English name with it. What words mean in general texts is heard
in the sentences of TICO-19 (Spanish, French, Portuguese): a meaning or cognate that the English sentences
seldom say is doubted, and what they say instead is learned.

    python -m benchmarks.glosses WORKSPACE [--fit]     with HPO, MONDO, MeSH and HPO's translations
"""

from __future__ import annotations

import hashlib
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from lxml import etree

from annotation.agreement.precision import wilson
from benchmarks.measure import SHARED, read_result, save
from curation.concepts.cognates import LANGUAGES, cognate
from curation.concepts.glosses import COMPOUNDING, splits_of
from curation.concepts.index import build_index, read_names
from curation.concepts.native import open_index
from curation.concepts.normalise import fold, language_of
from curation.concepts.scripts import split
from flows.engine.workspace import open_workspace
from flows.vocabulary.store import current
from schemas.record import from_table
from schemas.vocabulary import ConceptName, ConceptType

DATA = Path("curation/concepts/data/glosses.toml")
LEARNED_FROM = "HPO"
PARTS = 5
FEWEST = 3
"""Pairs of names that a word stands in, at least."""
LEAST, LEAST_FIRST, SURE = 0.3, 0.4, 0.5
"""Shares from which a meaning is kept, a word has any, and the likeliest one is sure."""
FEWEST_HEARD, MANY_HEARD = 4, 30
"""Sentences that a word stands in, from which they tell what it means, and from which they deny a meaning."""
HEARD, NEVER = 0.25, 0.05
"""Shares of their English ones that say a meaning, below which it is doubted, and denied."""
ROUNDS = 6
_LONGEST, _MOST_NAMES, _SHORTEST_BEGUN = 8, 3, 3
_HEAD = """\
# Written by `python -m benchmarks.glosses --fit` from HPO's translations and TICO-19; not to be edited.
# A word, and the English ones it means, the likeliest first. ? behind the first: it is unsure; ! or ! alone:
# it is, and so is every cognate.
"""
Names = Mapping[str, Mapping[str, Sequence[str]]]
"""Language -> concept -> names, the label first."""
Pair = tuple[tuple[str, ...], tuple[str, ...]]
Spelt = Mapping[str, Counter[str]]
"""Key form -> how often it is written how."""


def is_learned_from(concept: str) -> bool:
    """Whether the translations of a concept are read to learn; those of a fifth are not."""
    return int(hashlib.sha256(concept.encode()).hexdigest(), 16) % PARTS != 0


def names_of(path: Path) -> dict[str, dict[str, list[str]]]:
    """Names of HPO in every language."""
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    columns = ["concept", "name", "language", "source", "is_preferred", "is_suppressed"]
    rows = [row for row in pq.read_table(path, columns=columns).to_pylist() if not row["is_suppressed"]]
    for row in sorted(rows, key=lambda row: (row["concept"], not row["is_preferred"], row["name"])):
        if row["source"].partition("_")[0] == LEARNED_FROM:
            found[row["language"]][row["concept"]].append(row["name"])
    return found


def _content(name: str, language: str) -> tuple[str, ...]:
    rules = language_of(language)
    return tuple(word for word in map(fold, split(name)[1::2]) if word not in rules.stop)


def pairs_of(names: Names, language: str) -> Iterator[Pair]:
    """Words of each translation that is learned from, with the key forms of each English name."""
    english = language_of("en")
    taught = [
        (concept, _content(name, language))
        for concept, those in names[language].items()
        if is_learned_from(concept)
        for name in those
    ]
    known = {word for _, words in taught for word in words}
    parts = compounds(known) if language in COMPOUNDING else {}
    for concept, words in taught:
        parted = tuple(part for word in words for part in parts.get(word, (word,)))
        for other in names["en"].get(concept, ())[:_MOST_NAMES]:
            keys = tuple(key for key in map(english.key_form, split(other)[1::2]) if key)
            for said in dict.fromkeys((words, parted)):
                if said and keys and len(said) <= _LONGEST and abs(len(said) - len(keys)) <= 1:
                    yield said, keys


def compounds(words: Collection[str]) -> dict[str, tuple[str, str]]:
    """The two parts of words that have any: the last is a word, both are parts of the most others.

    The geometric mean of how often parts occur decides, after Koehn and Knight (2003), "Empirical methods for
    compound splitting".
    """
    splits = {word: [split for split in splits_of(word) if split[1] in words] for word in words}
    firsts = Counter(first for some in splits.values() for first in {first for first, _ in some})
    lasts = Counter(last for some in splits.values() for last in {last for _, last in some})
    return {
        word: max(some, key=lambda split: (firsts[split[0]] * lasts[split[1]], len(split[0]), split))
        for word, some in splits.items()
        if some and max(firsts[first] for first, _ in some) > 1
    }


def aligned(pairs: Sequence[Pair]) -> dict[str, dict[str, float]]:
    """What each word means: English key forms with their shares, by IBM Model 1 without the empty word."""
    means: dict[str, dict[str, float]] = defaultdict(dict)
    for words, keys in pairs:
        for word in words:
            means[word].update(dict.fromkeys(keys, 1.0))
    for _ in range(ROUNDS):
        counts: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
        for words, keys in pairs:
            for key in keys:
                total = sum(means[word].get(key, 0.0) for word in words)
                for word in words:
                    counts[word][key] += means[word].get(key, 0.0) / total
        for word, some in counts.items():
            total = sum(some.values())
            means[word] = {key: count / total for key, count in some.items()}
    return means


def learned(names: Names, path: Path, sentences: Mapping[str, Sequence[Pair]]) -> str:
    """The text of glosses.toml.

    Args:
        names: of HPO.
        path: Parquet of all names, whose English words are those a cognate may be.
        sentences: of each language, with their English ones.
    """
    english = language_of("en")
    written: dict[str, Counter[str]] = defaultdict(Counter)
    alike: dict[str, set[str]] = defaultdict(set)
    for item in _english(path):
        if not item.is_suppressed:
            for word in split(item.name)[1::2]:
                if word.isalpha() and word.isascii():
                    written[english.key_form(word)][word.lower()] += 1
    for key, forms in written.items():
        for form in forms:
            alike[cognate(form)].add(key)
    alike.pop("", None)
    lines = [_HEAD]
    for language in sorted(LANGUAGES):
        pairs = list(pairs_of(names, language))
        count = Counter(word for words, _ in pairs for word in set(words))
        texts = sentences.get(language, ())
        beside, spelt = _beside(texts), _beside_names(names, language)
        everyday = aligned([(words, tuple(map(english.key_form, forms))) for words, forms in texts])
        means = aligned(pairs)
        lines.append(f"{language} = '''")
        for word in sorted(filter(str.isalpha, means.keys() | everyday.keys())):
            named = _shares(means.get(word, {}), written) if count[word] >= FEWEST else []
            told = _shares(everyday.get(word, {}), written)
            if named and named[0][0] < LEAST_FIRST:
                named = []
            said = _said(named, told, alike.get(cognate(word), set()), beside[word], (spelt[word], written))
            if said:
                lines.append(" ".join([word, *said]))
        lines.append("'''")
    return "\n".join(lines) + "\n"


def _shares(means: Mapping[str, float], written: Collection[str]) -> list[tuple[float, str]]:
    """Meanings that names have and that are likely enough, the likeliest first."""
    kept = [(share, key) for key, share in means.items() if share >= LEAST and key in written]
    return sorted(kept, key=lambda one: (-one[0], one[1]))


def _said(
    named: list[tuple[float, str]],
    told: list[tuple[float, str]],
    likes: Collection[str],
    heard: Sequence[tuple[str, ...]],
    spelt: tuple[Spelt, Spelt],
) -> list[str]:
    """What glosses.toml says of a word; nothing where its cognates say enough.

    Args:
        named: what it means in names, with shares.
        told: what it means in sentences.
        likes: key forms of its cognates.
        heard: the English sentences of those it stands in.
        spelt: how key forms are written in names beside the word, and in all.
    """
    share = 1.0
    if len(heard) >= FEWEST_HEARD:
        named = [one for one in named if _heard(heard, {one[1]}) >= HEARD] or named
        share = _heard(heard, {key for _, key in named} or likes)
    if share < NEVER and len(heard) >= MANY_HEARD:
        named = []
    means = [_spelling(key, *spelt) for _, key in named]
    if share < HEARD and (named or likes):
        told = [one for one in told if _heard(heard, {one[1]}) >= SURE]
        if told:
            means.insert(0, _spelling(told[0][1], _spelt(heard), {}))
            return [means[0] + ("" if told[0][0] >= SURE else "!"), *means[1:]]
        return [means[0] + "?", *means[1:]] if means else ["!"] if likes else []
    if not named or (named[0][0] >= SURE and named[0][1] in likes):
        return []
    return [means[0] + ("" if named[0][0] >= SURE else "?"), *means[1:]]


def _heard(sentences: Sequence[tuple[str, ...]], keys: Collection[str]) -> float:
    """The share of English sentences that say one of some key forms, or what is made of one ("headache")."""
    english, begun = language_of("en"), tuple(key for key in keys if len(key) > _SHORTEST_BEGUN)
    found = sum(
        any(key in keys or key.startswith(begun) for key in map(english.key_form, forms))
        for forms in sentences
    )
    return found / len(sentences)


def _spelling(key: str, own: Spelt, every: Spelt) -> str:
    """How a key form is written most, by what stands beside a word or else in all names."""
    some, others = own.get(key, Counter()), every.get(key, Counter())
    return min(some or others, key=lambda form: (-some[form], -others[form], form))


def _spelt(sentences: Iterable[Iterable[str]]) -> Spelt:
    english = language_of("en")
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for forms in sentences:
        for form in forms:
            if form.isalpha() and form.isascii():
                found[english.key_form(form)][form] += 1
    return found


def _beside_names(names: Names, language: str) -> Mapping[str, Spelt]:
    """How each key form is written in English names beside a word that is learned from."""
    beside: dict[str, list[list[str]]] = defaultdict(list)
    for concept, those in names[language].items():
        if is_learned_from(concept):
            english = [
                [form.lower() for form in split(other)[1::2]]
                for other in names["en"].get(concept, ())[:_MOST_NAMES]
            ]
            for word in {word for name in those for word in _content(name, language)}:
                beside[word] += english
    return defaultdict(dict, {word: _spelt(some) for word, some in beside.items()})


def _beside(pairs: Iterable[Pair]) -> Mapping[str, list[tuple[str, ...]]]:
    """The English sentences of those that a word stands in."""
    found: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    for words, forms in pairs:
        for word in set(words):
            found[word].append(forms)
    return found


def sentences_of(folder: Path) -> dict[str, list[Pair]]:
    """Words of each sentence of TICO-19, and of its English one, by language."""
    english = language_of("en")
    found: dict[str, list[Pair]] = defaultdict(list)
    for path in sorted(folder.glob("all.en-*.tmx")):
        language = path.name.split("-")[1][:2]
        if language not in LANGUAGES:
            continue
        for unit in etree.parse(str(path)).getroot().iter("tu"):
            first, second = ("".join(map(str, item.itertext())) for item in unit.iter("tuv"))
            forms = tuple(form.lower() for form in split(first)[1::2] if english.key_form(form))
            words = tuple(word for word in _content(second, language) if len(word) > 1)
            if forms and words:
                found[language].append((words, forms))
    return found


def _english(path: Path) -> Iterator[ConceptName]:
    return (item for item in read_names(path) if item.language == "en")


def measured(names: Names, path: Path, types: Iterable[ConceptType]) -> dict[str, Any]:
    """How many translations of the last fifth are found whole, and how many of those are right."""
    english: dict[str, set[str]] = defaultdict(set)
    for item in _english(path):
        english[item.concept].add(item.name.casefold())
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        build_index(_english(path), Path(folder) / "index", types)
        matcher = open_index(Path(folder) / "index")
        for language in sorted(LANGUAGES & names.keys()):
            held = [(c, n[0]) for c, n in sorted(names[language].items()) if not is_learned_from(c)]
            matches = list(matcher.find_many([name for _, name in held], language))
            whole = [
                (concept, match)
                for (concept, name), some in zip(held, matches, strict=True)
                for match in some
                if (match.start, match.end) == (0, len(name))
            ]
            right = sum(c == one.concept or bool(english[c] & english[one.concept]) for c, one in whole)
            found[language] = {"names": len(held), "found": len(whole), "right": right}
            found[language]["as_written"] = sum(one.rule != "gloss" for _, one in whole)
            found[language]["recall"] = [round(v, 3) for v in (right / len(held), *wilson(right, len(held)))]
            found[language]["precision"] = [
                round(v, 3) for v in (right / max(len(whole), 1), *wilson(right, max(len(whole), 1)))
            ]
    return found


def section() -> list[str]:
    """What benchmarks/README.md says of it."""
    lines = [
        "## English names in other languages",
        "",
        "Translations of HPO labels, those of the fifth of its concepts from which no meaning of a word was "
        "learned, in an index that has English names only (HPO, MONDO, MeSH). Found: the whole name is read "
        "as one concept; right: as its own, or one that shares an English name with it; as written: the "
        "English name itself. `python -m benchmarks.glosses WORKSPACE`",
        "",
        "| language | names | found | as written | right | recall | precision |",
        "|---|---:|---:|---:|---:|---|---|",
    ]
    for language, held in sorted(read_result("glosses")["languages"].items()):
        recall, precision = ("{:.3f} ({:.3f}–{:.3f})".format(*held[name]) for name in ("recall", "precision"))
        lines.append(
            f"| {language} | {held['names']:,} | {held['found']:,} | {held['as_written']:,} "
            f"| {held['right']:,} | {recall} | {precision} |"
        )
    return [*lines, ""]


def main() -> None:
    """Learn when asked, measure and save."""
    held = current(open_workspace(Path(sys.argv[1])))
    if held is None:
        raise SystemExit("the workspace has no vocabulary")
    path = held.table("names")
    names = names_of(path)
    if "--fit" in sys.argv:
        text = learned(names, path, sentences_of(SHARED / "vocab" / "tico-19"))
        DATA.write_text(text, encoding="utf-8", newline="\n")
    types = from_table(ConceptType, pq.read_table(held.table("types")))
    found = measured(names, path, types)
    save("glosses", {"languages": found})


if __name__ == "__main__":
    main()
