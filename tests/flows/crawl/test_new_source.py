"""A new source is its module and a line each in two lists: then it has a command, a spec key, and crawls."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.conftest import ROOT

TOY = '''"""A file of letters as a repository: one article a line."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field

from flows.crawl.repositories.base import CrawlRequest, Opened, Opening, SpecKey
from flows.engine.settings import Settings
from schemas.article import RawArticle, SourceName
from schemas.stages import Drop, Reason
from sources.store import RawStore


class ToyRequest(CrawlRequest):
    """Take letters from a file, one a line."""

    source: ClassVar[SourceName] = "toy"

    letters: Annotated[Path, SpecKey("toy", many=True, path="always")] = Field(description="File of letters.")
    shortest: int = Field(default=1, ge=1, description="Fewest characters of a letter.")

    def preview(self, settings: Settings) -> list[str]:
        """Numbers of the lines."""
        return [str(number) for number, _ in enumerate(self._lines())]

    def open(self, opening: Opening) -> Opened:
        """Every line."""
        return Opened(self.preview(opening.settings), lambda locator: self._fetch(locator, opening.store))

    def _lines(self) -> list[str]:
        return self.letters.read_text("utf-8").splitlines()

    def _fetch(self, locator: str, store: RawStore) -> RawArticle | Drop:
        name, text = f"toy:{locator}", self._lines()[int(locator)]
        if len(text) < self.shortest:
            return Drop(unit="article", id=locator, article_id=name, reason=Reason.NO_BODY, detail=text)
        held = store.put("toy", locator, f"toy/{locator}.xml", f"<article><p>{text}</p></article>".encode())
        return RawArticle(id=name, source="toy", locator=locator, path=held.path, sha256=held.sha256)
'''
LINES = {
    "flows/crawl/repositories/__init__.py": (
        "REPOSITORIES: dict[str, str] = {\n",
        '    "toy": "flows.crawl.repositories.toy:ToyRequest",\n',
    ),
    "schemas/article.py": ("SourceName = Literal[", '"toy", '),
}
"""Where a line is added: after which text, and what."""
USE = """
import json, sys
from pathlib import Path
import pyarrow.parquet as pq
from flows.cli.app import run_cli
workspace, spec = sys.argv[1:]
codes = [run_cli(["crawl", "toy", *rest]) for rest in (
    ["--help"], [f"{spec}/few.txt", "--shortest", "0", "--workspace", workspace],
    [f"{spec}/few.txt", "--shortest", "3", "--workspace", workspace],
)]
from flows.crawl.flow import crawl
from flows.specs import read_dataset
for request in read_dataset(Path(spec, "spec.toml")).requests():
    crawl(request, workspace)
base = Path(workspace, "work/crawl")
rows = {name: sorted(i for p in base.glob(f"*/{name}.parquet") for i in pq.read_table(p)["id"].to_pylist())
        for name in ("raw", "_dropped")}
print("RESULT", json.dumps({"codes": codes, **rows}))
"""


def overlay(root: Path, files: Mapping[str, str]) -> None:
    """The product as links, but for some files."""
    for package in ("schemas", "sources", "curation", "annotation", "flows"):
        (root / package).symlink_to(ROOT / package)
    for name, content in files.items():
        for folder in reversed(Path(name).parents[:-1]):
            place = root / folder
            if place.is_symlink():
                place.unlink()
                place.mkdir()
                for child in (ROOT / folder).iterdir():
                    if child.name != "__pycache__":
                        (place / child.name).symlink_to(child)
        (root / name).unlink(missing_ok=True)
        (root / name).write_text(content, "utf-8")


def test_a_new_source_is_its_module_and_two_lines(tmp_path: Path) -> None:
    product, cards = tmp_path / "product", tmp_path / "cards"
    product.mkdir()
    cards.mkdir()
    changed = {"flows/crawl/repositories/toy.py": TOY}
    for name, (after, line) in LINES.items():
        text = (ROOT / name).read_text("utf-8")
        assert text.count(after) == 1
        changed[name] = text.replace(after, after + line)
    overlay(product, changed)
    (cards / "few.txt").write_text("Dear\nno\n", "utf-8")
    (cards / "more.txt").write_text("Dear\nno\ncolleague\n", "utf-8")
    tasks = "[tasks.visual_context]\n"
    (cards / "spec.toml").write_text(
        f'name = "a-b"\ntitle = "A title"\n[sources]\ntoy = ["few.txt", "more.txt"]\n{tasks}', "utf-8"
    )
    done = subprocess.run(
        [sys.executable, "-c", USE, str(tmp_path / "ws"), str(cards)],
        env={**os.environ, "PYTHONPATH": str(product)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "LETTERS" in done.stdout and "Take letters from a file, one a line." in done.stdout
    assert "Fewest characters of a letter." in done.stdout
    assert "error: --shortest: should be greater than or equal to 1" in done.stderr
    result = json.loads(done.stdout.rpartition("RESULT ")[2])
    assert result["codes"] == [0, 2, 0]
    assert (result["raw"], result["_dropped"]) == (["toy:0", "toy:2"], ["1"])
