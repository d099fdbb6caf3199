"""Identifiers of patients: planted ones are found, decoys from the same literature are not."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from curation.audit import audit, render_page
from curation.audit.rules import privacy_defects
from curation.audit.rules.privacy import PLACES, RULES
from curation.audit.verify import to_bytes
from curation.privacy import CERTAIN, HINTS, hits
from schemas.tables import CORPUS, QUERIES, TABLES
from tests.curation.audit.small import check, dataset, named, queries, rule_of, texts
from tests.curation.release.known import run_sql

STRONG = rule_of(RULES, "phi_identifiers")
WEAK = rule_of(RULES, "phi_hints")
NAMES = (
    "Harper",
    "Nakamura",
    "O’Neill",
    "Müller",
    "García",
    "Fontaine",
    "Silva",
    "Kowalska",
    "van Dyke",
    "Rossi",
)
MONTHS = ("January", "March", "June", "August", "October", "December")
Make = Callable[[random.Random], str]


def _digits(random_: random.Random, count: int) -> str:
    return str(random_.randrange(10 ** (count - 1), 10**count))


def _day(r: random.Random) -> str:
    day, month, year = r.randint(1, 28), r.randint(1, 12), r.randint(1930, 2020)
    return r.choice(
        (
            f"{day:02}.{month:02}.{year}",
            f"{year}-{month:02}-{day:02}",
            f"{day} {r.choice(MONTHS)} {year}",
            f"{r.choice(MONTHS)} {day}, {year}",
            f"{day:02}/{month:02}/{year}",
        )
    )


PLANTED: tuple[Make, ...] = (
    lambda r: f"Medical record number: {_digits(r, 8)}, ward {r.randint(1, 9)}.",
    lambda r: f"The scans (MRN {_digits(r, 7)}) were read twice.",
    lambda r: f"Hospital No. {_digits(r, 6)}: a woman with oedema.",
    lambda r: f"Patient ID {r.choice('ABC')}{_digits(r, 6)} was sent to us.",
    lambda r: f"Historia clínica n.º {_digits(r, 6)}, varón con fiebre.",
    lambda r: f"Prontuário: {_digits(r, 7)}. Mulher com dispneia.",
    lambda r: f"Patientennummer {_digits(r, 8)}, Aufnahme in der Nacht.",
    lambda r: f"病历号：{_digits(r, 7)}，女性。",
    lambda r: f"NHS number {_digits(r, 3)} {_digits(r, 3)} {_digits(r, 4)} is on the form.",
    lambda r: f"O paciente, CPF {_digits(r, 3)}.{_digits(r, 3)}.{_digits(r, 3)}-{_digits(r, 2)}, voltou.",
    lambda r: f"His SSN is {_digits(r, 3)}-{_digits(r, 2)}-{_digits(r, 4)} as stated.",
    lambda r: f"A boy born on {_day(r)} was brought by his aunt.",
    lambda r: f"DOB: {_day(r)}; weight {r.randint(3, 90)} kg.",
    lambda r: f"Die Patientin, geboren am {_day(r)}, klagte über Husten.",
    lambda r: f"Fecha de nacimiento: {_day(r)}.",
    lambda r: f"Mr. {r.choice(NAMES[:8])}, a {r.randint(20, 80)}-year-old driver, had chest pain.",
    lambda r: f"Mrs {r.choice(NAMES[:8])} was admitted with dyspnoea.",
    lambda r: (
        f"A woman named {r.choice(('Alice', 'Maria', 'Jane', 'Fatima'))} {r.choice(NAMES[:8])} came in."
    ),
    lambda r: f"Patient name: {r.choice(('Alice', 'Maria', 'Omar'))} {r.choice(NAMES[:8])}.",
    lambda r: f"The patient's phone is +{r.randint(1, 99)} {_digits(r, 3)} {_digits(r, 7)}, call first.",
)
DECOYS: tuple[Make, ...] = (
    lambda r: f"Patient No. {r.randint(1, 99)} had amenorrhoea, as Patients Nos. 3 and {r.randint(4, 30)}.",
    lambda r: f"Trial registration number UMIN{_digits(r, 9)} applies.",
    lambda r: f"The ethics committee of the Hospital (No. {_digits(r, 8)}) approved the protocol.",
    lambda r: f"Sequences were deposited under accession number MN{_digits(r, 6)}.",
    lambda r: f"A voucher specimen (file no. {_digits(r, 5)}) is kept.",
    lambda r: f"The social security system paid {r.randint(2, 40)} % in {r.randint(1990, 2020)}.",
    lambda r: f"Children born in {r.randint(1950, 2010)} were followed for {r.randint(5, 30)} years.",
    lambda r: f"The infant was born at {r.randint(25, 41)} weeks with a weight of {_digits(r, 4)} g.",
    lambda r: f"Between 1 May {r.randint(2000, 2010)} and {_day(r)}, {r.randint(20, 900)} patients came.",
    lambda r: f"Recruitment began on {_day(r)} and is ongoing.",
    lambda r: "Neither Dr. Burke nor Ms. Lander has any conflict of interest.",
    lambda r: f"The receptors named Frizzled and the therapy called Logotherapy, {r.randint(1, 9)} doses.",
    lambda r: f"Antibodies (cat. no. {_digits(r, 3)}-{_digits(r, 3)}-{_digits(r, 3)}) were diluted.",
    lambda r: (
        f"The assay (10.{_digits(r, 4)}/s{_digits(r, 5)}-018-{_digits(r, 4)}-1) is described elsewhere."
    ),
    lambda r: f"Name, date of birth and NHS number were removed; {_digits(r, 5)} records remained.",
    lambda r: (
        f"Blood pressure was {r.randint(90, 180)}/{r.randint(50, 99)} mmHg, lactate {r.randint(1, 9)}.4."
    ),
    lambda r: f"Levels rose from {_digits(r, 5)} to {_digits(r, 6)} IU/L within {r.randint(2, 9)} days.",
    lambda r: f"Mr {r.choice('ABCDS')}. was treated for {r.randint(2, 12)} weeks.",
    lambda r: (
        f"Gene ID {_digits(r, 6)}, CAS {_digits(r, 5)}-{_digits(r, 2)}-{_digits(r, 1)}, lot {_digits(r, 8)}."
    ),
    lambda r: f"The chart shows the number of cases, {_digits(r, 5)}, by {_day(r)[:4]}.",
)
HINTED: tuple[Make, ...] = (
    lambda r: f"Mail {r.choice(('a.b', 'lee_k'))}{r.randint(1, 99)}@clinic{r.randint(1, 9)}.example.org",
    lambda r: f"Tel.: +{r.randint(1, 99)} {_digits(r, 2)} {_digits(r, 6)}",
    lambda r: f"She was admitted on {_day(r)} with a fever.",
    lambda r: f"On {_day(r)} he was discharged home.",
    lambda r: f"Mr. {r.choice('ABCDS')} continued the drug.",
    lambda r: f"The patient, {r.choice('ABC')}.{r.choice('DEF')}., agreed.",
    lambda r: f"He lives at {r.randint(1, 999)} Old {r.choice(('Mill', 'Church', 'Station'))} Road.",
    lambda r: f"A {r.randint(90, 104)}-year-old came with a fracture.",
)


def _corpus(makers: tuple[Make, ...], count: int, seed: int) -> list[tuple[str, str]]:
    """Texts of each kind in turn, inside ordinary sentences."""
    made = random.Random(seed)
    around = (
        "Investigations followed. ",
        "There was no relevant history. ",
        "Findings are summarised here. ",
    )
    return [
        (
            f"d{number:03}",
            f"{made.choice(around)}{makers[number % len(makers)](made)} Recovery was uneventful.",
        )
        for number in range(count)
    ]


def _rates(
    tmp_path: Path, rule: str, good: tuple[Make, ...], bad: tuple[Make, ...]
) -> tuple[float, float, list[str]]:
    """(precision, recall, what went wrong) on 200 planted and 200 decoys."""
    wanted = [(f"p-{name}", text) for name, text in _corpus(good, 200, 1)]
    decoys = [(f"x-{name}", text) for name, text in _corpus(bad, 200, 2)]
    patterns = CERTAIN if rule == "phi_identifiers" else HINTS
    found = {name for name, text in wanted + decoys if any(True for _ in hits(text, patterns))}
    truth = {name for name, _ in wanted}
    wrong = [text for name, text in wanted + decoys if (name in found) != (name in truth)]
    subject = dataset(tmp_path / rule, {"corpus": texts(*wanted, *decoys)})
    result = check(rule_of(RULES, rule), subject, tmp_path)
    assert {item.id for f in result.findings for item in f.sides} <= found  # SQL nominates what Python finds
    assert result.found >= len(found)
    return len(found & truth) / max(1, len(found)), len(found & truth) / len(truth), wrong


def test_precision_and_recall_of_identifiers(tmp_path: Path) -> None:
    precision, recall, wrong = _rates(tmp_path, "phi_identifiers", PLANTED, DECOYS)
    print(f"identifiers: precision {precision:.3f}, recall {recall:.3f}")
    assert precision == 1.0, wrong
    assert recall >= 0.98, wrong


def test_precision_and_recall_of_hints(tmp_path: Path) -> None:
    decoys = tuple(maker for maker in DECOYS if "Mr " not in maker(random.Random(1)))
    precision, recall, wrong = _rates(tmp_path, "phi_hints", HINTED, decoys)
    print(f"hints: precision {precision:.3f}, recall {recall:.3f}")
    assert precision >= 0.98, wrong
    assert recall >= 0.98, wrong


def test_the_quote_is_masked(tmp_path: Path) -> None:
    subject = dataset(tmp_path, {"queries": queries(("q1", "Known. MRN: 1234567. Well."))})
    (finding,) = check(STRONG, subject, tmp_path).findings
    assert finding.sides[0].quote == "M••: 1••••••"
    assert finding.message == "the text holds a record or insurance number at characters 7–19"


@pytest.mark.parametrize(
    "text", [None, "", "@", "\x00", "'; DROP TABLE corpus --", "MRN", "born on", "Mr. ", "(" * 5000]
)
def test_hostile_and_empty_texts(tmp_path: Path, text: str | None) -> None:
    rows = texts(("d1", ""))
    rows[0]["text"] = text
    subject = dataset(tmp_path, {"queries": [], "corpus": rows})
    for rule in RULES:
        assert check(rule, subject, tmp_path).status == "passed"


def test_unicode_spaces_and_lines(tmp_path: Path) -> None:
    said = (
        "Mrs.\u00a0Harper was admitted.",
        "Mr.\u2009Harper,\na 40-year-old",
        "Name\nMRN\u00a0#\u202f1234567",
    )
    subject = dataset(tmp_path, {"corpus": texts(*((f"d{n}", text) for n, text in enumerate(said)))})
    assert named(check(STRONG, subject, tmp_path)) == {"d0", "d1", "d2"}


def test_foreign_datasets_and_missing_tables(tmp_path: Path) -> None:
    subject = dataset(tmp_path, {"corpus": [{"id": "7", "text": "DOB 1.2.1960"}]}, "jsonl")
    assert named(check(STRONG, subject, tmp_path)) == {"7"}
    assert check(WEAK, dataset(tmp_path, {}, "beir"), tmp_path).status == "not_covered"


SAID = "Her MRN: 4482913, tel. 0113 496 0123."


def _rows(**changed: Any) -> dict[str, list[dict[str, Any]]]:
    """A tiny release with one thing in it that names a patient, or nothing."""
    quote = {"text_id": "d1", "start": 0, "end": 5, "text": changed.get("evidence", "fine")}
    transform = [{"start": 0, "end": 1, "original": changed.get("replaced", "fine"), "rule": "r"}]
    (document,) = texts(("d1", "fine"), title=changed.get("title", "fine"))
    return {
        "queries": queries(("q1", "fine")),
        "corpus": [document],
        "sources": [
            {
                "id": "a1",
                "title": changed.get("source", "fine"),
                "license_statement": changed.get("statement", "fine"),
                "scope_evidence": [changed.get("scope", "fine")],
            }
        ],
        "provenance_qrels": [{"query-id": "q1", "corpus-id": "d1", "evidence": [quote]}],
        "provenance_queries": [{"id": "q1", "transforms": transform}],
        "drops": [{"stage": "s", "unit": "u", "id": "x", "detail": changed.get("detail", "fine")}],
        "annotations": [{"query-id": "q1", "corpus-id": "d1", "reason": changed.get("reason", "fine")}],
        "expansions": [{"query-id": "q1", "kind": "hyde@1", "text": changed.get("expansion", "fine")}],
    }


@pytest.mark.parametrize(
    ("place", "named_id"),
    [
        ("title", "d1"),
        ("evidence", "q1"),
        ("source", "a1"),
        ("statement", "a1"),
        ("scope", "a1"),
        ("replaced", "q1"),
        ("detail", "x"),
        ("reason", "q1"),
        ("expansion", "q1"),
    ],
)
def test_every_published_text_is_searched(tmp_path: Path, place: str, named_id: str) -> None:
    clean = check(STRONG, dataset(tmp_path / "clean", _rows()), tmp_path)
    assert clean.status == "passed" and clean.compared == 11
    for rule in RULES:
        found = check(rule, dataset(tmp_path / rule.id, _rows(**{place: SAID})), tmp_path)
        assert named(found) == {named_id} and found.found == 1
        assert "4482913" not in repr(found) and "496" not in repr(found)


def test_every_text_column_that_people_wrote_is_a_place() -> None:
    """A published table with free text that the rules do not know would go unsearched."""
    known = {place.table for place in PLACES}
    text = {"text", "title", "detail", "reason", "evidence", "transforms", "scope_evidence"}
    has_text = {table.name for table in TABLES if text & set(table.schema.names)}
    copies = {"nano_queries", "nano_corpus"}
    codes = {"excluded", "nano_excluded", "judgements", "passage_labels"}
    names = {"named_queries", "named_corpus", "name_recipes"}  # texts of queries, and names of a vocabulary
    assert has_text - known == copies | codes | names


def test_each_canary_is_one_find_and_one_row() -> None:
    """Planted together, none may be mistaken for another."""
    for rule, patterns in ((STRONG, CERTAIN), (WEAK, HINTS)):
        planted = privacy_defects.CERTAIN if rule is STRONG else privacy_defects.HINTS
        assert rule.defects == planted
        tables = run_sql.sandbox()
        columns = {"queries": QUERIES.schema, "corpus": CORPUS.schema}
        rows = {"queries": queries(("q1", "fine")), "corpus": texts(("d1", "fine"))}
        tables.load("own", {name: pa.Table.from_pylist(rows[name], columns[name]) for name in rows})
        with tables.undone("own"):
            made = [item.ids(tables) for item in planted if item.name.endswith(")")]
            found = tables.run("SELECT id, text FROM queries UNION ALL SELECT id, text FROM corpus")
        tables.close()
        assert len({name for ids in made for name in ids}) == len(made) > 10
        spans = [list(hits(row["text"], patterns)) for row in found if row["text"] != "fine"]
        assert len(spans) == len(made) and all(spans)


def test_planted_languages_are_those_of_the_corpora() -> None:
    languages = {"en", "es", "fr", "de", "zh", "ja", "ar", "ru"}
    names = [item.name for rule in RULES for item in rule.defects]
    for kind in ("a record number", "a date of birth", "a named patient", "a day of an event"):
        assert {name[-3:-1] for name in names if name.startswith(f"{kind} (")} >= languages, kind


def test_the_page_prints_no_identifier(tmp_path: Path) -> None:
    subject = dataset(tmp_path, {"queries": queries(("q1", SAID)), "corpus": texts(("d1", SAID))})
    report = audit(subject, run_sql, rules=RULES, plant=False)
    page = render_page(report, tmp_path, datasets=[subject])
    assert report.rules[0].found == 2 and report.rules[1].found == 2
    for said in (page, to_bytes(report).decode()):
        assert "4482913" not in said and "496" not in said
        assert "4••••••" in said
