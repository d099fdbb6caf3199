"""Large files: resumed after cuts and kills, never mixed from two versions, never shown half."""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from schemas.errors import ChecksumMismatch, FetchError, InputError, WorkspaceError
from sources.http import PoliteClient
from sources.http.part_file import Download
from sources.ledger import Held, Ledger
from sources.store import RawStore
from tests.sources.fakes.files import FileServer

Client = Callable[..., PoliteClient]
REPOSITORY = Path(__file__).resolve().parents[2]
MIB = 1024 * 1024
OLD = random.Random(1).randbytes(3 * MIB + 17)
NEW = random.Random(2).randbytes(3 * MIB + 17)


def check(found: Download | None, path: Path, content: bytes) -> None:
    assert found is not None and found.status == 200 and found.path == path
    assert path.read_bytes() == content
    assert [item.name for item in path.parent.iterdir()] == [path.name]
    assert (found.size_bytes, found.sha256) == (len(content), hashlib.sha256(content).hexdigest())
    assert found.md5 == hashlib.md5(content).hexdigest()


def test_whole_file(make_client: Client, tmp_path: Path) -> None:
    with FileServer(OLD) as site:
        path = tmp_path / "d" / "book.tar.gz"
        found = make_client().get_to_file(site.url, path, max_bytes=len(OLD))
        check(found, path, OLD)
        assert found is not None
        again = make_client().get_to_file(site.url, path, max_bytes=1, etag=found.headers["etag"])
        assert again is not None and again.status == 304 and path.read_bytes() == OLD


@pytest.mark.parametrize("validators", [("etag",), ("date",), ("weak", "date"), ("etag", "date")])
def test_cut_bodies_are_resumed(make_client: Client, tmp_path: Path, validators: tuple[str, ...]) -> None:
    with FileServer(OLD, validators, cut=[MIB, 5, 0, MIB]) as site:
        check(make_client().get_to_file(site.url, tmp_path / "f", max_bytes=4 * MIB), tmp_path / "f", OLD)
    starts = [int(asked[6:-1] or 0) if asked else 0 for asked, _, _ in site.asked]
    assert starts == [0, MIB, MIB + 5, MIB + 5, 2 * MIB + 5]
    assert all(status == 206 for _, _, status in site.asked[1:])


@pytest.mark.parametrize(
    ("validators", "ranges"), [(("etag",), False), (("weak",), True), ((), True), ((), False)]
)
def test_without_range_or_validator_it_starts_over(
    make_client: Client, tmp_path: Path, validators: tuple[str, ...], ranges: bool
) -> None:
    with FileServer(OLD, validators, ranges, cut=[2 * MIB, MIB]) as site:
        check(make_client().get_to_file(site.url, tmp_path / "f", max_bytes=4 * MIB), tmp_path / "f", OLD)
    assert [status for _, _, status in site.asked] == [200, 200, 200]


@pytest.mark.parametrize("obeys_if_range", [True, False])
def test_a_changed_file_is_never_mixed(make_client: Client, tmp_path: Path, obeys_if_range: bool) -> None:
    with FileServer(OLD, cut=[2 * MIB], stall=False) as site:
        client = make_client(max_attempts=1)
        with pytest.raises(FetchError):
            client.get_to_file(site.url, tmp_path / "f", max_bytes=4 * MIB)
        assert not (tmp_path / "f").exists()
        site.content = NEW
        if not obeys_if_range:  # as a server that answers any Range with 206
            real = site.described
            site.described = lambda: {**real(), "ETag": '"new"'}  # type: ignore[method-assign]
        check(make_client().get_to_file(site.url, tmp_path / "f", max_bytes=4 * MIB), tmp_path / "f", NEW)


