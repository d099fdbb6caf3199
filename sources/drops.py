"""The drop of an article that could not be fetched: every repository gives the same reasons."""

from __future__ import annotations

from schemas.errors import ChecksumMismatch, FetchError, InputError
from schemas.stages import Drop, Reason

UNFETCHED = (InputError, FetchError)
"""What a fetch may end in for one article; everything else ends the crawl."""


def drop(locator: str, reason: Reason, detail: str, unit: str = "article") -> Drop:
    """A unit that is not kept, by its locator."""
    return Drop(unit=unit, id=locator, article_id=locator, reason=reason, detail=detail)


def drop_of(locator: str, error: InputError | FetchError) -> Drop:
    """An article whose fetch failed; the reason says whether the next crawl tries again."""
    if isinstance(error, InputError):
        return drop(locator, Reason(error.reason or Reason.NOT_FOUND), error.message)
    is_damaged = isinstance(error, ChecksumMismatch)
    return drop(locator, Reason.CHECKSUM_MISMATCH if is_damaged else Reason.FETCH_FAILED, error.message)
