"""Days of one patient: of birth, of what happened."""

from __future__ import annotations

import re

from curation.privacy.search import Pattern
from curation.privacy.words import DATE, DAY

_BORN = (
    r"(?:(?i:\b(?:born on|born|date of birth|birth ?date|d\.?o\.?b\.?|geboren am|geburtsdatum|geb\.|geboren|"
    r"n[ée]e? le|"
    r"date de naissance|nacid[oa] el(?: d[ií]a)?|naci(?:ó|d[oa])(?: el)?|fecha de nac(?:imiento|\.)|"
    r"f(?:echa|\.) ?(?:de )?nac\w{0,12}|nasc(?:eu|id[oa]) em|data de nasc(?:imento|\.)|nat[oa] il|"
    r"data di nascita)"
    r"(?![^\W\d])|дата рожд\w{0,8}|родил(?:ся|ась))|出生日期|出生于|生年月日|تاريخ (?:ال)?ميلاد)"
)
_LABELLED = (
    r"(?i:\b(?:admission|discharge|record|operation|surgery|visit|exam(?:ination)?) ?date|"
    r"\bdate of (?:admission|discharge|death|surgery|operation|visit|examination|consultation)|"
    r"\b(?:last menstrual period|lmp)\b|"
    r"\bf(?:echa|\.)? ?(?:de )?(?:ingr|alta|defunc|interv|consul)\w{0,12}|\bnasc(?:eu|id[oa])\b|"
    r"\bdate d(?:e |['’])(?:entrée|admission|sortie|décès|hospitalisation|consultation)|"
    r"\b(?:aufnahme|entlassungs?|op|sterbe|untersuchungs)-?datum|"
    r"\bdata d[ei] (?:intern|alta|ricov|dimiss|óbito)\w{0,12}|"
    r"дата (?:поступ|выпис|госпит|смерти|опер)\w{0,12})|"
    r"(?:入院|出院|退院|手术|手術|死亡|就诊|受診)(?:日期|日|时间)|تاريخ (?:ال)?(?:دخول|خروج|وفاة|عملية)"
)
_EVENT = (
    r"(?i:\b(?:admitted|admission|discharged?|died|death|hospitali[sz]ed|presented|visited|operated|"
    r"referred|surgery|"
    r"underwent|delivered|ingres\w{1,8}|falleci\w{1,8}|operad[oa]|intervenid[oa]|acudió|"
    r"intern(?:ad[oa]|ação)|admitid[oa]|faleceu|décéd\w{1,6}|hospitalis\w{1,6}|sortie? |admise?|opérée?|"
    r"aufnahme|"
    r"aufgenommen|entlass\w{1,8}|verst(?:arb|orben)|operiert|vorgestellt|ricoverat[oa]|dimess[oa]|"
    r"decedut[oa])|"
    r"\b(?:de|al?|o|em) alta\b|\balta (?:el|em|hospital\w{0,5}|médica|domicili\w{0,6})\b|"
    r"\b(?:поступил|выписан|скончал|умер|госпитализирован|опериров|прооперирован)\w{0,6})|"
    r"\b(?:ولدت?|توفيت?|[أا]ُ?دخلت?|دخلت?|خرجت?|[أا]ُ?جريت)\b"
)
_CJK_EVENT = r"(?:入院|出院|退院|手术|手術|死亡|去世|出生|生まれ|受診|来院|就诊|住院|转院)"
_OF_MANY = re.compile(
    r"(?i)\bbetween\b|\bfrom\b|\buntil\b|\bthrough\b|\bpatients\b|\bcases\b|\bstudy\b|\b(?:we|were)\b|"
    r"\bentre\b|"
    r"\bdesde\b|\bpacientes\b|\bcasos\b|\bde[ps]uis\b|\bzwischen\b|\bpatient(?:innen|s)\b|пациент(?:ы|ов)|"
    r"случа(?:и|ев)|例|مرضى|بين"
)
"""Words beside the days of a whole study."""
_A_DAY = re.compile(DAY)
_EVENT_KIND = "the day of an admission, operation or death"

CERTAIN = (Pattern("a date of birth", re.compile(rf"{_BORN}[^\d]{{0,20}}?{DAY}"), guard=_A_DAY),)
HINTS = (
    Pattern(
        "a labelled day of one person",
        re.compile(rf"(?:{_LABELLED})[^\d]{{0,20}}?{DAY}|(?<![\w*])\*\s?{DAY}"),
        re.compile(r"(?i)\bbetween\b|\bpatients\b|\bstudy\b|\bcohort\b"),
        _A_DAY,
    ),
    Pattern(
        _EVENT_KIND,
        re.compile(rf"(?:{_EVENT})[^.;\d]{{0,60}}?{DAY}|{DATE}[^.;]{{0,40}}?(?:{_EVENT})"),
        _OF_MANY,
        _A_DAY,
    ),
    Pattern(
        _EVENT_KIND,
        re.compile(rf"{DAY}[^。；;\d]{{0,6}}{_CJK_EVENT}|{_CJK_EVENT}[^。；;\d]{{0,6}}{DAY}"),
        _OF_MANY,
        _A_DAY,
    ),
)
