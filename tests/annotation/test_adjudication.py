"""What goes to a third person, to whom, and what they are told."""

from __future__ import annotations

from annotation.adjudication import rationales, select, third_persons
from annotation.assignment import Person, assign, numbered
from annotation.verdicts import Terms, resolve
from tests.annotation.test_verdicts import answer, candidate


def test_items_for_a_third_person_with_their_reason() -> None:
    items = [candidate(f"cand:{n}", known=2 if n == 4 else None) for n in range(1, 7)]
    rows = [
        *(answer(who, grade, of="cand:1") for who, grade in (("A1", 0), ("A2", 2))),
        *(answer(who, grade, of="cand:2") for who, grade in (("A1", None), ("A2", 2))),
        *(answer(who, grade, of="cand:3") for who, grade in (("A1", 1), ("A2", 2))),
        *(answer(who, grade, of="cand:4") for who, grade in (("A1", 1), ("A2", 1))),
        answer("A1", 0, of="cand:5"),
    ]
    found = select(rows, items, Terms())
    assert [(one.candidate_id, one.reason) for one in found] == [
        ("cand:1", "distant_grades"),
        ("cand:2", "cannot_judge"),
        ("cand:4", "gold_missed"),
    ]
    verdicts, _ = resolve(rows, items, [], Terms())
    assert [one.candidate_id for one in verdicts] == ["cand:3"]
    rows.append(answer("A3", 1, role="adjudicator", of="cand:1"))
    assert "cand:1" not in [one.candidate_id for one in select(rows, items, Terms())]
    verdicts, _ = resolve(rows, items, [], Terms())
    assert [(one.label_status, one.grade) for one in verdicts] == [("adjudicated", 1), ("expert", 1)]


def test_rationales_name_nobody_and_their_order_says_nothing() -> None:
    first = [0, 0]
    for number in range(60):
        rows = [
            answer("A1", 0, of=f"cand:{number}", comment="Other organ."),
            answer("A2", None, of=f"cand:{number}"),
        ]
        said = rationales(f"cand:{number}", rows)
        assert said == rationales(f"cand:{number}", list(reversed(rows)))
        assert not any("A1" in text or "A2" in text for text in said)
        assert {text.partition(": ")[2] for text in said} == {
            "grade 0 — Other organ.",
            "cannot judge: The question can be read in several ways, with different answers.",
        }
        first["grade 0" not in said[0]] += 1
    assert min(first) > 15


def test_the_third_person_has_not_read_the_item_and_keeps_what_was_given() -> None:
    items = [candidate(f"cand:{n}") for n in range(20)]
    people = [*numbered(3), Person("B1", adjudicates=True), Person("B2", adjudicates=True)]
    given = assign(items, people, [], 2).allotments
    assert {row.annotator for row in given} == {"A1", "A2", "A3"}
    read = {one.id: sorted(r.annotator for r in given if r.candidate_id == one.id) for one in items}
    rows = [answer(who, 2 * n, of=one.id) for one in items for n, who in enumerate(read[one.id])]
    found = select(rows, items, Terms())
    by_id = {one.id: one for one in items}
    made, nobody = third_persons(found, by_id, people, given)
    assert nobody == [] and {row.annotator for row in made} == {"B1", "B2"} and len(made) == 20
    again, _ = third_persons(found, by_id, people, [*given, *made])
    assert again == []
    made, nobody = third_persons(found, by_id, numbered(3), given)
    assert nobody == [] and all(row.annotator not in read[row.candidate_id] for row in made)
    made, nobody = third_persons(found, by_id, numbered(2), given)
    assert nobody == sorted(one for one, names in read.items() if names == ["A1", "A2"])
