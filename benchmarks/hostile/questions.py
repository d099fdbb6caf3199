"""Damaged question files: each record is read or quarantined, and none of a file's bytes is passed over."""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from benchmarks.mutations import add_controls, drop_span, flip_bits, repeat_span, truncate
from schemas.article import RawArticle, RawPart
from schemas.hashing import sha256_bytes
from schemas.question import Question, QuestionCollection
from schemas.record import to_table
from schemas.stages import Drop
from sources.questions import META, QUESTIONS, read

Damage = Callable[[bytes, random.Random], bytes]

_SIDECAR = b'name = "made"\nlicence = "CC0-1.0"\nlanguage = "en"\n'


def _record(number: int) -> dict[str, object]:
    return {
        "id": f"q{number}",
        "question": f"Which \u2265 {number} mmol/L fits \u201cthe\u201d picture? {'Text. ' * (number % 7)}",
        "options": {"A": "fever, chills", "B": "[no] {sign}", "C": 'a "quoted" \\ one'},
        "correct": ["B"],
        "explanation": "Because.\nSecond line.",
        "citations": [{"pmid": 1000 + number}, "https://doi.org/10.1000/x.1"],
        "snippets": [{"document": {"pmid": 1000 + number}, "text": "fever", "begin": number, "end": 99}],
    }


def seeds() -> list[bytes]:
    """Files written by us: JSON Lines, an array on one line, an array with indents."""
    records = [_record(number) for number in range(1, 41)]
    lines = "\n".join(json.dumps(each, ensure_ascii=False) for each in records)
    return [lines.encode(), json.dumps(records).encode(), json.dumps(records, indent=4).encode()]


def nest(data: bytes, rng: random.Random) -> bytes:
    """Brackets inside one another, up to a hundred thousand deep."""
    place = rng.randrange(len(data))
    depth = rng.choice([10, 500, 3_000, 100_000])
    opening, closing = rng.choice([(b"[", b"]"), (b'{"a":', b"}")])
    return data[:place] + opening * depth + b"1" + closing * rng.choice([0, depth]) + data[place:]


def odd_values(data: bytes, rng: random.Random) -> bytes:
    """Values of other types, lone surrogates, NUL, numbers out of all bounds."""
    odd = [b"null", b"NaN", b"1e999", b"9" * 5_000, b'"\\ud800"', b'"\\u0000"', b"[]", b"{}", b"true", b'""']
    for _ in range(rng.randint(1, 6)):
        old = rng.choice(
            [b'"fever, chills"', b'"Because.\\nSecond line."', b'["B"]', b'"q7"', b'"B"', b"1007"]
        )
        data = data.replace(old, rng.choice(odd), rng.randint(1, 3))
    return data


def other_encoding(data: bytes, rng: random.Random) -> bytes:
    """Another encoding, or a byte order mark."""
    text = data.decode("utf-8")
    return rng.choice(
        [b"\xef\xbb\xbf" + data, text.encode("utf-16"), text.encode("latin-1", "replace"), data.upper()]
    )


def long_line(data: bytes, rng: random.Random) -> bytes:
    """A value, or a line, of megabytes."""
    place = rng.randrange(len(data))
    return data[:place] + rng.choice([b"x", b" ", b"\\", b'"', b"\n"]) * 3_000_000 + data[place:]


MUTATIONS: Sequence[Damage] = (
    flip_bits,
    truncate,
    drop_span,
    repeat_span,
    add_controls,
    nest,
    odd_values,
    other_encoding,
    long_line,
)


def mutants(files: Sequence[bytes], count: int, seed: int) -> Iterator[tuple[str, int, bytes]]:
    """Yield (name of the damage, index of the file, damaged bytes), every kind equally often."""
    rng = random.Random(seed)
    for number in range(count):
        damage, index = MUTATIONS[number % len(MUTATIONS)], rng.randrange(len(files))
        yield damage.__name__, index, damage(files[index], rng)


def outcome(data: bytes) -> str:
    """`read: N questions, M quarantined` or `quarantined: <reason>`.

    Raises:
        AssertionError: records and what became of them do not add up, or rows that cannot be written.
    """
    with tempfile.TemporaryDirectory() as folder:
        raw = Path(folder)
        (raw / "records.json").write_bytes(data)
        (raw / "meta.toml").write_bytes(_SIDECAR)
        made = list(read(_raw(data), raw=raw, **QUESTIONS.params))
    questions = [each for each in made if isinstance(each, Question)]
    drops = [each for each in made if isinstance(each, Drop)]
    to_table(Question, questions)
    to_table(Drop, drops)
    if not isinstance(made[-1], QuestionCollection):
        return f"quarantined: {drops[-1].reason.value}"
    numbers = sorted(
        [each.number for each in questions] + [int(each.id.rpartition("@")[2]) for each in drops]
    )
    if numbers != list(range(1, made[-1].records + 1)) or made[-1].questions != len(questions):
        raise AssertionError(f"records {numbers[:3]}… do not add up to {made[-1].records}")
    return f"read: {len(questions)} questions, {len(drops)} quarantined"


def _raw(data: bytes) -> RawArticle:
    return RawArticle(
        id="questions:made",
        source="questions",
        format="questions",
        locator="made.jsonl",
        path="records.json",
        sha256=sha256_bytes(data),
        parts=(RawPart(name=META, path="meta.toml", sha256=sha256_bytes(_SIDECAR)),),
    )
