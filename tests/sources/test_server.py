"""The loopback bucket speaks S3: listings, objects, errors, placeholders."""

from __future__ import annotations

import hashlib
import io
import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
import requests
from lxml import etree
from PIL import Image

from sources.sample.objects import BucketContents, placeholder
from sources.sample.server import BucketServer
from tests.sources.conftest import Bucket, figures, jpeg

NAMESPACE = {"s3": "http://s3.amazonaws.com/doc/2006-03-01/"}


@pytest.fixture
def server(bucket: Bucket) -> Iterator[BucketServer]:
    for version in (1, 2, 10):
        bucket.add("PMC1", version, body=figures("gr1", "gr2.png"), media={"a & b.jpg": jpeg(version)})
    bucket.add("PMC11")
    with BucketServer([bucket.root], synthetic_images=True) as running:
        yield running


def ask(server: BucketServer, query: str) -> etree._Element:
    answer = requests.get(f"{server.endpoint}?list-type=2&{query}", timeout=5)
    assert answer.status_code == 200, answer.text
    return etree.fromstring(answer.content)


def texts(root: etree._Element, path: str) -> list[str]:
    return [str(item.text) for item in root.iterfind(path, NAMESPACE)]


def test_versions_listing(server: BucketServer) -> None:
    root = ask(server, "prefix=PMC1.&delimiter=/")
    prefixes = texts(root, "s3:CommonPrefixes/s3:Prefix")
    assert prefixes == ["PMC1.1/", "PMC1.10/", "PMC1.2/"]
    assert root.findtext("s3:KeyCount", namespaces=NAMESPACE) == "3"
    assert root.findtext("s3:IsTruncated", namespaces=NAMESPACE) == "false"
    empty = ask(server, "prefix=PMC9.&delimiter=/")
    assert empty.findtext("s3:KeyCount", namespaces=NAMESPACE) == "0"


@pytest.mark.parametrize(
    "query", ["prefix=", "prefix=PMC1.&delimiter=/", "delimiter=/", "prefix=PMC1.1/", "delimiter=."]
)
@pytest.mark.parametrize("size", [1, 2, 3, 1000])
def test_pages_add_up(server: BucketServer, query: str, size: int) -> None:
    whole = ask(server, query)
    expected = sorted(texts(whole, "s3:Contents/s3:Key") + texts(whole, "s3:CommonPrefixes/s3:Prefix"))
    got: list[str] = []
    token = ""
    while True:
        root = ask(
            server,
            f"{query}&max-keys={size}" + (f"&continuation-token={quote(token, safe='')}" if token else ""),
        )
        page = texts(root, "s3:Contents/s3:Key") + texts(root, "s3:CommonPrefixes/s3:Prefix")
        assert len(page) <= size and root.findtext("s3:KeyCount", namespaces=NAMESPACE) == str(len(page))
        got += page
        if root.findtext("s3:IsTruncated", namespaces=NAMESPACE) == "false":
            break
        token = str(root.findtext("s3:NextContinuationToken", namespaces=NAMESPACE))
    assert sorted(got) == expected and len(set(got)) == len(got) and expected


def test_contents_agree_with_objects(server: BucketServer) -> None:
    root = ask(server, "prefix=PMC1.1/&encoding-type=url")
    rows = list(root.iterfind("s3:Contents", NAMESPACE))
    keys = [row.findtext("s3:Key", namespaces=NAMESPACE) for row in rows]
    assert "PMC1.1/a%20%26%20b.jpg" in keys and "PMC1.1/gr1.jpg" in keys and "PMC1.1/gr2.png" in keys
    for row, key in zip(rows, keys, strict=True):
        answer = requests.get(server.endpoint + str(key), timeout=5)
        digest = f'"{hashlib.md5(answer.content).hexdigest()}"'
        assert row.findtext("s3:ETag", namespaces=NAMESPACE) == digest == answer.headers["ETag"]
        assert row.findtext("s3:Size", namespaces=NAMESPACE) == str(len(answer.content))
        assert answer.headers["Last-Modified"].endswith("GMT")
    assert "PMC1.1/a & b.jpg" in texts(ask(server, "prefix=PMC1.1/"), "s3:Contents/s3:Key")


