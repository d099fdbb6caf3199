"""Learn how much each feature says of a principal diagnosis (`--fit` writes curation/diagnosis/score.toml).

A conditional logit on marked reports whose errors may be looked at: whole articles written without knowledge
of the rules (tests/gold/written_articles), shared reports and MEDLINE citations, their development halves.
Weights are drawn to an order of trust written down before anything was learned; what is reported here was
decided with weights learned without the article.
"""

from __future__ import annotations

import argparse
import collections
import hashlib
import json
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from benchmarks import medline_diagnoses, principal_diagnosis, written_articles
from benchmarks.measure import RESULTS, ROOT, save
from benchmarks.principal_diagnosis import Told, Vocabulary, default_vocabulary, mentions_of, told
from benchmarks.written_cases import concepts_of
from curation.diagnosis import score
from curation.diagnosis.named import Named
from curation.diagnosis.principal import RIVAL, ranked
from curation.diagnosis.stage import read_from
from curation.diagnosis.story import story_of
from curation.diagnosis.topic import NAMES as AGREES
from curation.diagnosis.topic import head_of, topic_of

RESULT = "diagnosis_ranking"
WEIGHTS = ROOT / "curation" / "diagnosis" / "score.toml"
TRUST = {
    "title": 1.2,
    "title of a wider one": 0.5,
    "main": 0.7,
    "final": 1.0,
    "finding": -1.0,
    "sign": -0.5,
    "often": 0.7,
    "wider one often": 0.5,
    "opens": 1.0,
    "defined": 0.3,
    "last": 0.5,
    "superseded": -1.0,
    "kinds": -0.5,
    "taken back": -1.0,
    "beside": -0.5,
    "named nowhere": -0.3,
    "none": 1.0,
    "words alone": -1.0,
    "in words: title's": 0.3,
    "in words: title": 0.5,
    "in words: stated": 0.5,
    "in words: last stated": 0.5,
    "in words: first named": 0.5,
    "in words: strong": 0.5,
    "in words: superseded": -0.2,
    "in words: elsewhere": -0.2,
}
"""How far each feature is trusted before anything is learned; of words, after a first look at dev."""
PULL = 1.0
"""How strongly weights are drawn to it; from .5 to 2 the likelihood of what was left out hardly changes."""
PARTS = 10
LEAST = (0.5, 0.55, 0.6, 0.65, 0.7, 0.8, 0.9)
NAMES = list(TRUST)
Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Marked:
    """One case: features of its candidates and, last, of none of them; which are right; kinds of which.

    Concepts come first, then diseases named in words alone.
    """

    kind: str
    article: str
    concepts: tuple[str, ...]
    features: Array
    is_right: npt.NDArray[np.bool_]
    wider: tuple[tuple[int, ...], ...]


def marked(vocabulary: Vocabulary) -> Iterator[Marked]:
    """All cases to learn from."""
    for row in written_articles.gold_rows("dev"):
        item = told(written_articles.article_of(row))
        patients = [
            (
                at,
                set().union(*(concepts_of(name, vocabulary) for name in patient["names"])),
                [name for name in (patient.get("diagnosis"), *patient["names"]) if name],
            )
            for at, patient in zip(range(len(item.cases)), row["patients"], strict=False)
        ]
        yield from _of_article("written", row["file"], item, patients, vocabulary)
    rows = principal_diagnosis.gold_rows("dev")
    wanted = {row["article"] for row in rows}
    items = {article.id: told(article) for article in principal_diagnosis.articles(wanted)}
    for name, item in sorted(items.items()):
        pairs: list[tuple[int, set[str], list[str]]] = [
            (item.cases.index(case), _accepted(row, vocabulary), [])
            for row in rows
            if row["article"] == name and (case := principal_diagnosis.case_of(row, item)) is not None
        ]
        yield from _of_article("articles", name, item, pairs, vocabulary)
    for citation, names in medline_diagnoses.marked():
        if int(citation.pmid) % 2 == 0:
            known = medline_diagnoses.wanted(names, vocabulary)
            item = medline_diagnoses.as_report(citation)

            def is_meant(concept: str, name: str, names: list[str] = names, known: set[str] = known) -> bool:
                return medline_diagnoses.is_meant(concept, name, names, known, vocabulary)

            yield next(_read("citations", citation.pmid, item, [(0, is_meant, names)], vocabulary))


