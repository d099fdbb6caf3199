"""UMLS Rich Release Format as SQL: one statement per file of the Metathesaurus makes one table of ours.

Columns and their meaning: https://www.ncbi.nlm.nih.gov/books/NBK9685/. A statement reads views over the files
as they are (all text); `kept` is the set of concepts that have a name left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from curation.vocabulary.umls_codes import CLUES, LANGUAGES, PREFIXES, RELATIONS, WHO_SOURCES
from schemas.errors import UsageError
from schemas.stages import Sql
from schemas.vocabulary import (
    ConceptDefinition,
    ConceptMapping,
    ConceptRelation,
    ConceptType,
    RetiredConcept,
    VocabularySource,
)

_COLUMNS = {
    "MRCONSO": "CUI LAT TS LUI STT SUI ISPREF AUI SAUI SCUI SDUI SAB TTY CODE STR SRL SUPPRESS CVF",
    "MRSTY": "CUI TUI STN STY ATUI CVF",
    "MRREL": "CUI1 AUI1 STYPE1 REL CUI2 AUI2 STYPE2 RELA RUI SRUI SAB SL RG DIR SUPPRESS CVF",
    "MRDEF": "CUI AUI ATUI SATUI SAB DEF SUPPRESS CVF",
    "MRCUI": "CUI1 VER REL RELA MAPREASON CUI2 MAPIN",
    "MRSAB": "VCUI RCUI VSAB RSAB SON SF SVER VSTART VEND IMETA RMETA SLC SCC SRL TFR CFR CXTY TTYL ATNL LAT"
    " CENC CURVER SABIN SSN SCIT",
}
LAYOUT: Mapping[str, tuple[str, ...]] = {name: tuple(text.split()) for name, text in _COLUMNS.items()}
"""Columns of each file; every line ends with one more separator."""
REQUIRED = ("MRCONSO", "MRSTY", "MRSAB")
NEEDED: Mapping[str, tuple[str, ...]] = {
    "MRCONSO": ("CUI", "LAT", "TS", "STT", "ISPREF", "AUI", "SAB", "TTY", "CODE", "STR", "SRL", "SUPPRESS"),
    "MRSTY": ("CUI", "TUI"),
    "MRREL": ("CUI1", "REL", "CUI2", "RELA", "SAB", "SUPPRESS"),
    "MRDEF": ("CUI", "SAB", "DEF", "SUPPRESS"),
    "MRCUI": ("CUI1", "REL", "CUI2"),
    "MRSAB": ("VSAB", "RSAB", "SON", "SVER", "IMETA", "SRL", "LAT", "CURVER", "SCIT"),
}
"""Columns that are read."""

_CUI = "regexp_full_match({0}, 'C[0-9]{{7}}')"
WELL_FORMED: Mapping[str, str] = {
    "MRCONSO": f"{_CUI.format('CUI')} AND STR <> '' AND SAB <> '' AND regexp_full_match(SRL, '[0-9]')",
    "MRSTY": f"{_CUI.format('CUI')} AND regexp_full_match(TUI, 'T[0-9]{{3}}')",
    "MRREL": f"{_CUI.format('CUI1')} AND {_CUI.format('CUI2')} AND SAB <> ''",
    "MRDEF": f"{_CUI.format('CUI')} AND DEF <> '' AND SAB <> ''",
    "MRCUI": f"{_CUI.format('CUI1')} AND REL <> '' AND (CUI2 = '' OR {_CUI.format('CUI2')})",
    "MRSAB": "RSAB <> '' AND (SRL = '' OR regexp_full_match(SRL, '[0-9]'))",
}
"""What a line must hold besides its number of columns; other lines are quarantined."""


@dataclass(frozen=True, slots=True)
class UmlsOptions:
    """What of a Metathesaurus is taken. Empty means all.

    Args:
        languages: BCP-47, e.g. ('en', 'es').
        sources: UMLS source abbreviations, e.g. ('SNOMEDCT_US', 'MSH').
        types: semantic types (T047) or groups (DISO).
        keep_suppressed: keep names that are obsolete or suppressible (SUPPRESS O, Y, E), marked so.
    """

    languages: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    keep_suppressed: bool = False

    def check(self, known_types: Sequence[str]) -> None:
        """Refuse what no Metathesaurus has.

        Raises:
            UsageError: an unknown language or semantic type.
        """
        for given, known, what in (
            (self.languages, sorted(set(LANGUAGES.values())), "language"),
            (self.types, sorted(known_types), "semantic type or group"),
        ):
            for item in given:
                if item not in known:
                    raise UsageError(f"UMLS has no {what} {item!r}", hint="one of " + ", ".join(known))


def text(value: str) -> str:
    """An SQL string."""
    return "'" + value.replace("'", "''") + "'"


def _listed(values: Sequence[str]) -> str:
    return "(" + ", ".join(text(value) for value in values) + ")"


def _table(name: str, columns: str, rows: Sequence[tuple[str, ...]]) -> str:
    body = ", ".join("(" + ", ".join(text(value) for value in row) + ")" for row in rows)
    return f"(VALUES {body}) AS {name}({columns})"


def _case(column: str, mapping: Mapping[str, str], otherwise: str) -> str:
    by_value: dict[str, list[str]] = {}
    for code, value in mapping.items():
        by_value.setdefault(value, []).append(code)
    arms = " ".join(f"WHEN {column} IN {_listed(codes)} THEN {text(v)}" for v, codes in by_value.items())
    return f"CASE {arms} ELSE {otherwise} END"


CURRENT_SOURCES = (
    "SELECT RSAB, max(CASE WHEN SRL = '' THEN 0 ELSE CAST(SRL AS INTEGER) END) AS SRL, max(LAT) AS LAT "
    "FROM MRSAB GROUP BY RSAB"
)
_LANGUAGE = _case("{code}", LANGUAGES, "lower({code})")
_RESTRICTION = "greatest(CAST(c.SRL AS INTEGER), coalesce(s.SRL, 0))"
_TIER = (
    "CASE WHEN {restriction} > 0 OR {source} IN "
    + _listed(WHO_SOURCES)
    + " THEN 'restricted' ELSE 'terms' END"
)
_CODE = (
    f"CASE WHEN c.CODE IN ('', 'NOCODE') THEN '' "
    "WHEN regexp_full_match(c.CODE, '[A-Za-z][A-Za-z0-9_]*:\\S+') THEN c.CODE "
    f"ELSE {_case('c.SAB', PREFIXES, 'c.SAB')} || ':' || c.CODE END"
)


def left_out(options: UmlsOptions) -> Mapping[str, str]:
    """Conditions on MRCONSO under which the options leave a name out, by reason, in this order."""
    reasons: dict[str, str] = {}
    if not options.keep_suppressed:
        reasons["suppressed"] = "SUPPRESS IN ('O', 'Y', 'E')"
    if options.languages:
        codes = [code for code, language in LANGUAGES.items() if language in options.languages]
        reasons["language"] = f"LAT NOT IN {_listed(codes)}"
    if options.sources:
        reasons["source"] = f"SAB NOT IN {_listed(options.sources)}"
    if options.types:
        reasons["semantic_type"] = "CUI NOT IN (SELECT CUI FROM typed)"
    return reasons


def typed(options: UmlsOptions, groups: Mapping[str, str]) -> str:
    """CUIs of the chosen semantic types; view `typed`."""
    chosen = [tui for tui, group in groups.items() if {tui, group} & set(options.types)]
    return f"SELECT DISTINCT CUI FROM MRSTY WHERE TUI IN {_listed(chosen or ['-'])}"


def names(options: UmlsOptions) -> str:
    """ConceptName rows of MRCONSO; repeats (atoms that differ in their ids only) are left in.

    Preferred is what UMLS prefers for the concept in that language: TS P, STT PF and ISPREF Y.
    """
    conditions = " AND ".join(["true", *(f"NOT ({rule})" for rule in left_out(options).values())])
    tier = _TIER.format(restriction=_RESTRICTION, source="c.SAB")
    return f"""
        SELECT 'UMLS:' || c.CUI AS concept, c.STR AS name, {_LANGUAGE.format(code="c.LAT")} AS language,
            c.SAB AS source, {_CODE} AS code, c.TTY AS term_type,
            CAST({_RESTRICTION} AS BIGINT) AS restriction, {tier} AS tier,
            c.TS = 'P' AND c.STT = 'PF' AND c.ISPREF = 'Y' AS is_preferred,
            c.SUPPRESS IN ('O', 'Y', 'E') AS is_suppressed, c.AUI AS atom
        FROM (SELECT * FROM MRCONSO WHERE {conditions}) AS c
        LEFT JOIN ({CURRENT_SOURCES}) AS s ON s.RSAB = c.SAB"""


def types(groups: Mapping[str, str]) -> Sql:
    """ConceptType rows of MRSTY for kept concepts; a type the group table lacks has group ''."""
    table = _table("g", "TUI, grp", sorted(groups.items()))
    return Sql(
        f"""SELECT DISTINCT 'UMLS:' || t.CUI AS concept, t.TUI AS semantic_type,
            coalesce(g.grp, '') AS "group", 'source' AS rule
        FROM MRSTY AS t LEFT JOIN {table} ON g.TUI = t.TUI
        WHERE 'UMLS:' || t.CUI IN (SELECT concept FROM kept)""",
        ConceptType,
        ("concept", "semantic_type", "rule"),
    )


def relations(options: UmlsOptions) -> Sql:
    """ConceptRelation rows of MRREL between kept concepts.

    REL is the relationship of the second concept to the first: a PAR row says that CUI2 is a parent of CUI1.
    So `concept` is CUI1 and `other` CUI2, as in our records. RN and RB rows whose RELA is isa or inverse_isa
    are child and parent; a RELA of CLUES says that CUI2 is a drug, gene or test of CUI1. AQ, QB, DEL and XR
    are no relations of meaning.
    """
    conditions = ["CUI1 <> CUI2"]
    if not options.keep_suppressed:
        conditions.append("SUPPRESS NOT IN ('O', 'Y', 'E')")
    if options.sources:
        conditions.append(f"SAB IN {_listed(options.sources)}")
    table = _table("m", "REL, relation", sorted(RELATIONS.items()))
    clues = " ".join(f"WHEN r.RELA = '{rela}' THEN '{kind}'" for rela, kind in sorted(CLUES.items()))
    return Sql(
        f"""SELECT DISTINCT 'UMLS:' || r.CUI1 AS concept,
            CASE WHEN r.REL = 'RN' AND r.RELA = 'isa' THEN 'child'
                 WHEN r.REL = 'RB' AND r.RELA = 'inverse_isa' THEN 'parent'
                 {clues} ELSE m.relation END AS relation,
            'UMLS:' || r.CUI2 AS other, r.SAB AS source
        FROM (SELECT * FROM MRREL WHERE {" AND ".join(conditions)}) AS r JOIN {table} ON m.REL = r.REL
        WHERE 'UMLS:' || r.CUI1 IN (SELECT concept FROM kept)
            AND 'UMLS:' || r.CUI2 IN (SELECT concept FROM kept)""",
        ConceptRelation,
        ("concept", "relation", "other", "source"),
    )


def definitions(options: UmlsOptions) -> Sql:
    """ConceptDefinition rows of MRDEF for kept concepts; language and restriction are the source's."""
    conditions = ["true"]
    if not options.keep_suppressed:
        conditions.append("d.SUPPRESS NOT IN ('O', 'Y', 'E')")
    if options.sources:
        conditions.append(f"d.SAB IN {_listed(options.sources)}")
    if options.languages:
        codes = [code for code, language in LANGUAGES.items() if language in options.languages]
        conditions.append(f"coalesce(s.LAT, 'ENG') IN {_listed(codes)}")
    return Sql(
        f"""SELECT DISTINCT 'UMLS:' || d.CUI AS concept, d.DEF AS text,
            {_LANGUAGE.format(code="coalesce(s.LAT, 'ENG')")} AS language, d.SAB AS source,
            {_TIER.format(restriction="coalesce(s.SRL, 9)", source="d.SAB")} AS tier
        FROM MRDEF AS d LEFT JOIN ({CURRENT_SOURCES}) AS s ON s.RSAB = d.SAB
        WHERE {" AND ".join(conditions)} AND 'UMLS:' || d.CUI IN (SELECT concept FROM kept)""",
        ConceptDefinition,
        ("concept", "language", "source", "text"),
    )


