"""Damaged metadata JSON and listings of the PMC bucket: a crawl row, or a reason, and nothing else."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator

from benchmarks.hostile.structure import JSON
from benchmarks.hostile.structure import mutants as structured
from benchmarks.mutations import MUTATIONS
from schemas.article import RawArticle
from schemas.errors import FetchError, InputError
from schemas.record import to_table
from schemas.stages import Drop, Reason
from sources.pmc.metadata import parse_listing, parse_metadata

_FOLDER = "s3://pmc-oa-opendata/PMC7.2"
_METADATA = {
    "pmcid": "PMC7", "version": 2, "pmid": 123, "doi": "10.1000/x.1", "mid": None, "title": "Made",
    "citation": "x",
    "is_pmc_openaccess": True, "is_manuscript": "no", "is_historical_ocr": False, "is_retracted": False,
    "license_code": "CC BY", "xml_url": f"{_FOLDER}/PMC7.2.xml?md5={'0' * 32}", 
    "text_url": f"{_FOLDER}/PMC7.2.txt",
    "media_urls": [f"{_FOLDER}/fig{n}.jpg?md5={'a' * 32}" for n in range(3)],
}  # fmt: skip
_LISTING = (
    b'<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
    b"<IsTruncated>true</IsTruncated><NextContinuationToken>abc</NextContinuationToken>"
    b"<CommonPrefixes><Prefix>PMC7.1/</Prefix></CommonPrefixes>"
    b"<CommonPrefixes><Prefix>PMC7.2/</Prefix></CommonPrefixes></ListBucketResult>"
)


def mutants(count: int, seed: int) -> Iterator[tuple[str, int, bytes]]:
    """Yield (name of the damage, index of the file, damaged bytes): four of five JSON, one a listing."""
    rng = random.Random(seed)
    whole = structured([json.dumps(_METADATA).encode()], count, seed, JSON)
    for number in range(count):
        if number % 5:
            yield next(whole)
            continue
        damage = rng.choice(MUTATIONS)
        yield f"listing_{damage.__name__}", 1, damage(_LISTING, rng)


def outcome(data: bytes) -> str:
    """`read`, or why it was refused; the row a crawl would write can be written."""
    if data.lstrip()[:1] == b"<" or b"ListBucket" in data:
        try:
            versions, token = parse_listing(data, "PMC7")
        except FetchError:
            return "quarantined: fetch_failed"
        if any(number < 0 for number in versions) or not (token is None or token):
            raise AssertionError(f"versions {versions[:5]}, token {token!r}")
        return "read"
    try:
        found = parse_metadata(data, "PMC7", 2)
    except InputError as error:
        detail = error.message
        to_table(
            Drop,
            [Drop(unit="article", id="PMC7", article_id="PMC7", reason=Reason(error.reason), detail=detail)],
        )
        return f"quarantined: {Reason(error.reason).value}"
    for stored in (found.xml, *found.media):
        if "/" in stored.name or stored.key != f"PMC7.2/{stored.name}":
            raise AssertionError(f"an object outside its folder: {stored.key!r}")
    row = RawArticle(
        id="pmc:PMC7.2", source="pmc", locator="PMC7", version=2, path="x", sha256="0" * 64,
        license_code=found.license_code, pmid=found.pmid, doi=found.doi,
    )  # fmt: skip
    to_table(RawArticle, [row])
    return "read"
