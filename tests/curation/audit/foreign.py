"""Datasets in other benchmarks' layouts, written by us: made words, drawn pictures."""

from __future__ import annotations

import gzip
import io
import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image, ImageDraw

IMAGE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
Record = dict[str, Any]
_SYLLABLES = [
    "bar",
    "cen",
    "dol",
    "fir",
    "gam",
    "hel",
    "jor",
    "kil",
    "lum",
    "mav",
    "nor",
    "pel",
    "quin",
    "ras",
    "sov",
    "tul",
]


def words(seed: int, count: int) -> str:
    """Made words that no other seed gives in the same order."""
    draw = random.Random(seed)
    made = ["".join(draw.choices(_SYLLABLES, k=draw.randint(1, 3))) for _ in range(count)]
    return " ".join(made).capitalize() + "."


def picture(seed: int, size: tuple[int, int] = (160, 120)) -> Image.Image:
    """A drawing no other seed gives: shapes and structure on a shaded ground."""
    draw = np.random.default_rng(seed)
    width, height = size
    ground = draw.normal(size=(9, 12)).astype(np.float32)
    base = Image.fromarray(ground).resize(size, Image.Resampling.BICUBIC)
    values = np.asarray(base)
    values = (values - values.min()) / (values.max() - values.min()) * 200 + 20
    image = Image.fromarray(values.astype(np.uint8)).convert("RGB")
    pen = ImageDraw.Draw(image)
    for _ in range(14):
        left, top = int(draw.integers(0, width - 20)), int(draw.integers(0, height - 20))
        right, bottom = left + int(draw.integers(8, 50)), top + int(draw.integers(8, 40))
        colour = tuple(int(value) for value in draw.integers(0, 256, 3))
        (pen.ellipse if draw.random() < 0.5 else pen.rectangle)((left, top, right, bottom), fill=colour)
    return image


def encoded(image: Image.Image, kind: str = "png", **options: Any) -> bytes:
    """The file of a picture."""
    out = io.BytesIO()
    image.save(out, format=kind, **options)
    return out.getvalue()


def write_lines(path: Path, rows: Sequence[Record | str]) -> None:
    """JSON Lines; a string is a line as it is. Names ending in .gz are packed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    body = "".join(
        (row if isinstance(row, str) else json.dumps(row, ensure_ascii=False)) + "\n" for row in rows
    )
    data = body.encode("utf-8", "surrogatepass")
    path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)


def write_parquet(path: Path, rows: Sequence[Record], schema: pa.Schema | None = None) -> None:
    """Rows as Parquet."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(list(rows), schema=schema), path, row_group_size=10)


def rows_of(paths: Sequence[Path]) -> list[Record]:
    """All rows of canonical files."""
    return [row for path in paths for row in pq.read_table(path).to_pylist()]


class Beir:
    """A clean BEIR directory to change before it is written: 12 queries, 40 documents, one positive each."""

    def __init__(self, seed: int = 1_000) -> None:
        self.queries: list[Record | str] = [{"_id": f"q{n}", "text": words(seed + n, 18)} for n in range(12)]
        self.corpus: list[Record | str] = [
            {"_id": f"d{n}", "title": f"Title {n}", "text": words(seed + 100 + n, 60), "metadata": {}}
            for n in range(40)
        ]
        self.qrels: list[tuple[Any, ...]] = [(f"q{n}", f"d{n}", 1) for n in range(12)]

    def record(self, table: str, number: int) -> Record:
        """One row to change."""
        row = getattr(self, table)[number]
        assert isinstance(row, dict)
        return row

    def write(self, root: Path, *, packed: bool = False) -> Path:
        """corpus.jsonl, queries.jsonl, qrels/test.tsv."""
        end = ".jsonl.gz" if packed else ".jsonl"
        write_lines(root / f"corpus{end}", self.corpus)
        write_lines(root / f"queries{end}", self.queries)
        lines = [("query-id", "corpus-id", "score"), *self.qrels]
        (root / "qrels").mkdir(parents=True, exist_ok=True)
        body = "".join("\t".join(map(str, line)) + "\n" for line in lines)
        (root / "qrels" / "test.tsv").write_text(body, encoding="utf-8")
        return root