def _accepted(row: dict[str, Any], vocabulary: Vocabulary) -> set[str]:
    return {vocabulary.same.get(one, one) for one in (row["concept"], *row["accept"]) if one}


def _of_article(
    kind: str,
    name: str,
    item: Told,
    pairs: Iterable[tuple[int, set[str], list[str]]],
    vocabulary: Vocabulary,
) -> Iterator[Marked]:
    tests = [
        (at, lambda concept, _, accepted=accepted: concept in accepted, names)
        for at, accepted, names in pairs
    ]
    yield from _read(kind, name, item, tests, vocabulary)


def _read(
    kind: str,
    name: str,
    item: Told,
    tests: Iterable[tuple[int, Callable[[str, str], bool], list[str]]],
    vocabulary: Vocabulary,
) -> Iterator[Marked]:
    """The cases of an article; diseases in words are right by names: those marked, or of right concepts."""
    found = mentions_of(item, vocabulary.matcher)
    texts = read_from(item.article, item.source, item.cases, item.passages, found)
    for at, is_meant, names in tests:
        case = item.cases[at]
        story = story_of(case, {**texts.continued, **texts.passages}, texts.headed)
        told = ranked(case, story, texts, vocabulary.concepts)
        concepts = tuple(told.found)
        is_right = [is_meant(concept, told.found[concept].name) for concept in concepts]
        known = names or [
            told.found[one].name for one, right in zip(concepts, is_right, strict=True) if right
        ]
        words = [told.named[key] for key in told.features if isinstance(key, int)]
        is_right += [is_named(one, known, texts.rest.title) for one in words]
        rows = [*(told.features[one] for one in concepts)]
        rows += [row for key, row in told.features.items() if isinstance(key, int)]
        yield Marked(
            kind,
            name,
            concepts,
            np.array([[row.get(feature, 0.0) for feature in NAMES] for row in (*rows, score.OF_NONE)]),
            np.array([*is_right, not any(is_right)]),
            tuple(
                tuple(
                    concepts.index(other)
                    for other in sorted(vocabulary.concepts.ancestors(concept).intersection(concepts))
                )
                for concept in concepts
            ),
        )


def is_named(disease: Named, names: Iterable[str], title: str) -> bool:
    """Whether a disease named in words is one of these names."""
    words = disease.phrase or head_of(title)
    return any(
        disease.topic.agreement(name) == AGREES or topic_of(name).agreement(words) == AGREES for name in names
    )


def learned(cases: Sequence[Marked]) -> Array:
    """Weights of most likelihood, drawn to the order of trust.

    Each kind of report weighs as much as another: citations are many, and who invents an article hides its
    diagnosis more often than authors do.
    """
    table = np.vstack([case.features for case in cases])
    sizes = np.array([len(case.is_right) for case in cases])
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    right = np.concatenate([case.is_right for case in cases]).astype(float)
    count = collections.Counter(case.kind for case in cases)
    shares = np.array([len(cases) / (len(count) * count[case.kind]) for case in cases])
    owner = np.repeat(np.arange(len(cases)), sizes)
    trust = np.array(list(TRUST.values()))

    def loss(weights: Array) -> tuple[float, Array]:
        scores = table @ weights
        parts = np.exp(scores - np.maximum.reduceat(scores, starts)[owner])
        good = parts * right
        whole, well = np.add.reduceat(parts, starts), np.add.reduceat(good, starts)
        away = weights - trust
        cost = PULL * float(away @ away) + float((shares * np.log(whole / well)).sum())
        slope = table.T @ ((parts / whole[owner] - good / well[owner]) * shares[owner])
        return cost, 2 * PULL * away + slope

    found: Array = minimize(loss, trust, jac=True, method="L-BFGS-B", options={"ftol": 1e-9}).x
    return found


def decided(case: Marked, weights: Array) -> tuple[float, bool, float]:
    """The chance of the candidate that `principal` takes, whether it is right, and the loss."""
    scores = case.features @ weights
    parts = np.exp(scores - scores.max())
    parts /= parts.sum()
    loss = -float(np.log(parts[case.is_right].sum()))
    if not case.concepts:
        return 0.0, False, loss
    best = int(parts[: len(case.concepts)].argmax())
    kinds = [at for at, over in enumerate(case.wider) if best in over and parts[at] >= RIVAL * parts[best]]
    best = max(kinds, key=lambda at: float(parts[at]), default=best)
    wider = sum(float(parts[at]) for at in case.wider[best])
    return round(float(parts[best]) + wider, 2), bool(case.is_right[best]), loss