def test_another_size_under_the_same_etag_starts_over(make_client: Client, tmp_path: Path) -> None:
    with FileServer(OLD, (), headers={"ETag": '"same"'}, cut=[2 * MIB]) as site:
        with pytest.raises(FetchError):
            make_client(max_attempts=1).get_to_file(site.url, tmp_path / "f", max_bytes=9 * MIB)
        site.content = NEW + NEW
        check(
            make_client().get_to_file(site.url, tmp_path / "f", max_bytes=9 * MIB), tmp_path / "f", NEW + NEW
        )


def test_a_complete_part_only_needs_its_name(make_client: Client, tmp_path: Path) -> None:
    with FileServer(OLD) as site:
        client = make_client()
        check(client.get_to_file(site.url, tmp_path / "f", max_bytes=4 * MIB), tmp_path / "f", OLD)
        etag = site.described()["ETag"]
        note = {"url": site.url, "etag": etag, "last_modified": "", "total": len(OLD), "safe": len(OLD)}
        (tmp_path / "f").rename(tmp_path / ".f.part")
        (tmp_path / ".f.part.json").write_text(json.dumps(note))
        check(client.get_to_file(site.url, tmp_path / "f", max_bytes=4 * MIB), tmp_path / "f", OLD)
        assert [status for _, _, status in site.asked] == [200, 304]


@pytest.mark.parametrize(
    "note", ["", "[]", "{}", '{"url": 1}', '{"url": "x", "safe": 5, "etag": "e"}', "\x00"]
)
def test_a_foreign_or_torn_part_is_thrown_away(make_client: Client, tmp_path: Path, note: str) -> None:
    (tmp_path / ".f.part").write_bytes(b"something else")
    (tmp_path / ".f.part.json").write_text(note)
    with FileServer(OLD) as site:
        check(make_client().get_to_file(site.url, tmp_path / "f", max_bytes=4 * MIB), tmp_path / "f", OLD)


def test_limits_leave_nothing(make_client: Client, tmp_path: Path) -> None:
    for is_chunked in (False, True):
        with FileServer(OLD, is_chunked=is_chunked) as site, pytest.raises(InputError) as caught:
            make_client().get_to_file(site.url, tmp_path / "f", max_bytes=len(OLD) - 1)
        assert caught.value.reason == "too_large" and not list(tmp_path.iterdir())
    with FileServer(OLD, is_chunked=True) as site:
        check(make_client().get_to_file(site.url, tmp_path / "f", max_bytes=len(OLD)), tmp_path / "f", OLD)


def test_wrong_md5(make_client: Client, tmp_path: Path) -> None:
    with FileServer(NEW) as site, pytest.raises(ChecksumMismatch):
        make_client().get_to_file(
            site.url, tmp_path / "f", max_bytes=4 * MIB, md5=hashlib.md5(OLD).hexdigest()
        )
    assert len(site.asked) == 3 and not list(tmp_path.iterdir())


def test_absent_takes_the_part_away(make_client: Client, tmp_path: Path) -> None:
    with FileServer(OLD, cut=[MIB]) as site:
        with pytest.raises(FetchError):
            make_client(max_attempts=1).get_to_file(site.url, tmp_path / "f", max_bytes=4 * MIB)
        assert len(list(tmp_path.iterdir())) == 2
        site.status = 404
        assert make_client().get_to_file(site.url, tmp_path / "f", max_bytes=4 * MIB) is None
    assert not list(tmp_path.iterdir())


def test_a_server_that_never_gets_further_is_given_up(make_client: Client, tmp_path: Path) -> None:
    with FileServer(OLD, ranges=False, cut=[2 * MIB] * 50) as site, pytest.raises(FetchError):
        make_client().get_to_file(site.url, tmp_path / "f", max_bytes=4 * MIB)
    # 2 MiB were new the first time only.
    assert len(site.asked) == 4 and not (tmp_path / "f").exists()


