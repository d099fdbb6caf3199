"""Language codes of MEDLINE (ISO 639-2/B, three letters) as BCP-47.

Codes in use: https://www.nlm.nih.gov/bsd/language_table.html
"""

from __future__ import annotations

UNDETERMINED = "und"

_SHORT = {
    "afr": "af", "alb": "sq", "amh": "am", "ara": "ar", "arm": "hy", "aze": "az", "bel": "be", "ben": "bn",
    "bos": "bs", "bul": "bg", "cat": "ca", "chi": "zh", "cze": "cs", "dan": "da", "dut": "nl", "eng": "en",
    "epo": "eo", "est": "et", "fao": "fo", "fin": "fi", "fre": "fr", "geo": "ka", "ger": "de", "gla": "gd",
    "gle": "ga", "glg": "gl", "gre": "el", "heb": "he", "hin": "hi", "hrv": "hr", "hun": "hu", "ice": "is",
    "ind": "id", "ita": "it", "jpn": "ja", "kan": "kn", "kaz": "kk", "kin": "rw", "kir": "ky", "kor": "ko",
    "lat": "la", "lav": "lv", "lit": "lt", "ltz": "lb", "mac": "mk", "mal": "ml", "mao": "mi", "may": "ms",
    "mon": "mn", "nep": "ne", "nno": "nn", "nob": "nb", "nor": "no", "per": "fa", "pol": "pl", "por": "pt",
    "pus": "ps", "rum": "ro", "rus": "ru", "san": "sa", "scc": "sr", "scr": "hr", "slo": "sk", "slv": "sl",
    "som": "so", "spa": "es", "srp": "sr", "swa": "sw", "swe": "sv", "tam": "ta", "tat": "tt", "tel": "te",
    "tha": "th", "tib": "bo", "tuk": "tk", "tur": "tr", "ukr": "uk", "urd": "ur", "uzb": "uz", "vie": "vi",
    "wel": "cy", "zul": "zu",
}  # fmt: skip


def from_medline(code: str) -> str:
    """`fre` -> `fr`; several languages (`mul`), none stated and nonsense -> `und`.

    A language without a two-letter code keeps its three letters, as BCP-47 wants.
    """
    bare = code.strip().lower()
    if bare in _SHORT:
        return _SHORT[bare]
    is_code = len(bare) == 3 and bare.isascii() and bare.isalpha() and bare not in ("mul", "mis", "zxx")
    return bare if is_code else UNDETERMINED
