"""QuickUMLS (Soldaini and Goharian, MedIR 2016) over our vocabulary, as medspacy-quickumls 3.2 has it.

Unlike its own command line: no model is downloaded (a blank spaCy pipeline tokenises, so stop words alone
say where a candidate may begin and end), stop words are spaCy's and not NLTK's, every language is indexed
beside the others, accents are compared in one normal form, and of overlapping readings the one worth
most wins (:mod:`curation.concepts.backends.readings`).
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import io
import re
import shutil
import sqlite3
import threading
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from curation.concepts.backends import loading
from curation.concepts.backends.by_language import LanguageMatcher, prepare_languages
from curation.concepts.backends.readings import rule_of
from curation.concepts.matcher import Match

EXTRA = "quickumls"
THRESHOLD = 0.7
"""Least Jaccard similarity of character trigrams: QuickUMLS's default, as are window and shortest match."""
_WINDOW, _SHORTEST = 5, 3
_CHARACTER_WINDOW = 12
_LANGUAGE_WITHOUT_STOP_WORDS = "CZE"
"""What an index says its language is, so that QuickUMLS asks NLTK for nothing."""
_CUI = re.compile(r"UMLS:(C\d{7})")
_ADD_NAME = (
    "insert into names values (?, ?, ?, ?) on conflict (cui, term) do update set"
    " name = excluded.name, rank = excluded.rank where excluded.rank < rank"
)
_PATCHING = threading.Lock()


def prepare(names: Path, types: Path | None, destination: Path) -> None:
    """Builds QuickUMLS's index of every language of a vocabulary.

    Concepts that are no CUIs are given ids of that shape inside the index.

    Args:
        names: Parquet of ConceptName rows.
        types: Parquet of ConceptType rows; without one every concept is an entity (T071).
        destination: folder of the index; an older one there is replaced.

    Raises:
        UsageError: the extra is not installed.
    """
    loading.require("quickumls.install", EXTRA)
    prepare_languages(names, types, destination, EXTRA, _prepare_language)


def write_rrf(names: Path, kinds: dict[str, list[str]], language: str, folder: Path) -> bool:
    """Writes MRCONSO.RRF and MRSTY.RRF in UMLS's columns, and `names.sqlite`, which leads back from them.

    Names are folded as QuickUMLS folds a text; line breaks and bars, which RRF cannot hold, become spaces.
    Names without letter or digit are left out; False if there are no others.
    """
    cuis: dict[str, str] = {}
    database = sqlite3.connect(folder / "names.sqlite")
    database.execute("create table cuis (cui text primary key, concept text) without rowid")
    database.execute(
        "create table names (cui text, term text, name text, rank text, primary key (cui, term))"
        " without rowid"
    )
    with (folder / "MRCONSO.RRF").open("w", encoding="utf-8", newline="\n") as file:
        for row in loading.read_rows(names, language):
            term = term_of(_writable(row.name), language)
            if not any(letter.isalnum() for letter in term):
                continue
            cui = cuis.setdefault(row.concept, _cui(row.concept, len(cuis)))
            database.execute(_ADD_NAME, (cui, term, row.name, f"{0 if row.is_preferred else 1}{row.name}"))
            preferred = "Y" if row.is_preferred else "N"
            cells = [cui, _LANGUAGE_WITHOUT_STOP_WORDS, "P", "", "PF", "", preferred, "", "", "", ""]
            file.write("|".join([*cells, "MEDQRELS", "SY", "", term, "0", "N", "", ""]) + "\n")
    with (folder / "MRSTY.RRF").open("w", encoding="utf-8", newline="\n") as file:
        for concept, cui in cuis.items():
            for kind in kinds.get(concept, [loading.UNTYPED]):
                file.write(f"{cui}|{kind}||||\n")
    database.executemany("insert into cuis values (?, ?)", sorted((cui, name) for name, cui in cuis.items()))
    database.commit()
    database.close()
    return bool(cuis)


def _cui(concept: str, number: int) -> str:
    own = _CUI.fullmatch(concept)
    return own.group(1) if own else f"X{number + 1:07d}"


def _writable(name: str) -> str:
    clean = "".join(" " if not letter.isprintable() or letter == "|" else letter for letter in name)
    return " ".join(clean.split())


def term_of(name: str, language: str) -> str:
    """A name as QuickUMLS folds a text: NFKD, no accents where the script is Latin, lower case."""
    folded = unicodedata.normalize("NFKD", name)
    if language not in loading.KEEP_ACCENTS:
        folded = loading.require("unidecode", EXTRA).unidecode(folded)
    return " ".join(unicodedata.normalize("NFKD", folded.lower().replace("|", " ")).split())