def test_progress_does_not_use_up_attempts(make_client: Client, tmp_path: Path) -> None:
    content = OLD * 3
    with FileServer(content, cut=[MIB + 1] * 8) as site:
        found = make_client(max_attempts=2).get_to_file(site.url, tmp_path / "f", max_bytes=len(content))
    check(found, tmp_path / "f", content)
    assert len(site.asked) == 9


def test_a_disk_that_cannot_be_written_says_so(make_client: Client, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with FileServer(OLD) as site, pytest.raises(WorkspaceError, match="cannot write"):
        make_client().get_to_file(site.url, tmp_path / "file" / "f", max_bytes=4 * MIB)
    assert not site.asked


def test_labelled_gzip_is_kept_as_sent(make_client: Client, tmp_path: Path) -> None:
    with FileServer(OLD, headers={"Content-Encoding": "gzip"}) as site:
        check(make_client().get_to_file(site.url, tmp_path / "f", max_bytes=4 * MIB), tmp_path / "f", OLD)


FETCH = """
import sys
from pathlib import Path
from sources.http import ClientSettings, PoliteClient
client = PoliteClient(ClientSettings(allowed_hosts=("127.0.0.1",), contact="a@example.org"))
client.get_to_file(sys.argv[1], Path(sys.argv[2]), max_bytes=1 << 30)
"""


def test_killed_it_goes_on_from_what_is_safe(make_client: Client, tmp_path: Path) -> None:
    content = OLD * 6
    with FileServer(content, cut=[17 * MIB], stall=True) as site:
        child = subprocess.Popen([sys.executable, "-c", FETCH, site.url, str(tmp_path / "f")], cwd=REPOSITORY)
        part = tmp_path / ".f.part"
        limit = time.monotonic() + 30
        while not (part.exists() and part.stat().st_size >= 16 * MIB) and time.monotonic() < limit:
            time.sleep(0.02)
        time.sleep(0.2)
        os.kill(child.pid, signal.SIGKILL)
        assert child.wait(10) == -signal.SIGKILL and not (tmp_path / "f").exists()
        check(
            make_client().get_to_file(site.url, tmp_path / "f", max_bytes=len(content)),
            tmp_path / "f",
            content,
        )
    assert [status for _, _, status in site.asked] == [200, 206]
    assert int(site.asked[1][0][6:-1]) >= 16 * MIB


def test_post_form(make_client: Client) -> None:
    with FileServer(b"{}") as site:
        answer = make_client().post_form(site.url, {"term": "a b&c", "db": "pmc"}, max_bytes=10)
        assert answer is not None and answer.body == b"{}" and site.bodies == [b"term=a+b%26c&db=pmc"]
        site.status, site.headers = 307, {"Location": site.url + "2"}
        with pytest.raises(FetchError, match="form"):
            make_client().post_form(site.url, {"db": "pmc"}, max_bytes=10)


def test_into_the_store(make_client: Client, tmp_path: Path) -> None:
    with FileServer(OLD) as site, Ledger(tmp_path / "l") as ledger:
        store, client = RawStore(tmp_path / "raw", ledger), make_client()

        def fetch(path: str = "litarch/book.tar.gz") -> Held | None:
            return store.fetch_file(client, site.url, "litarch", "book", path, max_bytes=9 * MIB)

        first = fetch()
        assert first is not None and (store.root / first.path).read_bytes() == OLD
        assert fetch() == first == store.held("litarch", "book")
        site.content = NEW
        second = fetch()
        assert second is not None and store.read(second) == NEW
        (store.root / second.path).unlink()
        assert fetch() == second and store.read(second) == NEW
        assert [status for _, _, status in site.asked] == [200, 304, 200, 200]
        known = store.fetch_file(
            client, site.url, "litarch", "book", second.path, max_bytes=9 * MIB, md5=second.md5
        )
        assert known == second and len(site.asked) == 4
        with pytest.raises(InputError):
            fetch("../outside")
        site.status = 410
        assert fetch() is None and store.held("litarch", "book") == second
