"""Reads from a published task what may be reviewed: pairs with their facets, texts, sources, images.

What only the workspace knows (concept mentions, principal diagnoses, flags of images) is added where it is
there; a release alone is enough.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from annotation.candidates import Ending, Facets, Pair
from curation.evaluation.runs import SUFFIX, read_run
from curation.published.manifest import ReleaseManifest, read_manifest
from curation.published.query import QueryRunner, columns_of, fetch
from curation.release.facts import views
from curation.tasks.registry import task_of
from flows.engine.runner import table_files
from flows.engine.workspace import Workspace
from schemas.grades import UNDECIDED
from schemas.image_tables import ORIGIN_IMAGES, PANELS, ROW_IMAGES
from schemas.tables import QUERIES

DEPTH = 20
"""Results of each system that may be drawn."""
_BLURRED = ("sensitive", "face")
_SURE = 0.9
"""Least score of a concept mention that is shown."""
_CHUNK = 500
_QUERIES = """SELECT q.id, q.language, q.specialty, {tier} AS tier, o.article_id, o.split, o.patient_id
    FROM queries q JOIN provenance_queries o ON o.id = q.id ORDER BY q.id"""
_DOCUMENTS = """SELECT c.id, o.article_id, coalesce(nullif(o.specialty, ''), a.specialty, '') AS specialty
    FROM corpus c JOIN provenance_corpus o ON o.id = c.id
    LEFT JOIN (SELECT p.article_id, min(q.specialty) AS specialty FROM queries q
        JOIN provenance_queries p ON p.id = q.id WHERE q.specialty <> '' GROUP BY p.article_id
        HAVING count(DISTINCT q.specialty) = 1) a ON a.article_id = o.article_id
    ORDER BY c.id"""
_QRELS = """SELECT "query-id" AS q, "corpus-id" AS c, score, label_status, rule FROM qrels ORDER BY 1, 2"""
_EXCLUDED = """SELECT "query-id" AS q, "corpus-id" AS c, reason FROM excluded ORDER BY 1, 2"""
_EMPTIED = "SELECT id FROM drops WHERE unit = 'query' AND reason = 'no_positive_left' ORDER BY id"
_BY_REVIEW = ("cannot_judge", "rule_under_floor")
"""Reasons for which a review itself has a pair excluded."""
_OPEN = (*_BY_REVIEW, *UNDECIDED)
"""Reasons that people's answers can end."""
_JUDGEMENTS = """SELECT * FROM judgements ORDER BY "query-id", "corpus-id" """
_SHOWN = """SELECT t.id, {title} AS title, t.text, t.language, t.license, o.article_id, o.patient_id,
        {source} AS source_id, {image} AS image, to_json(o.transforms) AS transforms
    FROM {table} t JOIN {origin} o ON o.id = t.id{cuts} WHERE t.id IN ({ids}) ORDER BY t.id"""
_SEVERAL = f"""SELECT id, string_agg(image_source_sha256, ' ' ORDER BY position) AS images
    FROM {ORIGIN_IMAGES.name} WHERE side = '{{side}}' AND id IN ({{ids}}) GROUP BY id ORDER BY id"""
_LISTED = f"""SELECT o.image_source_sha256 AS sha256, i.images[o.position] AS image
    FROM {ORIGIN_IMAGES.name} o JOIN {ROW_IMAGES.name} i USING (side, id)
    WHERE o.image_source_sha256 IN ({{ids}}) ORDER BY o.side, o.id, o.position"""
_IMAGES = """SELECT {image} AS sha256, t.image FROM {table} t JOIN {origin} o ON o.id = t.id{cuts}
    WHERE {image} IN ({ids}) ORDER BY t.id"""
_WHOLE = {"image": "o.image_source_sha256", "cuts": ""}
_CUT = {
    "image": "concat_ws('-', o.image_source_sha256, p.left, p.top, p.right, p.bottom)",
    "cuts": f' LEFT JOIN {PANELS.name} p ON p."query-id" = t.id',
}
"""SQL of what an image is called by: a panel by its figure's file and its box, see schemas.review."""
_LICENCES = """SELECT DISTINCT o.article_id, t.license FROM {table} t JOIN {origin} o ON o.id = t.id
    WHERE t.id IN ({ids}) ORDER BY 1, 2"""
_TIER = "coalesce(nullif(q.tier, ''), q.scenario)"
"""What queries are drawn and counted by: how hard they are, or what they look for."""
_ASKED = f"""q.id, q.text, q.language, q.license, q.article_id, q.patient_id, q.source_id, q.transforms,
    q.specialty, {_TIER} AS tier"""
_SIDES = (("queries", "provenance_queries"), ("corpus", "provenance_corpus"))


