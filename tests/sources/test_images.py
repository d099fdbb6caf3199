"""Href resolution, magic bytes, capped decoding, and the scan of an article's XML for figure graphics."""

from __future__ import annotations

import io
import time
import warnings
from pathlib import Path

import pytest
from PIL import Image

from sources.graphics import scan
from sources.images import base_name, describe, inspect, resolve_href, sniff
from tests.sources.conftest import XML, figures, jpeg

FORMATS = {"JPEG": "jpeg", "PNG": "png", "GIF": "gif", "TIFF": "tiff", "WEBP": "webp"}


def encoded(kind: str, size: tuple[int, int] = (8, 6)) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", size, (200, 10, 10)).save(buffer, kind)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("href", "names", "found"),
    [
        ("gr1.jpg", ["gr1.jpg", "gr10.jpg"], "gr1.jpg"),
        ("gr1", ["gr10.jpg", "gr1.jpg"], "gr1.jpg"),
        ("GR1.JPG", ["gr1.jpg"], "gr1.jpg"),
        ("fmed-08-655640-g0001", ["fmed-08-655640-g0001.JPEG"], "fmed-08-655640-g0001.JPEG"),
        ("pone.0000217.g001", ["pone.0000217.g002.jpg", "pone.0000217.g001.jpg"], "pone.0000217.g001.jpg"),
        ("info:doi/10.1371/journal.pone.0000217.g001", ["pone.0000217.g002.jpg"], None),
        ("info:doi/10.1371/journal.pone.0091296.g001", ["g001.png", "g002.png"], "g001.png"),
        ("10.1371/journal.pone.0091296.g002", ["g001.png", "g002.png"], "g002.png"),
        ("https://example.org/a/b/f1.jpg?size=big#x", ["f1.jpg"], "f1.jpg"),
        ("/img/revistas/rsp/v1/a05%20fig1.jpg", ["a05 fig1.jpg"], "a05 fig1.jpg"),
        ("images\\f1.png", ["f1.png"], "f1.png"),
        ("030213v1_fig1", ["030213v1_fig1", "030213v1_fig10"], "030213v1_fig1"),
        ("fig1.tif", ["fig1"], "fig1"),
        ("fig1.eps", ["fig1.gif", "fig1.jpg"], "fig1.jpg"),
        ("fig1", ["fig1.gif", "fig1.png", "fig1.xlsx"], "fig1.png"),
        ("fig1", ["fig1.pdf", "fig1.docx"], None),
        ("fig1.pdf", ["fig1.pdf", "fig1.jpg"], "fig1.pdf"),
        ("elife-00353-fig1-v1", ["elife-00353-fig1-v1.tif"], "elife-00353-fig1-v1.tif"),
        ("fig1", ["elife-00353-fig1-v1.tif", "elife-00353-fig10-v1.tif"], "elife-00353-fig1-v1.tif"),
        ("elife-46793-fig2-figsupp1-v2.tif", ["fig2.jpg", "fig2-figsupp1.jpg"], "fig2-figsupp1.jpg"),
        ("article.fig", ["fig.jpg"], None),
        ("", ["a.jpg"], None),
        ("   ", ["a.jpg"], None),
        ("gr1", [], None),
    ],
)
def test_resolve(href: str, names: list[str], found: str | None) -> None:
    assert resolve_href(href, names) == found
    assert resolve_href(href, names[::-1]) == found


def test_base_name() -> None:
    assert base_name("info:doi/10.1371/journal.pone.1.g001") == "journal.pone.1.g001"
    assert base_name(" a/b#c.jpg ") == "b#c.jpg"


