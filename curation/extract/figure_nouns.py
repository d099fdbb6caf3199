"""The noun for a pointer in released text: "Fig. 2" becomes "the figure", "na Tabela 3" becomes "na tabela".

English has one noun for each kind. Elsewhere the writer's own word stays, without its number: gender, case
and what is said of it stay right. An article comes before it where the language has articles and none stands.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class _Grammar(NamedTuple):
    """One language. Words are "singular/plural", articles "singular/plural" by gender."""

    kinds: tuple[str, ...]
    """The words for a figure, table, supplement, video and box."""
    words: dict[str, tuple[str, bool]]
    """Gender of each word, and whether it is a plural."""
    plurals: dict[str, str]
    articles: dict[str, tuple[str, ...]]
    determiner: re.Pattern[str]
    """What stands before makes an article needless."""
    bare: re.Pattern[str]
    """After these prepositions it would melt with the article: the noun goes without."""
    apart: frozenset[str]
    """Articles that no preposition melts with."""


_KINDS = ("figure", "table", "supplement", "video", "box")
_NEVER = r"(?!)"


def _grammar(
    genders: dict[str, str],
    articles: dict[str, str],
    determiner: str = _NEVER,
    bare: str = _NEVER,
    apart: str = "",
) -> _Grammar:
    """A language from its words by gender; `*` marks the words of the five kinds, in their order."""
    words: dict[str, tuple[str, bool]] = {}
    plurals: dict[str, str] = {}
    kinds: dict[int, str] = {}
    for gender, listed in genders.items():
        for pair in listed.split():
            place, _, pair = pair.rpartition("*")
            one, _, many = pair.partition("/")
            words.setdefault(many.lower() or one.lower(), (gender, True))
            words[one.lower()] = (gender, False)
            plurals[one] = many or one
            if place:
                kinds[int(place)] = one
    split = {gender: tuple(pair.split("/")) for gender, pair in articles.items()}
    found = re.compile(rf"(?:{determiner})\s?$", re.IGNORECASE)
    return _Grammar(
        tuple(kinds[at] for at in sorted(kinds)),
        words,
        plurals,
        split,
        found,
        re.compile(rf"\b(?:{bare})\s$", re.IGNORECASE),
        frozenset(apart.split("/")),
    )


_ADJECTIVE = (
    r"(?:correct|upper|lower|left|right|first|second|third|last|new|full|final|online|whole"
    r"|\w+(?:ed|ing|ary|ous|ive))"
)
_GRAMMARS: dict[str, _Grammar] = {
    "en": _grammar(
        {"m": "1*figure/figures 2*table/tables 3*supplement/supplements 4*video/videos 5*box/boxes"},
        {"m": "the/the"},
        r"\b(?:the|an?|this|these|our|their|its|his|her|whose|your|each|every|above|following|same|corresponding"
        rf"|respective|supplement(?:ary|al)|(?:the|this|these|our|their|its|each)(?:\s{_ADJECTIVE}){{1,2}})\b"
        r"|\w['’]s|s['’]",
    ),
    "es": _grammar(
        {
            "f": "1*figura/figuras 2*tabla/tablas imagen/imágenes foto/fotos gráfica/gráficas"
            " fotografía/fotografías",
            "m": "3*suplemento/suplementos 4*vídeo/vídeos 5*recuadro/recuadros cuadro/cuadros"
            " gráfico/gráficos esquema/esquemas mapa/mapas anexo/anexos apéndice/apéndices"
            " algoritmo/algoritmos video/videos",
        },
        {"f": "la/las", "m": "el/los"},
        r"\b(?:el|las?|los|est[aeo]s?|es[ae]s?|sus?|del|al|nuestr[ao]s?|dich[ao]s?|mism[ao]s?|siguientes?)",
        "de|a",
        "la/las/los",
    ),
    "pt": _grammar(
        {
            "f": "1*figura/figuras 2*tabela/tabelas imagem/imagens foto/fotos fotografia/fotografias"
            " caixa/caixas",
            "m": "3*suplemento/suplementos 4*vídeo/vídeos 5*quadro/quadros gráfico/gráficos esquema/esquemas"
            " mapa/mapas anexo/anexos apêndice/apêndices algoritmo/algoritmos",
        },
        {"f": "a/as", "m": "o/os"},
        r"\b(?:[aonàd][aos]{0,2}|à|às|pel[ao]s?|[nd]?est[ae]s?|[nd]?ess[ae]s?|suas?|seus?|noss[ao]s?|numa?"
        r"|mesm[ao]s?|seguintes?)",
        "em|de|por",
    ),
    "fr": _grammar(
        {
            "f": "1*figure/figures 4*vidéo/vidéos image/images photo/photos carte/cartes annexe/annexes"
            " planche/planches",
            "m": "2*tableau/tableaux 3*supplément/suppléments 5*encadré/encadrés graphique/graphiques"
            " schéma/schémas diagramme/diagrammes",
        },
        {"f": "la/les", "m": "le/les"},
        r"\b(?:l[ae]s?|ce|cet|cette|ces|aux?|du|des|sa|son|ses|leurs?|notre|nos|mêmes?|en)|\bl['’]",
        "de|à",
        "la",
    ),
    "de": _grammar(
        {
            "f": "1*Abbildung/Abbildungen 2*Tabelle/Tabellen Figur/Figuren Grafik/Grafiken Box/Boxen",
            "m": "3*Anhang/Anhänge 5*Kasten/Kästen",
            "n": "4*Video/Videos Bild/Bilder Schema/Schemata Diagramm/Diagramme Foto/Fotos",
        },
        {"f": "die/die", "m": "der/die", "n": "das/die"},
        r"\b(?:d(?:er|ie|as|en|em|es)|dies(?:e[rnms]?)|ihre[rn]?|unsere[rn]?|im|am|zum|zur|beim|vom|eine[rn]?"
        r"|folgende[rn]?|obige[rn]?|gleichen?|beiden)",
    ),
    "it": _grammar(
        {
            "f": "1*figura/figure 2*tabella/tabelle immagine/immagini foto mappa/mappe tavola/tavole"
            " appendice/appendici",
            "m": "3*supplemento/supplementi 4*video 5*riquadro/riquadri grafico/grafici schema/schemi"
            " allegato/allegati",
        },
        {"f": "la/le", "m": "il/i"},
        r"\b(?:il|lo|la|i|gli|le|(?:n|d|a|da|su)(?:el|ell[oae]|ei|egli|l|ll[oae]|i|gli)|quest[aeio]|su[ae]"
        r"|nostr[ae]|stess[ae]|seguent[ei])|l['’]",
        "in|a|di|da|su|con|per",
    ),
    "ru": _grammar(
        {"": "1*рисунок/рисунки 2*таблица/таблицы 3*приложение/приложения 4*видео 5*врезка/врезки"}, {}
    ),
    "pl": _grammar(
        {"": "1*rysunek/rysunki 2*tabela/tabele 3*suplement/suplementy 4*film/filmy 5*ramka/ramki"}, {}
    ),
    "zh": _grammar({"": "1*图 2*表 3*附录 4*视频 5*文本框"}, {}),
    "ja": _grammar({"": "1*図 2*表 3*付録 4*動画 5*囲み"}, {}),
}
_THIRD = (
    "show|depict|illustrate|demonstrate|present|display|indicate|represent|reveal|summarize|summarise|list"
    "|provide|describe|compare|plot|report|outline|highlight|contain|give|suggest|confirm"
)
CLEAR_VERB = rf"(?:{_THIRD.replace('|', 's|')}s|{_THIRD})\b"
"""What a figure does, in English; "is" and "was" may be said of what is seen in it."""
PLURAL_VERB = rf"(?:{_THIRD}|are|were|have|do|differ|correspond)\b"
VERB = (
    rf"(?:{CLEAR_VERB}|(?:is|are|was|were|has|have|does|differs?|corresponds?|muestran?|mostram?|presentan?"
    r"|apresentam?|ilustran?|ilustram?|representan?|representam?|montre(?:nt)?|présente(?:nt)?|illustre(?:nt)?"
    r"|résume(?:nt)?|représente(?:nt)?|zeigt|zeigen|mostra(?:no)?|illustra(?:no)?|presenta(?:no)?|riporta(?:no)?"
    r"|rappresenta(?:no)?|przedstawia(?:ją)?|pokazuj[eą])\b)"
)
CJK = frozenset({"zh", "ja"})
_DATIVE_BEFORE = re.compile(
    r"\b(?:in|an|auf|aus|bei|mit|nach|von|zu|laut|gemäß|entsprechend|unter|zwischen)\s"
    r"(?:(?:Abb|Fig|Tab)\w*\.?\s[\w–,]{1,6}\s(?:und|sowie)\s)?$",
    re.IGNORECASE,
)
_ACCUSATIVE_BEFORE = re.compile(
    r"\b(?:für|durch|ohne|um|gegen|siehe|s\.|vgl\.|vergleiche|zeigt|zeigen)\s$", re.I
)
_ELIDED = frozenset({"le", "la", "il"})
"""French and Italian articles of a singular, before a vowel l’."""
_CASES = {("dative", "f"): "der", ("dative", "m"): "dem", ("dative", "n"): "dem", ("accusative", "m"): "den"}
_ASKED_BY = {
    code: {case: re.compile(rf"\b(?:{words})\s$", re.IGNORECASE) for case, words in cases.items()}
    for code, cases in {
        "ru": {
            "locative": "на|в|во|о|об|при",
            "genitive": "из|от|с|со|для|до",
            "dative": "к|ко|по|согласно",
            "accusative": r"см\.|через",
        },
        "pl": {
            "locative": "na|w|we|przy",
            "genitive": r"z|ze|do|od|dla|według|wg\.?",
            "dative": "ku|dzięki",
            "accusative": r"patrz|zob\.|por\.|przez",
        },
    }.items()
}
"""The case that a preposition asks for, in languages that have no articles but cases."""
_INFLECTED = {
    "рисунок": {"locative": "рисунке/рисунках", "genitive": "рисунка/рисунков", "dative": "рисунку/рисункам"},
    "таблица": {
        "locative": "таблице/таблицах",
        "genitive": "таблицы/таблиц",
        "dative": "таблице/таблицам",
        "accusative": "таблицу/таблицы",
    },
    "rysunek": {
        "locative": "rysunku/rysunkach",
        "genitive": "rysunku/rysunków",
        "dative": "rysunkowi/rysunkom",
    },
    "tabela": {
        "locative": "tabeli/tabelach",
        "genitive": "tabeli/tabel",
        "dative": "tabeli/tabelom",
        "accusative": "tabelę/tabele",
    },
}
_BREAKS_OFF = {
    code: re.compile(rf"(?:^|\s)(?:{words}|{words.title()})\s*$")
    for code, words in {
        "en": "in|by|from|see|on|at|of|to|than|per|and|or|the|with",
        "es": "en|de|por|según|a|con|del|al|el|la|los|las",
        "pt": "em|na|no|nas|nos|de|da|do|das|dos|por|com|o|os|as",
        "fr": "dans|de|sur|par|et|ou|la|le|les|du|des|au",
        "de": "in|von|mit|aus|und|oder|siehe|der|die|das|den|dem",
        "it": "in|di|da|con|su|nella|nelle|la|le|il|della",
    }.items()
}
_WORD = re.compile(r"[^\W\d_]{3,}(?![^\W\d_]|\.)|[图圖図表]|그림|표")
"""A label word written out."""
_BY_KIND = (
    (
        "supplement",
        re.compile(
            r"(?:[Aa]dditional|[Mm]ultimedia|[Ss]upp\w*\.?\s(?:[Mm]aterial|[Dd]ata|[Dd]igital|[Ff]ile|[Tt]ext"
            r"|[Nn]ote|[Ii]nfo))|S\d{1,3}\b.*\b(?:File|Text|Data|Appendi|Protocol|Note|Checklist)"
        ),
    ),
    ("video", re.compile(r".*?(?:v[ií]d[eé]o|movie|film|视频|動画|видео)", re.IGNORECASE)),
    (
        "figure",
        re.compile(
            r".*?(?:fig|abb|рис|图|圖|図|그림|ry[cs]|schem|esquem|chart|graph|gráf|plate|imag|imág"
            r"|photo|foto|map)",
            re.IGNORECASE,
        ),
    ),
    ("box", re.compile(r".*?(?:box|recuadro|encadré|kasten|riquadro)", re.IGNORECASE)),
    ("table", re.compile(r".*?(?:tab|cuadro|quadro|табл|表)", re.IGNORECASE)),
    (
        "supplement",
        re.compile(
            r".*?(?:suppl|append|anex|anne|allegat|anhang|data|resource|file"
            r"|text|note|method|protocol|audio|checklist|code|software)",
            re.IGNORECASE,
        ),
    ),
    ("figure", re.compile(r".*?panel", re.IGNORECASE)),
)


def kind_of(pointer: str) -> str:
    """What a pointer names: figure, table, video, box or supplement; '' for anything else ("Algorithm 3")."""
    found = next((kind for kind, pattern in _BY_KIND if pattern.match(pointer)), None)
    return found or ("" if _WORD.search(pointer) else "figure")


def needs_noun(before: str, language: str) -> bool:
    """Whether a sentence that breaks off here needs what stands in the bracket: "as shown in (Fig. 2)"."""
    code = language.lower()[:2]
    pattern = _BREAKS_OFF.get("en" if code in {"", "un"} else code)
    return pattern is not None and pattern.search(before) is not None


def phrase(pointer: str, language: str, before: str, *, many: bool) -> str:
    """The noun for a pointer, with the article it needs.

    Args:
        pointer: the first of the pointers it stands for, as written.
        language: BCP-47; none or "und" is read as English.
        before: the text up to it.
        many: whether it stands for several.
    """
    grammar, is_german = _of(language), language.lower().startswith("de")
    word, gender, is_plural = _noun(pointer, grammar, language, before, many)
    if gender not in grammar.articles or grammar.determiner.search(before):
        return word
    article = grammar.articles[gender][is_plural]
    if article not in grammar.apart and grammar.bare.search(before):
        return word
    if is_german and _DATIVE_BEFORE.search(before):
        article = "den" if is_plural else _CASES["dative", gender]
    elif is_german and not is_plural and _ACCUSATIVE_BEFORE.search(before):
        article = _CASES.get(("accusative", gender), article)
    if article in _ELIDED and word[0].lower() in "aeéiouh":
        return f"l’{word}"
    return f"{article} {word}"


def _of(language: str) -> _Grammar:
    code = language.lower()[:2]
    if code in _GRAMMARS:
        return _GRAMMARS[code]
    return _GRAMMARS["en"] if code in {"", "un"} else _UNKNOWN


_UNKNOWN = _grammar(
    {"": "1*figure/figures 2*table/tables 3*supplement/supplements 4*video/videos 5*box/boxes"}, {}
)


def _noun(pointer: str, grammar: _Grammar, language: str, before: str, many: bool) -> tuple[str, str, bool]:
    """The word, its gender, and whether it is a plural."""
    kind, is_english = kind_of(pointer), grammar is _GRAMMARS["en"]
    own = [found.group() for found in _WORD.finditer(pointer)]
    if own and not (is_english and kind):
        word = next((word for word in own if word.lower() in grammar.words), own[-1 if is_english else 0])
        gender, is_plural = grammar.words.get(word.lower(), ("m" if is_english else "?", False))
        if gender != "?" or not grammar.articles or not kind:
            return (word if language.lower().startswith("de") else word.lower()), gender, is_plural
    word = grammar.kinds[_KINDS.index(kind or "figure")]
    gender, _ = grammar.words[word.lower()]
    return _inflected(word, grammar.plurals[word], language, before, many), gender, many


def _inflected(one: str, several: str, language: str, before: str, many: bool) -> str:
    """The word in the case that stands before it asks for; as it is where there are no cases."""
    for case, asked in _ASKED_BY.get(language.lower()[:2], {}).items():
        if asked.search(before):
            forms = _INFLECTED.get(one, {}).get(case, f"{one}/{several}")
            return forms.split("/")[many]
    return several if many else one