MAPPINGS = Sql(
    """SELECT DISTINCT concept, code AS other, 'UMLS' AS source, 'stated' AS status FROM names
    WHERE code <> '' AND language = 'en' AND NOT is_suppressed
        AND term_type IN ('PT', 'MH', 'PN', 'LLT', 'HT')
        AND source IN ('HPO', 'MSH', 'SNOMEDCT_US', 'ICD10', 'ICD10CM', 'OMIM', 'ORPHANET', 'NCI', 'MDR',
            'MONDO')""",
    ConceptMapping,
    ("concept", "other", "source"),
)
"""Ids that UMLS gives a concept in other vocabularies, by their own preferred terms (view `names`)."""

RETIRED = Sql(
    """SELECT 'UMLS:' || CUI1 AS concept,
        CASE WHEN count(DISTINCT CUI2) FILTER (REL = 'SY' AND CUI2 <> '') = 1
            THEN 'UMLS:' || max(CUI2) FILTER (REL = 'SY' AND CUI2 <> '') ELSE '' END AS replacement,
        'UMLS' AS source
    FROM MRCUI WHERE CUI1 NOT IN (SELECT CUI FROM live) GROUP BY CUI1""",
    RetiredConcept,
    ("concept", "source"),
)
"""MRCUI: a CUI has a replacement only where UMLS calls the new one synonymous (SY); broader, narrower and
related ones are no replacement. View `live`: every CUI of MRCONSO."""


