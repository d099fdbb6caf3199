"""Defaults, then TOML, then environment, then the command line; mistakes are named, values are not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from flows.engine.hosts import PMC_ENDPOINT
from flows.engine.settings import load_settings
from schemas.errors import UsageError


@pytest.fixture(autouse=True)
def clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in list(os.environ):
        if name.startswith("MEDQRELS_"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def toml(folder: Path, text: str) -> None:
    (folder / "medqrels.toml").write_text(text, "utf-8")


def test_defaults() -> None:
    found = load_settings()
    assert found.workspace == Path("workspace") and found.pmc.endpoint == PMC_ENDPOINT
    assert found.workers == 0 and found.worker_count == (os.cpu_count() or 1)


def test_each_layer_wins_over_the_one_below(clean: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    toml(
        clean,
        'workers = 3\nshard_size = 30\ncontact = "a@example.org"\n'
        "[pmc]\nconnections = 4\n[http]\nattempts = 2\n",
    )
    monkeypatch.setenv("MEDQRELS_SHARD_SIZE", "40")
    monkeypatch.setenv("MEDQRELS_PMC__CONNECTIONS", "5")
    found = load_settings(contact="b@example.org", workspace=None)
    assert (found.workers, found.shard_size, found.contact) == (3, 40, "b@example.org")
    assert (found.pmc.connections, found.pmc.endpoint, found.http.attempts) == (5, PMC_ENDPOINT, 2)
    assert found.workspace == Path("workspace") and found.worker_count == 3


def test_the_file_can_be_named(clean: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = clean / "other.toml"
    other.write_text("workers = 7\n")
    toml(clean, "workers = 3\n")
    monkeypatch.setenv("MEDQRELS_CONFIG", str(other))
    assert load_settings().workers == 7
    monkeypatch.setenv("MEDQRELS_CONFIG", str(clean / "absent.toml"))
    with pytest.raises(UsageError, match="MEDQRELS_CONFIG names a file that does not exist") as caught:
        load_settings()
    assert caught.value.file.endswith("absent.toml") and caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("worker = 3", "worker"),
        ("[pmc]\nendpont = 'x'", "pmc.endpont"),
        ("[ftp]\nx = 1", "ftp"),
        ("workers = 'many'", "workers"),
        ("workers = -1", "workers"),
        ("workers = 2.5", "workers"),
        ("shard_size = 501", "shard_size"),
        ("shard_size = 0", "shard_size"),
        ("memory_limit = 'lots'", "memory_limit"),
        ("memory_limit = '-1GB'", "memory_limit"),
        ("memory_limit = '1KB'", "memory_limit"),
        ("memory_limit = '127.5MiB'", "memory_limit"),
        ("log_level = 'LOUD'", "log_level"),
        ("[pmc]\nconnections = 0", "pmc.connections"),
        ("[http]\nattempts = 0", "http.attempts"),
        ("pmc = 3", "pmc"),
    ],
)
def test_a_mistake_in_the_file_is_named(clean: Path, text: str, key: str) -> None:
    toml(clean, text)
    with pytest.raises(UsageError, match=f"setting '{key}'") as caught:
        load_settings()
    assert caught.value.file == "medqrels.toml"


@pytest.mark.parametrize("data", [b"workers = ", b"= 3", b"\xff\xfe", b"[a\n"])
def test_a_file_that_is_not_toml_is_named(clean: Path, data: bytes) -> None:
    (clean / "medqrels.toml").write_bytes(data)
    with pytest.raises(UsageError, match="cannot be read") as caught:
        load_settings()
    assert caught.value.file == "medqrels.toml"


@pytest.mark.parametrize(
    ("name", "value", "key"),
    [
        ("MEDQRELS_WORKERS", "many", "workers"),
        ("MEDQRELS_PMC__CONNECTIONS", "none", "pmc.connections"),
        ("MEDQRELS_PMC__ENDPONT", "x", "pmc.endpont"),
        ("MEDQRELS_PMC", "{", "pmc"),
        ("MEDQRELS_WORKERZ", "3", "MEDQRELS_WORKERZ"),
        ("MEDQRELS_FTP__HOST", "x", "MEDQRELS_FTP__HOST"),
    ],
)
def test_a_mistake_in_the_environment_is_named(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, key: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(UsageError, match=key):
        load_settings()


def test_a_mistake_on_the_command_line_is_named() -> None:
    with pytest.raises(UsageError, match="setting 'workers'"):
        load_settings(workers="many")
    with pytest.raises(UsageError, match="setting 'wrkers'"):
        load_settings(wrkers=1)


@pytest.mark.parametrize("limit", ["4GB", "512MB", "1.5GiB", "300 MB"])
def test_memory_limits(limit: str) -> None:
    assert load_settings(memory_limit=limit).memory_limit == limit


def test_values_are_not_repeated_in_errors(clean: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A value may be a secret pasted under the wrong name."""
    monkeypatch.setenv("MEDQRELS_WORKERS", "hunter2-secret")
    monkeypatch.setenv("MEDQRELS_TOKEN", "hunter2-secret")
    for _ in range(2):
        with pytest.raises(UsageError) as caught:
            load_settings()
        assert "hunter2" not in str(caught.value) + str(caught.value.attrs())
        monkeypatch.delenv("MEDQRELS_TOKEN", raising=False)
    monkeypatch.delenv("MEDQRELS_WORKERS")
    toml(clean, 'token = "hunter2-secret"')
    with pytest.raises(UsageError) as caught:
        load_settings()
    assert "hunter2" not in str(caught.value)


def test_settings_do_not_change() -> None:
    found = load_settings()
    with pytest.raises(ValueError, match="frozen"):
        found.workers = 3  # type: ignore[misc]
    with pytest.raises(ValueError, match="frozen"):
        found.pmc.connections = 3  # type: ignore[misc]


def test_a_file_of_an_editor_that_marks_its_files_is_read(clean: Path) -> None:
    (clean / "medqrels.toml").write_bytes(b"\xef\xbb\xbfworkers = 3\r\n")
    assert load_settings().workers == 3


def test_a_misspelt_key_is_told_what_it_may_mean(clean: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    toml(clean, "[pmc]\nendpiont = 'x'")
    with pytest.raises(UsageError, match=r"'pmc\.endpiont': there is no such key; did you mean 'endpoint'"):
        load_settings()
    (clean / "medqrels.toml").unlink()
    monkeypatch.setenv("MEDQRELS_PMC__CONNECTIONS", "none")
    with pytest.raises(UsageError, match=r"'pmc\.connections': should be a valid integer") as caught:
        load_settings()
    assert not caught.value.file and "correct MEDQRELS_PMC__CONNECTIONS" in caught.value.hint
    monkeypatch.delenv("MEDQRELS_PMC__CONNECTIONS")
    monkeypatch.setenv("MEDQRELS_WRKERS", "3")
    with pytest.raises(UsageError, match="did you mean 'MEDQRELS_WORKERS'"):
        load_settings()
