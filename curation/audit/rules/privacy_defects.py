"""Identifiers of invented people to plant: each class in each language, and in each published column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from curation.audit.rule import Defect
from curation.audit.rules.planting import add_row
from curation.audit.rules.text_rows import literal

_CERTAIN: Mapping[str, Mapping[str, str]] = {
    "a record number": {
        "en": "Her medical record number is 4482913.",
        "es": "Historia clínica n.º 448291, mujer con fiebre.",
        "pt": "Prontuário: 4482913. Mulher com febre.",
        "fr": "Numéro de dossier : 4482913, fièvre depuis hier.",
        "de": "Patientennummer 44829130, Fieber seit gestern.",
        "zh": "住院号：4482913，女性。",
        "ja": "カルテ番号：4482913、女性。",
        "ar": "رقم الملف: 4482913 والحرارة مرتفعة.",
        "ru": "Номер истории болезни 4482913, лихорадка.",
    },
    "a national identity number": {
        "en": "Social security 078-05-1120 was given.",
        "pt": "CPF 123.456.789-09.",
        "zh": "证件 110105194912310021 已登记。",
    },
    "a date of birth": {
        "en": "The boy, born on 12 March 2004, was seen.",
        "es": "Fecha de nacimiento: 12/03/2004.",
        "pt": "Data de nascimento: 12/03/2004.",
        "fr": "Enfant né le 12 mars 2004 à terme.",
        "de": "Der Junge, geboren am 12.03.2004, hustete.",
        "it": "Bambino nato il 12/03/2004.",
        "zh": "出生日期：2004年3月12日。",
        "ja": "生年月日：2004年3月12日。",
        "ar": "تاريخ الميلاد: 12/03/2004.",
        "ru": "Дата рождения: 12.03.2004.",
    },
    "a named patient": {
        "en": "Mrs. Canary, a 54-year-old teacher, came.",
        "es": "Nombre del paciente: Canario Pérez.",
        "pt": "Nome da paciente: Canária Lopes.",
        "fr": "Nom du patient : Serin.",
        "de": "Name der Patientin: Zeisig.",
        "zh": "患者姓名：金丝雀。",
        "ja": "患者氏名：山雀花子。",
        "ar": "اسم المريض: سمير حسن.",
        "ru": "Пациентка Зябликова А. И. жаловалась на кашель.",
    },
    "how to reach the patient": {
        "en": "The patient's phone is +44 20 7946 0958.",
        "es": "Teléfono del paciente: 91 423 10 10.",
        "fr": "Téléphone du patient : 01 99 00 12 34.",
        "de": "Telefonnummer der Patientin: 030 901820.",
        "zh": "家属电话：010-55550123。",
        "ja": "患者の電話：03-5555-0123。",
        "ar": "هاتف المريض: 555 0123 444.",
        "ru": "Телефон больного: 8 495 555-01-23.",
    },
}
_HINTS: Mapping[str, Mapping[str, str]] = {
    "a number of a file": {
        "en": "Account no. 4482913, room 12.",
        "de": "Aktenzeichen 4482913, Station 4.",
        "zh": "影像号：4482913。",
        "ja": "登録番号：4482913。",
        "ru": "Карта 4482913, лихорадка.",
    },
    "a name beside an age": {
        "en": "The patient Anna Canary, 54 years old, came.",
        "es": "El paciente Pedro Canario, de 54 años, acude.",
        "de": "Die Patientin Anna Zeisig, 54 Jahre, hustet.",
        "zh": "患者王金雀，女，咳嗽。",
        "ja": "山雀様（54歳）が受診した。",
        "ar": "السيدة سميرة حسن العلي، 54 سنة.",
        "ru": "Мальчик Зябликов Пётр кашлял.",
    },
    "a day of an event": {
        "en": "She was admitted on 3 May 2019 with fever.",
        "es": "Fue ingresada el 3 de mayo de 2019.",
        "pt": "Foi internada em 3 de maio de 2019.",
        "fr": "Elle fut hospitalisée le 3 mai 2019.",
        "de": "Sie wurde am 3. Mai 2019 aufgenommen.",
        "zh": "2019年5月3日入院。",
        "ja": "2019年5月3日に退院した。",
        "ar": "دخلت في 03/05/2019 بسبب الحمى.",
        "ru": "Поступила 3 мая 2019 года.",
    },
    "a labelled day": {
        "en": "Date of discharge: 03/05/2019.",
        "de": "Entlassungsdatum 03.05.2019.",
        "fr": "Date de sortie : 03/05/2019.",
        "ru": "Дата выписки: 03.05.2019.",
    },
    "a telephone number": {
        "en": "Tel.: +49 30 901820.",
        "es": "Móvil 617 555 012.",
        "fr": "Tél. 01 99 00 12 34.",
        "zh": "联系方式：010-55550123。",
        "ja": "連絡先 03-5555-0123。",
        "ar": "هاتف: 555 0123 444.",
        "ru": "Тел. 8 495 555-01-23.",
    },
    "a street address": {
        "en": "He lives at 221 Canary Street.",
        "es": "Vive en la calle Canario 22.",
        "fr": "Demeurant 22 rue des Serins.",
        "de": "Wohnt Zeisigstraße 22.",
        "zh": "家住金雀花园路 22 号。",
        "ja": "住所は雀町22丁目3。",
        "ar": "العنوان: شارع الكناري 22.",
        "ru": "Проживает по адресу ул. Зябликова 22.",
    },
    "an e-mail address": {"en": "Write to canary@example.org for more."},
    "a person with initials": {"en": "The patient J.D. recovered."},
    "an age above 89": {"en": "A 97-year-old came to hospital."},
}


def _of(planted: Mapping[str, Mapping[str, str]]) -> Iterator[Defect]:
    """Further documents and queries, so that no two defects share a row."""
    listed = [(f"{kind} ({language})", text) for kind, of in planted.items() for language, text in of.items()]
    for number, (name, text) in enumerate(listed):
        row = f"'planted-phi-{number}' AS id, {literal(text)} AS text"
        yield Defect(name, add_row(("corpus", "queries")[number % 2], row))


_SAID = literal(_CERTAIN["a record number"]["en"])
_QUOTE = f"[{{text_id: '', start: 0, 'end': 0, text: {_SAID}}}]"
_CHANGE = f"[{{start: 0, 'end': 0, original: {_SAID}, rule: ''}}]"


def _in(what: str, table: str, column: str, value: str = _SAID, key: str = "id") -> Defect:
    """A further row of a table that says it in some column."""
    return Defect(
        f"a record number in {what}",
        f"""INSERT INTO {table} BY NAME SELECT {literal(f"planted {what}")} AS "{key}", {value} AS {column}
            RETURNING "{key}" """,
    )


CERTAIN: tuple[Defect, ...] = (
    *_of(_CERTAIN),
    _in("a title", "corpus", "title"),
    _in("an article's title", "sources", "title"),
    _in("a licence statement", "sources", "license_statement"),
    _in("evidence of scope", "sources", "scope_evidence", f"[{_SAID}]"),
    _in("a quote", "provenance_qrels", "evidence", _QUOTE, "query-id"),
    _in("a replaced text", "provenance_corpus", "transforms", _CHANGE),
    _in("a query's replaced text", "provenance_queries", "transforms", _CHANGE),
    _in("a caption", "images", "captions", f"[{_SAID}]"),
    _in("a caption's replaced text", "provenance_images", "caption_transforms", _CHANGE),
    _in("an answer's reason", "annotations", "reason", key="query-id"),
    _in("a model's text", "expansions", "text", key="query-id"),
    _in("an answer", "answers", "answer", key="query-id"),
    _in("an explanation", "answers", "explanation", key="query-id"),
    _in("a dropped row's detail", "drops", "detail"),
    _in("a notice of withdrawal", "withdrawn", "notice"),
    _in("the words of a cut", "cuts", "text", key="query-id"),
    _in("the words of a clue", "gives_away", "text", key="query-id"),
)
HINTS: tuple[Defect, ...] = tuple(_of(_HINTS))
