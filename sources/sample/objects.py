"""What a loopback bucket holds: folders in the bucket's layout, and placeholder images where files lack.

Placeholders stand in for figures of real articles whose image files are not at hand. They are drawn from
article and href alone, marked synthetic, and listed in the metadata that is served.
"""

from __future__ import annotations

import bisect
import colorsys
import hashlib
import io
import itertools
import json
import os
import random
import re
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from PIL import Image, ImageDraw

from sources.graphics import scan
from sources.images import EXTENSIONS, base_name, resolve_href
from sources.store import is_safe_name, md5_hex

_FOLDER = re.compile(r"^PMC\d+\.\d+$")
_METADATA = re.compile(r"^metadata/(PMC\d+\.\d+)\.json$")
_PILLOW_FORMAT = {"jpg": "JPEG", "jpeg": "JPEG", "tif": "TIFF", "tiff": "TIFF"}
_WIDTH, _HEIGHT = 480, 360


@dataclass(frozen=True, slots=True)
class BucketObject:
    """One object: `body` in memory, or a file. `modified` is seconds since the epoch."""

    key: str
    file: Path | None
    body: bytes | None
    modified: int
    is_synthetic: bool

    def read(self) -> bytes:
        """The object's bytes."""
        if self.body is not None:
            return self.body
        assert self.file is not None
        return self.file.read_bytes()


