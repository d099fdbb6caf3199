"""M-BEIR (UniIR): candidate pool, queries with positives and judged negatives, qrels; ids are `90:NUMBER`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from curation.export import tables
from curation.export.files import Out, columns, one_line
from curation.export.source import Row, Source
from schemas.tables import CORPUS, QRELS, QUERIES

DATASET = 90
"""Number of the dataset inside ids; M-BEIR's own are 0 to 9."""
_TASKS = {
    ("text", "image"): 0,
    ("text", "text"): 1,
    ("text", "image,text"): 2,
    ("image", "text"): 3,
    ("image", "image"): 4,
    ("image,text", "text"): 6,
    ("image,text", "image"): 7,
    ("image,text", "image,text"): 8,
}
"""(modality of query, of candidates) -> task_id as M-BEIR numbers them."""
_OTHER_TASK = 5


def write(source: Source, out: Out) -> list[str]:
    """Write the files; what a reader must know of them."""
    name = source.name.replace("-", "_")
    documents = {name: f"{DATASET}:{number}" for number, name in enumerate(source.corpus_ids.to_pylist(), 1)}
    queries = {row["id"]: f"{DATASET}:{number}" for number, row in enumerate(_all_queries(source), 1)}
    modality = "text"
    rows = _pool(source, out, documents)
    out.objects(f"cand_pool/{name}_cand_pool.jsonl", rows)
    modality = _modality(source.has_texts(), source.has_images(CORPUS)) or modality
    for split in source.splits:
        judged = _judged(source, split)
        base = f"{name}_{split}"
        out.objects(
            f"query/{split}/mbeir_{base}.jsonl",
            _queries(source, split, out, queries, documents, judged, modality),
        )
        out.lines(
            f"qrels/{split}/mbeir_{base}_qrels.txt", _qrels(source, split, queries, documents, modality)
        )
        tables.labels(source, split, out, f"labels/{split}.jsonl")
        out.lines(f"excluded/{split}.tsv", _excluded(source, split, queries, documents))
    out.lines("ids.tsv", _ids(queries, documents))
    return [
        f"M-BEIR has no place for them: {tables.LEFT_OUT.format('excluded/SPLIT.tsv')}",
        "neg_cand_list holds documents that were judged not relevant; an unjudged document is no negative",
        f"ids are {DATASET}:NUMBER, as UniIR's tools need them; ids.tsv and src_content name ours",
    ]


def _all_queries(source: Source) -> Iterator[Row]:
    for split in source.splits:
        yield from source.rows(QUERIES, split)


def _modality(has_text: bool, has_image: bool) -> str:
    return "image,text" if has_text and has_image else "image" if has_image else "text" if has_text else ""


def _pool(source: Source, out: Out, ids: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    for row in source.rows(CORPUS):
        image = tables.with_image(row, out, "mbeir_images").get("image")
        text = f"{row['title']} {row['text']}".strip()
        yield {
            "did": ids[row["id"]],
            "txt": text or None,
            "img_path": image,
            "modality": _modality(bool(text), image is not None) or "text",
            "src_content": one_line(tables.rest(row)),
        }


def _judged(source: Source, split: str) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in source.rows(QRELS, split):
        found.setdefault(row["query-id"], []).append(row)
    return found


def _queries(
    source: Source,
    split: str,
    out: Out,
    ids: Mapping[str, str],
    documents: Mapping[str, str],
    judged: Mapping[str, list[Row]],
    modality: str,
) -> Iterator[dict[str, Any]]:
    for row in source.rows(QUERIES, split):
        image = tables.with_image(row, out, "mbeir_images").get("image")
        own = _modality(bool(row["text"]), image is not None) or "text"
        labels = judged.get(row["id"], [])
        yield {
            "qid": ids[row["id"]],
            "query_txt": row["text"] or None,
            "query_img_path": image,
            "query_modality": own,
            "query_src_content": one_line(tables.rest(row)),
            "pos_cand_list": [documents[item["corpus-id"]] for item in labels if item["score"] > 0],
            "neg_cand_list": [documents[item["corpus-id"]] for item in labels if item["score"] == 0],
            "task_id": _TASKS.get((own, modality), _OTHER_TASK),
        }


def _qrels(
    source: Source, split: str, ids: Mapping[str, str], documents: Mapping[str, str], modality: str
) -> Iterator[str]:
    tasks = {
        row["id"]: _TASKS.get(
            (_modality(bool(row["text"]), bool(row.get("image"))) or "text", modality), _OTHER_TASK
        )
        for row in source.rows(QUERIES, split)
    }
    for row in source.rows(QRELS, split):
        query = row["query-id"]
        yield columns((ids[query], 0, documents[row["corpus-id"]], row["score"], tasks[query]), "qrels")


def _excluded(
    source: Source, split: str, ids: Mapping[str, str], documents: Mapping[str, str]
) -> Iterator[str]:
    yield "qid\tdid\treason"
    for query, document, reason in source.left_out(split):
        yield columns((ids[query], documents[document], reason), "excluded", "\t")


def _ids(queries: Mapping[str, str], documents: Mapping[str, str]) -> Iterator[str]:
    yield "kind\tid\tours"
    for kind, names in (("query", queries), ("document", documents)):
        for name, number in names.items():
            yield columns((kind, number, name), "ids", "\t")
