"""The embedded sample is what its README says: sound bytes and every hard shape present."""

import hashlib
import json
import re
from functools import cache
from pathlib import Path
from typing import Any, cast

import pytest
from lxml import etree
from PIL import Image

from scripts import sample_images
from sources.sample import bucket_dir, ids_path

XLINK = "{http://www.w3.org/1999/xlink}href"
XML_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
ARTICLES = sorted(p.name for p in bucket_dir().iterdir() if p.name.startswith("PMC"))
MISSING = ("PMC990000010.1", "msje-18-64-g4.jpg")  # declared: makes `image_missing` happen
UNNAMED = ("PMC990000003.1", "msfn-14-990003-ga.jpg")  # declared: a graphical abstract no fig names
IMAGE_SUFFIXES = {".jpg", ".png", ".gif"}
JSON_TYPES: dict[str, tuple[type, ...]] = {
    "pmcid": (str,),
    "version": (int,),
    "pmid": (int, type(None)),
    "doi": (str,),
    "mid": (type(None),),
    "title": (str,),
    "citation": (str,),
    "is_pmc_openaccess": (bool,),
    "is_manuscript": (bool,),
    "is_historical_ocr": (bool,),
    "is_retracted": (bool,),
    "license_code": (str,),
    "xml_url": (str,),
    "text_url": (type(None),),
    "pdf_url": (type(None),),
    "media_urls": (list,),
}


@cache
def article(name: str) -> etree._Element:
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    return etree.parse(bucket_dir() / name / f"{name}.xml", parser).getroot()


def find(node: etree._Element, xpath: str) -> list[etree._Element]:
    return cast("list[etree._Element]", node.xpath(xpath))


def text_of(node: etree._Element) -> str:
    return " ".join("".join(str(t) for t in node.itertext()).split())


