"""Recall of the privacy scan on planted items, and how many real candidates it holds back.

200 English items that the patterns were completed on; 792 in eight languages of which half were never looked
at (benchmarks.unseen_identifiers); and names, dates and numbers printed into grey pictures as scanners do.
Invented sentences without any of it and the texts of releases give the false alarms. Run:
`python -m benchmarks.review_phi [RELEASE_TASK …]`.
"""

from __future__ import annotations

import io
import random
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw, ImageFont

from benchmarks.measure import save
from benchmarks.unseen_identifiers import recall
from curation.images.ocr import read_text
from curation.privacy import SHOWN_TO_NOBODY, hits
from curation.privacy.images import read_hits
from schemas.errors import UsageError

SEED, TEXTS, PICTURES, UNSEEN_SEED = 7, 200, 40, 19
SURNAMES = (
    "Okonkwo",
    "Meier",
    "Fernández",
    "O'Brien",
    "Kowalska",
    "Tanaka",
    "Dubois",
    "Al-Masri",
    "Novak",
    "Lee",
)
FIRST = ("Anna", "John", "Maria", "Chidi", "Yuki", "Pierre", "Fatima", "Jan", "Lucía", "Tom")
MONTHS = ("January", "March", "May", "July", "October", "December")


def _day(draw: random.Random) -> str:
    year, day = draw.randint(1990, 2023), draw.randint(1, 28)
    month = draw.choice(MONTHS)
    number = MONTHS.index(month) * 2 + 1
    return draw.choice(
        (
            f"{day} {month} {year}",
            f"{month} {day}, {year}",
            f"{day:02}/{number:02}/{year}",
            f"{year}-{number:02}-{day:02}",
        )
    )


def _number(draw: random.Random) -> str:
    return draw.choice(("{}", "{:07}", "HN-{:06}", "A{:07}")).format(draw.randint(100_000, 9_999_999))


def _name(draw: random.Random) -> str:
    surname, first, age = draw.choice(SURNAMES), draw.choice(FIRST), draw.randint(18, 89)
    title = draw.choice(("Mr", "Mrs", "Ms.", "Herr", "Frau", "Sra."))
    return draw.choice(
        (
            f"{title} {surname}, a {age}-year-old teacher, came with fever and cough.",
            f"A boy named {first} {surname} was brought by his mother.",
            f"Patient name: {first} {surname}. He had chest pain for two days.",
            f"{title} {surname} was admitted with abdominal pain.",
            f"The patient, {first} {surname}, a {age}-year-old farmer, had lost weight.",
            f"The patient {first[0]}.{surname[0]}. recovered fully and went home.",
        )
    )


def _date(draw: random.Random) -> str:
    day = _day(draw)
    return draw.choice(
        (
            f"She was born on {day} at term.",
            f"The man was admitted on {day} with dyspnoea.",
            f"Date of birth: {day}.",
            f"He died on {day} of septic shock.",
            f"On {day} she presented to our emergency department.",
            f"The tumour was removed; surgery took place on {day} without complications.",
        )
    )


def _record(draw: random.Random) -> str:
    number = _number(draw)
    return draw.choice(
        (
            f"Her medical record number is {number}.",
            f"The child (MRN {number}) had a rash.",
            f"Hospital No: {number}. A CT scan was done.",
            f"Patient ID {number} was seen twice in clinic.",
            f"Patientennummer: {number}, Aufnahme mit Fieber.",
            f"Historia clínica n.º {number}.",
        )
    )


def _reach(draw: random.Random) -> str:
    tail = draw.randint(1000, 9999)
    return draw.choice(
        (
            f"The patient's phone is +44 20 7946 {tail}.",
            f"His home address is {draw.randint(1, 200)} Canary Street, where he lives alone.",
            f"Tel.: +49 30 90{tail}.",
            f"Her e-mail is {draw.choice(FIRST).lower()}{tail}@example.org.",
        )
    )


KINDS: dict[str, Callable[[random.Random], str]] = {
    "name": _name,
    "date": _date,
    "record number": _record,
    "contact": _reach,
}
CLEAN = (
    "A {age}-year-old woman presented with fever and cough for {n} days.",
    "The lesion measured {n} × {age} mm on computed tomography (Figure {n}).",
    "Written consent was obtained; ethics approval number 2021-{number}.",
    "Between 2010 and 2020, {number} patients were treated with tamoxifen {age} mg daily.",
    "Laboratory results showed a platelet count of {number}/µL and haemoglobin of {n} g/dL.",
    "The trial is registered as NCT0{number}.",
    "In March 2019 the guideline was revised; Parkinson and Crohn described similar findings.",
)


