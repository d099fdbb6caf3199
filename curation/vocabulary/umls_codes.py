"""Codes of the Metathesaurus in our terms: languages, relations, prefixes of sources, WHO's classifications.

https://www.nlm.nih.gov/research/umls/knowledge_sources/metathesaurus/release/abbreviations.html
"""

from __future__ import annotations

from collections.abc import Mapping

from schemas.vocabulary import ClueKind

LANGUAGES: Mapping[str, str] = {
    "ARA": "ar",
    "BAQ": "eu",
    "CHI": "zh",
    "CZE": "cs",
    "DAN": "da",
    "DUT": "nl",
    "ENG": "en",
    "EST": "et",
    "FIN": "fi",
    "FRE": "fr",
    "GER": "de",
    "GRE": "el",
    "HEB": "he",
    "HUN": "hu",
    "ITA": "it",
    "JPN": "ja",
    "KOR": "ko",
    "LAV": "lv",
    "NOR": "no",
    "POL": "pl",
    "POR": "pt",
    "RUS": "ru",
    "SCR": "hr",
    "SPA": "es",
    "SWE": "sv",
    "TUR": "tr",
    "UKR": "uk",
}
"""LAT to BCP-47; a code that is not here is kept in lower case."""

RELATIONS: Mapping[str, str] = {
    "PAR": "parent",
    "CHD": "child",
    "SIB": "sibling",
    "RB": "broader",
    "RN": "narrower",
    "RO": "related",
    "RQ": "related",
    "RL": "related",
    "RU": "related",
    "SY": "synonym",
}
"""REL to what `other` (CUI2) is to `concept` (CUI1). AQ, QB, DEL and XR are left out."""

CLUES: Mapping[str, ClueKind] = {
    "may_treat": "drug",
    "may_diagnose": "test",
    "gene_associated_with_disease": "gene",
    "gene_involved_in_pathogenesis_of_disease": "gene",
}
"""RELA to what `other` is to `concept`, a disease (MED-RT, NCI Thesaurus); goes before REL. Their inverses
stay `related`, so that a disease is no drug of its drug."""

PREFIXES: Mapping[str, str] = {
    "HPO": "HP",
    "MSH": "MESH",
    "MDR": "MEDDRA",
    "NCI": "NCIT",
    "LNC": "LOINC",
    "ORPHANET": "ORPHA",
    "RXNORM": "RXCUI",
}
"""SAB to the prefix its codes have as CURIEs; other sources' abbreviation is their prefix."""

WHO_SOURCES = (
    "ICD10",
    "ICD10AE",
    "ICD10AM",
    "ICD10AMAE",
    "ICD10DUT",
    "ICF",
    "ICF-CY",
    "ICPC2ICD10DUT",
    "ICPC2ICD10ENG",
    "WHO",
)
"""Classifications of WHO and derivatives: restricted whatever level a file states."""
