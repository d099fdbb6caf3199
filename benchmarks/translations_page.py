"""What the page of benchmarks says of the checks of translations."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from benchmarks import told_languages
from benchmarks.measure import RESULTS
from benchmarks.translations import LEAST, LEAST_FOUND, MOST_REJECTED

_OF_CONCEPTS = ("sibling", "answer")


def section() -> list[str]:
    """The lines of the benchmarks page."""
    result = json.loads((RESULTS / "translations.json").read_text("utf-8"))
    questions, texts, concepts = result["questions"], result["texts"], result["concepts"]
    lines = [
        "## Checks of translations",
        "",
        "What `curation.multilingual` rejects of right translations, and what it finds of errors planted by "
        "`benchmarks/planted_translations.py` and `benchmarks/translated_concepts.py`, which share no code "
        "with it. Fitted on one half, measured on the other, and no document is in both: of 31 documents of "
        "TICO-19 each is in one. "
        f"Targets: at most {MOST_REJECTED:.2f} rejected, at least {LEAST_FOUND:.2f} found; a cell with fewer "
        f"than {LEAST} cases is not measured. {result['per_cpu_second']:,} texts per CPU second. "
        "`python -m benchmarks.translations`",
        "",
        "### Questions",
        "",
        "What the task checks: short questions with the name of a disease "
        "(`benchmarks/known_questions.toml`, every second one), and, for siblings and answers, those of "
        "`crosslingual_qa` with an official label of HPO, whose vocabulary the check of concepts asks. "
        "Shares found, of how many planted; these are of few frames (in brackets), each with eight diseases, "
        "so that intervals would say too little. On these a first run rejected .07 to .08 in es, fr and pt, "
        'and found .667 of sides added, for one question (a kidney "derecho de" someone, taken for law); the '
        "lists were mended by that, and the last two questions measured were added unseen.",
        "",
    ]
    names = list(next(iter(questions["caught"].values())))
    names = [name for name in names if name != "wrong_language_short"]
    lines += [
        f"| language | rejected | {' | '.join(_title(name) for name in (*names, *_OF_CONCEPTS))} |",
        f"|---|---|{'---|' * (len(names) + len(_OF_CONCEPTS))}",
    ]
    for language, row in questions["caught"].items():
        kinds = questions["false_rejects"].get(language, {})
        cells = [_short(kinds["question"])] if kinds else ["–"]
        cells += [_short(row[name], f" ({row[name]['documents']})") for name in names]
        shares = concepts["shares"].get(language, {})
        cells += [_short(shares[name]) if shares else "no names" for name in _OF_CONCEPTS]
        lines.append(f"| {language} | {' | '.join(cells)} |")
    lines += [
        "",
        "The check of concepts on right texts. *Shown*: questions made with the names that a translator is "
        "given. *Not shown*: sentences of TICO-19 and the questions above, whose translators chose their "
        "own words; an engine that reads the text alone, as Apertium, is rejected for what is new alone; "
        "*held to names* is the same text of a person or a model, who is told to use the names: what is lost "
        "counts, too.",
        "",
        "| language | shown: passed · failed · not_run | rejected | not shown: passed · failed · not_run |",
        "|---|---|---|---|",
    ]
    for language in sorted({*concepts["runs"], *concepts["unshown"]}):
        shown, shares = concepts["runs"].get(language, {}), concepts["shares"].get(language, {})
        unshown = [
            f"{kind} {_runs(counts)}"
            for kind, counts in sorted(concepts["unshown"].get(language, {}).items())
        ]
        lines.append(
            f"| {language} | {_runs(shown)} | {_short(shares['rejected']) if shares else '–'} "
            f"| {', '.join(unshown)} |"
        )
    lines += ["", "### Texts", "", *told_languages.lines(result["languages"])]
    lines += [
        "Sentences are of TICO-19, without three French documents whose sentences stand beside the wrong "
        "English ones, found by the letters they share with the sentences of their document in all "
        "languages, not by the checks. A negation is lost where only the English denies, new where only the "
        "translation does. Names alone are no queries; *wrong language short* is of them.",
        "",
        "| language | texts | n | rejected (95 %) | reasons |",
        "|---|---|---:|---|---|",
    ]
    for language, kinds in texts["false_rejects"].items():
        for kind, row in kinds.items():
            reasons = ", ".join(f"{name} {count}" for name, count in row["reasons"].items())
            lines.append(f"| {language} | {kind}s | {row['n']} | {_shown(row)} | {reasons} |")
    names = list(next(iter(texts["caught"].values())))
    lines += ["", "Found, with the number planted:", ""]
    lines += [f"| language | {' | '.join(map(_title, names))} |", f"|---|{'---|' * len(names)}"]
    for language, row in texts["caught"].items():
        cells = [f"{_shown(row[name])} of {row[name]['n']}" for name in names]
        lines.append(f"| {language} | {' | '.join(cells)} |")
    missed = list(_missed(result))
    lines += ["", f"**Missed targets** ({len(missed)}): {'; '.join(missed) or 'none'}.", ""]
    few = list(_unmeasured(result))
    return [*lines, f"**Not measured**, with n: {'; '.join(few) or 'none'}.", ""]


def _cells(result: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any], bool]]:
    """(what it is, cell, whether it is of right texts) of every cell with a target."""
    for part in ("questions", "texts"):
        for language, kinds in result[part]["false_rejects"].items():
            for kind, row in kinds.items():
                yield f"{language} {kind}s rejected", row, True
        for language, row in result[part]["caught"].items():
            for name, cell in row.items():
                if part == "texts" or name != "wrong_language_short":
                    yield f"{language} {_title(name)} ({part})", cell, False
    for language, shares in result["concepts"]["shares"].items():
        for name, cell in shares.items():
            is_right = name == "rejected"
            yield f"{language} {'concepts rejected' if is_right else name} (questions)", cell, is_right
    for language, kinds in result["concepts"]["unshown"].items():
        for kind, counts in kinds.items():
            total = sum(counts.values())
            cell = {"n": total, "share": round(counts.get("failed", 0) / total, 4)}
            yield f"{language} concepts, no names shown, {kind} rejected", cell, True


def _missed(result: Mapping[str, Any]) -> Iterator[str]:
    for what, cell, is_right in _cells(result):
        share = cell["share"]
        by = 0.0 if share is None else share - MOST_REJECTED if is_right else LEAST_FOUND - share
        if by > 0:
            yield f"{what} {share:.3f}, by {by:.3f}"


def _unmeasured(result: Mapping[str, Any]) -> Iterator[str]:
    for what, cell, _ in _cells(result):
        if cell["share"] is None:
            yield f"{what} {cell['n']}"


def _title(name: str) -> str:
    return name.replace("_", " ")


def _runs(counts: Mapping[str, int]) -> str:
    return " · ".join(str(counts.get(status, 0)) for status in ("passed", "failed", "not_run"))


def _short(row: Mapping[str, Any], behind: str = "") -> str:
    said = "not measured" if row["share"] is None else f"{row['share']:.3f}"
    return f"{said} of {row['n']}{behind}"


def _shown(row: Mapping[str, Any]) -> str:
    if row["share"] is None:
        return "not measured"
    low, high = row["interval"]
    return f"{row['share']:.3f} ({low:.2f}–{high:.2f})"
