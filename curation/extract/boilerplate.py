"""Sections that are about the publication, not its subject: interests, funding, ethics, data, contributions.

Told by the section's own title, the whole of it, in the languages of the crawl.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_INTERESTS = (
    r"(?:(?:potential|declarations? of|statements? on|declaration of conflicting)\s)*"
    r"(?:(?:conflicts?|declarations?) of )?(?:competing |conflicting )?(?:financial )?interests?"
    r"(?: (?:statement|disclosure|and funding))*"
)
_TITLES = (
    _INTERESTS,
    r"(?:author )?disclosures?(?: statement)?",
    r"(?:role of )?(?:the )?(?:sources? of )?funding(?: (?:sources?|statement|information|support))?",
    r"financial (?:support|disclosure)(?: statement)?",
    r"acknowledge?ments?",
    r"author(?:s|['’]s|s['’])? (?:contributions?|information|details)(?: statement)?",
    r"(?:data|code|materials?|data and materials?|data, code and materials?)"
    r"(?: and (?:code|materials?))? (?:availability|sharing)(?: (?:statement|policy))?",
    r"availability of (?:supporting )?(?:data|materials?|code)(?: and (?:data|materials?|code))*",
    r"ethics?(?:al)?(?: (?:approvals?|statements?|considerations?|requirements?|declarations?|aspects?))*"
    r"(?: and (?:informed )?consent(?: to participate)?)?",
    r"(?:written |informed |patient )*consents?(?: (?:statement|for publication|to participate))*",
    r"pre-?publication history",
    r"(?:electronic )?(?:supplementary|supporting) (?:materials?|data|information|files?)",
    r"additional (?:files?|information)",
    r"publishers?['’]?s? notes?",
    r"(?:list of )?abbreviations(?: used)?",
    r"provenance and peer review",
    r"learning (?:objectives?|outcomes?)",
    r"conflitos? de interesses?|conflictos? de intere(?:ses|és)",
    r"conflits? d['’]intérêts?|interessenkonflikte?",
    r"agradecimientos?|agradecimentos?|remerciements?|danksagung",
    r"financia(?:miento|mento|ción|ção)|fonte de financiamento|financement",
    r"contribui(?:ção|ções) d(?:os?|as?|e) autor(?:es|as)?|contribuci(?:ón|ones) de l[oa]s autor[ea]s",
    r"disponibilidade (?:de|dos) dados|disponibilidad de (?:los )?datos",
    r"(?:aspectos|considera(?:ções|ciones)) éticas?|aspectos éticos",
)
_BOILERPLATE = re.compile(rf"(?:{'|'.join(_TITLES)})\s*[.:]?", re.IGNORECASE)


def boilerplate_section(section_path: Sequence[str]) -> str:
    """The title in a section's path that makes it boilerplate, '' if none does.

    Args:
        section_path: titles from the top section down.
    """
    for title in section_path:
        if _BOILERPLATE.fullmatch(" ".join(title.split())):
            return title
    return ""
