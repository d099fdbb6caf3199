"""An invented release: six queries of a case task in two splits, two documents each, pictures, keys, names.

Defects are planted in it where the audited release has nothing they could be planted in. No one is real.
"""

from __future__ import annotations

import functools
import io
import operator
from collections.abc import Sequence
from typing import Any

from PIL import Image, ImageDraw

from curation.audit.derived import distractors_of, invented_row, parts_of, pools_of
from curation.published.manifest import FORMAT_VERSION, ReleaseManifest
from curation.release.restricted import piece_hash
from curation.release.target_names import names_rows
from schemas.hashing import normalise_text, sha256_bytes, sha256_text
from schemas.ids import family_key
from schemas.image_tables import ORIGIN_IMAGES
from schemas.tables import TABLES

Row = dict[str, Any]
TASK = "clinical_case"
SHAPED_BY = ("bm25",)
_POINTER = " (Fig. 1)"
_SIZE = (160, 120)
_CASES = (
    (
        "A glazier of forty years came with burning soles, brittle nails and a rash that faded each winter.",
        "On review the joiner described tender heels (Fig. 1), ridged fingers and patches worse in the cold.",
        "Pathology of the excised nodule revealed clear cells set in a fibrous stroma without any necrosis.",
        (("en", "Varnholt keratosis"), ("de", "Varnholt-Keratose"), ("ja", "ヴァルンホルト角化症")),
    ),
    (
        "Her mother reported night sweats, a hoarse cry and slow weight gain since the second month of life.",
        "The infant slept poorly, sounded rough when weeping (Fig. 1) and stayed below the third percentile.",
        "Enzyme activity measured in cultured fibroblasts was absent, while both parents had half as much.",
        (("en", "Oskeran deficiency"), ("fr", "déficit en oskérane")),
    ),
    (
        "After a long flight the violinist noticed double images on downward gaze and a drooping left lid.",
        "While walking downstairs this patient saw two steps instead of one (Fig. 1), worst in the evening.",
        "Repetitive stimulation of the facial nerve gave a decrement which an inhibitor restored in minutes.",
        (("en", "Tulmer palsy"), ("es", "parálisis de Tulmer")),
    ),
    (
        "Sudden flank ache woke the beekeeper, who had passed rusty urine twice during the previous week.",
        "He complained of cramps beneath the ribs and brownish voids (Fig. 1) which fluids made clear.",
        "Polarised light showed hexagonal plates in sediment, and cystine was raised twice.",
        (("en", "Quessary lithiasis"), ("ru", "литиаз Квессари")),
    ),
    (
        "Two days following dental work a retired tram driver developed rigors, a murmur and splinter marks.",
        "Fever began soon after an extraction (Fig. 1); thin dark lines were visible under several nails.",
        "Growth appeared in all three bottles within a day, sensitive to penicillin but not to macrolides.",
        (("en", "Harnel valvulitis"), ("it", "valvulite di Harnel")),
    ),
    (
        "For six weeks the swimmer heard ringing on one side and swayed whenever she closed both eyes.",
        "Unsteady stance in the dark and a constant tone in the right ear (Fig. 1) troubled this athlete.",
        "Contrast imaging outlined a smooth mass widening the canal, and caloric response was lost there.",
        (("en", "Dorvik neuroma"), ("zh", "多维克神经瘤")),
    ),
)
_DEV = frozenset({4, 5})
_FINDERS = (["bm25:answer:1"], ["bm25:answer:1", "dense:query:2"])
_OF_IMAGES = frozenset(ORIGIN_IMAGES.schema.names)
_ONE_IMAGE = frozenset({0, 3})
"""Cases of one image: beside their queries duplicates are planted."""
_PANEL = 2
"""The case whose query is said to show a panel."""
_CLUES = frozenset({0})
"""Cases whose query names a test of its diagnosis."""


@functools.cache
def _picture(seed: int) -> bytes:
    """A drawn picture unlike any other seed's."""
    image = Image.new("L", _SIZE, 20 + seed * 7 % 60)
    draw = ImageDraw.Draw(image)
    state = seed * 2_654_435_761 % 2**32

    def chance(limit: int) -> int:
        nonlocal state
        state = (state * 1_664_525 + 1_013_904_223) % 2**32
        return (state >> 8) % limit

    for _ in range(40):
        left, top = chance(_SIZE[0]), chance(_SIZE[1])
        box = (left, top, left + 6 + chance(50), top + 6 + chance(40))
        (draw.ellipse if chance(2) else draw.rectangle)(box, fill=chance(256))
    out = io.BytesIO()
    image.save(out, format="PNG")
    return out.getvalue()


