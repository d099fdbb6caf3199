"""Names and texts in forms that inflection, spelling and case do not change: what counts as the same word.

Who makes confusion sets and who audits them read words alike (SQL functions `name_form` and `told_forms`);
what they conclude from them is each one's own.
"""

from __future__ import annotations

import functools
import re
import unicodedata

import Stemmer

from curation.concepts.english import fold_english
from curation.concepts.name_forms import LONGEST_ACRONYM, without_marks, without_possessives
from schemas.hashing import normalise_text

SHORTEST = 3
"""Letters of the shortest name that is not in capitals: `as`, `in` and `no` would be in every text."""
_WORD = re.compile(r"[^\W_]+")


@functools.cache
def _stemmer() -> Stemmer.Stemmer:
    return Stemmer.Stemmer("english", 0)


@functools.lru_cache(maxsize=1 << 17)
def _stem(word: str) -> str:
    return str(_stemmer().stemWord(fold_english(word)))


def stemmed(text: str) -> str:
    """The words of a text by their English stems, without case, accents, possessives and punctuation.

    >>> stemmed("Crohn's diseases"), stemmed("Sjögren tumours")
    ('crohn diseas', 'sjogren tumor')
    """
    plain = without_marks(normalise_text(without_possessives(text)))
    return " ".join([_stem(word) for word in plain.split()])


def name_form(name: str) -> str:
    """The form in which a name is compared: short ones in capitals as written, others by their stems.

    '' is a name too short to be told from everyday words.

    >>> name_form("Linnet Fevers"), name_form("LNP"), name_form("Eyes"), name_form("As")
    ('linnet fever', 'LNP', 'eye', '')
    """
    plain = unicodedata.normalize("NFKC", name).strip()
    if _is_acronym(plain):
        return plain
    found = stemmed(plain)
    return found if len(found) >= SHORTEST else ""


def told_forms(text: str) -> str:
    """A text to look for such forms in, each between spaces: its stems, then its short words in capitals.

    >>> told_forms("Fevers of LNP")
    ' fever of lnp LNP '
    """
    plain = unicodedata.normalize("NFKC", text)
    return " ".join(["", stemmed(plain), *filter(_is_acronym, _WORD.findall(plain)), ""])


def _is_acronym(word: str) -> bool:
    return 1 < len(word) <= LONGEST_ACRONYM and word.isascii() and word.isalnum() and word.isupper()
