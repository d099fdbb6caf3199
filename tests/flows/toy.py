"""A small pipeline of one record stage and one set stage, importable by worker processes.

Articles are cut into words; short words are dropped; the set stage keeps the first of equal words.
"""

from __future__ import annotations

import hashlib
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from flows.engine.execution import split_done, workers
from flows.engine.manifest import DROPPED, Manifest, publish
from flows.engine.runner import DROP_TABLE, execute, plan, schema_hashes, write_rows
from flows.engine.workspace import Workspace, open_workspace
from schemas.record import column, record
from schemas.stages import Account, Drop, Input, Reason, RecordStage, SetAccount, SetStage, Sql, Table


@record
class ToyArticle:
    """A driving record."""

    id: str = column("id")
    text: str = column("words")
    tags: tuple[str, ...] = column("tags", default=())
    year: int | None = column("year", default=None)


@record
class ToyTag:
    """A related record."""

    id: str = column("id")
    article_id: str = column("article")


@record
class ToyWord:
    """A made record."""

    id: str = column("id")
    article_id: str = column("article")
    word: str = column("word")
    tags: tuple[str, ...] = column("tags of the article", default=())


@record
class ToyTotal:
    """An aggregate with a nested column."""

    word: str = column("word")
    times: int = column("occurrences")
    articles: tuple[str, ...] = column("article ids")


def word_ids(article: ToyArticle, *related: Sequence[Any]) -> list[str]:
    return [f"{article.id}#w{number}" for number, _ in enumerate(article.text.split())]


def cut(article: ToyArticle, *, shortest: int) -> Iterator[ToyWord | Drop]:
    for number, word in enumerate(article.text.split()):
        unit_id = f"{article.id}#w{number}"
        if len(word) < shortest:
            yield Drop(unit="word", id=unit_id, article_id=article.id, reason=Reason.SHORT_PASSAGE)
        else:
            yield ToyWord(id=unit_id, article_id=article.id, word=word, tags=tuple(sorted(set(article.tags))))


def cut_slowly(article: ToyArticle, *, shortest: int) -> Iterator[ToyWord | Drop]:
    for out in cut(article, shortest=shortest):
        time.sleep(0.002)
        yield out


def cut_with(article: ToyArticle, *, shortest: int, stopwords: Path) -> Iterator[ToyWord | Drop]:
    stop = stopwords.read_text("utf-8").split()
    for out in cut(article, shortest=shortest):
        if isinstance(out, ToyWord) and out.word in stop:
            yield Drop(unit="word", id=out.id, article_id=article.id, reason=Reason.NOT_MEDICAL)
        else:
            yield out


ARTICLES = Table("articles", ToyArticle, ("id",))
CUT = RecordStage(
    name="cut",
    version=1,
    inputs=(Input("seed.articles", ToyArticle, by="id"),),
    outputs=(Table("words", ToyWord, ("id",)),),
    process=cut,
    accounts=(Account("word", word_ids, "words", "id"),),
    params={"shortest": 3},
)
SLOW = replace(CUT, process=cut_slowly)
WITH_RESOURCE = replace(CUT, process=cut_with, resources=("stopwords",))
FIRST = "row_number() OVER (PARTITION BY word ORDER BY id)"
POOL = SetStage(
    name="pool",
    version=1,
    inputs={"words": ("cut.words", ToyWord)},
    outputs={
        "chosen": Sql(f"SELECT * FROM words QUALIFY {FIRST} = 1", ToyWord, ("id",)),
        "drops": Sql(
            "SELECT 'word' AS unit, id, article_id, 'duplicate_document' AS reason, word AS detail "
            f"FROM words QUALIFY {FIRST} > 1",
            Drop,
            ("id",),
        ),
        "totals": Sql(
            "SELECT word, count(*) AS times, list(DISTINCT article_id ORDER BY article_id) AS articles "
            "FROM words GROUP BY word",
            ToyTotal,
            ("word",),
        ),
    },
    accounts=(SetAccount("word", "words", "id", "chosen", "id"),),
)


def articles(count: int, words: int = 12) -> list[ToyArticle]:
    """Deterministic articles; every seventh is empty, years are missing here and there."""
    made = []
    for number in range(count):
        seeds = hashlib.sha256(str(number).encode()).digest()
        text = (
            " ".join("abcdefghij"[byte % 10] * (1 + byte % 5) for byte in seeds[:words]) if number % 7 else ""
        )
        tags = tuple(f"t{byte % 4}" for byte in seeds[:3])
        made.append(
            ToyArticle(id=f"toy:{number:04d}", text=text, tags=tags, year=number if number % 3 else None)
        )
    return made


def seed(
    workspace: Workspace, rows: Sequence[Any], size: int, table: Table = ARTICLES, stage: str = "seed"
) -> None:
    """Publish rows as shards of an upstream stage."""
    for start in range(0, max(len(rows), 1), size):
        shard = f"s{start:04d}"
        staged = workspace.temporary / f"{stage}.{shard}"
        staged.mkdir(parents=True, exist_ok=True)
        outputs = {
            table.name: write_rows(staged, table, rows[start : start + size]),
            DROPPED: write_rows(staged, DROP_TABLE, []),
        }
        columns = schema_hashes([(table.name, table.row)])
        manifest = Manifest(stage, 1, shard, {}, {}, outputs, {}, {}, columns=columns)
        publish(workspace.stage(stage) / shard, staged, manifest, 0.0)


def run(workspace: Workspace, stage: RecordStage | SetStage, count: int = 1, **options: Any) -> list[str]:
    """Run what is not done of a stage; names of the shards made."""
    _, waiting = split_done(plan(workspace, stage, **options))
    with workers(count) as pool:
        for job in waiting.values():
            pool.run(job)
    return sorted(waiting)


def snapshot(folder: Path, skip: Iterable[str] = ("_run.json",)) -> dict[str, bytes]:
    """Every file below a folder but the run notes."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in set(skip)
    }


def digest(files: dict[str, bytes]) -> str:
    """One hash over a snapshot."""
    whole = hashlib.sha256()
    for name, data in sorted(files.items()):
        whole.update(f"{name} {len(data)}\n".encode() + data)
    return whole.hexdigest()


def run_slowly(root: Path, ready: Connection) -> None:
    """What tests kill in another process: the slow stage, after telling that it begins."""
    workspace = open_workspace(root, create=True)
    ready.send("ready")
    for job in plan(workspace, SLOW):
        execute(job)


def main(root: str) -> None:
    """What tests start in another interpreter: both stages; prints a digest."""
    workspace = open_workspace(Path(root), create=True)
    seed(workspace, articles(40), 7)
    run(workspace, CUT)
    run(workspace, POOL)
    print(digest(snapshot(workspace.work)))


if __name__ == "__main__":
    main(*sys.argv[1:])