def test_head_range_and_conditional(server: BucketServer, bucket: Bucket) -> None:
    url = server.endpoint + "PMC1.1/PMC1.1.xml"
    data = (bucket.root / "PMC1.1/PMC1.1.xml").read_bytes()
    head = requests.head(url, timeout=5)
    assert (head.status_code, head.headers["Content-Length"], head.content) == (200, str(len(data)), b"")
    for header, expected in (("bytes=0-9", data[:10]), ("bytes=10-", data[10:]), ("bytes=-5", data[-5:])):
        answer = requests.get(url, headers={"Range": header}, timeout=5)
        assert (answer.status_code, answer.content) == (206, expected)
    assert requests.get(url, headers={"Range": f"bytes={len(data)}-"}, timeout=5).status_code == 416
    for held, status in ((head.headers["ETag"], 206), ('"another"', 200)):
        answer = requests.get(url, headers={"Range": "bytes=10-", "If-Range": held}, timeout=5)
        assert (answer.status_code, answer.content) == (status, data[10:] if status == 206 else data)
    answer = requests.get(url, headers={"If-None-Match": head.headers["ETag"]}, timeout=5)
    assert (answer.status_code, answer.content) == (304, b"")


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/pmc-oa-opendata/PMC9.1/x", 404, "NoSuchKey"),
        ("/other/PMC1.1/PMC1.1.xml", 404, "NoSuchBucket"),
        ("/pmc-oa-opendata/../../../../etc/passwd", 404, "NoSuchKey"),
        ("/pmc-oa-opendata/PMC1.1/..%2f..%2f..%2fetc%2fpasswd", 404, "NoSuchKey"),
        ("/pmc-oa-opendata//etc/passwd", 404, "NoSuchKey"),
        ("/pmc-oa-opendata/PMC1.1/%00", 404, "NoSuchKey"),
        ("/pmc-oa-opendata/%ff%fe", 404, "NoSuchKey"),
        ("/pmc-oa-opendata/?list-type=2&continuation-token=%3f", 400, "InvalidArgument"),
        ("/pmc-oa-opendata/?list-type=2&max-keys=x", 400, "InvalidArgument"),
        ("/pmc-oa-opendata/", 501, "NotImplemented"),
    ],
)
def test_errors(server: BucketServer, path: str, status: int, code: str) -> None:
    # A raw socket, because HTTP clients tidy paths before sending them.
    host = urlsplit(server.endpoint)
    with socket.create_connection((str(host.hostname), int(host.port or 0)), 5) as connection:
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        answer = b"".join(iter(lambda: connection.recv(65536), b"")).decode()
    assert answer.startswith(f"HTTP/1.1 {status} ") and f"<Code>{code}</Code>" in answer


def test_access_denied_without_list_right(bucket: Bucket) -> None:
    bucket.add()
    with BucketServer([bucket.root], allow_list=False) as server:
        for path in ("?list-type=2&prefix=PMC1.", "PMC9.1/x"):
            answer = requests.get(server.endpoint + path, timeout=5)
            assert answer.status_code == 403 and "AccessDenied" in answer.text
        assert requests.get(server.endpoint + "PMC1.1/PMC1.1.xml", timeout=5).status_code == 200


def test_placeholders_are_listed_marked_and_equal_in_both_copies(server: BucketServer) -> None:
    one, two = (
        requests.get(server.endpoint + key, timeout=5).content
        for key in ("PMC1.2/PMC1.2.json", "metadata/PMC1.2.json")
    )
    assert one == two
    urls = dict(url.rpartition("/")[2].split("?md5=") for url in json.loads(one)["media_urls"])
    assert sorted(urls) == ["a & b.jpg", "gr1.jpg", "gr2.png"]
    for name, digest in urls.items():
        answer = requests.get(f"{server.endpoint}PMC1.2/{quote(name)}", timeout=5)
        assert hashlib.md5(answer.content).hexdigest() == digest
        assert (answer.headers.get("x-amz-meta-synthetic") == "true") == name.startswith("gr")
    assert (
        "x-amz-meta-synthetic" not in requests.get(server.endpoint + "PMC1.2/PMC1.2.xml", timeout=5).headers
    )


def test_synthetic_articles_are_marked_and_get_no_placeholders(bucket: Bucket) -> None:
    mark = "<custom-meta><meta-name>synthetic</meta-name><meta-value>yes</meta-value></custom-meta>"
    bucket.add(body=mark + figures("gr1", "absent"), media={"gr1.jpg": jpeg()})
    with BucketServer([bucket.root], synthetic_images=True) as server:
        for key in ("PMC1.1/PMC1.1.xml", "PMC1.1/gr1.jpg", "metadata/PMC1.1.json"):
            answer = requests.get(server.endpoint + key, timeout=5)
            assert answer.headers["x-amz-meta-synthetic"] == "true"
        assert requests.get(server.endpoint + "PMC1.1/absent.jpg", timeout=5).status_code == 404


def test_placeholder_images(tmp_path: Path) -> None:
    made: dict[bytes, Any] = {}
    for extension, kind in (
        ("jpg", "JPEG"),
        ("png", "PNG"),
        ("gif", "GIF"),
        ("tif", "TIFF"),
        ("webp", "WEBP"),
    ):
        data = placeholder("PMC1.1", "fig", extension)
        assert data == placeholder("PMC1.1", "fig", extension)
        image = Image.open(io.BytesIO(data))
        image.load()
        assert (image.format, image.size) == (kind, (480, 360)) and len(data) < 40_000
    for number in range(40):
        data = placeholder("PMC1.1", f"fig{number}", "jpg")
        assert len(data) < 20_000
        made[data] = Image.open(io.BytesIO(data)).convert("L").resize((16, 12)).tobytes()
    assert len(made) == 40 and len(set(made.values())) == 40


def test_earlier_root_wins_and_links_are_not_served(bucket: Bucket, tmp_path: Path) -> None:
    bucket.add(media={"a.jpg": jpeg(1)})
    other = Bucket(tmp_path / "other")
    other.add(media={"a.jpg": jpeg(2)})
    other.add("PMC2")
    (other.root / "PMC2.1" / "leak.txt").symlink_to("/etc/passwd")
    contents = BucketContents([bucket.root, other.root], synthetic_images=False, bucket="b")
    found = contents.find("PMC1.1/a.jpg")
    assert found is not None and found.read() == jpeg(1)
    assert contents.find("PMC2.1/PMC2.1.xml") is not None and contents.find("PMC2.1/leak.txt") is None
