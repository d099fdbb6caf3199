"""Sections and sentences that sum an article up: conclusions, summaries, key points, aims, main findings.

Told by the section's title, the sec-type attribute or the words a sentence begins with, in the languages of
the crawl: English, Spanish, Portuguese, French, German, Italian, Russian, Chinese, Japanese.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_NUMBER = re.compile(r"^\s*(?:\d+(?:\.\d+)*|[IVX]+)[.):]?\s+")
_CONCLUSION = re.compile(
    r"\b(?:conclusions?|concluding|conclusi[oó]n(?:es)?|conclus(?:ão|ões|ao|oes)|conclusion[ei])\b"
    r"|\b(?:closing|final) (?:remarks?|considerations?|thoughts?|comments?)\b|\btake[- ]home\b"
    r"|\b(?:consideraciones|reflexiones|comentarios|considerações|comentários) finales?\b"
    r"|\b(?:considerações|reflexões|comentários) finais\b|\bremarques finales\b"
    r"|\b(?:schlussfolgerung(?:en)?|schlussbemerkung(?:en)?|schlusswort|schluss|fazit)\b"
    r"|\bconsiderazioni (?:conclusive|finali)\b|\b(?:заключение|выводы|вывод)\b"
    r"|结论|結論|结语|結語|总结|總結|小结|おわりに|まとめ",
    re.IGNORECASE,
)
"""A title with such words holds conclusions, whatever else it names ('Discussion and conclusions')."""
_SUMMARIES = (
    r"(?:(?:executive|plain[- ]language|lay|author|article|chapter|case|study|web|editor(?:ial|['’]s)?) )?"
    r"summar(?:y|ies)(?: (?:points?|box|boxes))?",
    r"(?:key concepts|discussion) and summary",
    r"summary (?:and|&) (?:outlook|perspectives?|recommendations?|future (?:directions?|perspectives?))",
    r"(?:(?:graphical|visual|video|structured|extended) )?abstract",
    r"synopsis|in brief|in a nutshell|précis|precis",
    r"(?:research |article |author )?highlights?",
    r"(?:key|main|clinical key|essential) (?:clinical )?(?:points?|messages?|findings?|takeaways?)",
    r"(?:clinical |key )*(?:learning|teaching|practice|practical) points?|clinical pearls?",
    r"(?:clinical )?take[- ]?aways?|bottom line",
    r"what(?: is|['’]s) (?:already )?(?:known|new).*",
    r"what (?:does )?(?:this|the|our) (?:study|paper|article|case|review) adds?.*",
    r"strengths and limitations of this study",
    r"research in context|evidence before this study|added value of this study"
    r"|implications of all the available evidence",
    r"(?:significance|impact|novelty)(?: statement)?|statement of significance",
    r"resumen(?: ejecutivo| gráfico)?|(?:puntos|ideas|mensajes) clave|lo más relevante",
    r"resumo(?: executivo| gráfico| expandido)?|(?:pontos|mensagens)[- ]chave|destaques",
    r"résumé(?: graphique)?|(?:points|messages|idées)[- ]clés?|points essentiels|synthèse",
    r"zusammenfassung|kernaussagen?|kernpunkte|kurzfassung|das wichtigste in kürze",
    r"riassunto|sommario|sintesi|(?:punti|messaggi) chiave",
    r"резюме|аннотация|реферат|ключевые (?:положения|моменты|слова)",
    r"摘要|要点|提要|概要|要旨|抄録|要約",
)
_SUMMARY = re.compile(rf"(?:{'|'.join(_SUMMARIES)})\s*[.:：]?", re.IGNORECASE)
_TYPE = re.compile(r"conclusion|summar|abstract|key-?(?:points?|messages?)|highlights?|synopsis|précis", re.I)
_CUE = re.compile(
    r"\W*(?:(?:in|as a|by way of|to) (?:brief |overall |final )?"
    r"(?:conclusion|conclude|summary|summari[sz]e|sum up|short)\b(?!-)"
    r"|(?:overall|thus|therefore|hence|altogether|taken together),? we conclude\b"
    r"|we (?:therefore |thus |can )?conclude\b|conclusions?\s*[:.—–-]|summary\s*[:.—–-]"
    r"|take[- ]home message"
    r"|(?:en|a modo de|como) (?:conclusión|resumen|síntesis)\b|conclusi(?:ón|ones)\s*[:.—–-]"
    r"|(?:concluimos|concluyendo|para concluir|para finalizar)\b"
    r"|em (?:conclusão|resumo|suma|síntese)\b|conclus(?:ão|ões)\s*[:.—–-]|(?:conclui-se|concluindo)\b"
    r"|(?:en (?:conclusion|résumé|somme|définitive)|pour conclure|nous concluons)\b"
    r"|(?:zusammenfassend|abschließend|schlussfolgernd|fazit|schlussfolgerung)\b"
    r"|(?:in (?:conclusione|sintesi|sommario)|per concludere|concludendo)\b"
    r"|(?:в заключение|таким образом|подводя итог)\b|(?:заключение|выводы)\s*[:.—–-]"
    r"|综上所述|综上|总之|总而言之|結論として|以上より|以上から)",
    re.IGNORECASE,
)

_WORK = (
    r"(?:stud(?:y|ies)|trials?|work|papers?|articles?|(?:case )?(?:reports?|series)|cases?|reviews?|research"
    r"|investigation|analysis|analyses|protocol|project|survey|manuscript)"
)
_OUTCOME = r"(?:results?|findings?|data|observations?|experience)"
_SAYS = (
    r"(?:aims?|seeks?|intends?|suggests?|indicates?|demonstrates?|shows?|confirms?|supports?|highlights?"
    r"|underscores?|emphasi[sz]es?|illustrates?|reveals?|describes?|reports?|presents?(?! with)|examines?"
    r"|evaluates?|investigates?|assess(?:es)?|summari[sz]es?|provides?|adds?|(?:will )?contributes?)"
)
_SAID = (
    r"(?:aimed|sought|intended|suggested|indicated|demonstrated|showed|confirmed|supported|highlighted"
    r"|illustrated|revealed|described|reported|examined|evaluated|investigated|assessed|provided)"
)
_OURS = (
    r"(?:aim(?:ed)?|sought|report(?:ed)?|present(?:ed)?|describe[d]?|show(?:ed|n)?|demonstrated?|found"
    r"|review(?:ed)?|investigated?|evaluated?|assess(?:ed)?|examined?|propose[d]?|discuss|summari[sz]ed?"
    r"|highlight(?:ed)?|explored?|compared?|hypothesi[sz]ed?)"
)
_THIS = r"(?:this|our|the (?:present|current)) (?:[\w-]+ ){0,2}"
_ADVERB = r"(?:\w+ly |also |further |thus |therefore )?"
_SUMMING = re.compile(
    rf"\b(?:aims?|objectives?|purposes?|goals?) of (?:this|the|our) (?:[\w-]+ ){{0,2}}{_WORK}\b"
    rf"|\b(?:{_THIS}{_WORK}|our (?:[\w-]+ )?{_OUTCOME}) {_ADVERB}(?:{_SAYS}|{_SAID})\b"
    rf"|\b(?:these|both|the (?:present|current)) (?:[\w-]+ )?(?:{_WORK}|{_OUTCOME}) {_ADVERB}{_SAYS}\b"
    rf"|\b(?:here(?:in|by)?|in {_THIS}{_WORK})[,:]? we (?:have |\w+ly )?{_OURS}\b"
    rf"|\bin {_THIS}{_WORK}\b.{{1,150}}? (?:{_SAYS}|{_SAID}|found) that\b"
    rf"|^\W*(?:this|the present|the current) (?:[\w-]+ ){{0,2}}{_WORK} (?:is|was|has been) "
    r"(?:an?|the|designed|conducted|performed|undertaken|intended|to)\b"
    r"|^\W*(?:the |overall,? )?results (?:show|suggest|indicate|demonstrate|reveal)(?:ed)? that\b"
    r"|\bwe (?:therefore |thus |also |then |first )*(?:(?:aim|aimed|sought|set out) to|hypothesi[sz]ed?"
    r"|will (?:evaluate|assess|investigate|examine|compare|test|determine))\b"
    r"|^\W*we (?:therefore |thus |have )*(?:(?:found|show(?:ed|n)?|demonstrated?) (?:that|with our|in)"
    r"|here(?:by|in)? (?:report|present|describe)(?:ed|d)?"
    r"|(?:report|present|describe)(?:ed|d)? (?:here|on|an?|the|two|three|our|\d+))\b"
    r"|\b(?:el |o )?(?:objetivo|propósito)s? (?:de |d)?(?:este|el presente|la presente|o presente|nuestro"
    r"|nosso|el|o) (?:estudi?o|trabajo|trabalho|artículo|artigo|reporte|relato|caso|revisi[oó]n|revisão)\b"
    r"|\b(?:del|do) presente (?:estudi?o|trabajo|trabalho|artículo|artigo|relato) (?:es|fue|é|foi)\b"
    r"|\b(?:este|(?:el|o) presente) (?:estudi?o|trabajo|trabalho|artículo|artigo|relato|caso)"
    r" (?:tiene|tuvo|tem|teve|busca|buscó|buscou|pretende|visa|visou|muestra|mostró|mostra|mostrou|sugiere"
    r"|sugere|demuestra|demonstra|demonstrou|describe|descreve|presenta|apresenta)\b"
    r"|\b(?:nuestros|estos|nossos|esses|estes) (?:resultados|hallazgos|achados|dados|datos)"
    r" (?:sugieren|sugerem|muestran|mostram|indican|indicam|demuestran|demonstram|confirman|confirmam)\b"
    r"|\b(?:le but|l['’]objectif) de (?:cette étude|ce travail)\b"
    r"|\bnos résultats (?:suggèrent|montrent|indiquent)\b"
    r"|\bziel (?:dieser|der vorliegenden) (?:studie|arbeit)\b"
    r"|\bunsere (?:ergebnisse|daten) (?:zeigen|legen nahe)\b",
    re.IGNORECASE,
)
"""Statements of aim or main finding: English, Spanish, Portuguese, the commonest French and German ones."""


def closing_section(section_path: Iterable[str], types: Iterable[str] = ()) -> str:
    """The title or type that makes a section one that sums the article up, '' if none does.

    Args:
        section_path: titles from the top section down.
        types: sec-type attributes of the same sections.
    """
    for title in section_path:
        bare = _NUMBER.sub("", " ".join(title.split()))
        if _CONCLUSION.search(bare) or _SUMMARY.fullmatch(bare):
            return title
    return next((item for item in types if _TYPE.search(item)), "")


def is_closing_sentence(text: str) -> bool:
    """Whether a sentence begins as conclusions do: 'In conclusion, …', 'Em resumo, …'."""
    return bool(_CUE.match(text))


def is_summing_sentence(text: str) -> bool:
    """Whether a sentence says what its article aims at or has found: 'The aim of this study was …'."""
    return bool(_SUMMING.search(text))
