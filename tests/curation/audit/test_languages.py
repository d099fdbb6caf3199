"""The stated language against the script and the small words of a text."""

from __future__ import annotations

from pathlib import Path

import pytest

from curation.audit.rules import languages
from curation.audit.rules.languages import RULES, another_language, script_of, words_of
from tests.curation.audit.small import check, dataset, named, queries, rule_of, texts

SCRIPT = rule_of(RULES, "language_script")
WORDS = rule_of(RULES, "language_mismatch")
MIXED = rule_of(RULES, "mixed_script_words")
SENTENCES = {
    "en": "The patient was admitted with fever, and the film of her chest showed an effusion on one side.",
    "de": "Die Patientin wurde mit Fieber aufgenommen und das Bild der Lunge zeigte einen Erguss.",
    "fr": "La patiente a été admise pour une fièvre et les images du thorax montraient des épanchements.",
    "es": "El paciente fue ingresado por fiebre y las imágenes del tórax mostraban los derrames.",
    "pt": "A paciente foi internada com febre e os exames do tórax não mostravam uma lesão.",
    "it": "La paziente è stata ricoverata per febbre e le immagini della pleura non erano di qualità.",
    "nl": "De patiënt werd opgenomen met koorts en het beeld van de longen was ook niet goed.",
    "pl": "Pacjentka została przyjęta z gorączką, która nie była wysoka, ponieważ jest to choroba płuc.",
    "ru": "Пациентка поступила с лихорадкой, и на снимке был виден выпот, который исчез после лечения.",
    "ja": "患者は発熱のため入院し、胸部X線で胸水を認めた。",
    "zh": "患者因发热入院，胸片显示一侧胸腔积液。",
    "ar": "أدخلت المريضة إلى المستشفى بسبب الحمى وأظهرت الصورة انصبابا",
    "ko": "환자는 발열로 입원하였고 흉부 사진에서 흉수가 보였다.",
    "el": "Η ασθενής εισήχθη με πυρετό και η ακτινογραφία έδειξε συλλογή.",
    "he": "החולה אושפזה עם חום וצילום החזה הראה תפליט",
    "th": "ผู้ป่วยเข้ารับการรักษาด้วยไข้",
    "hi": "रोगी को बुखार के साथ भर्ती किया गया",
}  # fmt: skip
LATIN = ("en", "de", "fr", "es", "pt", "it", "nl", "pl")


def test_true_languages_pass(tmp_path: Path) -> None:
    rows = [row for code, text in SENTENCES.items() for row in texts((f"d-{code}", text), language=code)]
    rows += texts(("d-b", "α-SMA, β-blocker (µg), 5 Ω"), ("d-n", "12.5 / 3"), ("d-e", ""), language="en")
    rows += texts(("d-j", "急性心筋梗塞"), ("d-k", "COVID-19 PCR"), language="ja")
    rows += texts(("d-u", "anything"), language="und") + texts(("d-t", "體重減輕"), language="zh-Hant-TW")
    subject = dataset(tmp_path, {"queries": [], "corpus": rows})
    for rule in RULES:
        result = check(rule, subject, tmp_path)
        assert result.status == "passed", (rule.id, result.findings)


@pytest.mark.parametrize("stated", [code for code in SENTENCES if code not in LATIN])
def test_another_script_is_found(tmp_path: Path, stated: str) -> None:
    """Every sentence under every language of another script; Chinese under Japanese and the reverse too."""
    own = script_of(stated)[0]
    rows = [
        row
        for code, text in SENTENCES.items()
        if script_of(code)[0] != own
        for row in texts((f"d-{code}", text), language=stated)
    ]
    result = check(SCRIPT, dataset(tmp_path, {"corpus": rows}), tmp_path)
    assert named(result) == {row["id"] for row in rows}
    english = [row for code, text in SENTENCES.items() if code not in LATIN for row in texts((code, text))]
    assert named(check(SCRIPT, dataset(tmp_path / "en", {"corpus": english}), tmp_path)) == set(
        SENTENCES
    ) - set(LATIN)


def test_a_chinese_string_in_the_japanese_file(tmp_path: Path) -> None:
    rows = queries(("q1", "糖尿病的症状是什么？"), ("q2", "高血圧の治療は？"), ("q3", "诊断"), language="ja")
    result = check(SCRIPT, dataset(tmp_path, {"queries": rows}), tmp_path)
    assert (result.status, named(result)) == ("failed", {"q1", "q3"})
    assert "Chinese" in result.findings[0].message


