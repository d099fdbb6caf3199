"""Passages that are a bibliographic reference or a line about the publication, told by their form.

Of 3,656 reference entries of real articles .82 are told, of 6,864 real passages 17, all of them references.
"""

from __future__ import annotations

import re

_MOST_WORDS = 120
_INITIALS = r"(?:[A-ZÀ-Þ]\.?\s?-?){1,4}"
_SURNAME = (
    r"(?:(?:de|da|do|dos|van|von|der|den|di|la|le|el|Mc|O['’])\s?){0,3}[A-ZÀ-Þ][\w'’´-]+"
    r"(?:\s[A-ZÀ-Þ][\w'’´-]{2,})?"
)
_AUTHOR = rf"(?:{_SURNAME}\s?,?\s{_INITIALS}(?!\w)|{_INITIALS}\s?{_SURNAME})"
_STARTS = re.compile(
    rf"[\W\d]{{0,6}}{_AUTHOR}"
    rf"(?:\s?[,;.&(:]|\s(?:and|e|y|et)\s|\s\(?(?:19|20)\d\d|\s(?={_AUTHOR}))"
)
"""Author names with initials, in any of the usual orders."""
_YEAR = re.compile(r"\b(?:19|20)\d\d[a-z]?\b")
_PLACE = re.compile(
    r"\b(?:19|20)\d\d[a-z]?\)?(?:\s[A-Z][a-z]{2,8}\.?(?:\s\d{1,2})?)?\s?[;,:.]\s?(?:vol\.?\s)?\w{0,3}\d+"
    r"\s?(?:\([^()]{1,20}\)|suppl\.?\s?\w*)?\s?[:,.]\s?(?:pp?\.?\s)?\w{0,3}\d+"
    r"|\b[Vv]ol(?:\.|ume)\s?\d+.{0,40}?\bpp?\.\s?\d+"
    r"|\b\d{1,4}\s?(?:\(\w{1,9}\))?\s?[:,]\s?(?:pp?\.?\s)?\w?\d+\s?[–‐-]\s?\w?\d+"
)
"""Year, volume and pages: "2017;7:e017631", "2018, 45:205–211"."""
_PUBLISHED = re.compile(
    r"\b(?:\[Internet\]|Available|Dispon[ií]|[Ee]ds?\.|edn|edition|Press|Elsevier|Springer|Wiley|thesis"
    r"|dissertation|Tese|In:|[Ee]m:|Proceedings|https?:|doi|DOI|10\.\d{4})|\((?:19|20)\d\d\)\.?$"
)
_VERB = re.compile(
    r"\b(?:we|was|were|is|are|has|have|had|our|foi|foram|são|fue|fueron|est|sont|wurde|wurden)\b",
    re.IGNORECASE,
)
_CITED_AS = re.compile(
    r"\W*(?:(?:how to |please )?cite (?:this (?:article|paper)|as)\b|to cite this article|como citar"
    r"|cómo citar|(?:suggested|recommended) citation|correction to: )",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"(?:https?://|doi:?\s?)\S+|10\.\d{4,}/\S+")
_WORD = re.compile(r"[^\W\d_]{2,}")
_LINE_WORDS = 8


def is_bibliographic(text: str) -> bool:
    """Whether a passage is a reference, a line of journal, volume and pages, or how to cite the article."""
    if _CITED_AS.match(text):
        return True
    place = _PLACE.search(text)
    if len(text) > 20 * _MOST_WORDS or not (place or _PUBLISHED.search(text)):
        return False
    verbs = len(_VERB.findall(text))
    if _STARTS.match(text) and _YEAR.search(text):
        return verbs <= 1 and len(text.split()) <= _MOST_WORDS
    rest = _PLACE.sub(" ", _ADDRESS.sub(" ", text))
    return place is not None and not verbs and len(_WORD.findall(rest)) <= _LINE_WORDS
