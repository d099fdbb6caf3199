"""Damaged datasets of others given to `audit`: opened and asked, or refused; what is wrong is in the report.

A case is a tar of a folder: BEIR, MTEB (Parquet) or R2MED written by us, or a task directory in our layout.
"""

from __future__ import annotations

import functools
import io
import random
import tarfile
import tempfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.hostile.structure import JSON, LINES, PLAIN
from curation.audit.layouts import open_dataset
from curation.audit.report import stepped
from curation.audit.rules import duplicates, integrity, layouts, spans, texts
from curation.audit.verify import to_bytes
from curation.published.manifest import FORMAT_VERSION, ReleaseManifest
from flows.engine.connection import query
from schemas.errors import MedqrelsError
from tests.curation.audit.foreign import Beir, Mteb, write_r2med

Files = dict[str, bytes]
ASKED_EVERY = 100
"""Of so many folders that can be opened one is asked all of RULES, which takes half a second."""
RULES = tuple(rule for module in (layouts, integrity, duplicates, spans, texts) for rule in module.RULES)


@functools.cache
def whole() -> tuple[Files, ...]:
    """The folders that are damaged, as files by name."""
    made = []
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        for number, write in enumerate((Beir().write, _small_mteb, write_r2med, _ours)):
            root = write(base / f"set{number}")
            files = sorted(path for path in root.rglob("*") if path.is_file())
            made.append({path.relative_to(root).as_posix(): path.read_bytes() for path in files})
    return tuple(made)


def _small_mteb(root: Path) -> Path:
    made = Mteb()
    for row in (*made.queries, *made.corpus):
        row["image"] = None
    return made.write(root)


def _ours(root: Path) -> Path:
    """A folder that says it is a release of ours: tables as MTEB has them, with a release.json."""
    _small_mteb(root)
    stated = ReleaseManifest(
        format_version=FORMAT_VERSION, dataset="made", title="Made", version="1.0.0", task="visual_context",
        task_title="x", task_description="x", licence_profile="open", license="CC0-1.0", label="silver",
        expert_minimum=80, publishable_by_content=True, not_publishable_because=(), accessed=None,
        grades={"1": "x"}, exclusions={}, versions={}, stages=({"name": "x"},), overrides={},
        counts={"queries": 10, "corpus": 24}, files={"queries/test-00000-of-00001.parquet": "0" * 64},
    )  # fmt: skip
    (root / "release.json").write_text(stated.to_json(), "utf-8")
    return root


def _content(files: Files, rng: random.Random) -> Files:
    """Damage what is in one file, by its form."""
    name = rng.choice(sorted(files))
    data = files[name]
    if name.endswith(".parquet"):
        data = rng.choice((_table, _table, _footer, *PLAIN))(data, rng)
    elif name.endswith(".json"):
        data = rng.choice(JSON)(data, rng)
    elif name.endswith(".jsonl"):
        data = _json_line(data, rng) if rng.random() < 0.7 else rng.choice(LINES)(data, rng)
    else:
        data = rng.choice(LINES)(data, rng)
    return {**files, name: data}


def _json_line(data: bytes, rng: random.Random) -> bytes:
    lines = data.split(b"\n")
    number = rng.randrange(max(1, len(lines) - 1))
    lines[number] = rng.choice(JSON)(lines[number], rng).replace(b"\n", b" ")
    return b"\n".join(lines)


def _table(data: bytes, rng: random.Random) -> bytes:
    """Other types, names, nulls, rows twice, odd metadata, huge cells."""
    table = pq.read_table(io.BytesIO(data))
    place = rng.randrange(table.num_columns)
    name, count = table.column_names[place], table.num_rows
    kind = rng.randrange(6)
    if kind == 0:
        table = table.drop_columns([name])
    elif kind == 1:
        odd: list[Any] = [
            pa.array([1.5] * count), pa.array([None] * count), pa.array([float("nan")] * count),
            pa.array([["x"]] * count), pa.array([{"bytes": b"x", "path": "/etc/hostname"}] * count),
            pa.array([b"\xff\xfe"] * count), pa.array([True] * count), pa.array([2**62] * count),
            pa.array(["x"] * count).dictionary_encode(), pa.array(["\0"] * count),
        ]  # fmt: skip
        table = table.set_column(place, name, rng.choice(odd))
    elif kind == 2:
        table = pa.concat_tables([table] * rng.choice([2, 50]))
    elif kind == 3:
        other = rng.choice(
            ["", "x", "ID", name.upper(), 'a"b', "a'; DROP TABLE x; --", table.column_names[0]]
        )
        table = table.rename_columns(
            [other if n == place else old for n, old in enumerate(table.column_names)]
        )
    elif kind == 4:
        table = table.slice(0, 0)
    else:
        table = table.append_column("text", pa.array(["z" * 200_000] * count))
    out = io.BytesIO()
    pq.write_table(table, out)
    return out.getvalue()