@dataclass(frozen=True, slots=True)
class Row:
    """One query or document as it is shown; `image` names all its images, with a space between."""

    id: str
    title: str
    text: str
    language: str
    license: str
    article_id: str
    patient_id: str
    source_id: str
    image: str
    transforms: Sequence[Mapping[str, Any]]


class Published:
    """One published task, opened for review.

    Args:
        directory: the task directory.
        query: runs SQL over Parquet.
        depth: results of each system that may be drawn.
        known: what a workspace knows beside it: queries that the judge was asked about and that are not
            released. Only people who measure the judge are shown these.
    """

    def __init__(
        self, directory: Path, query: QueryRunner, depth: int = DEPTH, known: Known | None = None
    ) -> None:
        self.directory, self._query, self._depth = directory, query, depth
        self._known = known or Known(None, query)
        self.views = views(directory)
        self.manifest: ReleaseManifest = read_manifest(directory)

    @cached_property
    def queries(self) -> dict[str, Mapping[str, str]]:
        """Query -> its facets, split and article."""
        is_told = "scenario" in columns_of(self._query, self.views, QUERIES.name)  # not of older releases
        text = _QUERIES.format(tier=_TIER if is_told else "q.tier")
        return {row["id"]: row for row in fetch(self._query, text, self.views)}

    @cached_property
    def documents(self) -> dict[str, Mapping[str, str]]:
        """Document -> its article and specialty; of a document without one, that of its article's queries."""
        return {row["id"]: row for row in fetch(self._query, _DOCUMENTS, self.views)}

    @cached_property
    def judged(self) -> dict[tuple[str, str], Mapping[str, Any]]:
        """Pair -> its label."""
        return {(row["q"], row["c"]): row for row in fetch(self._query, _QRELS, self.views)}

    @cached_property
    def judgements(self) -> list[dict[str, Any]]:
        """Rows of the table of every pair mined for the judge; none of a task that no model judges."""
        return fetch(self._query, _JUDGEMENTS, self.views) if "judgements" in self.views else []

    @cached_property
    def unreleased(self) -> dict[str, tuple[Row, Facets]]:
        """Queries of judged pairs that are not released, as the workspace has them."""
        gone = {row["query-id"] for row in self.judgements} - self.queries.keys()
        return self._known.queries(task_of(self.manifest.task).asking, gone)

    def answers(self, queries: Collection[str]) -> dict[str, tuple[str, str]]:
        """Query -> its answer and what explains it: of a released one from the release."""
        text = 'SELECT "query-id" AS id, answer, explanation FROM answers ORDER BY 1'
        rows = fetch(self._query, text, self.views) if "answers" in self.views else []
        found = {row["id"]: (row["answer"], row["explanation"] or "") for row in rows if row["id"] in queries}
        others = self.unreleased.keys() & set(queries)
        return found | self._known.answers(task_of(self.manifest.task).asking, others)

    @cached_property
    def excluded(self) -> dict[tuple[str, str], str]:
        """Pair that is neither positive nor negative -> why: it is never drawn."""
        return {(row["q"], row["c"]): row["reason"] for row in fetch(self._query, _EXCLUDED, self.views)}

    @cached_property
    def emptied(self) -> set[str]:
        """Queries that are not here because people found none of their documents relevant."""
        found = fetch(self._query, _EMPTIED, self.views) if "drops" in self.views else []
        return {row["id"] for row in found}

    def ending(self, query: str, document: str) -> Ending | None:
        """Why a pair that was drawn once is asked about no longer, if so."""
        known = query in self.queries or query in self.emptied or query in self.unreleased
        if document not in self.documents or not known:
            return "gone"
        reason = self.excluded.get((query, document), "")
        return "excluded" if reason and reason not in _OPEN else None

    def facets(self, query: str) -> Facets:
        """What a query belongs to."""
        if query not in self.queries:
            return self.unreleased[query][1]
        row = self.queries[query]
        return Facets(row["specialty"] or "", row["language"], row["tier"] or "")

    @cached_property
    def positives(self) -> list[Pair]:
        """Pairs that a structural rule labelled, or named as candidates."""
        return [
            Pair(q, c, "positive", self.facets(q), rule=row["rule"], rule_grade=row["score"])
            for (q, c), row in self.judged.items()
            if row["label_status"] in ("structural", "candidate")
            and row["score"] > 0
            and (q, c) not in self.excluded
        ]

    @cached_property
    def found(self) -> dict[tuple[str, str], dict[str, int]]:
        """Unjudged pair -> the systems that found it within the depth, each with its rank."""
        found: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
        corpus = sorted(self.documents)
        for split in sorted({row["split"] for row in self.queries.values()}):
            known = [name for name, row in self.queries.items() if row["split"] == split]
            for path in sorted((self.directory / "runs" / split).glob(f"*{SUFFIX}")):
                run = read_run(path, known, corpus)
                for name, ranking in run.run.items():
                    for rank, place in enumerate(ranking.documents[: self._depth].tolist(), start=1):
                        pair = (name, corpus[place])
                        if pair not in self.judged and pair not in self.excluded:
                            found[pair][run.tag or run.name] = rank
        return found

    @cached_property
    def pool(self) -> list[Pair]:
        """Unjudged pairs some system found."""
        return [
            Pair(q, c, "pool", self.facets(q), rank=min(ranks.values()), systems=tuple(sorted(ranks)))
            for (q, c), ranks in sorted(self.found.items())
        ]

    def may_pair(self, query: str, document: str) -> bool:
        """Whether nothing is known of a pair: not judged, excluded or found, and of two articles."""
        pair = (query, document)
        known = pair in self.judged or pair in self.excluded or pair in self.found
        return not known and self.queries[query]["article_id"] != self.documents[document]["article_id"]

    def rows(self, table: str, ids: Collection[str]) -> dict[str, Row]:
        """Queries or documents by id."""
        is_query = table == "queries"
        origin = dict(_SIDES)[table]
        form = self._called(table) | {
            "title": "''" if is_query else "t.title",
            "source": "o.source_id" if is_query else "t.id",
        }
        found = {}
        for part in _listed(ids):
            text = _SHOWN.format(table=table, origin=origin, ids=part, **form)
            several = self._several("query" if is_query else "document", part)
            for row in fetch(self._query, text, self.views):
                row["transforms"] = json.loads(row["transforms"] or "[]") or []
                row["image"] = several.get(row["id"], row["image"])
                found[row["id"]] = Row(
                    **{name: value or "" for name, value in row.items() if name != "transforms"},
                    transforms=row["transforms"],
                )
        others = self.unreleased if is_query else {}
        return found | {name: others[name][0] for name in ids if name in others and name not in found}

    def _several(self, side: str, ids: str) -> dict[str, str]:
        """Row -> names of its images, of the rows that have several."""
        if ORIGIN_IMAGES.name not in self.views:
            return {}
        rows = fetch(self._query, _SEVERAL.format(side=side, ids=ids), self.views)
        return {row["id"]: row["images"] for row in rows}

    def _called(self, table: str) -> dict[str, str]:
        """SQL of what the images of a table are called by."""
        return _CUT if table == "queries" and PANELS.name in self.views else _WHOLE

    @cached_property
    def addresses(self) -> dict[str, str]:
        """Article -> where it can be read, '' when that is not known."""
        text = "SELECT id, pmcid, doi, pmid FROM sources ORDER BY id"
        return {row["id"]: _address(row) for row in fetch(self._query, text, self.views)}

    def licences(self, pairs: Collection[tuple[str, str]]) -> dict[str, set[str]]:
        """Article of some pairs, its address where it has one -> licences of their queries and documents."""
        found: dict[str, set[str]] = defaultdict(set)
        for (table, origin), ids in zip(_SIDES, zip(*pairs, strict=True), strict=False):
            for part in _listed(set(ids)):
                text = _LICENCES.format(table=table, origin=origin, ids=part)
                for row in fetch(self._query, text, self.views):
                    found[self.addresses.get(row["article_id"]) or row["article_id"]].add(row["license"])
        for asked in self.rows("queries", {q for q, _ in pairs if q not in self.queries}).values():
            found[self.addresses.get(asked.article_id) or asked.article_id].add(asked.license)
        return found

    def images(self, wanted: Collection[str]) -> Iterator[tuple[str, bytes, str]]:
        """(name, released bytes, extension) of images by the hash of their source file, and a panel's box."""
        left = set(wanted)
        asked = [
            _IMAGES.format(table=table, origin=origin, ids="{ids}", **self._called(table))
            for table, origin in _SIDES
            if any("image" in _columns(path) for path in self.views[table])
        ]
        for text in (*asked, *([_LISTED] if ROW_IMAGES.name in self.views else [])):
            for part in _listed(left):
                for batch in self._query(text.format(ids=part), self.views):
                    for row in batch.to_pylist():
                        if row["sha256"] in left and row["image"] and row["image"]["bytes"]:
                            left.discard(row["sha256"])
                            extension = Path(row["image"]["path"] or "").suffix.lstrip(".") or "png"
                            yield row["sha256"], row["image"]["bytes"], extension