def _prepare_language(names: Path, kinds: dict[str, list[str]], language: str, folder: Path) -> bool:
    install = loading.require("quickumls.install", EXTRA)
    folder.mkdir()
    if not write_rrf(names, kinds, language, folder):
        shutil.rmtree(folder)
        return False
    (folder / "language.flag").write_text(_LANGUAGE_WITHOUT_STOP_WORDS)
    (folder / "database_backend.flag").write_text("unqlite")
    (folder / "lowercase.flag").touch()
    unaccented = language not in loading.KEEP_ACCENTS
    if unaccented:
        (folder / "normalize-unicode.flag").touch()
    options = argparse.Namespace(
        language=_LANGUAGE_WITHOUT_STOP_WORDS, lowercase=True, normalize_unicode=unaccented
    )
    with contextlib.redirect_stdout(io.StringIO()):  # it reports its progress there
        rows = install.extract_from_mrconso(str(folder / "MRCONSO.RRF"), str(folder / "MRSTY.RRF"), options)
        install.parse_and_encode_ngrams(
            rows, str(folder / "umls-simstring.db"), str(folder / "cui-semtypes.db"), "unqlite"
        )
    (folder / "MRCONSO.RRF").unlink()
    (folder / "MRSTY.RRF").unlink()
    return True


@dataclass(frozen=True, slots=True)
class _Index:
    """QuickUMLS over one language."""

    language: str
    finder: Any
    names: sqlite3.Connection

    def best(self, term: str) -> tuple[float, str, str] | None:
        """(similarity, concept, name) of the name most like a term; labels first, then the lower id."""
        groups = self.finder._get_all_matches([(0, len(term), term)])
        found = [(float(match["similarity"]), int(match["preferred"]), match) for match in chain(*groups)]
        if not found:
            return None
        top = max((similarity, preferred) for similarity, preferred, _ in found)
        names = [self._named(match["cui"], match["term"]) for *rank, match in found if tuple(rank) == top]
        return round(top[0], 4), *min(names)

    def _named(self, cui: str, term: str) -> tuple[str, str]:
        row = self.names.execute(
            "select concept, name from cuis join names using (cui) where cui = ? and term = ?", (cui, term)
        ).fetchone()
        return str(row[0]), str(row[1])

    def read(self, text: str) -> Iterator[Match]:
        """The best reading of every span of a text that has one."""
        known: dict[str, tuple[float, str, str] | None] = {}
        pipeline = loading.blank_pipeline(self.language, EXTRA)
        for offset, piece in loading.pieces(text, self.language):
            with pipeline.memory_zone():
                spans = list(self.finder._make_ngrams(pipeline(piece)))
            for start, end, written in spans:
                term = unicodedata.normalize("NFKD", written)
                if term not in known:
                    known[term] = self.best(term)
                if (best := known[term]) is not None:
                    score, concept, name = best
                    rule = rule_of(piece[start:end], name)
                    yield Match(offset + start, offset + end, concept, name, rule, score)


def _open(folder: Path, language: str, threshold: float) -> _Index:
    core = loading.require("quickumls.core", EXTRA)
    characters = language in loading.SCRIPTS_WITHOUT_SPACES
    corpora = SimpleNamespace(corpus=SimpleNamespace(stopwords=SimpleNamespace(words=lambda *_: [])))
    with _PATCHING:
        nltk, core.nltk = core.nltk, corpora  # its constructor downloads NLTK's stop words if they are absent
        try:
            finder = core.QuickUMLS(
                str(folder),
                threshold=threshold,
                window=_CHARACTER_WINDOW if characters else _WINDOW,
                min_match_length=1 if characters or language == "ko" else _SHORTEST,
                accepted_semtypes=None,
                spacy_component=True,
            )
        finally:
            core.nltk = nltk
    words = loading.stop_words(language, EXTRA)
    finder._stopwords = finder._stopwords | words | {word.capitalize() for word in words}
    names = sqlite3.connect(
        f"{(folder / 'names.sqlite').resolve().as_uri()}?mode=ro", uri=True, check_same_thread=False
    )
    return _Index(language, finder, names)


def open_quickumls(path: Path, *, threshold: float = THRESHOLD) -> LanguageMatcher:
    """Opens an index that :func:`prepare` built; a language is read when a text first needs it.

    Args:
        path: folder of the index.
        threshold: least Jaccard similarity of a name, 0 to 1.

    Raises:
        UsageError: the extra is not installed.
        WorkspaceError: no finished index of this kind is there.
    """
    loading.require("quickumls.core", EXTRA)
    open_index = functools.partial(_open, threshold=threshold)
    return LanguageMatcher(path, loading.indexed_languages(path, EXTRA), open_index)
