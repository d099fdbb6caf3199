"""Damaged image files of every format: each decodes or is refused with a reason, in little time and memory.

Damages are of disks and networks (bits, cuts), of headers (sizes, counts, offsets; PNG checksums are made
right again, so that the damage reaches the decoder), and of attackers (bombs that ask for memory or hours).
"""

from __future__ import annotations

import io
import random
import struct
import zlib
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from PIL import Image

from benchmarks.mutations import drop_span, flip_bits, repeat_span, truncate
from curation.images.containers import png_chunks
from curation.images.decode import open_image, sniff
from curation.images.features import measure
from curation.images.fingerprint import perceptual_hash, thumbnail
from curation.images.kinds import decide
from curation.images.normalise import normalise
from schemas.errors import InputError
from schemas.stages import Reason

LIMITS = {"max_pixels": 4_000_000, "max_bytes": 16 * 1024 * 1024, "max_frames": 200}

Damage = Callable[[bytes, random.Random], bytes]


def seeds() -> list[bytes]:
    """Small images in every format and mode, with profiles, EXIF, frames and strips."""
    rng = np.random.default_rng(7)
    noise = np.kron(rng.integers(0, 256, (12, 16, 3)), np.ones((5, 5, 1))).astype(np.uint8)
    colour = Image.fromarray(noise)
    wide = Image.fromarray((noise[..., 0].astype(np.uint16) << 6) + 100)
    exif = Image.Exif()
    exif[0x0112] = 6
    made: list[tuple[Image.Image, str, dict[str, object]]] = [
        (colour, "JPEG", {"exif": exif}),
        (colour, "JPEG", {"progressive": True}),
        (colour.convert("CMYK"), "JPEG", {}),
        (colour, "PNG", {}),
        (colour.quantize(16), "PNG", {"transparency": 0}),
        (wide, "PNG", {}),
        (colour.convert("RGBA"), "PNG", {"save_all": True, "append_images": [colour.convert("RGBA")]}),
        (colour.quantize(32), "GIF", {"save_all": True, "append_images": [colour.rotate(90).quantize(32)]}),
        (colour, "TIFF", {}),
        (colour, "TIFF", {"compression": "tiff_lzw"}),
        (colour, "TIFF", {"compression": "jpeg"}),
        (colour, "TIFF", {"compression": "tiff_deflate", "save_all": True, "append_images": [colour]}),
        (wide, "TIFF", {}),
        (colour.convert("1"), "TIFF", {"compression": "group4"}),
        (colour, "WEBP", {"lossless": True}),
        (colour, "WEBP", {"save_all": True, "append_images": [colour.rotate(180)]}),
    ]
    return [_saved(image, kind, options) for image, kind, options in made]


def _saved(image: Image.Image, kind: str, options: dict[str, object]) -> bytes:
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def damage_head(data: bytes, rng: random.Random) -> bytes:
    """Overwrite bytes among the first 256, where sizes, counts and offsets are."""
    damaged = bytearray(data)
    for _ in range(rng.randint(1, 6)):
        damaged[rng.randrange(min(256, len(damaged)))] = rng.choice([0, 1, 0x7F, 0x80, 0xFE, 0xFF])
    return bytes(damaged)


def huge_numbers(data: bytes, rng: random.Random) -> bytes:
    """Put a very large number where a 16- or 32-bit field may be, in either byte order."""
    damaged = bytearray(data)
    for _ in range(rng.randint(1, 3)):
        shape = rng.choice(["<I", ">I", "<H", ">H"])
        value = (
            rng.choice([0xFFFF, 0x7FFF]) if shape[1] == "H" else rng.choice([0xFFFFFFFF, 0x7FFFFFFF, 1 << 24])
        )
        at = rng.randrange(max(1, min(len(damaged), 512) - 4))
        damaged[at : at + struct.calcsize(shape)] = struct.pack(shape, value)
    return bytes(damaged)


def whole_checksums(data: bytes, rng: random.Random) -> bytes:
    """Damage a PNG inside its chunks and make their checksums right again; other formats lose bits."""
    if sniff(data) != "png":
        return flip_bits(data, rng)
    out = bytearray(data[:8])
    for part in png_chunks(data):
        body = bytearray(data[part.body : part.end - 4])
        if body and rng.random() < 0.4:
            body[rng.randrange(len(body))] ^= 1 << rng.randrange(8)
        out += _chunk(part.name.encode("latin-1"), bytes(body))
    return bytes(out)


def _chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def bomb(data: bytes, rng: random.Random) -> bytes:
    """A file made to take memory or time: one of seven kinds, the seed only chooses."""
    return rng.choice(_BOMBS)(rng)