def left_out(cases: Sequence[Marked]) -> dict[str, Any]:
    """Right of decided at several chances, each article decided with weights learned without its part."""
    part = [int(hashlib.sha256(case.article.encode()).hexdigest(), 16) % PARTS for case in cases]
    curves: dict[str, dict[str, list[int]]] = {}
    losses: dict[str, float] = collections.defaultdict(float)
    for one in range(PARTS):
        weights = learned([case for case, its in zip(cases, part, strict=True) if its != one])
        for case in (case for case, its in zip(cases, part, strict=True) if its == one):
            chance, is_right, loss = decided(case, weights)
            losses[case.kind] += loss
            curve = curves.setdefault(case.kind, {str(least): [0, 0] for least in LEAST})
            for least in LEAST:
                if chance >= least:
                    curve[str(least)][0] += is_right
                    curve[str(least)][1] += 1
    count = collections.Counter(case.kind for case in cases)
    return {
        kind: {"cases": count[kind], "curve": curves[kind], "loss": round(losses[kind], 2)}
        for kind in sorted(curves)
    }


def write(weights: Array) -> None:
    """The weights as the product reads them."""
    lines = [f'"{name}" = {round(float(value), 2)}' for name, value in zip(NAMES, weights, strict=True)]
    head = "# Made by `python -m benchmarks.diagnosis_ranking --fit`: weights, and the chance that decides."
    text = "\n".join([head, f"enough = {score.enough()}", "", "[weights]", *lines, ""])
    WEIGHTS.write_text(text, "utf-8")


KINDS = {
    "written": "invented whole articles",
    "articles": "shared reports, dev",
    "citations": "MEDLINE citations, dev",
}


def section() -> list[str]:
    """The lines of the benchmarks page."""
    found = json.loads((RESULTS / f"{RESULT}.json").read_text("utf-8"))
    head = " | ".join(f"≥ {least}" for least in LEAST)
    lines = [
        "## Ranking candidates of a principal diagnosis",
        "",
        "A conditional logit over what title, statements and the running text say of each candidate, learned "
        "on marked reports whose errors may be looked at. Right of decided as the least chance is raised; "
        f"each article was decided with weights learned without its tenth. From {score.enough()} on a "
        "diagnosis is decided. `python -m benchmarks.diagnosis_ranking`",
        "",
        f"| reports | cases | {head} |",
        "|---|---:|" + "---:|" * len(LEAST),
    ]
    for kind, name in KINDS.items():
        cells = (f"{right} / {decided}" for right, decided in found[kind]["curve"].values())
        lines.append(f"| {name} | {found[kind]['cases']} | " + " | ".join(cells) + " |")
    return [
        *lines,
        "",
        "The features that carry most, by the likelihood lost without them: whether a part of the article "
        "begins with the disease, whether a source also files it under signs, how often it is spoken of, and "
        "what is said of the wider concept. Tried without gain, so left out: counts by section, keywords, "
        "talk of the discussion about this patient, the first mention, thought-of mentions, statements by "
        "kind, a title named beside others.",
        "",
    ]


def main() -> int:
    """Decide what was left out and save it; with `--fit` write the weights learned from everything."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--fit", action="store_true", help="write the weights into the product")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        vocabulary = default_vocabulary(Path(folder) / "workspace")
    cases = list(marked(vocabulary))
    if missing := KINDS.keys() - {case.kind for case in cases}:
        print(f"not there: {', '.join(sorted(missing))}; `make env-all` installs citations", file=sys.stderr)
        return 1
    found = left_out(cases)
    for kind, one in found.items():
        print(kind, one["cases"], one["loss"], {at: f"{a}/{b}" for at, (a, b) in one["curve"].items()})
    weights = learned(cases)
    print({name: round(float(value), 2) for name, value in zip(NAMES, weights, strict=True)})
    if given.fit:
        write(weights)
    print(save(RESULT, found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
