"""How Spanish, Portuguese, French and Italian say who a patient is: an age behind a person, sex by agreement.

The noun comes first and "de", "âgé de" or "con" joins the number to it, whatever follows. Any other number of
years or months is a date ("a los 27 años") or a duration ("24 meses de seguimiento").
"""

from __future__ import annotations

import re
from typing import Literal

UNIT = (
    r"(?P<unit>años|anos|ans|anni|mes(?:es)?|mês|mois|mesi|semanas?|semaines?|settimane|d[ií]as?|jours?"
    r"|giorni)\b"
)
_OF_AGE = r"(?:edad|idade|d?['’]?âge|età|vida|vie|vita)\b"
_AGED = r"(?<!\w)âgée?s? (?:de |d['’])"
_AGED_BEFORE = re.compile(rf"{_AGED}$", re.IGNORECASE)
_NOUN = (
    r"(?:paciente|paziente|patiente?|mujer|hombre|niñ[oa]|varón|señora?|mulher|homem|criança|menin[oa]"
    r"|senhora?|lactante|lactente|joven|jovem|anciana?|gestante|primigesta|recién nacid[oa]"
    r"|recém-nascid[oa]|adolescente?|femme|homme|fille(?:tte)?|garçon|enfant|nourrisson|dame|monsieur"
    r"|donna|uomo|bambin[oa]|ragazz[oa]|signora?)"
)
_SEX = r"(?:masculin[oa]|femenin[oa]|feminin[oa]|masculin|féminin|masculine|maschile|femminile)"
_SAID = (
    rf"(?:,?\s(?:(?:d[eoi]|del|du|di)\s)?(?:sexo|sexe|sesso|género)\s{_SEX}|,?\s{_SEX}"
    r"|,?\s(?:de )?(?:raza|etnia|raça|cor|origen|origem|race|origine)\s[\w-]+)"
)
_ADJECTIVE = r"(?:,?\s(?!(?:de|di|d|con|com|avec|sin|sem|sans|y|e|et|a|à)\b)[\w-]+)"
AGE_OF_PERSON = re.compile(
    rf"(?:{_AGED}|\b{_NOUN}\b{_ADJECTIVE}?{_SAID}{{0,2}},?\s(?:de|di)\s)"
    rf"(?P<age>(?P<n>\d{{1,3}}(?:[.,]\d)?)\s+{UNIT})",
    re.IGNORECASE,
)
"""'Varón mestizo de 61 años', 'un patient âgé de 35 ans'."""
AGE_WITH_PERSON = re.compile(
    rf"\b{_NOUN}\b{_SAID}{{0,2}},?\s(?:con|com)\s(?P<age>(?P<n>\d{{1,3}})\s+{UNIT})", re.IGNORECASE
)
"""'Paciente com 60 anos'; 'com 3 anos de evolução' is no age."""
_POSSESSED = re.compile(r"\b(?:su|sus|sa|ses|sua|suas|seu|seus|suo|suoi)\s+\w+", re.IGNORECASE)
"""What belongs to the patient, his kin too: "su mujer", "sa femme"."""
_LASTING = re.compile(
    r"\b(?:tras|durante|hace|hacía|desde|cada|por|en|depuis|pendant|durant|après|dans"
    r"|toutes? les|tous les|il y a"
    r"|há|havia|após|dopo|da|per|entro|in|em|(?:a|al cabo de|luego de|después de)(?: los| las)?|aos|às|à"
    r"|au bout de|dentro de|evolución de|seguimiento de)\s+(?:l[ao]s |os |unos |les |i )?$",
    re.IGNORECASE,
)
_DATED = re.compile(
    r"(?:\ba (?:los|las|la edad de)|\baos|\baux?|\bdès|l['’]âge de|\bà"
    r"|(?:edad|idade) de)\s+(?:los |l['’]âge de )?$",
    re.IGNORECASE,
)
_OF_SOMETHING = re.compile(
    rf"\s+d(?:e\s+|i\s+|['’]|ell['’])(?!{_OF_AGE}|sexo|sexe|raza|raça|etnia|cor\b|profes|origen)\w", re.I
)
_KIN = re.compile(
    r"\b(?:madre|padre|mãe|pai|mère|père|herman[oa]|irmão|irmã|frère|sœur|soeur|hij[oa]|filh[oa]|abuel[oa]|av[óô]"
    r"|espos[oa]|marido|mari|tí[oa]|prim[oa]|fratello|sorella|figli[oa]|marito|moglie)s?\b[\s,(]*(?:de|di|con|com)?\s*$",
    re.IGNORECASE,
)
_BESIDE = 14
"""Characters between a relative and an age that is his: "sa femme, âgée de"."""
_YEARS = re.compile(r"\ba[nñ]", re.IGNORECASE)
_PEOPLE = r"(?:jeune |joven |jovem )?(?:paciente|paziente|lactante|lactente|adolescente?|joven|jovem|menor)\b"
_FEMALE = re.compile(
    rf"(?<![\w'’-])(?:la|una|a|uma|une|esta|essa|nuestra|nossa|dicha|cette|da|pela|questa|della)\s+{_PEOPLE}"
    r"|(?<!\w)âgée|\bM(?:me|lle)\b|\b(?:Sra|Dña)\b",
    re.IGNORECASE,
)
_MALE = re.compile(
    rf"(?<![\w'’-])(?:el|del|al|un|o|um|este|nuestro|nosso|dicho|do|ao|pelo|il|questo|dello)\s+{_PEOPLE}"
    r"|\b(?:le|un|ce|du|au)\s(?:jeune )?patient\b|(?<!\w)âgé(?!e)|\b(?-i:Mr|Sr)\b",
    re.IGNORECASE,
)
_AGREES = re.compile(
    r"[\s,]+(?:(?:que (?:fue|foi|es|era) |qui (?:a été|est) )?[^\W\d_]+[ai]d(?P<end>[oa])\b"
    r"|(?P<him>al que|ao qual)\b|(?P<her>a la que|à qual)\b)"
)
"""A participle or pronoun right behind an age: 'de 50 años diagnosticada', 'de 50 años al que'."""
Sex = Literal["female", "male", ""]


