"""Languages as MTEB names them: ISO 639-3 and script."""

from __future__ import annotations

from collections.abc import Iterable

_CODES = {
    "ar": "ara-Arab",
    "de": "deu-Latn",
    "en": "eng-Latn",
    "es": "spa-Latn",
    "fr": "fra-Latn",
    "hi": "hin-Deva",
    "it": "ita-Latn",
    "ja": "jpn-Jpan",
    "ko": "kor-Hang",
    "nl": "nld-Latn",
    "pl": "pol-Latn",
    "pt": "por-Latn",
    "ru": "rus-Cyrl",
    "sv": "swe-Latn",
    "th": "tha-Thai",
    "tr": "tur-Latn",
    "vi": "vie-Latn",
    "zh": "zho-Hans",
}
"""BCP-47 language -> ISO 639-3 code and ISO 15924 script."""


def codes(languages: Iterable[str], default: Iterable[str] = ("eng-Latn",)) -> list[str]:
    """The codes of some BCP-47 tags, sorted; an unknown one is left out; `default` if none is known."""
    found = {_CODES[tag.split("-")[0].lower()] for tag in languages if tag.split("-")[0].lower() in _CODES}
    return sorted(found) or list(default)
