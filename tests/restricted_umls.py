"""A Metathesaurus for tests out of one without relations: sources made restricted, MRREL and MRCUI generated.

Identifiers are those of the given folder; nothing of it is committed.
"""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

LEVEL = "3"


def restricted(
    source: Path, target: Path, sources: Collection[str], parents: Iterable[tuple[str, str]]
) -> Path:
    """Write a META folder like another one, some of its sources of restriction level 3.

    Args:
        source: META folder with MRCONSO, MRSTY, MRSAB and perhaps MRDEF.
        target: folder to make.
        sources: abbreviations (SAB) that may not be passed on.
        parents: (code of a concept, code of one above it), e.g. ('HP:0001250', 'HP:0012638').
    """
    target.mkdir(parents=True)
    for path in sorted(source.glob("MR*.RRF")):
        shutil.copyfile(path, target / path.name)
    _rewrite(target / "MRCONSO.RRF", sab=11, level=15, sources=sources)
    _rewrite(target / "MRSAB.RRF", sab=3, level=13, sources=sources)
    atoms = dict(_preferred(target / "MRCONSO.RRF"))
    (target / "MRREL.RRF").write_text("".join(_relations(atoms, parents)), "utf-8")
    cuis = sorted(cui for cui, _ in atoms.values())
    retired = [f"C9999001|2020AA|SY|||{cuis[0]}|Y|\n", "C9999002|2020AA|DEL|||||\n"]
    (target / "MRCUI.RRF").write_text("".join(retired), "utf-8")
    return target


def _rewrite(path: Path, *, sab: int, level: int, sources: Collection[str]) -> None:
    lines = []
    for line in path.read_text("utf-8").splitlines():
        cells = line.split("|")
        if cells[sab] in sources:
            cells[level] = LEVEL
        lines.append("|".join(cells) + "\n")
    path.write_text("".join(lines), "utf-8")


def _preferred(path: Path) -> Iterator[tuple[str, tuple[str, str]]]:
    """Code -> CUI and atom of its English label."""
    for line in path.read_text("utf-8").splitlines():
        cells = line.split("|")
        if cells[1] == "ENG" and cells[12] == "PT":
            yield cells[13], (cells[0], cells[7])


def _relations(atoms: dict[str, tuple[str, str]], parents: Iterable[tuple[str, str]]) -> Iterator[str]:
    """A PAR line and its inverse for each pair of which both have a CUI."""
    number = 0
    for child, parent in sorted(set(parents)):
        if child not in atoms or parent not in atoms:
            continue
        (one, its), (other, others) = atoms[child], atoms[parent]
        for rel, first, second in (
            ("PAR", (one, its), (other, others)),
            ("CHD", (other, others), (one, its)),
        ):
            number += 1
            rela = "inverse_isa" if rel == "PAR" else "isa"
            yield (
                f"{first[0]}|{first[1]}|SCUI|{rel}|{second[0]}|{second[1]}|SCUI|{rela}|R{number:08d}||HPO|HPO"
                f"||N|N||\n"
            )
