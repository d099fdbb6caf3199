"""Rows of the partition: what earlier releases published, and what the stage writes on its way.

Queries and keys are numbered in the order of their MD5, so a smaller number is chance, not input order.
"""

from __future__ import annotations

from schemas.benchmark import Split
from schemas.overlap_policy import Dimension
from schemas.record import column, record
from schemas.stages import Reason


@record
class PublishedKey:
    """One key of a query that an earlier release published; unique by task, query_id, dimension, key."""

    task: str = column("task name")
    query_id: str = column("query")
    split: Split = column("split it was published in")
    since: str = column("version of the release that first published it")
    dimension: Dimension = column("what kind of key")
    key: str = column("the key as published")
    order: int = column("position of that release among all, 0 for the oldest")


@record
class MergedConcept:
    """A concept that is another one by now, because vocabularies or their entries were merged."""

    concept: str = column("CURIE")
    canonical: str = column("CURIE it is called now")


@record
class NearQuery:
    """A query that is nearly the same as another one; unique by task, query_id, key."""

    task: str = column("task name")
    query_id: str = column("query")
    key: str = column("near:<hash of both normalised texts>, which both queries rest on")


@record
class Candidate:
    """A query of a task, before the partition."""

    number: int = column("position in the order of MD5 of its id, from 0")
    task: str = column("task name")
    query_id: str = column("query")
    article_id: str = column("article it was made from")
    worth: int = column(
        "weight of the task / candidates of the task; of one that draws articles: / its articles / this one's"
    )
    is_left_out: bool = column("the spec names it as not to be released")
    split: Split | None = column("split it is published in", default=None)
    since: str = column("version that first published it, '' when none has", default="")
    order: int | None = column("position of that release among all", default=None)


@record
class ImageLikeness:
    """Which image family key a perceptual hash stands for; a hash may have several."""

    phash: str = column("64-bit perceptual hash, 16 hex digits")
    key: str = column("phash:<hex> of itself, of its cluster, or of a published image like it")


@record
class DocumentKey:
    """One thing a document that is a positive rests on."""

    task: str = column("task name")
    corpus_id: str = column("document")
    dimension: Dimension = column("what kind of key")
    key: str = column("the key")


@record
class Positive:
    """A pair with a positive grade."""

    number: int = column("query")
    task: str = column("task name")
    corpus_id: str = column("document")


@record
class HeldKey:
    """A key that belongs to one split of one task for good, because a published query rests on it."""

    dimension: Dimension = column("what kind of key")
    key: str = column("the key under today's name")
    task: str = column("task that holds it")
    split: Split = column("split that holds it")
    query_id: str = column("oldest published query that rests on it")
    since: str = column("version that first published that query")
    is_gained: bool = column("not published yet: the query rests on it since this build", default=False)


@record
class Withheld:
    """A new positive of a published query that rests on what another task or split holds.

    The pair is neither positive nor negative: it belongs into the table of excluded pairs.
    """

    task: str = column("task name")
    query_id: str = column("published query")
    corpus_id: str = column("document that would be a positive")
    dimension: Dimension = column("what kind of key")
    key: str = column("the key held elsewhere")
    holder: str = column("who holds it: task/split query")


@record
class Rest:
    """One key a query rests on, by itself or by a positive."""

    number: int = column("query")
    dimension: Dimension = column("what kind of key")
    key: str = column("the key")


@record
class Barred:
    """A query that is out before any contest."""

    number: int = column("query")
    reason: Reason = column("closed reason code")
    dimension: str = column("what kind of key, '' when it is not about one")
    key: str = column("the key, '' when it is not about one")
    detail: str = column("the key and who holds it")


@record
class Contested:
    """A key that free queries of two or more tasks rest on."""

    number: int = column("query")
    item: int = column("the key, numbered in the order of MD5")
    dimension: Dimension = column("what kind of key")
    key: str = column("the key")


@record
class Block:
    """Queries of one task that rest on the same contested keys: they are kept or lost together."""

    number: int = column("query")
    block: int = column("its member with the smallest number")


@record
class Island:
    """Blocks connected through contested keys; islands are decided one by one."""

    block: int = column("block")
    island: int = column("smallest block of the island")
    task: str = column("task name")
    worth: int = column("sum over the block's queries")
    blocks: int = column("how many blocks the island has")


@record
class Choice:
    """Whether a block is kept."""

    block: int = column("block")
    island: int = column("island it is in")
    task: str = column("task name")
    worth: int = column("sum over the block's queries")
    is_kept: bool = column("its keys all go to its task")


@record
class Lost:
    """A query that loses a contested key to another task or split."""

    number: int = column("query")
    reason: Reason = column("closed reason code")
    dimension: Dimension = column("what kind of key")
    key: str = column("the key")
    detail: str = column("the key and who has it")


@record
class Group:
    """A query that is kept, its group and its split."""

    number: int = column("query")
    group: int = column("member of its group with the smallest number")
    split: Split | None = column("split the group is bound to by what is published, null when it is free")


@record
class Loss:
    """How many queries the partition costs a task, by reason and kind of key."""

    task: str = column("task name")
    reason: Reason = column("closed reason code")
    dimension: str = column("what kind of key, '' when it is not about one")
    queries: int = column("queries lost")
    candidates: int = column("queries the task had before the partition")
