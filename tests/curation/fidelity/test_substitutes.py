"""Words that stand for each other in the names of several concepts."""

from __future__ import annotations

from curation.fidelity.compare import changes
from curation.fidelity.substitutes import LEAST_CONCEPTS, substitutes
from tests.curation.fidelity.test_fidelity import Plain, mention

STONES = ["stone", "cyst", "scan", "vein"]


def names(count: int, *, alone: int = 0) -> list[tuple[str, frozenset[str]]]:
    """Concepts with a name of the kidney and one of it as renal; others with one of the words alone."""
    found = [(f"c{n}", frozenset({word, STONES[n]})) for n in range(count) for word in ("kidney", "renal")]
    found += [(f"d{n}", frozenset({"kidney", f"part{n}"})) for n in range(alone)]
    return found + [(f"e{n}", frozenset({"renal", f"part{n}"})) for n in range(alone)]


def test_a_pair_that_several_concepts_show_stands_for_each_other() -> None:
    assert substitutes(names(LEAST_CONCEPTS)) == {
        "kidney": frozenset({"renal"}),
        "renal": frozenset({"kidney"}),
    }
    assert substitutes(names(LEAST_CONCEPTS - 1)) == {}
    assert substitutes(names(LEAST_CONCEPTS), {"renal"}) == {}, "a common word tells nothing"
    assert substitutes(names(LEAST_CONCEPTS, alone=90)) == {}, "three of 93 may be chance"
    # names that differ in two words show nothing
    other = [(f"c{n}", frozenset(bag)) for n in range(4) for bag in (("a", "b"), ("c", "d"))]
    assert substitutes(other) == {}


def test_a_concept_in_words_that_stand_for_those_of_its_name_is_not_lost() -> None:
    source = "A man has jaundice and a cough."
    told = [mention(source, "jaundice", "jaundice"), mention(source, "cough", "cough")]
    made = "A man with a cough has a yellow cutaneous tinge."
    assert changes(source, made, told, [mention(made, "cough", "cough")], Plain()) == []
    made = "A man with a cough has a pale cutaneous tinge."
    (found,) = changes(source, made, told, [mention(made, "cough", "cough")], Plain())
    assert found.reason == "concept_lost" and "jaundice" in found.detail