def _columns(path: Path) -> list[str]:
    import pyarrow.parquet as pq

    return list(pq.read_schema(path).names)


def _listed(ids: Iterable[str]) -> Iterator[str]:
    """Ids as SQL lists, some hundred at a time."""
    ordered = sorted(ids)
    for start in range(0, len(ordered), _CHUNK):
        yield ", ".join("'" + name.replace("'", "''") + "'" for name in ordered[start : start + _CHUNK])


def _address(row: Mapping[str, Any]) -> str:
    if row["pmcid"]:
        return f"https://pmc.ncbi.nlm.nih.gov/articles/{row['pmcid']}/"
    if row["doi"]:
        return f"https://doi.org/{row['doi']}"
    if row["pmid"]:
        return f"https://pubmed.ncbi.nlm.nih.gov/{row['pmid']}/"
    source, _, name = row["id"].partition(":")
    return f"https://www.ncbi.nlm.nih.gov/books/{name.partition('.')[0]}/" if source == "litarch" else ""


class Known:
    """What the workspace knows of records and a release does not say; nothing where it knows nothing."""

    def __init__(self, workspace: Workspace | None, query: QueryRunner) -> None:
        self._workspace, self._query = workspace, query

    def _rows(self, table: str, text: str, ids: Collection[str]) -> list[dict[str, Any]]:
        files = table_files(self._workspace, table) if self._workspace else ()
        if not files:
            return []
        return [
            row for part in _listed(ids) for row in fetch(self._query, text.format(ids=part), {"t": files})
        ]

    def queries(self, stage: str, ids: Collection[str]) -> dict[str, tuple[Row, Facets]]:
        """Queries of a task's stage that a judge was asked about, kept or not."""
        text = f"SELECT {_ASKED} FROM t q WHERE q.id IN ({{ids}}) ORDER BY q.id"
        found = {}
        for row in self._rows(f"{stage}.queries", text, ids) if stage and ids else ():
            facets = Facets(row.pop("specialty"), row["language"], row.pop("tier"))
            found[row["id"]] = (Row(**{"title": "", "image": "", **row}), facets)
        return found

    def answers(self, stage: str, ids: Collection[str]) -> dict[str, tuple[str, str]]:
        """Query -> its answer and what explains it."""
        text = "SELECT query_id, answer, explanation FROM t WHERE query_id IN ({ids}) ORDER BY query_id"
        rows = self._rows(f"{stage}.answers", text, ids) if stage and ids else ()
        return {row["query_id"]: (row["answer"], row["explanation"]) for row in rows}

    def blurred(self, images: Collection[str]) -> set[str]:
        """Images that are to be blurred: flagged ones, and those nobody has looked at."""
        text = "SELECT sha256, flags FROM t WHERE sha256 IN ({ids}) ORDER BY id"
        seen: dict[str, bool] = {}
        for row in self._rows("images.images", text, images):
            is_flagged = any(flag in row["flags"] for flag in _BLURRED)
            seen[row["sha256"]] = seen.get(row["sha256"], False) or is_flagged
        return {name for name in images if seen.get(name, True)}

    def diagnoses(self, cases: Collection[str]) -> dict[str, str]:
        """Case -> name of its principal diagnosis."""
        text = "SELECT case_id, name FROM t WHERE case_id IN ({ids}) AND concept <> '' ORDER BY case_id"
        return {row["case_id"]: row["name"] for row in self._rows("diagnoses.diagnoses", text, cases)}

    def mentions(self, texts: Collection[str]) -> dict[str, list[dict[str, Any]]]:
        """Source text -> concept mentions in it, by place."""
        text = f"""SELECT text_id, "start", "end", text, concept, name FROM t
            WHERE text_id IN ({{ids}}) AND score >= {_SURE} ORDER BY text_id, "start", "end" DESC, concept"""
        found: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for row in self._rows("ground.mentions", text, texts):
            found[row["text_id"]].append(row)
        return found


def marks(field: str, row: Row, mentions: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Mentions of a source text as spans of the released one; those that the changes took away are left out.

    Of spans that overlap only the first and longest is told.
    """
    made: list[dict[str, Any]] = []
    for item in mentions:
        start = _moved(item["start"], row.transforms)
        end = start + len(item["text"])
        if row.text[start:end] == item["text"] and (not made or start >= made[-1]["end"]):
            made.append(
                {"field": field, "start": start, "end": end, "id": item["concept"], "name": item["name"]}
            )
    return made


def _moved(place: int, transforms: Sequence[Mapping[str, Any]]) -> int:
    """A place in the source text as a place in the released text."""
    for change in transforms:  # each says where it stands in the text as the changes before it left it
        if place >= change["start"]:
            place += (change["end"] - change["start"]) - len(change["original"])
    return place