def placeholder(article: str, href: str, extension: str) -> bytes:
    """A small image for one figure: equal for equal arguments, different for different figures.

    Args:
        article: e.g. `PMC123.1`.
        href: as the XML writes it.
        extension: one of :data:`sources.images.EXTENSIONS`.
    """
    seed = hashlib.sha256(f"{article}\n{href}".encode("utf-8", "surrogatepass")).digest()
    rng = random.Random(seed)
    hue = rng.random()
    image = Image.new("RGB", (_WIDTH, _HEIGHT), _colour(hue, 0.15, 0.95))
    draw = ImageDraw.Draw(image)
    for _ in range(14):
        x, y = rng.randrange(_WIDTH), rng.randrange(_HEIGHT)
        w, h = rng.randrange(20, 160), rng.randrange(20, 120)
        fill = _colour(hue + rng.uniform(-0.15, 0.15), rng.uniform(0.2, 0.7), rng.uniform(0.4, 0.95))
        shape = rng.choice((draw.ellipse, draw.rectangle))
        shape((x - w // 2, y - h // 2, x + w // 2, y + h // 2), fill=fill)
    # A 16 x 16 field of the hash makes any two placeholders differ well beyond their text.
    for position, bit in enumerate(f"{int.from_bytes(seed):0256b}"):
        if bit == "1":
            x, y = 16 + position % 16 * 8, 16 + position // 16 * 8
            draw.rectangle((x, y, x + 7, y + 7), fill=(30, 30, 30))
    draw.rectangle((0, _HEIGHT - 58, _WIDTH, _HEIGHT), fill=(255, 255, 255))
    draw.text((10, _HEIGHT - 52), f"synthetic {article}", fill=(0, 0, 0), font_size=20)
    draw.text((10, _HEIGHT - 26), _ascii(base_name(href))[:52], fill=(0, 0, 0), font_size=16)
    buffer = io.BytesIO()
    kind = _PILLOW_FORMAT.get(extension, extension.upper())
    options = {"compression": "tiff_lzw"} if kind == "TIFF" else {"quality": 70}
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def _colour(hue: float, saturation: float, value: float) -> tuple[int, int, int]:
    red, green, blue = colorsys.hsv_to_rgb(hue % 1.0, saturation, value)
    return round(red * 255), round(green * 255), round(blue * 255)


def _ascii(text: str) -> str:
    return text.encode("ascii", "replace").decode("ascii")


class BucketContents:
    """All objects of several roots, by key; placeholders are drawn on first touch. Thread-safe.

    Args:
        roots: folders in the bucket's layout (`PMC1.1/…`, `metadata/…`); the earlier root wins.
        synthetic_images: add placeholder images for graphics without a file. Articles that are themselves
            marked synthetic bring their own images: what they lack is lacking on purpose.
        bucket: name used in the `s3://` addresses of the metadata.
    """

    def __init__(self, roots: Sequence[Path], *, synthetic_images: bool, bucket: str) -> None:
        self._synthetic_images = synthetic_images
        self._bucket = bucket
        self._lock = threading.RLock()
        self._files: dict[str, Path] = {}
        for root in roots:
            for key, path in _files(root.resolve()):
                self._files.setdefault(key, path)
        self._articles: dict[str, list[str]] = {}
        for key in self._files:
            folder = key.partition("/")[0]
            if _FOLDER.match(folder):
                self._articles.setdefault(folder, []).append(key)
        self._ordered = sorted((_bytes(key), key) for key in self._files)
        self._opened: dict[str, dict[str, BucketObject]] = {}

    def find(self, key: str) -> BucketObject | None:
        """The object of a key, or None."""
        article = self._article_of(key)
        if article is not None:
            return self._open(article).get(key)
        path = self._files.get(key)
        return _plain(key, path, False) if path is not None else None

    def keys(self, prefix: str, *, folders_only: bool = False) -> list[str]:
        """Keys that start with a prefix, in the order of their UTF-8 bytes.

        Args:
            prefix: start of the keys.
            folders_only: the caller only asks which folders there are, so no placeholder must be drawn.
        """
        first = bisect.bisect_left(self._ordered, (_bytes(prefix), ""))
        listed = (self._ordered[place][1] for place in range(first, len(self._ordered)))
        found = set(itertools.takewhile(lambda key: key.startswith(prefix), listed))
        if not folders_only:
            for article in sorted(self._articles):
                if f"{article}/".startswith(prefix) or prefix.startswith(f"{article}/"):
                    found.update(key for key in self._open(article) if key.startswith(prefix))
        return sorted(found, key=_bytes)

    def _article_of(self, key: str) -> str | None:
        found = _METADATA.match(key)
        article = found.group(1) if found else key.partition("/")[0]
        return article if article in self._articles else None

    def _open(self, article: str) -> dict[str, BucketObject]:
        with self._lock:
            if article not in self._opened:
                self._opened[article] = self._objects(article)
            return self._opened[article]

    def _objects(self, article: str) -> dict[str, BucketObject]:
        """All objects of one article: its files, placeholders, and both copies of its metadata."""
        metadata, flat = f"{article}/{article}.json", f"metadata/{article}.json"
        keys = [*self._articles[article], *([flat] if flat in self._files else [])]
        xml = self._files.get(f"{article}/{article}.xml")
        found = scan(xml.read_bytes()) if xml is not None else None
        is_synthetic = found is not None and found.is_synthetic
        objects = {key: _plain(key, self._files[key], is_synthetic) for key in keys}
        if found is None or xml is None or is_synthetic or not self._synthetic_images:
            return objects
        names = [key.partition("/")[2] for key in self._articles[article]]
        modified = int(xml.stat().st_mtime)
        drawn = {
            name: BucketObject(
                f"{article}/{name}", None, placeholder(article, href, extension), modified, True
            )
            for name, href, extension in _absent(found.hrefs, names)
        }
        objects.update({item.key: item for item in drawn.values()})
        for key in (metadata, flat):
            if key in objects and drawn:
                body = self._with_media(objects[key].read(), article, drawn)
                objects[key] = BucketObject(key, None, body, objects[key].modified, False)
        return objects

    def _with_media(self, body: bytes, article: str, drawn: dict[str, BucketObject]) -> bytes:
        row = json.loads(body)
        added = [
            f"s3://{self._bucket}/{article}/{name}?md5={md5_hex(item.read())}"
            for name, item in sorted(drawn.items())
        ]
        row["media_urls"] = [*(row.get("media_urls") or []), *added]
        return json.dumps(row, ensure_ascii=False).encode("utf-8")


def _bytes(key: str) -> bytes:
    return key.encode("utf-8", "surrogatepass")


def _absent(hrefs: Sequence[str], names: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """(file name, href, extension) of each graphic that no file answers."""
    given = list(names)
    for href in hrefs:
        if not base_name(href) or resolve_href(href, given) is not None:
            continue
        name = base_name(href)
        extension = name.rpartition(".")[2].lower()
        if extension not in EXTENSIONS:
            name, extension = f"{name}.jpg", "jpg"
        if is_safe_name(name):
            given.append(name)
            yield name, href, extension


def _files(root: Path) -> Iterator[tuple[str, Path]]:
    for folder, _, names in os.walk(root, followlinks=False):
        for name in sorted(names):
            path = Path(folder, name)
            if name.isprintable() and path.is_file() and not path.is_symlink():
                yield path.relative_to(root).as_posix(), path


def _plain(key: str, path: Path, is_synthetic: bool) -> BucketObject:
    return BucketObject(key, path, None, int(path.stat().st_mtime), is_synthetic)


def page(
    keys: Sequence[str], prefix: str, delimiter: str, after: str, limit: int
) -> tuple[list[str], list[str], str | None]:
    """One page of a ListObjectsV2 answer.

    Args:
        keys: all keys with the prefix, sorted.
        prefix: the prefix.
        delimiter: '' or the string at which keys are rolled up.
        after: last key or common prefix of the page before, '' for the first.
        limit: most keys and common prefixes together.

    Returns:
        Keys, common prefixes, and where the next page starts (None at the end).
    """
    contents: list[str] = []
    prefixes: list[str] = []
    last = after
    start = bisect.bisect_right(keys, after.encode(), key=lambda key: key.encode()) if after else 0
    for key in keys[start:]:
        if delimiter and last.endswith(delimiter) and last != key and key.startswith(last) and last >= prefix:
            continue  # already rolled up into the common prefix `last`
        head, found, _ = key[len(prefix) :].partition(delimiter) if delimiter else (key, "", "")
        item = f"{prefix}{head}{found}" if found else key
        if len(contents) + len(prefixes) >= limit:
            return contents, prefixes, last if limit else None
        (prefixes if found else contents).append(item)
        last = item
    return contents, prefixes, None
