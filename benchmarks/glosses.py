"""Names that the vocabulary has in English only, found in texts of other languages word by word.

HPO's translations are halved by a hash of the concept: from four fifths the meanings of words are learned
(IBM Model 1 over the words of a translation and those of each English name of its concept), the last fifth is
looked for in an index of English names alone. Right: the whole name is read as its concept, or as one that
shares an English name with it.

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
HEARD = 0.25
"""Share of the sentences a word stands in whose English ones say what it means, below which it mostly means
something else."""
ROUNDS = 6
_LONGEST, _MOST_NAMES = 8, 3
_HEAD = """\
# Written by `python -m benchmarks.glosses --fit` from HPO's translations; not to be edited.
# A word, and the English ones it means, the likeliest first. ? behind the first: it is unsure.
"""
Names = Mapping[str, Mapping[str, Sequence[str]]]
"""Language -> concept -> names, the label first."""
Pair = tuple[tuple[str, ...], tuple[str, ...]]


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
    learned_from = {concept: those for concept, those in names[language].items() if is_learned_from(concept)}
    parts: Mapping[str, tuple[str, str]] = {}
    if language in COMPOUNDING:
        parts = compounds({word for those in learned_from.values() for name in those for word in _content(name, language)})
    for concept, those in learned_from.items():
        for name in those:
            words = _content(name, language)
            for other in names["en"].get(concept, ())[:_MOST_NAMES]:
                keys = tuple(key for key in map(english.key_form, split(other)[1::2]) if key)
                for said in dict.fromkeys((words, tuple(part for word in words for part in parts.get(word, (word,))))):
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


def learned(names: Names, path: Path) -> str:
    """The text of glosses.toml.

    Args:
        names: of HPO.
        path: Parquet of all names, whose English words are those a cognate may be.
    """
    english = language_of("en")
    written: dict[str, Counter[str]] = defaultdict(Counter)
    alike: dict[str, set[str]] = defaultdict(set)
    sentences = sentences_of(SHARED / "vocab" / "tico-19")
    for item in read_names(path):
        if item.language == "en" and not item.is_suppressed:
            for word in split(item.name)[1::2]:
                if word.isalpha() and word.isascii():
                    written[english.key_form(word)][word.lower()] += 1
    for key, forms in written.items():
        for form in forms:
            alike[cognate(form)].add(key)
    lines = [_HEAD]
    for language in sorted(LANGUAGES):
        pairs = list(pairs_of(names, language))
        count = Counter(word for words, _ in pairs for word in set(words))
        beside = _beside(sentences[language])
        spelt = _spelt(names, language)
        everyday = aligned([(words, tuple(map(english.key_form, forms))) for words, forms in sentences[language]])
        means = aligned(pairs)
        lines.append(f"{language} = '''")
        for word in sorted(means.keys() | everyday.keys()):
            likes = alike.get(cognate(word), set()) if cognate(word) else set()
            heard = beside.get(word, ())
            kept = sorted(
                (-share, key)
                for key, share in means.get(word, {}).items()
                if share >= LEAST and key in written and count[word] >= FEWEST
            )
            if not word.isalpha():
                continue
            if kept and -kept[0][0] < LEAST_FIRST:
                kept = []
            is_heard = len(heard) >= FEWEST_HEARD
            if is_heard:
                kept = [one for one in kept if _heard(heard, {one[1]}) >= HEARD] or kept
            said_share = _heard(heard, {key for _, key in kept} or likes) if is_heard else 1.0
            is_other, is_never = said_share < HEARD, said_share < 0.05 and len(heard) >= MANY_HEARD
            told = sorted(
                (-share, key)
                for key, share in everyday.get(word, {}).items()
                if share >= LEAST and key in written and _heard(heard, {key}) >= SURE
            ) if is_other and (likes or kept) else []
            if told:
                if is_never:
                    kept = []
                own = Counter(form for sentence in heard for form in sentence if english.key_form(form) == told[0][1])
                said = [max(own, key=lambda form: (own[form], form)), *(_likeliest(key, spelt[word], written) for _, key in kept)]
                said[0] += "" if -told[0][0] >= SURE else "!"
            elif kept and not is_never:
                if -kept[0][0] >= SURE and kept[0][1] in likes:
                    continue  # known without being said
                said = [_likeliest(key, spelt[word], written) for _, key in kept]
                said[0] += "" if -kept[0][0] >= SURE and not is_other else "?"
            elif is_other and likes:
                said = ["!"]
            else:
                continue
            lines.append(" ".join([word, *said]))
        lines.append("'''")
    return "\n".join(lines) + "\n"


def sentences_of(folder: Path) -> dict[str, list[Pair]]:
    """Words of each sentence of TICO-19, with the key forms of its English one, by language."""
    english = language_of("en")
    found: dict[str, list[Pair]] = {language: [] for language in LANGUAGES}
    for path in sorted(folder.glob("all.en-*.tmx")):
        language = path.name.partition("-")[2][:2]
        if language not in LANGUAGES:
            continue
        for unit in etree.parse(str(path)).getroot().iter("tu"):
            first, second = ("".join(item.itertext()) for item in unit.iter("tuv"))
            forms = tuple(form.lower() for form in split(first)[1::2] if english.key_form(form))
            words = _content(second, language)
            if forms and words:
                found[language].append((words, forms))
    return found


def _beside(pairs: Sequence[Pair]) -> dict[str, list[tuple[str, ...]]]:
    """The English sentences of those that a word stands in."""
    found: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    for words, keys in pairs:
        for word in set(words):
            found[word].append(keys)
    return found


def _heard(sentences: Sequence[tuple[str, ...]], meanings: Collection[str]) -> float:
    """The share of English sentences that say one of some key forms, or what is made of one ("headache")."""
    english, begun = language_of("en"), tuple(key for key in meanings if len(key) > 3)
    count = 0
    for forms in sentences:
        keys = map(english.key_form, forms)
        count += any(key in meanings or key.startswith(begun) for key in keys)
    return count / len(sentences)


def _likeliest(key: str, own: Mapping[str, Counter[str]], every: Mapping[str, Counter[str]]) -> str:
    """How a key form is written, by what stands beside a word and in all names."""
    return min(own[key] or every[key], key=lambda form: (-own[key][form], -every[key][form], form))


def _spelt(names: Names, language: str) -> dict[str, dict[str, Counter[str]]]:
    """How each key form is written in English names beside a word."""
    english = language_of("en")
    found: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    for concept, those in names[language].items():
        if is_learned_from(concept):
            forms = [part for other in names["en"].get(concept, ())[:_MOST_NAMES] for part in split(other)[1::2]]
            for word in {word for name in those for word in _content(name, language)}:
                for form in forms:
                    if form.isalpha() and form.isascii():
                        found[word][english.key_form(form)][form.lower()] += 1
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
        DATA.write_text(learned(names, path), encoding="utf-8", newline="\n")
    types = from_table(ConceptType, pq.read_table(held.table("types")))
    found = measured(names, path, types)
    save("glosses", {"languages": found})


if __name__ == "__main__":
    main()
