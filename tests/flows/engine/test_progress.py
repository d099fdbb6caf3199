"""Progress goes to stderr as whole lines, whatever the number of threads."""

from __future__ import annotations

import io
import re
import sys
import threading
from typing import TextIO

import pytest

from flows.engine import progress
from flows.engine.progress import LiveReporter, PlainReporter, SilentReporter, reporter_for
from flows.engine.session import current_reporter, reporting


class Pieces(io.StringIO):
    """Remembers every single write, as another process reading a pipe may see it."""

    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[str] = []

    def write(self, text: str) -> int:
        self.pieces.append(text)
        return super().write(text)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def advance_in_threads(steps: progress.Steps, threads: int, each: int) -> None:
    def work() -> None:
        for number in range(each):
            steps.advance(note=f"PMC{number}")

    running = [threading.Thread(target=work) for _ in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()


def test_plain_lines_of_many_threads_are_whole_and_only_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PLAIN_INTERVAL_SECONDS", 0.0)
    stream = Pieces()
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with PlainReporter(stream).stage("crawl", 800, "articles") as steps:
            advance_in_threads(steps, 8, 100)
    finally:
        sys.setswitchinterval(before)
    lines = stream.getvalue().splitlines()
    counts = [
        int(found.group(1))
        for line in lines
        if (found := re.fullmatch(r"crawl: (\d+)/800 articles \(PMC\d+\)", line))
    ]
    assert counts == list(range(1, 801)) and len(lines) == 800
    assert all(piece.endswith("\n") for piece in stream.pieces)


def test_plain_lines_come_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("flows.engine.progress.time.monotonic", lambda: now[0])
    stream = io.StringIO()
    with PlainReporter(stream).stage("parse", 10, "shards") as steps:
        for _ in range(10):
            now[0] += 1
            steps.advance()
    assert stream.getvalue().splitlines() == ["parse: 5/10 shards", "parse: 10/10 shards"]


def test_lines_go_to_stderr_so_that_stdout_stays_data(capsys: pytest.CaptureFixture[str]) -> None:
    PlainReporter().line("parse: 3 articles [b]not markup[/b]")
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err == "parse: 3 articles [b]not markup[/b]\n"


def test_bars_on_a_terminal_lines_otherwise() -> None:
    assert isinstance(reporter_for(Terminal()), LiveReporter)
    assert isinstance(reporter_for(io.StringIO()), PlainReporter)


def test_bars_count_every_thread(capsys: pytest.CaptureFixture[str]) -> None:
    reporter = LiveReporter()
    with reporter.stage("crawl", 400, "articles") as steps:
        advance_in_threads(steps, 8, 50)
        assert steps._progress.tasks[0].completed == 400  # type: ignore[attr-defined]
    reporter.line("done [b]x[/b]")
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err.rstrip().endswith("done [b]x[/b]")


def test_silence(capsys: pytest.CaptureFixture[str]) -> None:
    with SilentReporter().stage("x", 1, "y") as steps:
        steps.advance()
    SilentReporter().line("x")
    assert capsys.readouterr() == ("", "")


def test_the_reporter_is_the_one_set_around_the_work() -> None:
    stream: TextIO = io.StringIO()
    mine = PlainReporter(stream)
    with reporting(mine):
        assert current_reporter() is mine
        with reporting(SilentReporter()):
            assert isinstance(current_reporter(), SilentReporter)
        assert current_reporter() is mine
    assert current_reporter() is not mine