def texts(draw: random.Random) -> dict[str, Any]:
    """Planted and clean sentences: what was found of each kind."""
    found: Counter[str] = Counter()
    missed: dict[str, list[str]] = {name: [] for name in KINDS}
    each = TEXTS // len(KINDS)
    for name, make in KINDS.items():
        for _ in range(each):
            text = make(draw)
            if any(hits(f"The case is told here. {text} He was followed up.", SHOWN_TO_NOBODY)):
                found[name] += 1
            else:
                missed[name].append(text)
    clean = [
        draw.choice(CLEAN).format(
            age=draw.randint(20, 80), n=draw.randint(2, 9), number=draw.randint(10_000, 99_999)
        )
        for _ in range(TEXTS)
    ]
    alarms = [text for text in clean if any(hits(text, SHOWN_TO_NOBODY))]
    return {
        "planted": each * len(KINDS),
        "recall": {name: round(found[name] / each, 3) for name in KINDS},
        "recall_all": round(sum(found.values()) / (each * len(KINDS)), 3),
        "missed": {name: sorted(set(rows))[:5] for name, rows in missed.items()},
        "clean": len(clean),
        "false_alarms": len(alarms),
        "false_alarm_examples": sorted(set(alarms))[:5],
    }


def pictures(draw: random.Random) -> dict[str, Any]:
    """Names, dates and numbers printed into noisy grey pictures of 480 × 360 pixels, and pictures without."""
    try:
        read_text(Image.new("L", (64, 64)))
    except UsageError as error:
        return {"not_run": error.message}
    made: dict[str, Callable[[], str]] = {
        "name": lambda: f"{draw.choice(SURNAMES).upper()}^{draw.choice(FIRST).upper()}",
        "labelled name": lambda: f"Name: {draw.choice(SURNAMES)}, {draw.choice(FIRST)}",
        "date": lambda: f"{draw.randint(10, 28)}/{draw.randint(10, 12)}/{draw.randint(1990, 2023)}",
        "record number": lambda: f"ID: {draw.randint(100_000, 9_999_999)}",
    }
    found: Counter[str] = Counter()
    each = PICTURES // len(made)
    missed: list[str] = []
    for name, make in made.items():
        for _ in range(each):
            text = make()
            is_found = bool(read_hits(_picture(draw, text)))
            found[name] += is_found
            if not is_found:
                missed.append(text)
    alarms = sum(
        bool(read_hits(_picture(draw, text))) for text in ("L", "5 cm", "T2 FLAIR", "SE 4 IM 12", "R") * 4
    )
    return {
        "planted": each * len(made),
        "recall": {name: round(found[name] / each, 3) for name in made},
        "missed": missed,
        "clean": 20,
        "false_alarms": alarms,
    }


def _picture(draw: random.Random, text: str) -> bytes:
    """A dark picture of soft grey patches with a light line of text of 14 to 22 pixels, as PNG."""
    noise = random.Random(draw.random())
    coarse = Image.frombytes("L", (60, 45), bytes(noise.randrange(10, 110) for _ in range(60 * 45)))
    image = coarse.resize((480, 360), Image.Resampling.BICUBIC)
    font = ImageFont.load_default(size=draw.randint(14, 22))
    ImageDraw.Draw(image).text((draw.randint(5, 120), draw.randint(5, 330)), text, fill=235, font=font)
    sink = io.BytesIO()
    image.save(sink, "PNG")
    return sink.getvalue()


def held_back(directory: Path) -> dict[str, Any]:
    """Documents and queries of a published task that the scan would hold back."""
    import pyarrow.parquet as pq

    total = held = 0
    kinds: Counter[str] = Counter()
    for table in ("queries", "corpus"):
        for path in sorted((directory / table).glob("*.parquet")):
            for text in pq.read_table(path, columns=["text"]).column("text").to_pylist():
                found = {kind for kind, _, _ in hits(text, SHOWN_TO_NOBODY)}
                total += 1
                held += bool(found)
                kinds.update(found)
    return {"texts": total, "held_back": held, "kinds": dict(sorted(kinds.items()))}


def main(arguments: list[str]) -> None:
    """Measure, write the result and print it."""
    draw = random.Random(SEED)
    result = {
        "seed": SEED,
        "texts": texts(draw),
        "unseen": {"review_patterns": recall(SHOWN_TO_NOBODY, UNSEEN_SEED)},
        "pictures": pictures(draw),
        "real": {Path(name).name: held_back(Path(name)) for name in arguments},
    }
    print(save("review_phi", result).read_text("utf-8"))


if __name__ == "__main__":
    main(sys.argv[1:])
