"""What a section title says of the text under it: a case, a numbered patient, more of a case, or none.

Titles in English with the basics of es, pt, fr, de and it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    """What stands under a title."""

    CASE = "case"
    WEAK = "weak"  # a case only in an article that calls itself a case report: "Observation", "Patient"
    PATIENT = "patient"  # one of several: "Case 2", "The second patient"
    MORE = "more"  # goes on with a case that stands before it: "Treatment", "Outcome and follow-up"
    CLOSED = "closed"  # never part of a case: discussion, methods, consent
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Heading:
    """A title read: its kind and, of a numbered patient, the number and how the title calls the patient."""

    kind: Kind
    number: int = 0
    label: str = ""


_NUMBERING = re.compile(r"^[\W_]*(?:(?:\d+(?:\.\d+)*|[ivx]+)[.):]?\s+)?[\W_]*", re.IGNORECASE)
_WORDS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7,
    "eighth": 8, "ninth": 9, "tenth": 10, "index": 1, "uno": 1, "dos": 2, "tres": 3, "primer": 1,
    "primero": 1, "primera": 1, "primeiro": 1, "primeira": 1, "segundo": 2, "segunda": 2, "tercer": 3,
    "tercero": 3, "tercera": 3, "terceiro": 3, "terceira": 3, "premier": 1, "première": 1, "deuxième": 2,
    "second ": 2, "seconde": 2, "troisième": 3, "erste": 1, "erster": 1, "zweite": 2, "zweiter": 2,
    "dritte": 3, "dritter": 3, "primo": 1, "prima": 1, "secondo": 2, "seconda": 2, "terzo": 3, "terza": 3,
    "i": 1, "ii": 2, "iii": 3, "iv": 4, "v": 5, "vi": 6, "vii": 7, "viii": 8, "ix": 9, "x": 10,
    "a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": 6, "g": 7, "h": 8,
}  # fmt: skip
_NOUN = (
    r"(?:cases?|patients?|probands?|subjects?|observations?|siblings?|twins?|casos?|pacientes?"
    r"|observaci[oó]n|cas|fall|patientin|casi|pazienti?|paziente)"
)
_NUMBER = r"(?:\d{1,2}|[ivx]{1,4}|[a-h]|one|two|three|four|five|six|seven|eight|nine|ten|uno|dos|tres)"
_NUMBERED = re.compile(
    rf"(?P<label>(?:clinical\s+|illustrative\s+)?{_NOUN}(?:\s+(?:report|presentation|description|history"
    rf"|study|clínico|clinique|clinico))?(?:\s*(?:no\.?|number|n[°ºo]\.?|nr\.?|#)\s*"
    rf"|\s+)(?P<number>{_NUMBER}))(?![\w'’-])",
    re.IGNORECASE,
)
_ORDINAL_WORD = "|".join(
    sorted((word for word in _WORDS if len(word) > 4 and not word.endswith(" ")), key=len, reverse=True)
)
_ORDINAL = re.compile(
    rf"(?P<label>(?:(?:the|our|la|el|le|il|o|a|der|die"
    rf"|das)\s+)?(?P<number>{_ORDINAL_WORD})\s+(?:(?:clinical|index)\s+)?{_NOUN})(?!\w)",
    re.IGNORECASE,
)
_SEVERAL = re.compile(
    r"(?:\s*(?:,|and|&|to|y|e|et|und)\s*|[-–])(?:(?:case|patient)s?\s+)?(?:\d{1,2}|[ivx]+)\b"
    r"(?!\s*[-–]?\s*(?:years?|yrs?|y/?o|months?|weeks?|days?|/\s?[fm]\b))",
    re.IGNORECASE,
)
"""What follows the first number when a text names several patients; an age does not."""
_CASE = re.compile(
    r"(?:clinical |brief |patient |illustrative |detailed |boxed |the |our |a )*case[- ]?(?:(?:reports?"
    r"|presentations?|descriptions?|history|histories|summary|summaries|illustrations?|records?|details"
    r"|vignettes?|narrative|observations?|examples?|scenarios?|outline|overview)\b|stud(?:y|ies)$"
    r"|series$)|(?:reports?|presentations?|descriptions?|summary|illustrations?|history) of (?:the |our "
    r"|this |an? |two |three |four )?(?:clinical |present )?(?:cases?|patients?)\b|(?:(?:the|our|present"
    r"|index|clinical|illustrative|sample) )+cases?$|clinical (?:cases?|vignettes?|observations?"
    r"|reports?|history)\b|patient (?:concerns|presentation|information|history|report|description|case)s?\b"
    r"|(?:presentaci[oó]n|descripci[oó]n|reporte|informe|exposici[oó]n|relato) (?:del?|de un|de una"
    r"|de los) (?:caso|paciente)s?|casos? cl[ií]nicos?\b|observaci[oó]n cl[ií]nica|(?:relatos?"
    r"|descriç[aã]o|apresentaç[aã]o) d(?:e|o|os|e um) casos?\b|(?:présentation|description|exposé"
    r"|rapport) (?:du|de|d['’]un|des) (?:cas|patient)|cas cliniques?\b|patiente?s? et observations?"
    r"|notre (?:observation|cas)\b|observations? cliniques?|fall(?:bericht|beschreibung|vorstellung"
    r"|darstellung|beispiel|präsentation)e?n?\b|kasuisti[ks]\w*|(?:descrizione"
    r"|presentazione) de[li] cas[oi]|cas[oi] clinic[oi]\b",
    re.IGNORECASE,
)
_WEAK = re.compile(
    r"(?:cases?|patients?|observations?|clinical (?:presentation|course|summary|description|findings"
    r"|features)|history|medical history|patient|presentation|histor(?:y"
    r"|ical) and (?:physical )?examination|caso|casos|anamnese|fall|fälle|observación|case and .{3,40}"
    r"|patient and observation|main text|report)$",
    re.IGNORECASE,
)
_MORE = re.compile(
    r"(?:clinical |physical |laboratory |imaging |initial |diagnostic |therapeutic |surgical |medical "
    r"|further |operative |post-?operative |hospital |subsequent |pathologic(?:al)? |histologic(?:al)? "
    r"|radiologic(?:al)? |histopathologic(?:al)? |intra-?operative |pre-?operative |genetic "
    r"|differential |final |short-term |long-term |autopsy |necropsy |[\w-]+(?:al|ic) )*"
    r"(?:findings?|examinations?|investigations?"
    r"|assessments?|interventions?|diagnos[ie]s|treatments?|management|course|outcomes?|follow[- ]?up"
    r"|timeline|operations?|surgery|procedures?|therapy|evaluation|work-?up|imaging|laboratory tests?"
    r"|results|history|complications?|prognosis|autopsy|pathology|radiology|progress|symptoms|signs"
    r"|presentation|tests?|studies|testing|analysis|exploraci[oó]n f[ií]sica|tratamiento|tratamento"
    r"|evoluci[oó]n|evoluç[aã]o|traitement|évolution|verlauf|therapie|decorso|trattamento"
    r"|diagn[oó]stico)(?:\s*(?:,|and|&|/)\s*(?:the )?[\w\s-]{3,40})?$",
    re.IGNORECASE,
)
_CLOSED = re.compile(
    r"(?:general |brief )?(?:discussions?|conclusions?|concluding|comments?\b|commentary|summary"
    r"|introduction|background|materials?\b|methods?\b|methodology|patients? and methods?"
    r"|subjects and methods?|statistic|(?:systematic |brief )?(?:literature|review)|review of"
    r"|limitations?|strengths?|abbreviations?|acknowledg|(?:author|authors['’]?) contrib|consent"
    r"|informed|ethic|funding|conflicts?|competing|data availab|availability|disclosures?|references"
    r"|supplement|supporting|additional|learning|teaching|key (?:points?|messages?)|take[- ]home"
    r"|what is (?:already )?known|what this|patient['’]?s? (?:perspective|experience|and public"
    r"|involvement|characteristics|selection|recruitment|population|consent|permission)|lessons?"
    r"|implications|recommendations|case[- ](?:control|fatality|mix|definition|crossover|cohort"
    r"|ascertainment|selection|finding|management)|study\b|aims?\b|objectives?\b|disclaimer|guarantor"
    r"|registration|provenance|epidemiolog|etiolog|aetiolog|pathogenesis|pathophysiolog|discusi[oó]n"
    r"|discuss[aã]o|conclusi[oó]n|conclus(?:[aã]o|ões)|introducci[oó]n|introduç[aã]o|m[eé]todos?"
    r"|m[eé]thodes?|materiales|diskussion|schlussfolgerung|einleitung|methoden|fazit|discussione"
    r"|conclusioni|introduzione|metodi|coment[aá]rios?|commentaires?|consentimi?ento|remarks?\b"
    r"|perspectives?\b)",
    re.IGNORECASE,
)

_FINAL_DIAGNOSIS = re.compile(
    r"(?:the )?(?:final|definit(?:e|ive)|established|confirmed|ultimate|conclusive"
    r"|(?:histo)?pathologic(?:al)?|histologic(?:al)?) (?:\w+ )?diagnos[ie]s$"
    r"|diagn[oó]stico (?:final|definitivo|confirmado|histol[oó]gico)$|diagnostic (?:final|définitif|retenu)$"
    r"|(?:end|abschluss|schluss)diagnose$|(?:endgültige|definitive|finale) diagnose$"
    r"|diagnosi (?:finale|definitiva|conclusiva)$",
    re.IGNORECASE,
)


def number_of(written: str) -> int:
    """The number a digit, Roman numeral, letter or word stands for, 0 if none."""
    word = written.strip().lower()
    return int(word) if word.isdecimal() else _WORDS.get(word, 0)


def numbered(text: str) -> tuple[int, str, int] | None:
    """Number, label and length of the patient number a text begins with: "Case 2: …", "The first patient …".

    Returns:
        None when the text begins otherwise, or names several ("Cases 1 and 2").
    """
    found = _NUMBERED.match(text) or _ORDINAL.match(text)
    if found is None or not (number := number_of(found["number"])):
        return None
    if len(found["number"]) == 1 and found["number"].islower():  # "Patient a few days later"
        return None
    if _SEVERAL.match(text, found.end()):
        return None
    return number, found["label"].strip(), found.end()


def read(title: str) -> Heading:
    """The kind of a section title.

    Args:
        title: the title as written, with or without its section number.
    """
    bare = _bare(title)
    if not bare:
        return Heading(Kind.OTHER)
    if found := numbered(bare):
        return Heading(Kind.PATIENT, found[0], found[1])
    if _CASE.match(bare) and not re.search(r"\b(?:method|literature|review|discussion|search)", bare, re.I):
        return Heading(Kind.CASE)
    if _WEAK.match(bare):
        return Heading(Kind.WEAK)
    if _CLOSED.match(bare):
        return Heading(Kind.CLOSED)
    if _MORE.match(bare) or _FINAL_DIAGNOSIS.match(bare):
        return Heading(Kind.MORE)
    return Heading(Kind.OTHER)


def is_final_diagnosis(title: str) -> bool:
    """Whether a section title says that the diagnosis reached stands under it."""
    return _FINAL_DIAGNOSIS.match(_bare(title)) is not None


def _bare(title: str) -> str:
    """A title without its section number and closing marks."""
    return _NUMBERING.sub("", " ".join(title.split())).rstrip(" .:")
