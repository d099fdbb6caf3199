"""The embedded sample: 12 invented articles in the layout of the PMC Cloud Service bucket.

It lets the demo and the tests run the whole pipeline without a network. README.md beside this file says what
each article exercises; every article is marked synthetic, so nothing built from it can be published.
"""

from pathlib import Path

_HERE = Path(__file__).resolve().parent


def bucket_dir() -> Path:
    """Folder that mirrors the bucket: `PMC<id>.<version>/` prefixes and `metadata/`."""
    return _HERE / "bucket"


def questions_path() -> Path:
    """File of invented questions that cite articles of the sample, its sidecar beside it."""
    return _HERE / "questions" / "reference.jsonl"


def ids_path() -> Path:
    """Text file with the PMCIDs of the sample, one a line; `#` starts a comment."""
    return _HERE / "ids.txt"