def is_lasting(text: str, start: int, end: int) -> bool:
    """Whether a number of years or months at these offsets is a duration.

    Args:
        text: the sentence.
        start: where the number begins.
        end: where its unit ends.
    """
    before, after = text[max(0, start - 40) : start], text[end : end + 24]
    if re.match(rf"\s+(?:de |d['’]|di ){_OF_AGE}|\s+d['’]âge", after, re.IGNORECASE):
        return False
    if _DATED.search(before) and _YEARS.search(text[start:end]):
        return False  # a date: "a los 27 años"
    return bool(_LASTING.search(before) or _OF_SOMETHING.match(after))


def is_of_person(before: str) -> bool:
    """Whether the words before an age end in "aged", which is said of persons only."""
    return _AGED_BEFORE.search(before) is not None


def is_dated(before: str) -> bool:
    """Whether the words before an age make it that of an event: "a los 27 años", "depuis l'âge de"."""
    return _DATED.search(before) is not None


def is_of_kin(before: str) -> bool:
    """Whether the words before an age name a relative."""
    last = max((found.end() for found in _POSSESSED.finditer(before)), default=-_BESIDE)
    return _KIN.search(before) is not None or len(before) - last < _BESIDE


def without_kin(text: str) -> str:
    """A text without what it says belongs to the patient."""
    return _POSSESSED.sub(" ", text)


def is_written(age: str) -> bool:
    """Whether an age is written in one of these languages."""
    return re.search(UNIT, age, re.IGNORECASE) is not None


def agreeing(text: str) -> tuple[int, int]:
    """How many articles and endings say that the patient is female, and male: "la paciente", "âgé"."""
    return len(_FEMALE.findall(text)), len(_MALE.findall(text))


def sex_behind(after: str) -> Sex:
    """Sex by the participle or pronoun right behind an age."""
    found = _AGREES.match(after)
    if found is None:
        return ""
    return "female" if found["end"] == "a" or found["her"] else "male"