def _origin(text: str, article: str, patient: str, picture: bytes | None, pointer: str = "") -> Row:
    """What provenance says of a text and its picture; `pointer` was cut out of the source text."""
    at = text.find(pointer) if pointer else -1
    change = {"start": at, "end": at, "original": pointer, "rule": "figure_pointer"}
    digest = sha256_bytes(picture) if picture else None
    return {
        "article_id": article,
        "patient_id": patient,
        "license_evidence": "jats:license/@href",
        "text_sha256": sha256_text(text),
        "transforms": [change] if at >= 0 else [],
        "image_source_sha256": digest,
        "image_sha256": digest,
        "image_transform": "",
        "image_width": _SIZE[0] if picture else None,
        "image_height": _SIZE[1] if picture else None,
    }


def _decided(query: str) -> Row:
    """What a query was decided to be about: its own columns name none of that."""
    evidence = [{"rule": "modality.ct.strong", "place": "caption", "text": "CT", "points": 1.0}]
    return {
        "query-id": query,
        "facet": "modality",
        "rank": 1,
        "value": "ct",
        "parent": "radiology",
        "confidence": 0.5,
        "record": "pmc:PMC990000100.1#F1",
        "evidence": evidence,
    }


def _image(picture: bytes | None) -> Row | None:
    return {"bytes": picture, "path": f"{sha256_bytes(picture)[:32]}.png"} if picture else None


def _rights() -> Row:
    return {"language": "en", "license": "CC-BY-4.0", "is_synthetic": False}


def _source(article: str, title: str) -> Row:
    number = article.split("PMC")[1].split(".")[0]
    return {
        "id": article,
        "title": title,
        "authors": ["A. Nobody"],
        "journal": "Journal of Inventions",
        "year": 2024,
        "doi": f"10.5555/{number}",
        "pmid": number,
        "pmcid": f"PMC{number}",
        "article_type": "case-report",
        "language": "en",
        "subjects": [],
        "license": "CC-BY-4.0",
        "license_url": "https://creativecommons.org/licenses/by/4.0/",
        "license_evidence": "jats:license/@href",
        "license_statement": "",
        "is_retracted": False,
        "is_synthetic": False,
        "scope_evidence": [],
        "raw_sha256": sha256_text(article),
    }


def rows() -> dict[str, list[Row]]:
    """Every published table of the invented release, in key order."""
    found: dict[str, list[Row]] = {table.name: [] for table in TABLES}
    for number in range(len(_CASES)):
        _add_case(found, number)
    found["funnel"] = [
        {"step": 1, "stage": "crawl", "unit": "article", "entered": 13, "kept": 12, "dropped": 1},
        {"step": 2, "stage": TASK, "unit": "query", "entered": 6, "kept": 6, "dropped": 0},
    ]
    lost = "pmc:PMC990000999.1"
    drop = {"stage": "crawl", "unit": "article", "id": lost, "article_id": lost}
    found["diagnostics"] = [invented_row(row["id"]) for row in found["queries"]]
    last = max(row["id"] for row in found["queries"])
    found["facets"] = [_decided(row["id"]) for row in found["queries"]]
    found["cuts"] = [{"query-id": last, "start": 90, "end": 94, "text": "gout", "how": "name"}]
    found["strings"] = [_string(row) for row in found["queries"]]
    found["recipes"] = [{"query-id": "invented-recipe", "language": "es", "concept": "INV:0001"}]
    found["translations"], found["translation_checks"] = _translated(found["queries"])
    found["answers"] = [{"query-id": row["id"], "answer": "An invented answer."} for row in found["queries"]]
    found["expansions"] = [
        {"query-id": row["id"], "kind": "hyde@1", "text": "An invented passage.", "model": "nobody"}
        for row in found["queries"]
    ]
    found["judgements"] = [
        {
            "query-id": row["query-id"],
            "corpus-id": row["corpus-id"],
            "found_by": _FINDERS[place % 2],
            **({} if place else {"forward": "3 3", "reversed": "3 3", "seeded": "2 3"}),
        }
        for place, row in enumerate(found["qrels"])
    ]
    found["calibration"] = [
        {
            "query-id": row["query-id"],
            "corpus-id": row["corpus-id"],
            "stratum": "2",
            "population": 1,
            "drawn": 1,
        }
        for row in found["qrels"][:1]
    ]
    found["parts"], found["passage_labels"] = _parts(found)
    found["drops"] = [drop | {"reason": "retracted", "detail": ""}]
    found["withdrawn"] = [{"id": lost, "unit": "article", "reason": "retracted"}]
    found["made_texts"] = [{"table": "queries", "id": found["queries"][1]["id"], "field": "text"}]
    found["restricted_names"] = [{"name_hash": piece_hash("nothing that stands anywhere")}]
    found |= pools_of(found, SHAPED_BY)
    found["distractors"] = distractors_of(found)
    found |= parts_of(found, tuple(found))
    for table in TABLES:
        blank = {column.name: column.blank for column in table.columns if not column.may_be_null}
        found[table.name] = [blank | row for row in found[table.name]]
        found[table.name].sort(key=operator.itemgetter(*table.key))
    return found


