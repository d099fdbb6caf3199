"""Rules on what could name a patient: identifiers of a person (errors) and hints of one (warnings).

The patterns, loosened for RE2, nominate texts in SQL; they are looked for exactly in those. They were
tuned on real case reports, where author addresses, accession and trial numbers are no patient's data.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from curation.audit.rule import (
    Canary,
    Collector,
    Context,
    NotCovered,
    Outcome,
    Rows,
    Rule,
    side,
)
from schemas.audit import Severity

_MONTH = (
    r"(?:Jan(?:uary|uar|vier)?|Feb(?:ruary|ruar)?|Mar(?:ch|s)?|März|Apr(?:il)?|May|Mai|June?|Juni|July?|Juli|"
    r"Aug(?:ust)?|Sept?(?:ember)?|O[ck]t(?:ober)?|Nov(?:ember)?|De[cz](?:ember)?|enero|febrero|marzo|abril|mayo|"
    r"junio|julio|agosto|septiembre|octubre|noviembre|diciembre|janeiro|fevereiro|março|maio|junho|julho|"
    r"setembro|outubro|novembro|dezembro|février|avril|juin|juillet|août|septembre|octobre|novembre|décembre)\.?"
)
_YEAR = r"(?:19|20)\d\d"
DATE = (
    rf"(?:(?<!\d)\d{{1,2}}[./-]\d{{1,2}}[./-]{_YEAR}(?!\d)|(?<!\d){_YEAR}[-/.]\d{{1,2}}[-/.]\d{{1,2}}(?!\d)|"
    rf"\b\d{{1,2}}(?:st|nd|rd|th|\.|º|er)?\s+(?:of\s+|de\s+)?{_MONTH},?\s+(?:de\s+|of\s+)?{_YEAR}\b|"
    rf"\b{_MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?,?\s+{_YEAR}\b|{_YEAR}年\d{{1,2}}月\d{{1,2}}日)"
)
"""A day, with its month and year."""
_NAME = r"[A-ZÀ-ÖØ-Þ](?:['’][A-Z])?[a-zà-öø-ÿ'’]{1,}(?:[- ][A-ZÀ-ÖØ-Þ][a-zà-öø-ÿ'’]+)*"
_TITLE = r"(?:Mr|Mrs|Ms|Miss|Herrn?|Frau|Sra?|Señora?|Senhora?|Monsieur|Madame|Mme|Signora?|г-н|г-жа)\.?"
_PERSON = r"(?:[Pp]atient|[Bb]oy|[Gg]irl|[Mm]an|[Ww]oman|[Cc]hild|[Ii]nfant|[Nn]ewborn|[Mm]ale|[Ff]emale)"
_EMAIL = r"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}"
_PHONE = r"\+?\(?\d[\d ().\-/]{5,}\d"
_LABELLED_PHONE = (
    r"(?:(?i:\b(?:tel|phone|telephone|mobile|cell|fax|tél|téléphone|telefon|telefone|teléfono|handy|тел|телефон)"
    r"|电话|手机|電話|携帯))\.?(?i:\s*(?:no|number|nr|n\.?[º°])\b\.?)?\s*[:：(]?\s*" + _PHONE
)
_INTERNATIONAL = r"(?<![\w.])\+\d{1,3}[ .-]\(?\d[\d ().-]{5,}\d"
_RECORD = (
    r"(?:(?i:\bmrn\b|\bmedical record\b|\bhospital (?:registration )?(?=no|num|id|#)|\bchart (?=no|num|id|#)|"
    r"\bpatient(?:'s)? (?:record |hospital |registration )?(?=no|num|id|#)|\bcase file\b|\bnhs (?=no|num)|"
    r"\binpatient (?=no|num|id)|\b(?:social security|ssn|insurance (?=no|num|id))|\bpassport\b|"
    r"\bhistoria cl[ií]nica\b|\bprontu[aá]rio\b|\bpatientennummer\b|\bfallnummer\b|\bversichertennummer\b|"
    r"\bdossier m[ée]dical\b|\bnum[ée]ro de dossier\b|\bcartella clinica\b|номер карты|история болезни)"
    r"|病历号|住院号|病案号|身份证|カルテ番号|患者ID|診察券)"
)
_NUMBERED = (
    _RECORD + r"(?i:\s*(?:number|numbers?|num|no|nr|n\.?[º°]|id|identifier|#)\b)?[\s.:：#№º°=()（）-]*"
    r"(?i:is|was|of|de)?\s*([A-Z]{0,4}[-/]?(?:\d[ \-/.]?){4,}\d)"
)
_NOT_A_PATIENT = re.compile(
    r"(?i)ethic|approv|committee|institutional review|\birb\b|protocol|trial|accession|catalog|grants?\b|"
    r"registr(?:y|ation) (?:of|under)|correspond|clinicaltrials|isrctn|voucher|specimen"
)
_BIRTH = (
    r"(?:(?i:\b(?:born on|born|date of birth|birth ?date|d\.?o\.?b\.?|geboren am|geburtsdatum|geb\.|"
    r"n[ée]e? le|date de naissance|nacid[oa] el(?: d[ií]a)?|fecha de nacimiento|nascid[oa] em|data de "
    r"nascimento|"
    r"nato il|nata il|data di nascita|дата рождения|родил(?:ся|ась))(?=\W))|出生日期|出生于|生年月日)"
)
_EVENT = (
    r"(?i:\b(?:admitted|admission|discharged?|died|death|hospitali[sz]ed|presented|visited|operated|referred|"
    r"surgery|delivered|ingres[oó]|ingresad[oa]|internad[oa]|admitid[oa]|alta|aufgenommen|entlassen|hospitalisée?|"
    r"admise?|поступил[а]?)\b)"
)
_COHORT = re.compile(
    r"(?i)\bbetween\b|\bfrom\b|\buntil\b|\bthrough\b|\bpatients\b|\bcases\b|\bstudy\b|\b(?:we|were)\b"
)
_CLINICAL = (
    r"(?:,?\s+\(?(?:an?\s+|aged\s+|of\s+)?\d{1,3}(?:[- ](?:year|yr|y/o|jahr|jährig|ans|años|anos|anni)|\))|"
    r",?\s+(?:who\s+)?(?:was|is|had been|has been|wurde)\s+(?:admitted|referred|diagnosed|hospitali[sz]ed|"
    r"discharged|operated|brought|treated|aufgenommen)|\s+(?:presented|complained|underwent|suffered|denied))"
)
_STREET = (
    r"\b\d{1,5}[A-Za-z]?\s+(?:[A-Z][a-z]+\s+){1,3}(?:Street|St\.|Avenue|Ave\.|Road|Rd\.|Boulevard|Blvd\.|Lane|Drive)\b|"
    r"\b[A-ZÄÖÜ][a-zäöüß]+(?:straße|strasse|weg|gasse)\s\d{1,4}[a-z]?\b|"
    r"\b(?:Calle|Avenida|Rua|Rue|Via)\s(?:[A-Zd][\w'’]+\s?){1,4},?\s(?:n[º°.]\s?)?\d{1,5}\b"
)


_REACHED = (
    r"(?i:\b(?:patient(?:'s)?|his|her|their|mother(?:'s)?|father(?:'s)?)\s+"
    r"(?:home |mobile |cell |personal )*(?:phone|telephone|tel|e-?mail|address|contact))"
)


@dataclass(frozen=True, slots=True)
class Pattern:
    """One thing to look for.

    `unless` rules a hit out by its context. A pattern that RE2 is slow at has a part it is fast at, `guard`.
    """

    kind: str
    exact: re.Pattern[str]
    unless: re.Pattern[str] | None = None
    guard: str = ""


def re2(pattern: str) -> str:
    """The pattern for RE2, loosened where RE2 knows less: no look-around, no word edges, Unicode spaces."""
    pattern = re.sub(r"\(\?<?[=!](?:[^()]|\(\?:[^()]*\))*\)|\\b", "", pattern)
    classes = {"s": r"\s\x{a0}\x{2000}-\x{200a}\x{202f}\x{3000}", "w": r"\pL\pM\pN_"}
    parts, inside = [], False
    for token in re.findall(r"\\.|.", pattern, re.DOTALL):
        inside = inside or token == "["
        known = classes.get(token[1:]) if token[0] == "\\" else None
        parts.append(token if known is None else known if inside else f"[{known}]")
        inside = inside and token != "]"
    return "".join(parts)


IDENTIFIERS = (
    Pattern("a record or insurance number", re.compile(_NUMBERED), _NOT_A_PATIENT),
    Pattern(
        "a national identity number",
        re.compile(
            r"(?<![\d.-])\d{3}\.\d{3}\.\d{3}-\d{2}(?![\d-])|"
            r"(?<!\d)[1-9]\d{5}(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}[\dX](?!\w)|"
            r"(?i:\bSSN|social security)\D{0,20}\d{3}-\d{2}-\d{4}(?!\d)"
        ),
    ),
    Pattern("a date of birth", re.compile(rf"{_BIRTH}[^\d]{{0,20}}?{DATE}")),
    Pattern(
        "a named patient",
        re.compile(
            rf"\b{_TITLE}\s+{_NAME}{_CLINICAL}|"
            rf"\b{_PERSON},?\s+(?:was\s+|is\s+|who is\s+)?(?:named|called|by the name of)\s+{_NAME}|"
            rf"\b(?i:patient(?:'s)? name|name of (?:the )?patient|nombre del paciente|nome d[oa] paciente|"
            rf"name des patienten|nom du patient)\s*(?:[:：]|\bis\b|\bwas\b)\s*{_NAME}|"
            r"(?:患者姓名|患者氏名|姓名)\s*[:：]\s*[一-鿿]{2,4}"
        ),
    ),
    Pattern(
        "how to reach the patient",
        re.compile(rf"{_REACHED}[^.;]{{0,30}}?(?:{_PHONE}|{_EMAIL}|{_STREET})"),
        re.compile(r"(?i)correspond|reprint|author"),
    ),
)
HINTS = (
    Pattern("an e-mail address", re.compile(rf"(?<![\w.@]){_EMAIL}")),
    Pattern("a telephone number", re.compile(f"{_LABELLED_PHONE}|{_INTERNATIONAL}")),
    Pattern(
        "the day of an admission, operation or death",
        re.compile(rf"{_EVENT}[^.;\d]{{0,60}}?{DATE}|{DATE}[^.;]{{0,40}}?{_EVENT}"),
        _COHORT,
        DATE,
    ),
    Pattern(
        "a person with title or initials",
        re.compile(rf"\b{_TITLE}\s+(?:{_NAME}|[A-Z]\b)|\b{_PERSON},?\s+\(?[A-Z]\.\s?[A-Z]\.(?!\w)"),
        re.compile(r"(?i)conflict|interest|author|acknowledg|thank|personal communication"),
    ),
    Pattern("a street address", re.compile(_STREET)),
    Pattern(
        "an age above 89",
        re.compile(
            r"\b(?:9\d|1[01]\d)[- ](?i:years?[- ]old|yr[- ]old|y/o|jährige[rsn]?|años de edad|anos de idade)"
        ),
    ),
)
_AROUND = 90


def hits(text: str, patterns: Sequence[Pattern]) -> Iterator[tuple[str, int, int]]:
    """What stands in a text, as (kind, start, end), by kind and place."""
    for pattern in patterns:
        for match in pattern.exact.finditer(text):
            start, end = match.span()
            near = text[max(0, start - _AROUND) : end + _AROUND // 2]
            if pattern.unless is None or not pattern.unless.search(near):
                yield pattern.kind, start, end


def nominated(patterns: Sequence[Pattern]) -> str:
    """SQL condition on `text`: true for every text that holds one of the patterns, and for few others."""
    quick = "|".join(f"(?:{re2(pattern.exact.pattern)})" for pattern in patterns if not pattern.guard)
    conditions = [_matches(quick)]
    for pattern in patterns:
        if pattern.guard:
            conditions.append(f"({_matches(re2(pattern.guard))} AND {_matches(re2(pattern.exact.pattern))})")
    return " OR ".join(conditions)


def _matches(pattern: str) -> str:
    return "regexp_matches(text, '" + pattern.replace("'", "''") + "')"


def _check(rule: str, severity: Severity, patterns: Sequence[Pattern]) -> Callable[[Context], Outcome]:
    where = nominated(patterns)

    def check(context: Context) -> Outcome:
        found = Collector(rule, severity)
        kinds: Counter[str] = Counter()
        tables = [name for name in ("queries", "corpus") if name in context.views]
        if not tables:
            raise NotCovered("table absent: queries, corpus")
        for table in tables:
            text = f"SELECT id, text FROM {table} WHERE {where} ORDER BY id"
            for batch in context.batches(text, table):
                for name, said in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                    for kind, start, end in hits(said, patterns):
                        kinds[kind] += 1
                        found.add(f"the text holds {kind}", side(table, name, said, start, end))
        listed = ", ".join(f"{kind}: {kinds[kind]}" for kind in sorted(kinds))
        return found.outcome(sum(context.count(table) for table in tables), listed)

    return check


def _plant(table: str, text: str) -> Callable[[Rows, Rows], Sequence[str] | None]:
    def plant(rows: Rows, _: Rows) -> Sequence[str] | None:
        if not rows[table]:
            return None
        row = rows[table][len(text) % len(rows[table])]
        row["text"] = text
        return [str(row["id"])]

    return plant


def _canaries(*planted: tuple[str, str, str]) -> tuple[Canary, ...]:
    return tuple(Canary(kind, _plant(table, text)) for kind, table, text in planted)


RULES = (
    Rule(
        "phi_identifiers",
        1,
        "No identifier of a patient",
        "No text holds a medical record, insurance or national identity number after its label, a full "
        "date of "
        "birth, a patient by name (a title with a surname beside an age or a clinical event, or 'named', "
        "'called', "
        "'patient name'), or how to reach the patient. Numbers of approvals, trials and specimens are left "
        "out.",
        "error",
        "texts",
        _check("phi_identifiers", "error", IDENTIFIERS),
        canaries=_canaries(
            ("a medical record number", "corpus", "Her medical record number is 4482913."),
            ("a national identity number", "corpus", "CPF 123.456.789-09."),
            ("a date of birth", "queries", "The boy, born on 12 March 2004, was seen."),
            ("a named patient", "queries", "Mrs. Canary, a 54-year-old teacher, came."),
            ("a patient's telephone", "corpus", "The patient's phone is +44 20 7946 0958."),
        ),
    ),
    Rule(
        "phi_hints",
        1,
        "Hints of a person",
        "Texts that hold an e-mail address, a telephone number, the day of an admission, operation or "
        "death of one "
        "patient, a person with title or initials, a street address or an age above 89 are listed for a "
        "person to "
        "look at; in open-access articles most are published with consent or are an author's.",
        "warn",
        "texts",
        _check("phi_hints", "warn", HINTS),
        canaries=_canaries(
            ("an e-mail address", "corpus", "Write to canary@example.org for more."),
            ("a telephone number", "corpus", "Tel.: +49 30 901820."),
            ("a day of admission", "queries", "She was admitted on 3 May 2019 with fever."),
            ("a person with initials", "corpus", "The patient J.D. recovered."),
            ("a street address", "corpus", "He lives at 221 Canary Street."),
            ("an age above 89", "queries", "A 97-year-old came to hospital."),
        ),
    ),
)