class Mteb:
    """A clean MTEB directory: Parquet shards, images on both sides, configs named in the README."""

    queries_schema = pa.schema([("id", pa.string()), ("text", pa.string()), ("image", IMAGE)])
    corpus_schema = pa.schema(
        [("id", pa.string()), ("title", pa.string()), ("text", pa.string()), ("image", IMAGE)]
    )

    def __init__(self, seed: int = 5_000) -> None:
        self.queries: list[Record] = [
            {"id": f"q-{n}", "text": words(seed + n, 16), "image": self._image(seed + n)} for n in range(10)
        ]
        self.corpus: list[Record] = [
            {
                "id": f"c-{n}",
                "title": "",
                "text": words(seed + 500 + n, 50),
                "image": self._image(seed + 500 + n),
            }
            for n in range(24)
        ]
        self.qrels: list[Record] = [
            {"query-id": f"q-{n}", "corpus-id": f"c-{n}", "score": 1} for n in range(10)
        ]
        self.second_corpus_schema = self.corpus_schema

    @staticmethod
    def _image(seed: int) -> Record:
        return {"bytes": encoded(picture(seed)), "path": f"{seed}.png"}

    def write(self, root: Path) -> Path:
        """corpus/, queries/ and data/ (qrels), corpus in two shards."""
        write_parquet(root / "queries/test-00000-of-00001.parquet", self.queries, self.queries_schema)
        half = len(self.corpus) // 2
        write_parquet(root / "corpus/test-00000-of-00002.parquet", self.corpus[:half], self.corpus_schema)
        write_parquet(
            root / "corpus/test-00001-of-00002.parquet", self.corpus[half:], self.second_corpus_schema
        )
        write_parquet(root / "data/test-00000-of-00001.parquet", self.qrels)
        configs = "".join(
            f"- config_name: {name}\n  data_files:\n  - split: test\n    path: {folder}/test-*\n"
            for name, folder in (("corpus", "corpus"), ("queries", "queries"), ("default", "data"))
        )
        (root / "README.md").write_text(f"---\nconfigs:\n{configs}---\n# A set\n", encoding="utf-8")
        return root


def write_r2med(root: Path, seed: int = 9_000) -> Path:
    """Config names corpus, query and qrels; gold ids and answers in the query file."""
    queries = [
        {"id": f"r{n}", "text": words(seed + n, 20), "doc_id": [f"p{n}"], "answer": words(seed + 300 + n, 3)}
        for n in range(8)
    ]
    corpus = [{"id": f"p{n}", "text": words(seed + 100 + n, 60)} for n in range(20)]
    write_lines(root / "query.jsonl", queries)
    write_lines(root / "corpus.jsonl", corpus)
    write_lines(root / "qrels.jsonl", [{"q_id": f"r{n}", "p_id": f"p{n}", "score": 1} for n in range(8)])
    return root


def write_languages(root: Path, change: Callable[[str, str], str] = lambda language, name: name) -> Path:
    """<lang>-corpus, <lang>-queries, <lang>-qrels folders; ids repeat between languages."""
    for number, language in enumerate(("de", "fr")):
        seed = 20_000 + 1_000 * number
        queries = [{"_id": n, "text": words(seed + n, 12)} for n in range(4)]
        corpus = [{"_id": n, "title": "", "text": words(seed + 100 + n, 40)} for n in range(6)]
        pairs = [{"query-id": n, "corpus-id": n, "score": 1} for n in range(4)]
        for table, rows in (("queries", queries), ("corpus", corpus), ("qrels", pairs)):
            write_parquet(root / change(language, table) / "test-00000-of-00001.parquet", rows)
    return root