@pytest.mark.parametrize("kind", FORMATS)
def test_formats(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "misleading.txt"
    path.write_bytes(encoded(kind))
    assert sniff(path.read_bytes()) == FORMATS[kind]
    facts = inspect(path)
    assert (facts.format, facts.width, facts.height, facts.problem) == (FORMATS[kind], 8, 6, "")


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (b"", "empty"),
        (b"  <!DOCTYPE html><html>", "HTML"),
        (b"<?xml version='1.0'?><Error/>", "XML"),
        (b"<svg xmlns='x'/>", "SVG"),
        (b"%PDF-1.7", "PDF"),
        (b"%!PS-Adobe EPSF", "PostScript"),
        (b"\x00\x01\x02", "unknown"),
    ],
)
def test_what_is_no_image(data: bytes, word: str, tmp_path: Path) -> None:
    (tmp_path / "x.jpg").write_bytes(data)
    facts = inspect(tmp_path / "x.jpg")
    assert (facts.format, facts.problem) == (None, "image_corrupt")
    assert word in facts.detail and word in describe(data)


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("damage", ["half", "head", "noise"])
def test_damaged_images_never_raise(kind: str, damage: str, tmp_path: Path) -> None:
    whole = encoded(kind, (200, 150)) if kind != "JPEG" else jpeg(1, (200, 150))
    data = {"half": whole[: len(whole) // 2], "head": whole[:16], "noise": whole[:20] + bytes(400)}[damage]
    (tmp_path / "x").write_bytes(data)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        facts = inspect(tmp_path / "x")
    assert facts.problem == "image_corrupt" and facts.format == FORMATS[kind]
    assert not caught and inspect(tmp_path / "x") == facts


def test_caps(tmp_path: Path) -> None:
    path = tmp_path / "x.png"
    path.write_bytes(encoded("PNG", (300, 200)))
    assert inspect(path, max_pixels=60_000).problem == ""
    facts = inspect(path, max_pixels=59_999)
    assert (facts.problem, facts.width, facts.height) == ("image_too_large", 300, 200)
    assert inspect(path, max_bytes=10).problem == "image_too_large"
    assert inspect(tmp_path / "none").problem == "image_missing"


@pytest.mark.parametrize("side", [12_000, 30_000])
def test_decompression_bomb_is_not_decoded(side: int, tmp_path: Path) -> None:
    path = tmp_path / "bomb.png"
    Image.new("1", (side, side)).save(path)
    assert path.stat().st_size < 200_000
    started = time.monotonic()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert inspect(path).problem == "image_too_large"
    assert time.monotonic() - started < 1


def test_thousands_of_scans_are_not_decoded(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    Image.new("L", (4_000, 4_000), 99).save(buffer, "JPEG", progressive=True)
    whole = buffer.getvalue()
    scan_of_nothing = whole[whole.rfind(b"\xff\xda") : -2]
    path = tmp_path / "x.jpg"
    path.write_bytes(whole)
    assert inspect(path).problem == ""
    path.write_bytes(whole[:-2] + scan_of_nothing * 20_000 + whole[-2:])
    started = time.monotonic()
    assert (inspect(path).problem, inspect(path).format) == ("image_too_large", "jpeg")
    assert time.monotonic() - started < 5


def test_scan_takes_figures_only() -> None:
    body = (
        figures("f1")
        + '<p><fig><alternatives><graphic xlink:href="f2"/><graphic xlink:href="f2.tif"/></alternatives>'
        '</fig></p><fig-group><graphic xlink:href="f3"/></fig-group>'
        '<boxed-text><p><graphic xlink:href="box"/></p></boxed-text>'
        '<table-wrap><graphic xlink:href="t1"/></table-wrap><p><graphic xlink:href="loose"/></p>'
        '<fig><caption><p><inline-graphic xlink:href="i1"/>'
        '<disp-formula><graphic xlink:href="e1"/></disp-formula></p></caption>'
        '<graphic xlink:href="f4"/><media xlink:href="v1.mp4"/></fig>'
        '<fig><supplementary-material><graphic xlink:href="s1"/></supplementary-material><graphic/></fig>'
    )
    other = '<sub-article><front-stub><article-id pub-id-type="doi">10.5/no</article-id></front-stub><body>'
    data = XML.format(body).replace(
        "</article>", f"{other}{figures('f1', 'f5')}</body></sub-article></article>"
    )
    found = scan(data.encode())
    assert found.hrefs == ("f1", "f2", "f2.tif", "f3", "box", "f4", "", "f5")
    assert (found.doi, found.is_synthetic) == ("10.5555/Test.1", False)


def test_scan_reads_the_synthetic_mark_and_namespaces() -> None:
    mark = "<custom-meta><meta-name>Synthetic</meta-name><meta-value> yes </meta-value></custom-meta>"
    assert scan(f"<article>{mark}</article>".encode()).is_synthetic
    assert not scan(f"<article>{mark.replace('yes', 'no')}</article>".encode()).is_synthetic
    assert not scan(f"<article>{mark.replace('Synthetic', 'other')}</article>".encode()).is_synthetic
    jats = '<a:article xmlns:a="urn:x"><a:fig><a:graphic href="g"/></a:fig></a:article>'
    assert scan(jats.encode()).hrefs == ("g",) == scan(jats.encode("utf-16")).hrefs


def test_scan_survives_hostile_bytes() -> None:
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 30))
    bomb = f'<!DOCTYPE a [<!ENTITY e0 "xxxxxxxxxx">{entities}]><a><fig><graphic href="&e29;"/></fig>&e29;</a>'
    hostile = [
        b"",
        b"\x00" * 1000,
        b"<",
        b"<fig>" * 200_000,
        b"<a>" + b"<fig><graphic href='a'/>" * 50_000,
        bomb.encode(),
        bomb.encode("utf-16"),
        b'<!DOCTYPE a SYSTEM "http://127.0.0.1:1/x.dtd"><a/>',
        b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><fig><graphic href="&x;"/></fig>',
    ]
    started = time.monotonic()
    for data in hostile:
        assert "root:" not in "".join(scan(data).hrefs) and sum(map(len, scan(data).hrefs)) < 1_000_000
    assert time.monotonic() - started < 10
    assert scan(b"<article><fig><graphic href='kept'/></fig><p>cut off").hrefs == ("kept",)
