"""How reports in Spanish, Portuguese, French, German and Italian state a diagnosis."""

from __future__ import annotations

from curation.diagnosis.cue import cue

_TESTED = (
    r"biops\w+|(?:hemo)?cultivos?|cultura|kultur\w*|(?:histo|anatomo-?\s?|cito)pat\w+"
    r"|anatom[ií]a patol[oó]gica"
    r"|histol\w+|[ck]?citol\w+|cytologi\w+|histopatholog\w+|anatomo-?pathologi\w+|inmunohisto\w+|imuno-?histo\w+"
    r"|pcr|reacci[oó]n en cadena|rea[cç][aã]o em cadeia|serolog[ií]a|s[eé]rologie|genexpert"
    r"|sec?uenciaci[oó]n|sequenciamento|s[eé]quen[cç]age|autopsia|aut[oó]psia|autopsie|obduktion"
    r"|laparotom\w+|laparosco\w+|endosco\w+|cirug[ií]a|cirurgia|chirurgie"
)
_SHOWED = (
    r"confirm(?:[oó]|ou|a|ando|aron|aram|aba|ait|ant)|demo(?:n)?str(?:[oó]|ou|aron|aram|ando|aba)"
    r"|mostr(?:[oó]|ou|aron|aram|aba|ava|ando)|revel(?:[oó]|ou|aron|aram|aba|ava|ando)"
    r"|evidenci(?:[oó]|ou|aron|aram|ando)|objetiv(?:[oó]|aron)|certific[oó]|inform(?:[oó]|aba|ou|a)"
    r"|encontr(?:[oó]|aron|ou|aram)|aisl(?:[oó]|aron)|isol(?:ou|aram)|identific(?:[oó]|aron|ou|aram)"
    r"|crec(?:i[oó]|ieron)|compat[ií]ve(?:l|is) com|compatible con|mis en [eé]vidence|montrait|r[eé]v[eé]lait"
    r"|(?:a|ont) (?:confirm|montr|r[eé]v[eé]l|objectiv|retrouv|isol|conclu|identifi)\w+"
    r"|zeigten?|ergab(?:en)?|erbrachten?|best[aä]tigten?|sicherten?|nachgewiesen"
)
EXPLICIT = (
    cue(
        "diagnóstico",
        "clause",
        r"\bdiagn[oó]stico\s+(?:definitivo|final|histol[oó]gico|anatomopatol[oó]gico|de)\b"
        r"|\bdiagn[oó]stico\b.{1,160}?\b(?:foi|fue) (?:confirmado|establecido|estabelecido|realizado)\b"
        r"|\bse diagnostic[oó]\b|\bdiagnosticad[oa]s? (?:con|com|de|como)\b|\bfoi diagnosticad[oa]\b"
        r"|\bqued[oó] establecid[oa]\b"
        r"|\bconclu(?:y[oó]|iu(?:-se)?) .{0,40}?\b(?:padec[ií]a|sofria|tratava|trataba)\b",
    ),
    cue(
        "diagnostic retenu",
        "clause",
        r"\bdiagnostic\s+(?:définitif|final|retenu|de\b|d['’])"
        r"|\bdiagnostic\b.{1,200}?\b(?:retenu|posé|confirmé|établi|porté)\b",
    ),
    cue(
        "diagnostic retenu",
        "after",
        r"\bconclu(?:t|ait|ant|aient|re|rent|ent)?\s(?:à|au|aux|en)\b|\ben faveur d(?:e|['’]un)",
    ),
    cue(
        "Diagnose",
        "clause",
        r"\bdiagnose\s+(?:eines|einer|von|des|der)\b|\bdiagnostiziert\b"
        r"|\bdiagnose\b.{1,120}?\b(?:gestellt|gesichert|bestätigt)\b|\bst(?:and|eht) (?:\w+ )?fest\b",
    ),
    cue("diagnosi", "clause", r"\bdiagnosi\s+(?:definitiva|finale|di)\b"),
)
FINDING = (cue("pathology revealed", "after", rf"\b(?:{_TESTED})\b.{{0,160}}?\b(?:{_SHOWED})(?!\w)"),)
DOUBT = (
    r"diagn[oó]stico diferencial|sospech\w+|suspeita\w*|presuntivo|soup[cç]on\w*|verdacht\w*|vermutet\w*"
    r"|inicial(?:mente|es)?|initialement|zun[aä]chst|anf[aä]nglich|abandonad[oa]s?|descart(?:[oó]|ad[oa]s?|ou)"
    r"|exclu[ií](?:d[oa]s?|u)|[eé]cart[eé]e?s?|infirm[eé]e?s?|verworfen|ausgeschlossen|widerlegt"
)
"""What leaves a diagnosis open or takes it back."""