def _add_case(found: dict[str, list[Row]], number: int) -> None:
    """One query, the case of another patient that answers it, and a passage set aside."""
    text, answer, aside, names = _CASES[number]
    own, other = f"pmc:PMC99000010{number}.1", f"pmc:PMC99000020{number}.1"
    query, concept = f"{TASK}-{sha256_text(text)[:24]}", f"INV:{number:04d}"
    picture, shown = _picture(2 * number + 1), _picture(2 * number + 2)
    further = [] if number in _ONE_IMAGE else [_picture(2 * number + 101)]
    tier = "gives_away" if number in _CLUES else "hidden"
    found["queries"].append(
        {"id": query, "text": text, "image": _image(picture), "tier": tier, "modality": "ct", **_rights()}
    )
    if number in _CLUES:
        clue = {"concept": "INV:9999", "kind": "test", "start": 2, "end": 9, "text": text[2:9]}
        found["gives_away"].append({"query-id": query, **clue})
    found["provenance_queries"].append(
        {
            "id": query,
            "split": "dev" if number in _DEV else "test",
            "source_id": f"{own}#F1.A" if number == _PANEL else f"{own}#case1",
            "family": "",
            "hides_target": True,
            "since": "1.0.0",
            "image_count": 1 + len(further),
            **_origin(text, own, f"{own}#case1", picture),
        }
    )
    documents = ((f"{other}#p1", answer, shown), (f"{other}#p2", aside, None))
    title = f"Invented report {number}"
    for name, source, drawn in documents:
        released = {"id": name, "title": title, "text": source.replace(_POINTER, "")}
        found["corpus"].append({**released, "image": _image(drawn), **_rights()})
        origin = _origin(source, other, f"{other}#case1" if drawn else "", drawn, _POINTER)
        found["provenance_corpus"].append({"id": name, **origin})
        if drawn:
            found["image_checks"].append({"id": name, "kind": "", "text_check": "passed", "flags": []})
    if number == _PANEL:
        place = {"letter": "A", "left": 0, "top": 0, "right": _SIZE[0], "bottom": _SIZE[1]}
        figure = {"panel_id": f"{own}#F1.A", "figure_id": f"{own}#F1", "caption_sha256": sha256_text(text)}
        words = {"lead_end": 0, "caption_start": 0, "caption_end": len(text)}
        found["panels"].append({"query-id": query, **place, **figure, **words})
    if further:
        _add_images(found, "query", query, own, (picture, *further))
        _add_images(found, "document", documents[0][0], other, (shown, *further))
    spans = (_span(documents[0][0], answer), _span(f"{own}#case1", text))
    _judge(found, query, documents[0][0], documents[1][0], spans)
    found["sources"] += [_source(own, f"Invented history {number}"), _source(other, title)]
    found["target_names"] += names_rows(concept, names)
    keys = [
        ("target_concept", concept),
        ("query", sha256_text(normalise_text(text))),
        *(("article", family_key(article)) for article in (own, other)),
        *(("patient", f"{family_key(article)}#case1") for article in (own, other)),
        *(("image_family", f"sha256:{sha256_bytes(data)}") for data in (picture, shown, *further)),
    ]
    found["keys"] += [{"query-id": query, "dimension": kind, "key": key} for kind, key in keys]


