"""Which diagnoses say where in the body a disease is, and which only what kind of lesion or sign.

'Haematoma' and 'squamous cell carcinoma' join the colon to the heart and the skin to the rectum; 'renal cell
carcinoma' and 'appendicitis' join only what is alike. The first join two patients only in one body system; of
vessels, bones and skin, which are everywhere, only in one region: an 'arteriovenous fistula' of arm or scalp.
"""

from __future__ import annotations

import functools

from curation.diagnosis.concepts import Concepts
from curation.labels.concepts import branches

NEOPLASMS = frozenset({"MONDO:0005070", "HP:0002664", "MESH:D009369", "UMLS:C0027651"})
DAMAGE = frozenset(
    {
        "MESH:D020763",  # pathological conditions, anatomical: cyst, fistula, hernia
        "MESH:D006470",  # haemorrhage
        "MESH:D013492",  # suppuration: abscess
    }
)
LESIONS = NEOPLASMS | DAMAGE
"""What names a kind of lesion, and all below it."""
EVERYWHERE = frozenset({"cardiovascular", "integumentary", "musculoskeletal"})
"""Body systems with parts in every region of the body."""
MAX_SPREAD = 2
"""Body systems besides its own that the kinds of a concept which has a site may lie in."""
_LEAST = 2
"""Kinds of a concept that it takes to count a system: a single one may be filed oddly."""


@functools.lru_cache(maxsize=100_000)
def is_loose(concept: str, concepts: Concepts) -> bool:
    """Whether a concept is a lesion, sign or finding that may sit anywhere in the body."""
    above = {concept, *concepts.ancestors(concept)}
    if concepts.kind(concept) != "finding" and above.isdisjoint(LESIONS):
        return False
    own = _systems(frozenset(above))
    if not own:
        return True
    counts: dict[str, int] = {}
    for kind in concepts.descendants(concept):
        for system in _systems(frozenset({kind, *concepts.ancestors(kind)})) - own:
            counts[system] = counts.get(system, 0) + 1
    return sum(count >= _LEAST for count in counts.values()) > MAX_SPREAD


@functools.lru_cache(maxsize=100_000)
def is_local(concept: str, concepts: Concepts) -> bool:
    """Whether a concept is damage (a fistula) or a sign that is another one in another region of the body."""
    above = frozenset({concept, *concepts.ancestors(concept)})
    systems = _systems(above)
    if above & DAMAGE:
        return systems <= EVERYWHERE
    return concepts.kind(concept) == "finding" and not systems and not above & NEOPLASMS


def _systems(above: frozenset[str]) -> frozenset[str]:
    """Body systems that any of these concepts stands for."""
    listed = _listed()
    return frozenset(system for concept in above & listed.keys() for system in listed[concept])


@functools.lru_cache(maxsize=1)
def _listed() -> dict[str, tuple[str, ...]]:
    return {concept: tuple(facets.get("body_system", ())) for concept, facets in branches().items()}
