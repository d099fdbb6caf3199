"""The ledger and the raw/ writer: nothing recorded that is not there, nothing written half."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from pathlib import Path

import pytest

from schemas.errors import InputError, WorkspaceError
from sources.ledger import Ledger, stored_files, summary
from sources.store import RawStore, as_md5, is_safe_name, md5_hex


def test_put_find_and_summary_while_open_and_after(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    assert summary(path) == ()
    with Ledger(path, clock=lambda: 12.0) as ledger:
        store = RawStore(tmp_path / "raw", ledger)
        store.put("pmc", "k", "pmc/a.xml", b"abc", etag='"e"', headers={"x-amz-meta-synthetic": "true"})
        ledger.failed("pmc", "gone", "HTTP 503")
        held = store.held("pmc", "k", md5=md5_hex(b"abc"))
        assert held is not None and store.read(held) == b"abc" and store.head(held, 2) == b"ab"
        assert (held.etag, held.headers) == ('"e"', {"x-amz-meta-synthetic": "true"})
        assert store.held("pmc", "k", md5="0" * 32) is None
        assert ledger.find("pmc", "gone") is None and ledger.find("folder", "k") is None
        before = summary(path)
    assert summary(path) == before
    only = before[0]
    assert (only.source, only.objects, only.size_bytes, only.failing) == ("pmc", 1, 3, 1)
    assert only.last_fetched_at == 12.0


def test_rows_survive_reopening_and_failures_keep_what_is_held(tmp_path: Path) -> None:
    with Ledger(tmp_path / "l") as ledger:
        RawStore(tmp_path / "raw", ledger).put("pmc", "k", "pmc/a", b"abc")
        ledger.failed("pmc", "k", "HTTP 500")
    with Ledger(tmp_path / "l") as ledger:
        assert RawStore(tmp_path / "raw", ledger).held("pmc", "k") is not None


def test_missing_short_and_changed_files_are_noticed(tmp_path: Path) -> None:
    with Ledger(tmp_path / "l") as ledger:
        store = RawStore(tmp_path / "raw", ledger)
        held = store.put("pmc", "k", "pmc/a", b"abc")
        (tmp_path / "raw/pmc/a").write_bytes(b"abX")
        assert store.held("pmc", "k") is not None and store.read(held) is None
        (tmp_path / "raw/pmc/a").write_bytes(b"ab")
        assert store.held("pmc", "k") is None
        (tmp_path / "raw/pmc/a").unlink()
        assert store.held("pmc", "k") is None and store.read(held) is None


@pytest.mark.parametrize(
    "path", ["../x", "/etc/x", "pmc/../../x", "pmc/.hidden", "", "pmc/a\x00b", "pmc/" + "n" * 201]
)
def test_paths_stay_inside(tmp_path: Path, path: str) -> None:
    with Ledger(tmp_path / "l") as ledger, pytest.raises(InputError):
        RawStore(tmp_path / "raw", ledger).put("pmc", "k", path, b"")
    assert not (tmp_path / "raw").exists() or not list((tmp_path / "raw").rglob("*"))


def test_leftover_of_a_crash_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "raw/pmc").mkdir(parents=True)
    (tmp_path / "raw/pmc/.a.part").write_bytes(b"half of something much longer")
    with Ledger(tmp_path / "l") as ledger:
        RawStore(tmp_path / "raw", ledger).put("pmc", "k", "pmc/a", b"abc")
    assert [(path.name, path.read_bytes()) for path in (tmp_path / "raw/pmc").iterdir()] == [("a", b"abc")]


def test_threads_and_two_openings(tmp_path: Path) -> None:
    with Ledger(tmp_path / "l") as one, Ledger(tmp_path / "l") as two:
        stores = [RawStore(tmp_path / "raw", ledger) for ledger in (one, two)]

        def work(number: int) -> None:
            for item in range(20):
                stores[number % 2].put("pmc", f"{number}-{item}", f"pmc/{number}-{item}", b"x")

        threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert summary(tmp_path / "l")[0].objects == 120


def test_a_damaged_ledger_says_so(tmp_path: Path) -> None:
    (tmp_path / "l").write_bytes(b"this is no database, and long enough to tell" * 50)
    with pytest.raises(WorkspaceError):
        Ledger(tmp_path / "l")
    with pytest.raises(WorkspaceError):
        summary(tmp_path / "l")


@pytest.mark.parametrize("ask", ["find", "put", "failed", "forget", "summary", "stored_files"])
def test_damage_anywhere_in_a_ledger_says_so(tmp_path: Path, ask: str) -> None:
    """One page after the other is overwritten: what is read of it tells, as does what cannot be opened."""
    whole = tmp_path / "whole"
    with Ledger(whole) as ledger:
        store = RawStore(tmp_path / "raw", ledger)
        for number in range(120):
            store.put("pmc", f"{number}", f"pmc/{number}", b"x" * number)
    content, page = whole.read_bytes(), 4096
    assert len(content) > 4 * page
    told = 0
    for start in range(0, len(content), page):
        path = tmp_path / f"l{start}"
        path.write_bytes(content[:start] + b"\xa5" * page + content[start + page :])
        try:
            if ask == "summary":
                summary(path)
            if ask == "stored_files":
                stored_files(path)
            if ask in ("summary", "stored_files"):
                continue
            with Ledger(path) as ledger:
                for number in range(0, 120, 5):
                    if ask == "find":
                        ledger.find("pmc", f"{number}")
                    elif ask == "put":
                        RawStore(tmp_path / "raw", ledger).put("pmc", f"{number}", f"pmc/{number}", b"new")
                    elif ask == "failed":
                        ledger.failed("pmc", f"{number}", "no")
                    else:
                        ledger.forget("pmc", f"pmc/{number}")
        except WorkspaceError as error:
            assert error.file == str(path) and "move the file away" in error.hint
            told += 1
    assert told > 2


def test_a_damaged_value_in_a_ledger_says_so(tmp_path: Path) -> None:
    with Ledger(tmp_path / "l") as ledger:
        RawStore(tmp_path / "raw", ledger).put("pmc", "k", "pmc/a", b"abc", headers={"ETag": "one"})
    with contextlib.closing(sqlite3.connect(tmp_path / "l")) as db:
        db.execute('UPDATE objects SET headers = \'{"ETag": "on\'')
        db.commit()
    with Ledger(tmp_path / "l") as ledger, pytest.raises(WorkspaceError, match="cannot be read"):
        ledger.find("pmc", "k")


def test_md5_and_names() -> None:
    digest = "0123456789abcdef" * 2
    assert as_md5(f'"{digest}"') == as_md5(digest.upper()) == digest
    assert as_md5(f'"{digest}-2"') is None and as_md5(None) is None and as_md5("") is None
    for name in ("gr1.jpg", "pone.0000217.g001", "Figure 1 (final).tif", "ação.png"):
        assert is_safe_name(name)
    for name in ("", ".", "..", ".x", "a/b", "a\\b", "a\nb", "a:b", "x.", "\ud800"):
        assert not is_safe_name(name)


def test_a_row_whose_file_a_power_cut_undid_is_not_held(tmp_path: Path) -> None:
    with Ledger(tmp_path / "l") as ledger:
        store = RawStore(tmp_path / "raw", ledger)
        store.put("pmc", "k", "pmc/a", b"abc")
        # The rename was lost: the bytes still have their temporary name.
        (tmp_path / "raw/pmc/a").rename(tmp_path / "raw/pmc/.a.part")
        assert store.held("pmc", "k") is None
        held = store.put("pmc", "k", "pmc/a", b"abc")
        assert store.held("pmc", "k") == held
        assert [path.name for path in (tmp_path / "raw/pmc").iterdir()] == ["a"]
