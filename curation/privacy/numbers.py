"""Numbers that stand for a person: of a record, an insurance, a card."""

from __future__ import annotations

import re

from curation.privacy.search import Pattern
from curation.privacy.words import LONG_NUMBER, NO_LETTER

RECORD = "a record or insurance number"
_NUMBER = r"[A-ZА-Я]{0,4}[-/ ]?(?:\d[ \-/.]?){4,20}(?:\d|(?<=\d)[A-ZА-Я])"
_SIGN = (
    r"(?i:numbers?|num(?:éro|ero)?\b\.?|n[úu]mero|nummer|номер|identification|identifi(?:er|ant|cador)|id|"
    r"no|nr|"
    r"n)"
)
_AFTER = rf"(?:[\s.-]{{0,3}}(?:{_SIGN}\b\.?|n?[°º#№]))"
_KIND = r"(?i:record|hospital|registration|identification|clínica)"
_TO_NUMBER = r"[\s:：.#№=()（）°º-]{0,6}(?:(?i:is|was|of|de|ist|est|es)\s{1,3})?"
_ALONE = (
    r"(?:(?i:\bmrn\b|\bmedical record\b|\bcase file\b|\bssn\b|\bsocial security\b|"
    r"\bpassport\b|\bhistoria cl[ií]nica\b|\bprontu[aá]rio\b|\bpatienten-?n(?:umme)?r(?![^\W\d])\.?|"
    r"\bfall-?n(?:umme)?r(?![^\W\d])\.?|"
    r"\bversicherten-?n(?:umme)?r(?![^\W\d])\.?|"
    r"\bdossier m[ée]dical\b|\bnum[ée]ro de dossier\b|\bcartella clinica\b)|"
    r"\b(?:NHS|UHID|DNI|CURP|CPF|PESEL|HKID|NRIC)\b)"
)
"""Labels that need no word for number after them."""
_OF_A_PATIENT = (
    r"(?i:hospital|patient(?:en|s|in|'s|’s)?|paciente|pat\.|inpatient|chart|nhs|insurance|social security|"
    r"health card|historia(?: cl[ií]nica)?|afiliaci[óo]n|prontu[áa]rio|dossier|sécurité sociale|assurance|"
    r"kranken(?:kassen|versicherungs?)?|versicherten)"
)
_OF_ANYTHING = (
    r"(?i:unit|records?|account|registration|admission|episode|encounter|file|accession|folder|expediente|"
    r"episodio|séjour|fall|akten|aufnahme|cartella)"
)


def _labelled(owner: str) -> str:
    """A number after its owner and a word for number, or after such a word and the owner."""
    return (
        rf"\b{owner}(?:[\s-]{{1,3}}{_KIND})?{_AFTER}{{1,3}}{_TO_NUMBER}{_NUMBER}|"
        rf"(?:\b{_SIGN}|\b[Nn][°º])\.?\s{{0,3}}(?i:de |du |del |de la |der |d['’])?{owner}\b"
        rf"[\s:：.#№]{{0,6}}{_NUMBER}"
    )


_RU_OWNER = (
    r"(?:истори[яи] болезни|карт[аы]\s(?:больного|пациента|\w{1,20}ного)|мед(?:ицинск\w{1,4} |\. ?)?карт[аы]|"
    r"снилс|полис|паспорт|номер\s(?:карты|истории болезни|больного|пациента|полиса|паспорта))"
)
_WHOSE_RU = r"(?:\s(?i:омс|карты|истории болезни|\w{1,20}ного|больного|пациента)){0,4}"
_SEPARATED = rf"[\s:：.#№=()（）°º-]{{0,6}}{_NUMBER}"
_CERTAIN = (
    rf"{_ALONE}(?:{_AFTER}){{0,3}}{_TO_NUMBER}{_NUMBER}|{_labelled(_OF_A_PATIENT)}|"
    rf"(?i:\b{_RU_OWNER}){NO_LETTER}{_WHOSE_RU}(?:\s?(?i:номер))?{_SEPARATED}|"
    rf"(?:(?:住院|门诊|病案|病历|就诊|医保|身份证|患者|病人)(?:号码?|编号|ID|No\.?)|身份证){_SEPARATED}|"
    rf"(?:(?:患者|カルテ|診察券|被?保険者?証?)\s?(?:番号|No\.?|ID)|診察券){_SEPARATED}|"
    rf"رقم (?:ال)?(?:ملف|مريض|هوية|[إا]قامة|ت[أا]مين|بطاقة|جواز)(?: ال\w{{1,20}})?{_SEPARATED}|"
    rf"الرقم (?:الطبي|الوطني){_SEPARATED}"
)
_LIKELY = (
    rf"{_labelled(_OF_ANYTHING)}|(?i:\baktenzeichen){_SEPARATED}|"
    rf"\b(?:MR|NHC|NASS|NIE|CNS|IPP|NIR)\b(?i:\s{{0,3}}(?:no|number|num|n[°º])\b)?{_SEPARATED}|"
    rf"(?i:\b(?:номер|карт[аы])){NO_LETTER}{_WHOSE_RU}{_SEPARATED}|"
    rf"(?:登记|检查|影像|影像学)(?:号码?|编号|ID|No\.?){_SEPARATED}|"
    rf"(?:ID|受付|検査|登録)\s?(?:番号|No\.?|ID){_SEPARATED}|"
    rf"رقم (?:ال)?سجل(?: ال\w{{1,20}})?{_SEPARATED}"
)
_OF_A_STUDY = re.compile(
    r"(?i)ethic|éthi|étic|ethik|этич|approv|committee|institutional review|\birb\b|protocol|trial|genbank|"
    r"ncbi|"
    r"sequence|strain|isolate|catalog|grants?\b|registry|registration (?:of|under)|clinicaltrials|isrctn|"
    r"voucher|specimen|deposit|"
    r"correspond|伦理|批准|倫理|承認|试验|試験|موافقة|[أا]خلاقيات|patent\b|licen[cs]e"
)
"""Numbers of approvals, trials, grants, sequences and samples are no patient's."""

CERTAIN = (
    Pattern(RECORD, re.compile(_CERTAIN), _OF_A_STUDY, LONG_NUMBER),
    Pattern(
        "a national identity number",
        re.compile(
            r"(?<![\d.-])\d{3}\.\d{3}\.\d{3}-\d{2}(?![\d-])|"
            r"(?<!\d)[1-9]\d{5}(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}[\dX](?!\w)|"
            r"(?i:\bSSN|social security)\D{0,20}\d{3}-\d{2}-\d{4}(?!\d)"
        ),
        guard=LONG_NUMBER,
    ),
)
HINTS = (Pattern(RECORD, re.compile(_LIKELY), _OF_A_STUDY, LONG_NUMBER),)
