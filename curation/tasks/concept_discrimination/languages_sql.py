"""SQL of the languages that concepts have names in, besides that of the documents."""

from __future__ import annotations

from curation.tasks.shared.names import IS_NAME_SQL, RESTRICTED, scripts

LANGUAGE = "en"
LANGUAGES = tuple(language for language in scripts() if language != LANGUAGE)
LISTED = ", ".join(f"'{language}'" for language in LANGUAGES)
SPOKEN = "lower(split_part(language, '-', 1))"
_CASES = " ".join(f"WHEN '{language}' THEN {scripts()[language].sql('name')}" for language in LANGUAGES)
FITS = f"(CASE {SPOKEN} {_CASES} ELSE false END)"
"""Whether a name is in the script of its language."""
_BIT = f"1::BIGINT << (list_position([{LISTED}], {SPOKEN}) - 1)"
NAMED_IN = f"""
    SELECT concept, bit_or({_BIT}) AS languages,
        coalesce(bit_or({_BIT}) FILTER (tier <> '{RESTRICTED}'), 0) AS open_languages
    FROM names SEMI JOIN definitions AS d ON d.concept = names.concept
    WHERE {SPOKEN} IN ({LISTED}) AND {IS_NAME_SQL} AND {FITS} GROUP BY concept
"""
"""A bit for each language that a defined concept has a name in, at all and of a licence to publish it."""
