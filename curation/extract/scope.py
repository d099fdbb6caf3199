"""The scope gate: is an article about human medicine? '' | not_medical | not_human, with the evidence for it.

Points are counted over journal, subjects, title, keywords and the opening of abstract and text. The gate favours
the precision of what is kept: an article without positive evidence of people and care is out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from curation.extract import scope_terms
from schemas.article import Article

NOT_MEDICAL = "not_medical"
NOT_HUMAN = "not_human"

_TOKEN = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")
_SAMPLE = 6000
_TITLE, _KEYWORD, _JOURNAL, _TEXT = 4, 2, 3, 1
"""Points of one different word by where it stands."""


class _Lexicon:
    """Whole words and word beginnings."""

    def __init__(self, words: str) -> None:
        entries = words.split()
        self.words = frozenset(word for word in entries if not word.endswith("*"))
        stems = sorted({word[:-1] for word in entries if word.endswith("*")})
        self.stems = re.compile("|".join(map(re.escape, stems)))

    def hits(self, tokens: Iterable[str]) -> list[str]:
        """The tokens of this lexicon, in order, each once."""
        return [token for token in tokens if token in self.words or self.stems.match(token)]


_PEOPLE = _Lexicon(scope_terms.PEOPLE)
_CARE = _Lexicon(scope_terms.CARE)
_ANIMAL = _Lexicon(scope_terms.ANIMAL)
_BENCH = _Lexicon(scope_terms.BENCH)
_OTHER = _Lexicon(scope_terms.OTHER_FIELDS)
_JOURNALS = _Lexicon(scope_terms.HUMAN_JOURNALS)


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
        ('' | 'not_medical' | 'not_human', up to eight strings like 'title: patients', heaviest place first).
    """
    places = _places(article)
    people = _score(places, _PEOPLE, "repeated")
    care = _score(places, _CARE)
    animal = _score(places, _ANIMAL, "repeated")
    bench = _score(places, _BENCH, "repeated")
    other = _score(places, _OTHER)
    journal = _JOURNALS.hits(places["journal"])
    care.add(_JOURNAL, "journal", journal, 2)
    subjects = _JOURNALS.hits(places["subject"])
    care.add(_JOURNAL, "subject", subjects, 2)
    is_case = article.article_type == "case-report" or "case-report" in places["title"]
    if is_case and journal:
        people.add(_TITLE, "type", ["case-report"], 1)
    return _verdict(people, care, animal, bench, other)


def _verdict(
    people: _Score, care: _Score, animal: _Score, bench: _Score, other: _Score
) -> tuple[str, tuple[str, ...]]:
    if 3 * other.points > 2 * care.points or care.points < 8:
        return NOT_MEDICAL, _shown(other if other.points else care)
    if animal.points > people.points or animal.points * 2 > people.points + 12:
        return NOT_HUMAN, _shown(animal)
    is_titled = any(line.startswith(("title", "type")) for line in care.evidence)
    is_review = care.points >= 20 and is_titled and not animal.points and not bench.points
    if (people.points < 4 and not (is_review and people.points)) or bench.points > people.points:
        return NOT_HUMAN, _shown(bench if bench.points else people)
    return "", _shown(care, people)


def _shown(*scores: _Score) -> tuple[str, ...]:
    lines = [line for score in scores for line in list(dict.fromkeys(score.evidence))[: 8 // len(scores)]]
    return tuple(lines) or ("no evidence found",)


def _places(article: Article) -> dict[str, list[str]]:
    """Distinct lower-case words of each place, with hyphenated pairs of neighbours for two-word terms."""
    body = [passage.text for passage in article.passages[:12]]
    abstracts = [abstract.text for abstract in article.abstracts]
    text = " ".join([*abstracts, *body])[:_SAMPLE]
    return {
        "title": _words(article.title),
        "keyword": _words(" ; ".join(term for group in article.keywords for term in group.terms)),
        "journal": _words(article.journal),
        "subject": _words(" ; ".join(article.subjects)),
        "text": _words(text),
        "repeated": _TOKEN.findall(text.lower()),
    }


def _words(text: str) -> list[str]:
    tokens = _TOKEN.findall(text.lower())
    pairs = [f"{one}-{two}" for one, two in zip(tokens, tokens[1:], strict=False)]
    return list(dict.fromkeys([*tokens, *pairs]))


def _score(places: dict[str, list[str]], lexicon: _Lexicon, text: str = "text") -> _Score:
    """Points of a lexicon; people, animals and the bench count as often as the text names them, up to 20."""
    score = _Score()
    score.add(_TITLE, "title", _single(lexicon.hits(places["title"])), 4)
    score.add(_JOURNAL, "journal", _single(lexicon.hits(places["journal"])), 2)
    score.add(_JOURNAL, "subject", _single(lexicon.hits(places["subject"])), 2)
    score.add(_KEYWORD, "keyword", _single(lexicon.hits(places["keyword"])), 5)
    score.add(_TEXT, "text", _single(lexicon.hits(places[text])), 20)
    return score


def _single(hits: list[str]) -> list[str]:
    """Leave out pairs that only repeat the stem of their first word."""
    words = set(hits)
    return [hit for hit in hits if "-" not in hit or hit.partition("-")[0] not in words]
