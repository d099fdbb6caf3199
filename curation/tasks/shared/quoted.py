"""Licences of strings quoted from a vocabulary: its own where it is one, else the name of its terms."""

from __future__ import annotations

from schemas.licences import TERMS
from schemas.vocabulary import VocabularySource

LICENCE_SQL = f"""CASE WHEN v.tier = 'open' AND (v.licence = 'CC0-1.0' OR starts_with(v.licence, 'CC-BY-'))
        THEN v.licence ELSE '{TERMS}' || v.source END"""
"""`licence_of` as SQL over VocabularySource rows `v`."""


def licence_of(source: VocabularySource) -> str:
    """Licence id of a string of a source that may be passed on."""
    is_own = source.licence == "CC0-1.0" or source.licence.startswith("CC-BY-")
    return source.licence if source.tier == "open" and is_own else TERMS + source.source
