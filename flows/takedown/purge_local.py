"""What a workspace holds of an article that is purged: found, and deleted so that no byte is left.

Raw bytes, shards made from them, answers of models, texts in reviews, caches, and what was recorded of
releases. Every step may be repeated; what is gone already is no error.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path

import pyarrow.parquet as pq

from flows.adapters.cache import AnswerCache
from flows.adapters.llm_runner import key_of
from flows.crawl.selection import STAGE as SELECTION
from flows.crawl.selection import selections
from flows.engine.manifest import MANIFEST
from flows.engine.runner import read_rows, shards_of, table_files
from flows.engine.workspace import Workspace, write_atomic
from flows.evaluate.evaluate import CACHE
from flows.release.recorded import FOLDER as RECORDED
from flows.release.recorded import RECORD, read_record, record_folder
from flows.review.store import FOLDER as REVIEW
from flows.review.store import ReviewFolder
from schemas.article import RawArticle
from schemas.hashing import sha256_file
from schemas.ids import family_key
from schemas.prompt import Prompt
from schemas.withdrawal import Withdrawn
from sources.ledger import Ledger, stored_files
from sources.stage import CRAWL

_SHORTEST_TEXT = 40
"""Letters of a passage that are enough to know the article by."""


def raw_paths(workspace: Workspace, named: Withdrawn) -> list[str]:
    """Paths under raw/ of every version of an article, but none that another article is read from."""
    family, kept, found = family_key(named.id), set[str](), set[str]()
    recorded = sorted((workspace.root / RECORDED).glob(f"*/*/{workspace.work.name}/{CRAWL}/*/raw.parquet"))
    for row in read_rows(RawArticle, [*table_files(workspace, "crawl.raw"), *recorded]):
        paths = {row.path, *(part.path for part in (*row.media, *row.parts))}
        (found if family_key(row.id) == family else kept).update(paths)
    if named.locator:
        of_it = re.compile(rf"{re.escape(named.locator)}(\.\d+)?")
        listed = stored_files(workspace.ledger, named.source)
        found.update(path for path, _ in listed if any(of_it.fullmatch(part) for part in path.split("/")))
    return sorted(found - kept)


def answer_keys(
    workspace: Workspace, named: Withdrawn, gone: Collection[str], *, is_first: bool
) -> list[str]:
    """Keys, hex, of stored answers to prompts that show the article.

    Once the stages were run again without it no prompt does: then of every answer that no prompt asks for.
    Not so after a purge that was killed: it may have taken prompts away, and has noted its keys before.
    """
    texts = [
        row["text"]
        for path in table_files(workspace, "extract.passages")
        for row in pq.read_table(path, columns=["article_id", "text"]).to_pylist()
        if row["article_id"] == named.id and len(row["text"]) >= _SHORTEST_TEXT
    ]
    asked: set[str] = set()
    showing: set[str] = set()
    for prompt in _prompts(workspace):
        key = key_of(prompt).hex()
        asked.add(key)
        values = [part.value for part in prompt.parts]
        is_named = prompt.subject in gone or any(value in gone for value in values)
        if is_named or any(text in value for text in texts for value in values):
            showing.add(key)
    if texts or not is_first:
        return sorted(showing)
    held = {key.hex() for path in _stores(workspace.answers) for key in _keys(path)}
    return sorted(showing | (held - asked))


def _prompts(workspace: Workspace) -> Iterator[Prompt]:
    paths = sorted(workspace.work.glob("*/*/prompts.parquet"))
    yield from read_rows(Prompt, paths)


def _stores(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.sqlite"))


def _keys(path: Path) -> set[bytes]:
    with AnswerCache(path.parent, path.stem) as store:
        return store.keys()


def delete_raw(workspace: Workspace, source: str, paths: Sequence[str]) -> None:
    """Delete files under raw/, and what the ledger says of them."""
    for name in paths:
        path = workspace.raw / name
        path.unlink(missing_ok=True)
        path.with_name(f".{path.name}.part").unlink(missing_ok=True)
        if path.parent != workspace.raw and path.parent.is_dir() and not any(path.parent.iterdir()):
            path.parent.rmdir()
    if source and workspace.ledger.is_file():
        with Ledger(workspace.ledger) as ledger:
            for name in paths:
                ledger.forget(source, name)


def shards_with(workspace: Workspace, named: Withdrawn) -> list[str]:
    """Shards of the crawl that the article was asked for in."""
    asked = (item for item in selections(workspace) if item.source == named.source)
    return sorted(item.shard for item in asked if named.locator in item.locators)


def clear_work(workspace: Workspace, named: Withdrawn) -> None:
    """Delete what stages made of the article's shard and of all together; the next run makes it anew."""
    crawled = shards_of(workspace, CRAWL)
    mine = shards_with(workspace, named)
    for stage in sorted(workspace.work.iterdir()) if workspace.work.is_dir() else ():
        if stage.name in (CRAWL, SELECTION) or not stage.is_dir():
            continue
        for shard in sorted(stage.iterdir()):
            if shard.is_dir() and (shard.name in mine or shard.name not in crawled):
                (shard / MANIFEST).unlink(missing_ok=True)  # first: without it nobody reads the rest
                shutil.rmtree(shard)
    shutil.rmtree(workspace.root / CACHE, ignore_errors=True)


def scrub(root: Path, gone: Collection[str], keys: Sequence[str]) -> None:
    """Take answers and shown texts out of a workspace, or out of the record of a release.

    Args:
        root: of either.
        gone: ids of withdrawn rows; candidates of these keep their ids and grades, and show nothing.
        keys: hex keys of answers.
    """
    wanted = [bytes.fromhex(key) for key in keys]
    for path in _stores(root / "answers") if wanted else ():
        with AnswerCache(path.parent, path.stem) as store:
            store.delete(wanted)
        for beside in path.parent.glob(f"{path.name}-*"):
            beside.unlink(missing_ok=True)
    for path in sorted((root / REVIEW).rglob("candidates.parquet")):
        folder = ReviewFolder(path.parent)
        before = folder.candidates()
        after = [
            replace(row, shown=tuple(replace(item, value="") for item in row.shown))
            if {row.query_id, row.corpus_id} & set(gone)
            else row
            for row in before
        ]
        if after != before:
            folder.write_candidates(after)


def scrub_records(
    workspace: Workspace, releases: Collection[str], gone: Collection[str], keys: Sequence[str]
) -> None:
    """Delete the records of purged releases; take the article out of all others, which hold as before."""
    for label in releases:
        dataset, _, version = label.partition("@")
        shutil.rmtree(record_folder(workspace, dataset, version), ignore_errors=True)
    for path in sorted((workspace.root / RECORDED).glob(f"*/*/{RECORD}")):
        folder = path.parent
        scrub(folder, gone, keys)
        record = read_record(folder)
        if record is not None:
            files = {name: sha256_file(folder / name) for name in record.files if (folder / name).is_file()}
            if files != dict(record.files):
                text = json.dumps(asdict(replace(record, files=files)), indent=1, ensure_ascii=False)
                write_atomic(path, (text + "\n").encode())
