"""The visible text of links that CNXML leaves empty, in the book's language: "Figure 3.12", "Rysunku 3.12".

Polish books state the grammatical case of each link (`case` attribute); other languages have one form.
"""

from __future__ import annotations

_WORDS: dict[str, dict[str, str]] = {
    "en": {"fig": "Figure", "table": "Table", "disp-formula": "Equation"},
    "pl": {"fig": "Rysunek", "table": "Tabela", "disp-formula": "Równanie"},
    "es": {"fig": "Figura", "table": "Tabla", "disp-formula": "Ecuación"},
    "pt": {"fig": "Figura", "table": "Tabela", "disp-formula": "Equação"},
    "de": {"fig": "Abbildung", "table": "Tabelle", "disp-formula": "Gleichung"},
    "fr": {"fig": "Figure", "table": "Tableau", "disp-formula": "Équation"},
}
_POLISH_CASES: dict[str, dict[str, str]] = {
    "genitive": {"fig": "Rysunku", "table": "Tabeli", "disp-formula": "Równania"},
    "dative": {"fig": "Rysunkowi", "table": "Tabeli", "disp-formula": "Równaniu"},
    "accusative": {"fig": "Rysunek", "table": "Tabelę", "disp-formula": "Równanie"},
    "instrumental": {"fig": "Rysunkiem", "table": "Tabelą", "disp-formula": "Równaniem"},
    "locative": {"fig": "Rysunku", "table": "Tabeli", "disp-formula": "Równaniu"},
}


def label_word(kind: str, language: str, case: str = "") -> str:
    """The word before a number.

    Args:
        kind: fig, table or disp-formula; anything else reads as fig, which nearly every empty link is.
        language: BCP-47; languages without words here read as English.
        case: grammatical case the link states, e.g. locative.
    """
    primary = language.partition("-")[0]
    words = _POLISH_CASES.get(case) if primary == "pl" else None
    words = words or _WORDS.get(primary, _WORDS["en"])
    return words.get(kind, words["fig"])
