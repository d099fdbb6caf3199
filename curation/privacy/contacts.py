"""Ways to reach a person: telephone, e-mail, street."""

from __future__ import annotations

import re

from curation.privacy.search import Pattern
from curation.privacy.words import ADVERTISED, CJK, LONG_NUMBER

_EMAIL = r"[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){0,6}\.[A-Za-z]{2,24}"
_PHONE = r"\+?\(?\d(?:[ ().\-/]{0,3}\d){6,17}"
_LABELLED = (
    r"(?:(?i:\b(?:tel|phone|telephone|mobile|cell(?=\s?phone|:|\s{1,2}\d|\s{1,2}no\b)|fax|tél|téléphone|"
    r"telefon\w{0,8}|telefone|teléfono|tfn?o|móvil|"
    r"handy|portable|contact(?:ed|able)?\s(?:on|at|by|via)|reached? (?:on|at)|erreichbar|тел|телефон|"
    r"моб\w{0,8})(?![^\W\d]))|"
    r"电话|手机|電話|携帯|連絡先|联系方式|TEL|هاتف|جوال|تلفون|للتواصل|للاتصال)"
    rf"[^\d.;。+(]{{0,30}}\.?[^\d.;。+(]{{0,3}}{_PHONE}"
)
_INTERNATIONAL = r"(?<![\w.])\+\d{1,3}[ .-]\(?\d(?:[ ().-]{0,3}\d){5,17}"
_STREET = (
    r"\b\d{1,5}[A-Za-z]?\s(?:[A-Z][a-z]{1,20}\s){1,3}(?:Street|St\.|Avenue|Ave\.|Road|Rd\.|Boulevard|Blvd\.|"
    r"Lane|Drive)"
    r"(?!\w)|\b\d{1,5}\s(?:[A-Z][a-z]{1,20}\s){1,2}(?:Court|Close|Crescent|Terrace|Gardens|Grove)\b|"
    r"\b[A-ZÄÖÜ][a-zäöüß]{1,30}(?:straße|strasse|weg|gasse)\s\d{1,4}[a-z]?\b|"
    r"\b[A-ZÄÖÜ][\wÄÖÜäöüß-]{1,30}[- ](?:Straße|Strasse|Str\.|Ring|Allee|Platz|Weg|Gasse)\s\d|"
    r"\b[A-ZÄÖÜ][a-zäöüß]{1,30}(?:str\.|allee|platz)\s\d{1,3}\b|"
    r"\b(?:Calle|Avenida|Rua|Rue|Via)\s(?:[A-Zd][\w'’]{1,20}\s?){1,4},?\s(?:n[º°.]\s?)?\d{1,5}\b|"
    r"\b\d{1,4},?\s(?:bis,?\s|ter,?\s)?(?:rue|boulevard|avenue|allée|impasse|chemin)\s(?:d[eu]\s|des\s|"
    r"la\s){0,3}"
    r"[A-ZÀ-Þ]|"
    r"\b(?:C/(?=[a-z ]{0,9}[A-ZÀ-Þ][a-zß-ÿ])|Calle|Avda?\.|Avenida|Paseo|Plaza|Camino|Carrera)\s?"
    r"(?:de\s|la\s|del\s|los\s|las\s){0,3}[A-ZÀ-Þ][^.;\d]{0,40}\d|"
    r"\b(?:ул|пер|наб|бул|просп|пр-т|улица|переулок)\b\.?\s{1,3}[А-ЯЁ][а-яё]{1,30}[^.;\d]{0,10}\.?\s{0,3}\d|"
    rf"[{CJK}]{{2,12}}(?:路|街|大道|巷)\d{{1,5}}(?:号|弄)|\d{{1,4}}丁目\d{{1,4}}|[{CJK}]\d{{1,4}}番地"
)
_LIVES = (
    r"(?i:\b(?:home address|patient['’]?s? address|address|adresse|anschrift|domicilio|dirección|endereço|"
    r"indirizzo|"
    r"адрес)\b)\s{0,3}[:：](?!\s{0,3}(?:https?:|www))[^.;\n]{0,60}\d|"
    r"(?i:\b(?:resid(?:es|ing)|liv(?:es|ing)) at\b|\bdemeurant\b|\bdomicilié[e]?\b|\bwohnhaft in der\b|"
    r"\bwohnt in der\b|проживает по адресу|\bvive en (?:la |el )?(?:calle|c/))[^.;\n]{0,60}\d|"
    rf"(?:住址|地址|家住|现住|現住所|住所)\s{{0,3}}(?:は|[:：])?\s{{0,3}}[{CJK}]{{2,12}}[^。；;\n]{{0,20}}\d|"
    r"(?:عنوان|يسكن|تسكن|يقيم)[^.;\n]{0,40}\d"
)
_OF_THE_PATIENT = (
    r"(?:(?i:\b(?:patient(?:['’]s)?|his|her|their|mother(?:['’]s)?|father(?:['’]s)?)\s{1,3}"
    r"(?:home |mobile |cell |personal ){0,2}(?:phone|telephone|tel|e-?mail|address|contact)|"
    r"\b(?:tel[eéè]fono|telefone|téléphone|telefon(?:nummer)?|correo|e-?mail|domicilio|direcci[óo]n|"
    r"endereço|adresse|"
    r"anschrift) (?:del? (?:la )?|d[ao] |du |de[rs] )(?:paciente|patient\w{0,3})|"
    r"(?:телефон|адрес) (?:больно(?:го|й)|пациент(?:а|ки)))|(?:患者|病人|患儿|家属)的?(?:联系)?(?:电话|手机|"
    r"地址|住址)|"
    r"患者(?:様|さん)?の(?:電話|連絡先|住所)|(?:هاتف|عنوان) (?:ال)?مريضة?)"
)

CERTAIN = (
    Pattern(
        "how to reach the patient",
        re.compile(rf"{_OF_THE_PATIENT}[^.;。]{{0,30}}?(?:{_PHONE}|{_EMAIL}|{_STREET})"),
        re.compile(ADVERTISED),
    ),
)
HINTS = (
    Pattern("an e-mail address", re.compile(rf"(?<![\w.@%+-]){_EMAIL}"), guard=re.compile("@")),
    Pattern(
        "a telephone number", re.compile(f"{_LABELLED}|{_INTERNATIONAL}"), re.compile(ADVERTISED), LONG_NUMBER
    ),
    Pattern(
        "a street address",
        re.compile(f"{_STREET}|{_LIVES}"),
        re.compile(rf"{ADVERTISED}|universi|e-?mail"),
    ),
)
