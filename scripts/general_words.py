"""Counts which English words stand in a twentieth of the articles of a workspace.

They go to curation/tasks/shared/general_words.txt. Usage, after `medqrels run` or `build` on a few
hundred articles of many journals: python -m scripts.general_words WORKSPACE
"""

from __future__ import annotations

import argparse
import collections
from pathlib import Path

import duckdb

from curation.tasks import shared
from schemas.hashing import normalise_text

OUT = Path(shared.__file__).with_name("general_words.txt")
ONE_IN = 20
HEAD = (
    f"# English words in at least one of {ONE_IN} of {{}} medical articles: python -m scripts.general_words\n"
)


def general_words(workspace: Path) -> tuple[list[str], int]:
    """The words, sorted, and the number of articles they were counted in."""
    tables = str(workspace / "work" / "extract" / "*" / "passages.parquet")
    held: dict[str, set[str]] = collections.defaultdict(set)
    select = f"SELECT article_id, text FROM '{tables}' WHERE language LIKE 'en%'"
    for article, text in duckdb.connect().execute(select).fetchall():
        held[article].update(filter(str.isalpha, normalise_text(text).split()))
    articles = collections.Counter(word for words in held.values() for word in words)
    return sorted(word for word, count in articles.items() if ONE_IN * count >= len(held)), len(held)


def main() -> None:
    """Write the list."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("workspace", type=Path)
    words, articles = general_words(options.parse_args().workspace)
    OUT.write_text(HEAD.format(articles) + "".join(f"{word}\n" for word in words), encoding="utf-8")
    print(f"{len(words)} words of {articles} articles: {OUT}")


if __name__ == "__main__":
    main()