def _add_images(
    found: dict[str, list[Row]], side: str, name: str, article: str, pictures: Sequence[bytes]
) -> None:
    """Several images of a query or document, without captions."""
    listed = [_image(picture) for picture in pictures]
    found["images"].append(
        {"id": name, "side": side, "images": listed, "license": "CC-BY-4.0", "is_synthetic": False}
    )
    for position, picture in enumerate(pictures, start=1):
        place = {"id": name, "side": side, "position": position, "article_id": article, "graphic_number": 1}
        figure = {"figure_id": f"{article}#F{position}", "figure_number": position, "license": "CC-BY-4.0"}
        origin = _origin("", article, "", picture)
        shared = {key: value for key, value in origin.items() if key in _OF_IMAGES}
        found["provenance_images"].append({**place, **figure, **shared})


def _translated(queries: list[Row]) -> tuple[list[Row], list[Row]]:
    """Each query as the source of nothing, and one translation that was rejected, with its check."""
    rejected = {"query-id": queries[0]["id"], "language": "fr"}
    origins: list[Row] = [
        {
            "query-id": row["id"],
            "language": row["language"],
            "translated_id": row["id"],
            "kind": "human",
            "verdict": "source",
            "text_sha256": sha256_text(row["text"]),
        }
        for row in queries
    ]
    origins.append({**rejected, "kind": "machine", "verdict": "rejected", "reasons": ["untranslated"]})
    failed = {**rejected, "check": "remainder", "status": "failed", "value": 1.0, "fault": "untranslated"}
    return origins, [failed]


def _parts(found: dict[str, list[Row]]) -> tuple[list[Row], list[Row]]:
    """Each document as one of a single passage, with the labels of this."""
    lengths = {row["id"]: len(row["text"]) for row in found["corpus"]}
    parts: list[Row] = [
        {"corpus-id": name, "position": 1, "kind": "passage", "part_id": name, "end": length}
        for name, length in lengths.items()
    ]
    labels: list[Row] = [
        {"query-id": row["query-id"], "passage_id": row["corpus-id"], **told}
        for table, names in (("qrels", ("score", "rule")), ("excluded", ("reason",)))
        for row in found[table]
        for told in ({name: row[name] for name in names},)
    ]
    return parts, labels


def _string(query: Row) -> Row:
    """Where an invented query's words would come from, were it of a template."""
    name = {"name": query["text"][2:9], "start": 2, "end": 9, "concept": "INV:0001", "source": "INVENTED"}
    kind = {"kind": "template", "status": "official", "tier": "open", "license": query["license"]}
    return {"query-id": query["id"], "language": query["language"], **kind, **name}


def _span(name: str, text: str) -> Row:
    return {"text_id": name, "start": 0, "end": 12, "text": text[:12]}


def _judge(found: dict[str, list[Row]], query: str, positive: str, aside: str, spans: Sequence[Row]) -> None:
    pair = {"query-id": query, "corpus-id": positive}
    rule = "clinical_case/same-diagnosis@1"
    found["qrels"].append({**pair, "score": 2, "label_status": "structural", "rule": rule})
    found["provenance_qrels"].append({**pair, "evidence": list(spans)})
    found["excluded"].append({"query-id": query, "corpus-id": aside, "reason": "own_article"})


def manifest() -> ReleaseManifest:
    """Its release.json, before anything is counted."""
    return ReleaseManifest(
        format_version=FORMAT_VERSION,
        dataset="invented",
        title="Invented release",
        version="1.0.0",
        task=TASK,
        task_title="Clinical case",
        task_description="Find the case with the same diagnosis.",
        licence_profile="open",
        license="by",
        label="silver",
        expert_minimum=5,
        publishable_by_content=True,
        not_publishable_because=(),
        accessed=None,
        grades={"2": "The same principal diagnosis.", "1": "A parent or sibling of it."},
        exclusions={"own_article": "From the same article, not judged."},
        versions={},
        stages=(),
        overrides={},
        counts={},
        files={},
        shaped_by=SHAPED_BY,
        made_texts=1,
        restricted_names=1,
    )