@pytest.mark.parametrize("stated", LATIN)
@pytest.mark.parametrize("true", LATIN)
def test_words_tell_languages_of_one_script_apart(stated: str, true: str) -> None:
    assert another_language(SENTENCES[true], stated) == ("" if true == stated else true)


def test_an_english_text_among_portuguese_is_quoted(tmp_path: Path) -> None:
    rows = texts(
        ("d1", SENTENCES["en"]), ("d2", SENTENCES["pt"]), ("d3", "Troponin I, CK-MB"), language="pt-BR"
    )
    result = check(WORDS, dataset(tmp_path, {"corpus": rows}), tmp_path)
    assert (result.status, named(result), result.compared) == ("failed", {"d1"}, 3)
    assert "look like en" in result.findings[0].message


def test_enumerations_are_not_another_language() -> None:
    for text in (
        "Sodium 140, potassium 4.1, chloride 101, urea 5, creatinine 80, glucose 5.5, calcium 2.4",
        "Staphylococcus aureus, Escherichia coli, Klebsiella pneumoniae, Candida albicans, Proteus mirabilis",
    ):
        assert [another_language(text, code) for code in LATIN] == [""] * len(LATIN)


@pytest.mark.parametrize("tag", [None, "", "english", "e", "en_US", "中文"])
def test_no_language_tag(tmp_path: Path, tag: str | None) -> None:
    rows = texts(("d1", "Text."), ("d2", "Text too."), language="en")
    rows[1]["language"] = tag
    result = check(SCRIPT, dataset(tmp_path, {"corpus": rows}), tmp_path)
    assert (result.status, named(result)) == ("failed", {"d2"})


def test_coverage_says_what_is_not_known(tmp_path: Path) -> None:
    rows = texts(("d1", "Nuqneh"), language="tlh") + texts(("d2", "Jambo"), language="sw")
    subject = dataset(tmp_path, {"corpus": rows})
    script, words = check(SCRIPT, subject, tmp_path), check(WORDS, subject, tmp_path)
    assert [(item.skipped, "tlh" in item.why) for item in script.coverage] == [(1, True)]
    assert (script.compared, words.compared, sum(item.skipped for item in words.coverage)) == (1, 0, 2)


def test_candidates_are_bounded_and_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(languages, "MOST_CANDIDATES", 2)
    rows = texts(*((f"d{n}", SENTENCES["de"]) for n in range(5)), language="en")
    result = check(WORDS, dataset(tmp_path, {"corpus": rows}), tmp_path)
    assert (result.found, result.coverage[0].skipped) == (2, 3)


def test_foreign_datasets(tmp_path: Path) -> None:
    plain = dataset(tmp_path / "1", {"queries": [{"id": "q", "text": "x"}]}, "beir")
    assert check(SCRIPT, plain, tmp_path).status == "not_covered"
    told = dataset(tmp_path / "2", {"queries": [{"id": "q", "text": "Привет", "language": "en"}]}, "mteb")
    assert named(check(SCRIPT, told, tmp_path)) == {"q"}


def test_hostile_languages_and_texts(tmp_path: Path) -> None:
    rows = texts(("d1", "' OR 1=1 --"), ("d2", "x" * 200_000), language="en")
    rows[0]["language"] = "en' OR '1'='1"
    result = check(SCRIPT, dataset(tmp_path, {"corpus": rows}), tmp_path)
    assert named(result) == {"d1"}


def test_look_alike_letters(tmp_path: Path) -> None:
    rows = texts(("d1", "The рatient has fever"), ("d2", "TNF-α and β2, вирус SARS"), ("d3", "витамин B12"))
    result = check(MIXED, dataset(tmp_path, {"queries": [], "corpus": rows}), tmp_path)
    (finding,) = result.findings
    assert (finding.sides[0].id, finding.sides[0].quote) == ("d1", "рatient")


def test_word_lists() -> None:
    lists = words_of()
    assert all(len(words) >= 10 for words in lists.values())
    counted = [word for words in lists.values() for word in words]
    assert len(counted) == len(set(counted))
