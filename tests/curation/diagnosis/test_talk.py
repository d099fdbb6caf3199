"""How the running text speaks of candidates."""

from __future__ import annotations

from curation.diagnosis.candidate import Candidate
from curation.diagnosis.candidates import Reading
from curation.diagnosis.stage import read_from
from curation.diagnosis.story import story_of
from tests.curation.diagnosis.builders import ID, Report, concepts, parts

_TB = "[Tuberculosis|MONDO:tb]"


def _read(report: Report, case: int = 0) -> dict[str, Candidate]:
    written, source, cases, passages, mentions = parts(report)
    texts = read_from(written, source, cases, passages, mentions)
    return Reading(cases[case], story_of(cases[case], texts.passages), texts, concepts()).read()


def test_what_a_part_of_the_article_begins_with() -> None:
    opened = _read(Report(discussion=[f"{_TB} of the hand is rare."]))["MONDO:tb"]
    assert (opened.opens, opened.defines, opened.count) == (True, 1, 1)
    second = _read(
        Report(discussion=[f"[Lupus|MONDO:lupus] may look like {_TB.lower().replace('mondo', 'MONDO')}."])
    )
    assert (second["MONDO:tb"].opens, second["MONDO:tb"].defines) == (False, 0)
    later = _read(Report(discussion=[f"He was well. {_TB} of the hand is rare."]))["MONDO:tb"]
    assert (later.opens, later.defines) == (False, 1)


def test_a_story_has_places_and_opens_nothing() -> None:
    told = (("A man came with a swelling.", f"{_TB} is what he had."),)
    found = _read(Report(cases=told))["MONDO:tb"]
    assert not found.opens and found.defines == 0
    assert 0.4 < found.last < 0.8


def test_denied_and_thought_of_mentions_are_not_counted() -> None:
    marks = [f"No {_TB[:-1]}!{flag}]." for flag in ("negated", "historical", "family", "hypothetical")]
    assert "MONDO:tb" not in _read(Report(discussion=marks))
    assert _read(Report(discussion=[*marks, f"{_TB}."]))["MONDO:tb"].count == 1


def test_the_stories_of_other_patients_are_left_out() -> None:
    told = ((f"A man came with {_TB}.",), ("A woman came with [lupus|MONDO:lupus].",))
    report = Report(cases=told)
    assert set(_read(report)) == {"MONDO:tb"}
    assert set(_read(Report(cases=told), case=1)) == {"MONDO:lupus"}


def test_evidence_lies_in_the_story() -> None:
    found = _read(Report(cases=((f"A man came with {_TB}.",),), keywords=[_TB]))["MONDO:tb"]
    assert [(item.place, item.text_id) for _, item in sorted(found.evidence.items())] == [
        ("keyword", f"{ID}#keyword1"),
        ("case", f"{ID}#p1"),
    ]