def sources(release: str, sha256: str) -> Sql:
    """VocabularySource rows: UMLS itself and each source of MRSAB that gave a name (view `kept_sources`)."""
    url = "https://www.nlm.nih.gov/research/umls/"
    level = "max(CASE WHEN SRL = '' THEN 0 ELSE CAST(SRL AS INTEGER) END)"
    return Sql(
        f"""SELECT 'UMLS' AS source, 'Unified Medical Language System Metathesaurus' AS title,
            {text(release)} AS release, 'UMLS Metathesaurus License' AS licence, 'terms' AS tier,
            {text(url)} AS url,
            'Bodenreider O. The Unified Medical Language System (UMLS). Nucleic Acids Res. 2004;32:D267-70.'
                AS citation, {text(sha256)} AS sha256
        UNION ALL
        SELECT RSAB, any_value(SON ORDER BY CURVER DESC, VSAB DESC),
            any_value(CASE WHEN SVER <> '' THEN SVER ELSE VSAB END ORDER BY CURVER DESC, VSAB DESC),
            'UMLS Metathesaurus License, SRL ' || {level}, {_TIER.format(restriction=level, source="RSAB")},
            {text(url)}, any_value(SCIT ORDER BY CURVER DESC, VSAB DESC), {text(sha256)}
        FROM MRSAB WHERE RSAB IN (SELECT source FROM kept_sources) AND RSAB <> 'UMLS' GROUP BY RSAB""",
        VocabularySource,
        ("source",),
    )
