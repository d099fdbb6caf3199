"""The files of a UMLS Metathesaurus: in a folder or a MetamorphoSys zip, plain, .gz or split; read by DuckDB.

Each file is scanned once into scratch Parquet; lines that cannot be read become Drops with file and line.
"""

from __future__ import annotations

import gzip
import re
import shutil
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, cast

from curation.vocabulary.umls import LAYOUT, NEEDED, REQUIRED, WELL_FORMED, text
from flows.vocabulary.connection import Connection
from schemas.errors import InputError, UsageError
from schemas.stages import Drop, Reason

MAX_QUARANTINED = 10_000
"""So many ill-formed lines are named one by one; a file with more is not RRF."""
_PADDED = ("MRSAB",)
"""Files whose lines may be short: their last columns came with later releases."""
_REJECTS = 20 * MAX_QUARANTINED
"""DuckDB counts every column that a line lacks."""
_PART = re.compile(r"(MR[A-Z]+)\.RRF(?:\.[a-z]{2})?(?:\.gz)?", re.IGNORECASE)
_RELEASE = re.compile(r"(?:19|20)\d\d[A-Z]{2}")


@dataclass(frozen=True, slots=True)
class Part:
    """A file on disk, or a member of a zip."""

    path: Path
    member: str = ""

    @property
    def name(self) -> str:
        """Base name, MRCONSO.RRF."""
        return PurePosixPath(self.member).name if self.member else self.path.name

    def copy_to(self, target: Path) -> None:
        """Append the plain bytes to a file."""
        with target.open("ab") as out:
            if self.member:
                packed = self.name.endswith(".gz")
                with (
                    zipfile.ZipFile(self.path) as archive,
                    archive.open(self.member) as raw,
                    gzip.open(raw) if packed else raw as plain,
                ):
                    shutil.copyfileobj(plain, out, 1 << 22)
            else:
                with _plain(self.path) as plain:
                    shutil.copyfileobj(plain, out, 1 << 22)


def _plain(path: Path) -> IO[bytes]:
    return cast(IO[bytes], gzip.open(path)) if path.name.endswith(".gz") else path.open("rb")


def find_parts(place: Path) -> dict[str, list[Part]]:
    """The files we read, by table name, each as its parts in order.

    Args:
        place: a META folder, a folder that holds one, a MetamorphoSys zip or a folder that holds one.

    Raises:
        UsageError: a required file is missing.
    """
    found: dict[str, list[Part]] = {}
    for part in sorted(_parts(place), key=lambda item: item.name):
        named = _PART.fullmatch(part.name)
        if named and named.group(1).upper() in LAYOUT:
            found.setdefault(named.group(1).upper(), []).append(part)
    for name, parts in found.items():
        if len({part.name.lower().removesuffix(".gz") for part in parts}) < len(parts):
            raise UsageError(f"more than one {name}.RRF", file=str(place))
    missing = [f"{name}.RRF" for name in REQUIRED if name not in found]
    if missing:
        raise UsageError(
            "not a UMLS Metathesaurus: missing " + ", ".join(missing),
            file=str(place),
            hint="--umls takes the META folder or the zip that MetamorphoSys made",
        )
    return found


def _parts(place: Path) -> Iterator[Part]:
    if place.is_file():
        if not zipfile.is_zipfile(place):
            raise UsageError("neither a folder nor a zip", file=str(place))
        with zipfile.ZipFile(place) as archive:
            yield from (Part(place, name) for name in archive.namelist())
        return
    if not place.is_dir():
        raise UsageError("no such folder or zip", file=str(place))
    for folder in (place / "META", place):
        inside = [Part(path) for path in folder.glob("MR*") if path.is_file()]
        if inside:
            yield from inside
            return
    for path in sorted(place.glob("*.zip")):
        yield from _parts(path)


def release_of(place: Path, parts: Mapping[str, Sequence[Part]]) -> str:
    """The release as release.dat or the name of the folder or zip says, '' when neither does."""
    meta = parts["MRCONSO"][0].path.parent
    stamp = meta / "release.dat"
    if stamp.is_file():
        found = re.search(r"release\.name\s*=\s*(\S+)", stamp.read_text("utf-8", "replace"))
        if found:
            return found.group(1)
    for name in (meta.name, meta.parent.name, place.name, parts["MRCONSO"][0].path.name):
        stamped = _RELEASE.search(name)
        if stamped:
            return stamped.group()
    return ""


def readable(name: str, parts: Sequence[Part], scratch: Path) -> list[Path]:
    """Paths DuckDB can read; split or zipped files are written out in full to `scratch` first.

    Raises:
        UsageError: no room for that.
        InputError: a damaged archive.
    """
    if len(parts) == 1 and not parts[0].member:
        return [parts[0].path]
    target = scratch / f"{name}.RRF"
    target.unlink(missing_ok=True)
    for part in parts:
        if part.member:
            with zipfile.ZipFile(part.path) as archive:
                size = archive.getinfo(part.member).file_size
            free = shutil.disk_usage(scratch).free
            if size * 2 > free:
                raise UsageError(
                    f"{part.name} needs {size * 2 >> 20} MiB to be unpacked, {free >> 20} MiB are free",
                    file=str(scratch),
                    hint="unpack it elsewhere and give that folder to --umls",
                )
        try:
            part.copy_to(target)
        except (zipfile.BadZipFile, EOFError, OSError) as error:
            raise InputError(f"cannot be unpacked: {error}", file=f"{part.path}!{part.member}") from error
    return [target]


