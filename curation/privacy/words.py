"""What several patterns are made of: days, names of people, letters of scripts."""

from __future__ import annotations

import re

CJK = "一-鿿々"
LATIN = r"[A-ZÀ-ÖØ-ÞĄĆĘŁŃŚŹŻ][\wÀ-ÿ'’-]{0,30}[a-zß-ÿąćęłńóśźż]"
CYRILLIC = r"[А-ЯЁ][а-яё]{1,30}(?:-[А-ЯЁ][а-яё]{1,30})?"
ARABIC = r"[ء-ي]{2,20}"
NAME = r"[A-ZÀ-ÖØ-Þ](?:['’][A-Z])?[a-zà-öø-ÿ'’]{1,30}(?:[- ][A-ZÀ-ÖØ-Þ][a-zà-öø-ÿ'’]{1,30}){0,5}"
GAP = r"\s{1,3}"

_MONTH = (
    r"(?:Jan(?:uary|uar|vier)?|Feb(?:ruary|ruar)?|Mar(?:ch|s)?|März|Apr(?:il)?|May|Mai|June?|Juni|July?|Juli|"
    r"Aug(?:ust)?|Sept?(?:ember)?|O[ck]t(?:ober)?|Nov(?:ember)?|De[cz](?:ember)?|enero|febrero|marzo|abril|"
    r"mayo|"
    r"junio|julio|agosto|septiembre|octubre|noviembre|diciembre|janeiro|fevereiro|março|maio|junho|julho|"
    r"setembro|outubro|novembro|dezembro|janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|"
    r"novembre|décembre|gennaio|febbraio|aprile|maggio|giugno|luglio|"
    r"settembre|ottobre|dicembre)\.?"
)
SHORT_MONTH = (
    r"(?i:jan|ene|f[ée]v|feb|mar|abr|apr|avr|may|mai|jun|jui|jul|ago|aug|ao[uû]|sep|set|oct|okt|out|nov|dec|"
    r"dez|dic|déc)[a-zéû]{0,9}\.?"
)
_RU_MONTH = r"(?:янв|фев|мар|апр|ма[йя]|июн|июл|авг|сен|окт|ноя|дек)[а-я]{0,6}\.?"
_AR_MONTH = (
    r"(?:يناير|فبراير|مارس|[أا]بريل|مايو|يونيو|يوليو|[أا]غسطس|سبتمبر|[أا]كتوبر|نوفمبر|ديسمبر|كانون|شباط|آذار|"
    r"نيسان|[أا]يار|حزيران|تموز|آب|[أا]يلول|تشرين)"
)
_YEAR = r"(?:19|20)\d\d"
DATE = (
    rf"(?:(?<!\d)\d{{1,2}}[./-]\d{{1,2}}[./-]{_YEAR}(?!\d)|(?<!\d){_YEAR}[-/.]\d{{1,2}}[-/.]\d{{1,2}}(?!\d)|"
    rf"\b\d{{1,2}}(?:st|nd|rd|th|\.|º|er)?{GAP}(?:of\s|de\s)?{_MONTH},?{GAP}(?:de\s|of\s)?{_YEAR}\b|"
    rf"\b{_MONTH}{GAP}\d{{1,2}}(?:st|nd|rd|th)?,?{GAP}{_YEAR}\b|{_YEAR}年\d{{1,2}}月\d{{1,2}}日)"
)
"""A day, with its month and its year in four digits."""
_TWO_DIGITS = "|".join(rf"\d{{1,2}}{mark}\d{{1,2}}{mark}\d{{2}}" for mark in (r"\.", "/", "-"))
DAY = (
    rf"(?:{DATE}|(?<![\d.])(?:{_TWO_DIGITS})(?!\.?\d)|\b\d{{1,2}}-{SHORT_MONTH}-(?:\d\d)?\d\d\b|"
    rf"\b{SHORT_MONTH}{GAP}\d{{1,2}},?{GAP}de{GAP}{_YEAR}|\b\d{{1,2}}{GAP}{_RU_MONTH}{GAP}{_YEAR}|"
    rf"\d{{1,2}}{GAP}{_AR_MONTH}{GAP}{_YEAR}|"
    r"(?:明治|大正|昭和|平成|令和)(?:\d{1,2}|元)年\s?\d{1,2}月\s?\d{1,2}日|"
    r"\b[MTSHR]\d{1,2}\.\d{1,2}\.\d{1,2}(?![\d.]))"
)
"""A day with month and year, also as two digits, in words of eleven languages or by a Japanese era."""
NO_LETTER = r"(?![^\W\d])"
"""What follows a word that digits may stick to."""
LONG_NUMBER = re.compile(r"(?:\d[ ().\-/]{0,3}){3}\d(?:[ ().\-/]{0,3}\d|[A-ZА-Я])")
"""Five digits, or four and a letter, with little between them: in every number of a record or telephone."""
ADVERTISED = r"(?i)correspond|reprint|author"
"""Words beside what an author lets be known."""
