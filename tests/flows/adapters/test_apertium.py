"""Apertium as the engine of translations, played by a script that speaks its protocol; and its absence."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from curation.prompts import hyde, translation
from curation.tasks.registry import TASKS
from flows.adapters.apertium import Apertium
from flows.adapters.llm_runner import Run, key_of
from schemas.errors import FetchError, UsageError
from schemas.prompt import Prompt

WORDS = {"Which": "¿Qué", "insect": "insecto", "transmits": "transmite", "it?": "la enfermedad?"}
FAKE = f"""#!{sys.executable}
import sys
arguments = sys.argv[1:]
if arguments == ["-l"]:
    print("  eng-spa\\n  spa-eng\\n  fra-spa")
elif arguments == ["-V"]:
    print("Apertium 3.8.3")
elif arguments[:3] == ["-u", "-f", "line"] and arguments[3] in ("eng-spa", "spa-eng"):
    words = {WORDS!r}
    if arguments[3] == "spa-eng":
        words = {{one: other for other, one in words.items()}}
    for text in sys.stdin.buffer.read().decode("utf-8").splitlines():
        said = " ".join(words.get(word, word) for word in text.split())
        sys.stdout.buffer.write((said + "\\n").encode("utf-8"))
else:
    sys.exit("Error: Mode " + arguments[-1] + " does not exist")
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = tmp_path / "apertium"
    made.write_text(FAKE, "utf-8")
    made.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    return made


def prompts(*wanted: tuple[str, str]) -> list[Prompt]:
    return [
        translation.ask(f"q{place}/{language}", "multilingual_evidence", text, language)
        for place, (text, language) in enumerate(wanted)
    ]


@pytest.mark.usefixtures("program")
def test_each_text_comes_back_to_its_own_prompt_and_languages_without_a_pair_wait() -> None:
    asked = prompts(("Which insect transmits it?", "es"), ("Which insect\nbites?", "es"), ("Which?", "ja"))
    run = Run()
    (stored,) = Apertium().answers(asked, run)
    said = {key: json.loads(value) for key, value in stored.items()}
    assert said.keys() == {key_of(asked[0]), key_of(asked[1])}
    first, second = (said[key_of(prompt)] for prompt in asked[:2])
    assert json.loads(first["text"]) == {"text": "¿Qué insecto transmite la enfermedad?"}
    assert json.loads(second["text"]) == {"text": "¿Qué insecto bites?"}
    assert first["served_model"] == "Apertium 3.8.3 eng-spa" and first["state"] == "answered"
    assert run.calls == 2 and run.unasked == 1 and run.outcomes["no pair for ja"] == 1


@pytest.mark.usefixtures("program")
def test_back_translations_go_by_the_pair_into_english() -> None:
    asked = [
        translation.ask_back(f"q1/{language}", "multilingual_evidence", text, language)
        for text, language in (("¿Qué insecto", "es"), ("Quel insecte", "fr"))
    ]
    run = Run()
    (stored,) = Apertium().answers(asked, run)
    assert json.loads(json.loads(stored[key_of(asked[0])])["text"]) == {"text": "Which insect"}
    assert run.calls == 1 and run.outcomes["no pair for fr"] == 1


@pytest.mark.usefixtures("program")
def test_it_answers_no_other_prompt() -> None:
    task = TASKS["multilingual_evidence"]
    other = hyde.HYDE.ask("q1", task.name, "Which insect?", task.scale)
    with pytest.raises(UsageError, match="cannot answer hyde@1"):
        list(Apertium().answers([other], Run()))


def test_a_program_that_loses_a_text_is_not_believed(program: Path) -> None:
    program.write_text(FAKE.replace(".splitlines()", ".splitlines()[:-1]"), "utf-8")
    with pytest.raises(FetchError, match="gave 1 texts for 2"):
        list(Apertium().answers(prompts(("Which insect?", "es"), ("Which?", "es")), Run()))


def test_where_it_is_not_installed_the_error_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="apertium is not installed") as caught:
        Apertium()
    assert "apertium-eng-spa" in str(caught.value.hint)