def stage_file(connection: Connection, name: str, paths: Sequence[Path], target: Path) -> list[Drop]:
    """Scan one file into Parquet: the columns we need and `ok`, whether the line is well formed.

    Returns:
        One Drop per ill-formed line.

    Raises:
        InputError: more than MAX_QUARANTINED lines are ill formed, or the file cannot be read at all.
    """
    for table in ("reject_errors", "reject_scans"):
        connection.execute(f"DROP TABLE IF EXISTS {table}")
    try:
        connection.execute(_scan(name, paths, target))
        lines = _rejected(connection)
        bad = connection.execute(
            f"SELECT DISTINCT COLUMNS(* EXCLUDE ok) FROM read_parquet({_literal(target)})"
            f" WHERE ok IS NOT TRUE LIMIT {MAX_QUARANTINED}"
        ).fetchall()
    except Exception as error:  # DuckDB's: only the database module knows their type
        raise InputError(f"{name}.RRF cannot be read: {error}", file=str(paths[0])) from error
    if bad:
        lines |= _located(name, paths, set(bad))
    if len(lines) >= MAX_QUARANTINED:
        raise InputError(
            f"{len(lines)} or more lines are not RRF; the first is line {min(lines)}", file=str(paths[0])
        )
    return [_drop(name, number, detail) for number, detail in sorted(lines.items())]


def _literal(path: Path) -> str:
    """The path as an SQL string for this one file: DuckDB's readers take `*`, `?` and `[` for patterns."""
    return text(re.sub(r"([*?[])", r"[\1]", str(path)))


def _scan(name: str, paths: Sequence[Path], target: Path) -> str:
    columns = ", ".join(f"'{column}': 'VARCHAR'" for column in (*LAYOUT[name], "_end"))
    needed = ", ".join(f"coalesce({column}, '') AS {column}" for column in NEEDED[name])
    padded = "true" if name in _PADDED else "false"
    return (
        f"COPY (SELECT {needed}, coalesce(_end, '') = '' AND ({WELL_FORMED[name]}) AS ok"
        f" FROM read_csv([{', '.join(map(_literal, paths))}], delim='|', quote='', escape='', header=false,"
        f" auto_detect=false, strict_mode=false, null_padding={padded}, nullstr='\\N',"
        f" max_line_size=16777216, columns={{{columns}}}, store_rejects=true, rejects_limit={_REJECTS}))"
        f" TO {text(str(target))} (FORMAT parquet, COMPRESSION snappy, ROW_GROUP_SIZE 122880)"
    )


def _drop(name: str, number: int, detail: str) -> Drop:
    return Drop(
        unit="line",
        id=f"{name}.RRF:{number}",
        article_id=f"{name}.RRF",
        reason=Reason.RECORD_INVALID,
        detail=detail,
    )


def _rejected(connection: Connection) -> dict[int, str]:
    """Lines DuckDB could not split into the file's columns, with why."""
    found = connection.execute("SELECT line, min(error_message) FROM reject_errors GROUP BY line").fetchall()
    return {int(line): " ".join(str(message).split())[:200] for line, message in found}


def _located(name: str, paths: Sequence[Path], bad: set[tuple[str, ...]]) -> dict[int, str]:
    """Numbers of lines whose needed columns are among `bad`: the file is read again, which is rare."""
    places = [LAYOUT[name].index(column) for column in NEEDED[name]]
    width = len(LAYOUT[name]) + 1
    found: dict[int, str] = {}
    for path in paths:
        with _plain(path) as handle:
            for number, line in enumerate(handle, start=1):
                cells = line.decode("utf-8", "replace").rstrip("\r\n").split("|")
                if name in _PADDED:
                    cells += [""] * (width - len(cells))
                if len(cells) < width or tuple(cells[place] for place in places) not in bad:
                    continue
                found[number] = (
                    f"{len(cells) - 1} columns, not {width - 1}"
                    if len(cells) > width
                    else "an identifier, level or name is missing or not of its form"
                )
                if len(found) >= MAX_QUARANTINED:
                    return found
    return found


def add_file_view(connection: Connection, name: str, staged: Path | None) -> None:
    """The well-formed lines of a file under its name; an absent file is an empty table."""
    if staged is None:
        columns = ", ".join(f"'' AS {column}" for column in NEEDED[name])
        connection.execute(f"CREATE OR REPLACE VIEW {name} AS SELECT {columns} WHERE false")
    else:
        columns = ", ".join(NEEDED[name])
        connection.execute(
            f"CREATE OR REPLACE VIEW {name} AS"
            f" SELECT {columns} FROM read_parquet({_literal(staged)}) WHERE ok"
        )
