"""Image bytes on their way into a release: fitting files are copied, others become PNG, panels are cut out.

Every image is checked against its recorded hash and decoded once; a file that fails here is an error, because
the build has already dropped images that do not decode.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from curation.images.decode import open_image
from curation.images.normalise import cut_out, normalise
from schemas.errors import InputError, ReleaseError
from schemas.hashing import sha256_bytes
from schemas.stored import read_stored


@dataclass(frozen=True, slots=True)
class ReleasedImage:
    """One image as released."""

    data: bytes
    extension: str
    sha256: str
    source_sha256: str
    transform: str
    width: int
    height: int


def read_image(
    raw: Path,
    path: str,
    sha256: str,
    record: str,
    *,
    license: str,
    box: tuple[int, int, int, int] | None = None,
) -> ReleasedImage:
    """Read, verify and if needed normalise the image at `path` below `raw`; `record` is named in errors.

    Args:
        raw: the workspace's raw/ folder.
        path: of the stored file, below `raw`.
        sha256: of the file as fetched.
        record: id of the query or document it belongs to.
        license: SPDX id of the figure: whether derived forms are allowed.
        box: left, top, right and bottom of the stretch that alone is released; None for the whole image.

    Raises:
        WorkspaceError: the file is missing, or not the one that was fetched.
        ReleaseError: it does not decode, or would have to be converted against its licence.
    """
    data = read_stored(raw, path, sha256, record=record)
    try:
        image = open_image(data)
        released = cut_out(image, box, license=license) if box else normalise(image, license=license)
    except InputError as error:
        raise ReleaseError(
            f"an image cannot be released: {error.message}",
            record=record,
            file=path,
            hint="medqrels build again",
        ) from error
    return ReleasedImage(
        data=released.data,
        extension=released.extension,
        sha256=sha256_bytes(released.data) if released.transform else sha256,
        source_sha256=sha256,
        transform=released.transform,
        width=box[2] - box[0] if box else image.width,
        height=box[3] - box[1] if box else image.height,
    )
