"""The scope gate: is an article about human medicine? '' | not_medical | not_human, with the evidence for it.

Points are counted over journal, subjects, title, keywords and the opening of the text. The gate favours
precision of what is kept: an article without positive evidence of people and care is out. Studies of groups
stay in, for tasks on figures; whether anybody is told of as a patient (not_a_patient) the case stage decides.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from curation.extract import scope_terms
from schemas.article import Article

NOT_MEDICAL = "not_medical"
NOT_HUMAN = "not_human"

_TOKEN = re.compile(r"\w++(?:[-'’]\w++)*+")
_SAMPLE = 6000
_TITLE, _KEYWORD, _JOURNAL, _TEXT = 4, 2, 3, 1
"""Points of one different word by where it stands."""
_LABORATORY = (
    " mice",
    " mouse",
    " rats ",
    " xenograft",
    " cell line",
    " cells were",
    " cultured ",
    "in vitro",
    "transfect",
)
_PERSONS = ("patient", "participant", " women", " children", " volunteers", " men ", "infant")
_MIN_LABORATORY = 12
_MIN_BENCH = 8
_MIN_CARE, _MIN_PEOPLE = 8, 4
_MANY = 20
"""Points that make people or care the subject of an article beyond doubt."""


class _Lexicon:
    """Whole words and word beginnings."""

    def __init__(self, words: str) -> None:
        entries = words.split()
        self.words = frozenset(word for word in entries if not word.endswith("*"))
        self.stems = tuple(sorted({word[:-1] for word in entries if word.endswith("*")}))
        self.pair_starts = frozenset(word.partition("-")[0] for word in entries if "-" in word)

    def holds(self, token: str) -> bool:
        """Whether the lexicon names this word."""
        return token in self.words or token.startswith(self.stems)


_LEXICONS = {
    "people": _Lexicon(scope_terms.PEOPLE),
    "care": _Lexicon(scope_terms.CARE),
    "animal": _Lexicon(scope_terms.ANIMAL),
    "bench": _Lexicon(scope_terms.BENCH),
    "other": _Lexicon(scope_terms.OTHER_FIELDS),
    "journal": _Lexicon(scope_terms.HUMAN_JOURNALS),
}
_OPENING = min(len(stem) for lexicon in _LEXICONS.values() for stem in lexicon.stems)
_OPENINGS = frozenset(
    entry[:_OPENING] for lexicon in _LEXICONS.values() for entry in lexicon.words.union(lexicon.stems)
)
"""How the words of the lexicons begin: most words of a text begin otherwise and need no look-up."""
_PAIR_STARTS = frozenset(start for lexicon in _LEXICONS.values() for start in lexicon.pair_starts)


@functools.lru_cache(maxsize=100_000)
def _lexicons_of(token: str) -> frozenset[str]:
    """Names of the lexicons that hold a word."""
    return frozenset(name for name, lexicon in _LEXICONS.items() if lexicon.holds(token))


def _sorted_by_lexicon(tokens: Sequence[str]) -> dict[str, list[str]]:
    """Tokens by the lexicons that hold them, in order."""
    found: dict[str, list[str]] = {name: [] for name in _LEXICONS}
    likely = [token for token in set(tokens) if token[:_OPENING] in _OPENINGS]
    held = {token: names for token in likely if (names := _lexicons_of(token))}
    for token in filter(held.__contains__, tokens):
        for name in held[token]:
            found[name].append(token)
    return found


@dataclass(slots=True)
class _Score:
    points: int = 0
    evidence: list[str] = field(default_factory=list)

    def add(self, weight: int, where: str, hits: list[str], limit: int) -> None:
        """Count different words of one place, at most `limit` of them."""
        for word in hits[:limit]:
            self.points += weight
            self.evidence.append(f"{where}: {word}")


def decide(article: Article) -> tuple[str, tuple[str, ...]]:
    """Scope decision and its evidence.

    Args:
        article: the parsed article.

    Returns:
        ('' | 'not_medical' | 'not_human', up to eight strings like 'title: patients', heaviest place first;
        the first of an article out for want of evidence says so: 'care: only 3 of 8 points').
    """
    places = _places(article)
    people = _score(places, "people", "repeated")
    care = _score(places, "care")
    animal = _score(places, "animal", "repeated")
    bench = _score(places, "bench", "repeated")
    other = _score(places, "other")
    journal = places["journal"]["journal"]
    care.add(_JOURNAL, "journal", journal, 2)
    subjects = places["subject"]["journal"]
    care.add(_JOURNAL, "subject", subjects, 2)
    is_case = article.article_type == "case-report" or "case-report" in places["title"]
    if is_case and journal:
        people.add(_TITLE, "type", ["case-report"], 1)
    verdict, evidence = _verdict(people, care, animal, bench, other, article.article_type == "review-article")
    bench_points = animal.points + bench.points
    if not verdict and bench_points and (laboratory := _laboratory_count(article, bench_points)):
        return NOT_HUMAN, (f"body: {laboratory} mentions of laboratory animals and cells, fewer of people",)
    return verdict, evidence


def _laboratory_count(article: Article, points: int) -> int:
    """Mentions of animals and cell culture in the whole body when they outnumber those of people, else 0.

    They count twice in an article that speaks of animals or the bench from its opening on: patients whose
    tissue starts a series of experiments are not what its figures show.
    """
    body = "\n".join(passage.text for passage in article.passages)
    laboratory = sum(map(body.count, _LABORATORY))
    if laboratory < _MIN_LABORATORY:
        return 0
    weight = 2 if points >= _MIN_BENCH else 1
    return laboratory if weight * laboratory > sum(map(body.count, _PERSONS)) else 0


def _verdict(
    people: _Score, care: _Score, animal: _Score, bench: _Score, other: _Score, is_typed_review: bool
) -> tuple[str, tuple[str, ...]]:
    is_about_people = people.points >= _MANY and care.points >= max(_MANY, other.points)
    if 3 * other.points > 2 * care.points and not is_about_people:
        return NOT_MEDICAL, _shown(other)
    if care.points < _MIN_CARE:
        return NOT_MEDICAL, _too_few("care", care, _MIN_CARE)
    is_titled = any(line.startswith(("title", "type")) for line in care.evidence)
    laboratory = animal.points + bench.points
    if is_typed_review and is_titled and people.points and care.points >= max(_MANY, 2 * laboratory):
        return "", _shown(care, people)  # reviews of a disease name its vectors and its tests
    if animal.points > people.points or animal.points * 2 > people.points + 12:
        return NOT_HUMAN, _shown(animal)
    is_review = care.points >= _MANY and is_titled and not laboratory
    if bench.points > people.points:
        return NOT_HUMAN, _shown(bench)
    if people.points < _MIN_PEOPLE and not (is_review and people.points):
        return NOT_HUMAN, _too_few("people", people, _MIN_PEOPLE)
    return "", _shown(care, people)


def _too_few(name: str, score: _Score, least: int) -> tuple[str, ...]:
    """What little speaks for an article that is out for want of it."""
    return (f"{name}: only {score.points} of {least} points", *list(dict.fromkeys(score.evidence))[:7])


def _shown(*scores: _Score) -> tuple[str, ...]:
    return tuple(line for score in scores for line in list(dict.fromkeys(score.evidence))[: 8 // len(scores)])


def _places(article: Article) -> dict[str, dict[str, list[str]]]:
    """Distinct words of each place by lexicon; under "repeated", those of the text with their repetitions."""
    body = [passage.text for passage in article.passages[:12]]
    abstracts = [abstract.text for abstract in article.abstracts]
    repeated = _with_pairs(_TOKEN.findall(" ".join([*abstracts, *body])[:_SAMPLE].lower()))
    words = {
        "title": _words(article.title),
        "keyword": _words(" ; ".join(term for group in article.keywords for term in group.terms)),
        "journal": _words(article.journal),
        "subject": _words(" ; ".join(article.subjects)),
        "repeated": repeated,
    }
    places = {place: _sorted_by_lexicon(tokens) for place, tokens in words.items()}
    places["text"] = {name: list(dict.fromkeys(hits)) for name, hits in places["repeated"].items()}
    return places


def _words(text: str) -> list[str]:
    return list(dict.fromkeys(_with_pairs(_TOKEN.findall(text.lower()))))


def _with_pairs(tokens: list[str]) -> list[str]:
    """Tokens and the hyphenated pairs of neighbours that may be two-word terms ("land use")."""
    starts = map(_PAIR_STARTS.__contains__, tokens)
    return tokens + [f"{one}-{two}" for one, two in itertools.compress(itertools.pairwise(tokens), starts)]


def _score(places: dict[str, dict[str, list[str]]], lexicon: str, text: str = "text") -> _Score:
    """Points of a lexicon; people, animals and the bench count as often as the text names them, up to 20."""
    score = _Score()
    score.add(_TITLE, "title", _single(places["title"][lexicon]), 4)
    score.add(_JOURNAL, "journal", _single(places["journal"][lexicon]), 2)
    score.add(_JOURNAL, "subject", _single(places["subject"][lexicon]), 2)
    score.add(_KEYWORD, "keyword", _single(places["keyword"][lexicon]), 5)
    score.add(_TEXT, "text", _single(places[text][lexicon]), 20)
    return score


def _single(hits: list[str]) -> list[str]:
    """Leave out pairs that only repeat the stem of their first word."""
    words = set(hits)
    return [hit for hit in hits if "-" not in hit or hit.partition("-")[0] not in words]