def record(name: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((bucket_dir() / name / f"{name}.json").read_text(encoding="utf-8"))
    return data


def images(name: str) -> set[str]:
    return {p.name for p in (bucket_dir() / name).iterdir() if p.suffix in IMAGE_SUFFIXES}


def hrefs(name: str) -> list[str]:
    return [str(g.get(XLINK)) for g in article(name).iter("graphic", "inline-graphic")]


def resolve(name: str, href: str) -> str | None:
    """File of the folder an href names: exactly, else by adding an image suffix."""
    found = sorted(f for f in images(name) if f == href or f.rsplit(".", 1)[0] == href)
    return found[0] if found else None


def has(xpath: str, *names: str) -> bool:
    return any(bool(find(article(n), xpath)) for n in names or ARTICLES)


def test_ids_name_every_article_and_no_other() -> None:
    lines = (line.split("#")[0].strip() for line in ids_path().read_text(encoding="utf-8").splitlines())
    ids = [line for line in lines if line]
    assert ids == [f"PMC9900000{n:02d}" for n in range(1, 25)]
    assert sorted({n.split(".")[0] for n in ARTICLES}) == ids
    assert [n for n in ARTICLES if n.startswith("PMC990000004.")] == ["PMC990000004.1", "PMC990000004.2"]


@pytest.mark.parametrize("name", ARTICLES)
def test_metadata_has_the_keys_and_types_of_the_service(name: str) -> None:
    data = record(name)
    assert {k: type(v) for k, v in data.items() if type(v) not in JSON_TYPES[k]} == {}
    assert list(data) == list(JSON_TYPES)
    assert f"{data['pmcid']}.{data['version']}" == name
    copy = bucket_dir() / "metadata" / f"{name}.json"
    assert copy.read_bytes() == (bucket_dir() / name / f"{name}.json").read_bytes()


def test_metadata_folder_holds_nothing_else() -> None:
    assert sorted(p.name for p in (bucket_dir() / "metadata").iterdir()) == [f"{n}.json" for n in ARTICLES]


@pytest.mark.parametrize("name", ARTICLES)
def test_every_url_names_a_file_and_its_true_md5(name: str) -> None:
    data = record(name)
    listed = set()
    for url in [data["xml_url"], *data["media_urls"]]:
        match = re.fullmatch(r"s3://pmc-oa-opendata/([^?]+)\?md5=([0-9a-f]{32})", url)
        assert match, url
        file = bucket_dir() / match[1]
        assert file.parent.name == name
        assert hashlib.md5(file.read_bytes(), usedforsecurity=False).hexdigest() == match[2]
        listed.add(file.name)
    assert listed == images(name) | {f"{name}.xml"}


@pytest.mark.parametrize("name", ARTICLES)
def test_front_matter_agrees_with_metadata_and_is_marked_synthetic(name: str) -> None:
    root, data = article(name), record(name)
    meta = root.find("front/article-meta")
    assert meta is not None
    assert meta.findtext("article-id[@pub-id-type='pmc']") in (data["pmcid"], data["pmcid"][3:])
    assert meta.findtext("article-id[@pub-id-type='doi']") == data["doi"]
    assert data["doi"] == f"10.5555/medqrels.sample.{int(data['pmcid'][3:]) - 990_000_000}"
    assert text_of(find(meta, "title-group/article-title")[0]) == data["title"]
    mark = meta.find("custom-meta-group/custom-meta")
    assert mark is not None
    assert (mark.findtext("meta-name"), mark.findtext("meta-value")) == ("synthetic", "yes")


@pytest.mark.parametrize("name", ARTICLES)
def test_xml_has_a_doctype_and_every_rid_resolves(name: str) -> None:
    root = article(name)
    assert str(root.getroottree().docinfo.public_id).startswith("-//NLM//DTD")
    ids = [e.get("id") for e in root.iter() if e.get("id")]
    assert len(ids) == len(set(ids))
    assert {rid for x in root.iter("xref") for rid in str(x.get("rid")).split()} <= set(ids)


@pytest.mark.parametrize("name", ARTICLES)
def test_article_has_the_size_of_a_short_real_one(name: str) -> None:
    root = article(name)
    words = sum(len(text_of(p).split()) for p in root.iter("p", "title"))
    assert 500 <= words <= 1500
    assert 2 <= len(find(root, "body//fig | floats-group//fig")) <= 5
    assert find(root, "front//abstract")
    assert 3 <= len(find(root, "back/ref-list/ref")) <= 8


def test_graphics_and_files_match_except_for_the_two_declared() -> None:
    missing = [(n, h) for n in ARTICLES for h in hrefs(n) if resolve(n, h) is None]
    assert missing == [MISSING]
    unnamed = [(n, f) for n in ARTICLES for f in sorted(images(n) - {resolve(n, h) for h in hrefs(n)})]
    assert unnamed == [UNNAMED]


def test_images_are_marked_small_and_what_their_names_say() -> None:
    formats = {".jpg": "JPEG", ".png": "PNG", ".gif": "GIF"}
    total, seen = 0, set()
    for path in (bucket_dir() / n / f for n in ARTICLES for f in sorted(images(n))):
        with Image.open(path) as im:
            im.load()
            comment = im.info.get("Comment") or im.info.get("comment")
            text = comment.decode() if isinstance(comment, bytes) else comment
            assert (im.format, text) == (formats[path.suffix], sample_images.MARK), path
            assert max(im.size) <= 900
        assert path.stat().st_size <= 80_000
        total += path.stat().st_size
        seen.add(path.suffix)
    assert seen == set(formats)
    assert total <= 2_500_000


def test_the_script_draws_exactly_the_images_of_the_bucket() -> None:
    assert {(n, f) for n, files in sample_images.PICTURES.items() for f in files} == {
        (n, f) for n in ARTICLES for f in images(n)
    }


def test_drawing_is_deterministic_and_refresh_repairs_metadata(tmp_path: Path) -> None:
    name, file = "PMC990000009.1", "msjh_118_f1.jpg"
    draw = sample_images.PICTURES[name][file]
    first, second = (sample_images.encode(draw(sample_images.seeded(file)), ".jpg") for _ in range(2))
    assert first == second
    folder = tmp_path / name
    folder.mkdir()
    for suffix in (".xml", ".json"):
        (folder / f"{name}{suffix}").write_bytes((bucket_dir() / name / f"{name}{suffix}").read_bytes())
    (folder / file).write_bytes(b"other bytes")
    sample_images.refresh(tmp_path)
    urls = json.loads((tmp_path / "metadata" / f"{name}.json").read_text(encoding="utf-8"))["media_urls"]
    digest = hashlib.md5(b"other bytes", usedforsecurity=False).hexdigest()
    assert urls == [f"s3://pmc-oa-opendata/{name}/{file}?md5={digest}"]


def test_versions_differ_in_text_and_share_their_images() -> None:
    texts = {text_of(article(f"PMC990000004.{v}")) for v in (1, 2)}
    assert len(texts) == 2
    assert images("PMC990000004.1") == images("PMC990000004.2") != set()


def test_licences_cover_the_gate() -> None:
    codes = {n: record(n)["license_code"] for n in ARTICLES}
    assert sorted(set(codes.values())) == ["CC BY", "CC BY-NC-ND", "CC BY-SA", "CC0"]
    assert codes["PMC990000009.1"] == "CC BY"
    assert has("front//license[contains(@*[name()='xlink:href'], '/by-nc/4.0/')]", "PMC990000009.1")
    text_only = find(article("PMC990000004.2"), "front//permissions")[0]
    assert "Creative Commons Attribution License" in text_of(text_only)
    assert b"creativecommons.org" not in etree.tostring(text_only)
    by_ref = find(article("PMC990000010.1"), "front//license")[0]
    assert by_ref.get(XLINK) is None and find(by_ref, "*[local-name()='license_ref']")


def test_retraction_scope_and_languages() -> None:
    assert [n for n in ARTICLES if record(n)["is_retracted"]] == ["PMC990000011.1"]
    assert record("PMC990000011.1")["title"].startswith("RETRACTED: ")
    assert has("front//related-article[@related-article-type='retraction-forward']", "PMC990000011.1")
    assert has("front//subject[contains(., 'Veterinary')]", "PMC990000012.1")
    for path in ("trans-abstract", "trans-title-group", "kwd-group"):
        languages = {e.get(XML_LANG) for n in ARTICLES for e in find(article(n), f"front//{path}[@xml:lang]")}
        assert languages - {"en"} == {"es", "fr", "pt"}, path


SHAPES = {
    "fig-group with child figs and a group caption": "//fig-group[caption][count(fig) > 1]",
    "child-fig supplement": "//fig-group/fig[@specific-use='child-fig']",
    "floats-group": "/article/floats-group/fig",
    "alternatives for print and web": "//fig/alternatives[graphic[@specific-use='print-only']]",
    "several graphics": "//fig[count(graphic) > 1]",
    "no graphic": "//fig[not(.//graphic)]",
    "no label": "//fig[@id and not(label)]",
    "no id": "//fig[not(@id)]",
    "no caption": "//fig[not(caption)]",
    "caption of title and several p": "//fig/caption[title and count(p) > 1]",
    "bold panel letters in parentheses": "//fig/caption/p[contains(text()[1], '(')]/bold[. = 'A']",
    "bold panel letters with parentheses inside": "//fig/caption/p/bold[. = '(A)']",
    "attrib": "//fig/attrib",
    "own permissions": "//fig/permissions[contains(., 'Reproduced with permission')]",
    "fig nested in p": "//p/fig",
    "table in p": "//p/table-wrap",
    "several rids": "//xref[@ref-type='fig'][contains(@rid, ' ')]",
    "panel in the xref": "//xref[@ref-type='fig'][. = 'Figure 1A']",
    "empty xref": "//xref[@ref-type='fig'][not(node())]",
    "xref in bold": "//bold/xref[@ref-type='fig']",
    "xref in italic": "//italic/xref[@ref-type='fig']",
    "boxed image": "//boxed-text/graphic",
    "inline graphic": "//inline-graphic",
    "formula graphic": "//disp-formula/graphic",
    "foreign figure": "//p[contains(., 'Fig. 2 of ref. [3]')]",
    "unlinked supplementary figure": "//p[contains(., 'Supplementary Fig. S1')]",
    "href without extension": "//graphic[@*[name()='xlink:href' and not(contains(., '.'))]]",
    "abbreviations": "//kwd-group[@kwd-group-type='abbreviations']",
    "two patients": "//sec[title = 'Case 1' and following-sibling::sec[title = 'Case 2']]",
    "translation repeating a figure": "//sub-article[@article-type='translation'][@xml:lang='pt']//fig",
}


@pytest.mark.parametrize("shape", SHAPES)
def test_hard_shape_is_present_in_an_article_that_is_kept(shape: str) -> None:
    dropped = {"PMC990000004.1", "PMC990000006.1", "PMC990000009.1", "PMC990000011.1", "PMC990000012.1"}
    assert has(SHAPES[shape], *(n for n in ARTICLES if n not in dropped))


def tails(name: str) -> list[tuple[str, str, str]]:
    xrefs = find(article(name), "body//xref[@ref-type='fig']")
    return [(str(x.get("rid")), text_of(x), x.tail or "") for x in xrefs]


def test_ranges_and_panels_written_outside_the_xref() -> None:
    assert ("Fig1", "1", "–") in tails("PMC990000001.1")  # figure range, ends at Fig3
    assert any(t.startswith("B)") for _, text, t in tails("PMC990000001.1") if text == "Fig. 3")
    pair = [(rid, text, tail[:1]) for rid, text, tail in tails("PMC990000002.1") if rid == "f3"]
    assert pair == [("f3", "3a", "-"), ("f3", "d", " ")]  # panel range: one figure


def test_most_citing_passages_are_long_and_one_cites_three_figures() -> None:
    lengths, most = [], 0
    for name in ARTICLES:
        for p in find(article(name), "body//p[.//xref[@ref-type='fig']]"):
            lengths.append(len(text_of(p).split()))
            rids = {r for x in find(p, ".//xref[@ref-type='fig']") for r in str(x.get("rid")).split()}
            most = max(most, len(rids))
    assert most == 3
    assert min(lengths) < 25
    assert sum(n >= 25 for n in lengths) / len(lengths) > 0.9