def _png_bomb(rng: random.Random) -> bytes:
    """A PNG of many megapixels of one colour in a few kilobytes."""
    side = rng.choice([3_000, 20_000, 60_000, 0x7FFFFFFF])
    rows = zlib.compress(bytes(min(side, 20_000) // 8 + 1) * min(side, 20_000), 9)
    head = struct.pack(">IIBBBBB", side, side, 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", head) + _chunk(b"IDAT", rows) + _chunk(b"IEND", b"")


def _text_bomb(rng: random.Random) -> bytes:
    """A PNG whose compressed text or profile unpacks to 200 megabytes."""
    packed = zlib.compress(bytes(200_000_000), 9)
    name, head = rng.choice([(b"zTXt", b"k\0\0"), (b"iCCP", b"p\0\0"), (b"iTXt", b"k\0\1\0\0\0")])
    whole = _saved(Image.new("L", (9, 9)), "PNG", {})
    return whole[:33] + _chunk(name, head + packed) + whole[33:]


def _chunk_bomb(rng: random.Random) -> bytes:
    """A PNG of a million empty chunks."""
    whole = _saved(Image.new("L", (9, 9)), "PNG", {})
    return whole[:33] + _chunk(b"abCd", b"") * rng.choice([200_000, 1_000_000]) + whole[33:]


def _scan_bomb(rng: random.Random) -> bytes:
    """A progressive JPEG whose last scan is repeated thousands of times."""
    whole = _saved(Image.new("L", (2_000, 2_000), 99), "JPEG", {"progressive": True})
    scan = whole[whole.rfind(b"\xff\xda") : -2]
    return whole[:-2] + scan * rng.choice([500, 5_000]) + whole[-2:]


def _frame_bomb(rng: random.Random) -> bytes:
    """A GIF of thousands of frames, or with one far larger than its screen."""
    whole = _saved(Image.new("P", (8, 8)), "GIF", {})
    start = whole.index(b"\x2c")
    frame = whole[start:-1]
    if rng.random() < 0.5:
        return whole[:start] + frame * rng.choice([1_000, 300_000]) + b";"
    wide = frame[:5] + struct.pack("<HH", 65_535, 65_535) + frame[9:]
    return whole[:start] + wide + b";"


def _strip_bomb(rng: random.Random) -> bytes:
    """A TIFF that claims a huge image, strip or tag."""
    whole = bytearray(_saved(Image.new("L", (64, 64)), "TIFF", {"compression": "tiff_deflate"}))
    start = struct.unpack_from("<I", whole, 4)[0]
    count = struct.unpack_from("<H", whole, start)[0]
    wanted = rng.choice([256, 257, 278, 279, 273])
    for number in range(count):
        at = start + 2 + 12 * number
        if struct.unpack_from("<H", whole, at)[0] == wanted:
            struct.pack_into("<HII", whole, at + 2, 4, 1, rng.choice([1 << 31, 60_000, 0xFFFFFFF0]))
    return bytes(whole)


def _page_loop(rng: random.Random) -> bytes:
    """A TIFF whose pages point at themselves, or a chain of thousands."""
    whole = bytearray(_saved(Image.new("L", (8, 8)), "TIFF", {}))
    start = struct.unpack_from("<I", whole, 4)[0]
    count = struct.unpack_from("<H", whole, start)[0]
    size = 2 + 12 * count + 4
    page, link = bytes(whole[start : start + size]), start + size - 4
    if rng.random() < 0.5:
        struct.pack_into("<I", whole, link, start)
        return bytes(whole)
    struct.pack_into("<I", whole, link, len(whole))
    for number in range(5_000):
        after = len(whole) + size if number < 4_999 else 0
        whole += page[:-4] + struct.pack("<I", after)
    return bytes(whole)


_BOMBS = (_png_bomb, _text_bomb, _chunk_bomb, _scan_bomb, _frame_bomb, _strip_bomb, _page_loop)
MUTATIONS: Sequence[Damage] = (
    flip_bits,
    truncate,
    drop_span,
    repeat_span,
    damage_head,
    huge_numbers,
    whole_checksums,
    bomb,
)


def mutants(files: Sequence[bytes], count: int, seed: int) -> Iterator[tuple[str, int, bytes]]:
    """Yield (name of the damage, index of the file, damaged bytes), every kind equally often."""
    rng = random.Random(seed)
    for number in range(count):
        damage = MUTATIONS[number % len(MUTATIONS)]
        index = rng.randrange(len(files))
        yield damage.__name__, index, damage(files[index], rng)


def outcome(data: bytes) -> str:
    """`read` when the file decoded and everything was measured, else the reason it was refused for."""
    try:
        image = open_image(data, **LIMITS)
    except InputError as error:
        return f"quarantined: {Reason(error.reason).value}"
    decide(measure(image.image), "")
    perceptual_hash(image.image)
    thumbnail(image.image)
    normalise(image, license="CC0-1.0")
    return "read"