def _footer(data: bytes, rng: random.Random) -> bytes:
    """Bits of the footer, which says where everything lies."""
    damaged = bytearray(data)
    size = int.from_bytes(data[-8:-4], "little")
    for _ in range(rng.randint(1, 8)):
        damaged[-8 - rng.randrange(max(1, size))] ^= 1 << rng.randrange(8)
    if rng.random() < 0.1:
        damaged[-8:-4] = rng.choice([0, 1, 2**31, 2**32 - 1]).to_bytes(4, "little")
    return bytes(damaged)


def _names(files: Files, rng: random.Random) -> Files:
    """Files that are gone, there twice, renamed, empty, or beside hundreds of others."""
    name = rng.choice(sorted(files))
    kind = rng.randrange(5)
    if kind == 0:
        return {key: data for key, data in files.items() if key != name}
    if kind == 1:
        return {**files, name: b""}
    if kind == 2:
        return {
            **files,
            f"{rng.choice(['copy', 'a*b', 'it [1]?', 'ü', '$(x)', 'corpus'])}/{name}": files[name],
        }
    if kind == 3:
        return {**files, **{f"more/{number}.jsonl": files[name] for number in range(300)}}
    return {key + rng.choice([".gz", ".zst", ".csv", ".json", ""]): data for key, data in files.items()}


DAMAGES: tuple[Callable[[Files, random.Random], Files], ...] = (
    _content,
    _content,
    _content,
    _content,
    _names,
)
_SPECIAL = ("link_out", "link_to_device", "link_loop", "pipe", "folder")


def mutants(count: int, seed: int) -> Iterator[tuple[str, int, bytes]]:
    """Yield (name of the damage, index of the folder, its tar)."""
    rng = random.Random(seed)
    for number in range(count):
        index = rng.randrange(len(whole()))
        files = whole()[index]
        if number % 20 == 19:
            special = rng.choice(_SPECIAL)
            yield special, index, _packed(files, special, rng.choice(sorted(files)))
            continue
        damage = DAMAGES[number % len(DAMAGES)]
        yield damage.__name__.strip("_"), index, _packed(damage(files, rng))


def _packed(files: Files, special: str = "", name: str = "") -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for key, data in sorted(files.items()):
            info = tarfile.TarInfo(key)
            if key == name:
                info.type, info.linkname = {
                    "link_out": (tarfile.SYMTYPE, "../../decoy"),
                    "link_to_device": (tarfile.SYMTYPE, "/dev/zero"),
                    "link_loop": (tarfile.SYMTYPE, Path(key).name),
                    "pipe": (tarfile.FIFOTYPE, ""),
                    "folder": (tarfile.DIRTYPE, ""),
                }[special]
                archive.addfile(info)
                continue
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def outcome(data: bytes) -> str:
    """`read` when an audit came to its end and its report can be written, `quarantined` for a refusal."""
    with tempfile.TemporaryDirectory() as folder:
        root, scratch = Path(folder, "set"), Path(folder, "scratch")
        scratch.mkdir()
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            archive.extractall(root, filter="fully_trusted")
        try:
            subject = open_dataset(root, scratch)
        except MedqrelsError:
            return "quarantined: refused"
        if zlib.crc32(data) % ASKED_EVERY:
            return "read"
        asked = query("500MB", [root, scratch])
        steps = stepped(subject, asked, scratch=scratch, rules=RULES, plant=False)
        try:
            while True:
                next(steps)
        except StopIteration as end:
            to_bytes(end.value)
        except MedqrelsError:
            return "quarantined: refused"
    return "read"
