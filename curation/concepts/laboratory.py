"""Values of laboratories: "raised lactate" names "Increased circulating lactate concentration". English only.

A vocabulary says what was measured, where and in what unit; who writes says what was measured. The index has
a key for each way to say where, and one that says nothing, which stands for blood (:data:`names.BLOOD`):
that is checked in the text, for "raised lactate in the cerebrospinal fluid" is another finding.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from curation.concepts.english import fold_english
from curation.concepts.normalise import Word, language_of
from curation.concepts.predicates import AFTER_NOUNS

CHANGES = frozenset({"increas", "decreas"})
"""Keys of the words that say how a value is changed."""
_MEASURES = frozenset({"concentration", "level"})
_BLOOD = (("circulating",), ("serum",), ("plasma",), ("blood",))
_NOWHERE: tuple[tuple[str, ...], ...] = ((),)
_PLACES = (_BLOOD, (("urine",),), (("csf",), ("cerebrospinal", "fluid"), ("spinal", "fluid")))
"""The words for each place that is measured in."""
_OF_BLOOD = frozenset({"circulating", "circulation", "serum", "sera", "plasma", "blood"})
_SPECIMENS = frozenset(
    fold_english(word)
    for word in {"csf", "fluid", "cerebrospinal", "urine", "urinary", "saliva", "salivary", "sweat", "stool"}
    | {"feces", "fecal", "tissue", "cell", "intracellular", "fibroblast", "leukocyte", "lymphocyte"}
    | {"erythrocyte", "platelet", "biopsy", "culture", "medium", "bile", "effusion", "aspirate"}
    | {"semen", "seminal", "amniotic", "dialysate", "effluent", "diet", "dietary", "milk", "water"}
    | {"brain", "cerebral", "hair", "vitreous", "aqueous", "marrow", "membrane", "tear", "plaque", "drain"}
    | {"ascitic", "ascites", "peritoneal", "pleural", "pericardial", "synovial", "lavage", "sputum", "mucus"}
    | {
        "supernatant",
        "lysate",
        "homogenate",
        "extract",
        "perfusate",
        "buffer",
        "bath",
        "slice",
        "feed",
        "air",
    }
    | {"pituitary", "adrenal", "nigra", "cortex", "hippocampus", "hypothalamus", "placenta", "cord", "node"}
    | {"soil", "food", "mitochondrial", "mitochondria", "cytosol", "cytosolic", "tumor"}
)
_WORD = re.compile(r"[^\W\d_]+")
_CLAUSE = re.compile(r"[.;:,()](?:\s|\Z)|\b(?:but|whereas|while|although)\b")
_RUNS_ON = re.compile(r"[ -](?!(?:and|or)\b)([^\W\d_]+)")
_COMPOUND = re.compile(r"\b(?:high|low|elevated|reduced)-\w", re.IGNORECASE)
_STATE = re.compile(r"(?:\w+ed|high|low|undetectable)\b", re.IGNORECASE)
_CHANGED = re.compile(r"\w+ed\b", re.IGNORECASE)
_LAST_WORD = re.compile(r"([^\W\d_]+) \Z")
_REACH = 90


def ways_of_value(words: Sequence[Word]) -> Iterator[tuple[list[Word], bool]]:
    """Other ways to say a name that says that a value is changed, and whether they say where it is.

    >>> name = language_of("en").words("Increased circulating lactate concentration".split())
    >>> [" ".join(word.key for word in way) for way, is_placed in ways_of_value(name) if not is_placed]
    ['increas lactate', 'increas lactate level', 'increas lactate concentration']
    """
    keys = {word.key for word in words}
    if CHANGES.isdisjoint(keys) or len(keys) < len(words):
        return
    places, said = next(
        ((places, said) for places in _PLACES for place in places if (said := _keys(place)) <= keys),
        (_NOWHERE, set[str]()),
    )
    if not said and _MEASURES.isdisjoint(keys):
        return
    values = [word for word in words if word.key not in said | _MEASURES]
    if len(values) > 1:
        word = language_of("en").word
        may_lack = places is _BLOOD and (said != _keys(("blood",)) or not _MEASURES.isdisjoint(keys))
        for place in [*places, ()] if may_lack else places:
            for measure in ((), ("level",), ("concentration",)):
                yield [*values, *map(word, place), *map(word, measure)], bool(place)
            if "decreas" in keys:
                bare = [word("undetectable") if value.key == "decreas" else value for value in values]
                yield [*bare, *map(word, place)], bool(place)


def _keys(words: Sequence[str]) -> set[str]:
    return {language_of("en").word(word).key for word in words}


def is_of_blood(word: Word) -> bool:
    """Whether a word says that something is of blood."""
    return word.folded in _OF_BLOOD


def is_in_blood(words: str, text: str, start: int, end: int) -> bool:
    """Whether a value that says not where it was measured was measured in blood, and found so.

    Not where the phrase goes on ("raised lactate production"), where its clause names another specimen or an
    organ, or where it is a change that something makes ("a decrease in lactate").

    Args:
        words: the words of the value; what a verb states of it stands before it.
        text: the text.
        start: where the value begins.
        end: where it ends.
    """
    language = language_of("en")
    if not _STATE.match(words):
        return False
    following = _RUNS_ON.match(text, end)
    if following is not None and language.word(following[1]).key and following[1].lower() not in AFTER_NOUNS:
        return False
    if _COMPOUND.search(text, start, end):
        return False  # "a low-sodium diet"
    if _is_done(text[max(start - _REACH, 0) : start], text[start:end]):
        return False
    behind = text[end : end + _REACH]
    stop = _CLAUSE.search(behind)
    before = text[max(start - _REACH, 0) : start]
    begins = [found.end() for found in _CLAUSE.finditer(before)]
    for word in (
        *_WORD.findall(behind[: stop.start()] if stop else behind),
        *reversed(_WORD.findall(before[begins[-1] :] if begins else before)),
    ):
        folded = language.word(word)
        if is_of_blood(folded):
            return True
        if folded.inflection in _SPECIMENS or language.is_organ(folded.noun):
            return False
    return True


def _is_done(before: str, value: str) -> bool:
    """Whether a value is what something does: "the infusion [raised potassium]"."""
    noun = _LAST_WORD.search(before)
    if noun is None or not _CHANGED.match(value):
        return False
    word = language_of("en").word(noun[1])
    return (
        bool(word.key)
        and not language_of("en").is_common(word)
        and not word.folded.endswith(("ed", "ing", "ly"))
    )
