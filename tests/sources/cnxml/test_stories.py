"""Boxes that go on: inside one module, over the modules of a chapter, and where a part is missing."""

from __future__ import annotations

from collections.abc import Callable

from schemas.article import Article
from sources.cnxml import parse
from tests.sources.cnxml.conftest import raw_module
from tests.sources.fakes.openstax import book_files, case_box, collection, module

Reader = Callable[..., Article]


def book(document: str, **changes: bytes) -> Article:
    files = {
        "collection": collection({"The Heart": ("m1", "m2", "m3")}),
        **{f"module:m{n}": book_files()[f"modules/m{n}/index.cnxml"] for n in (1, 2, 3)},
        **{name.replace("_", ":"): data for name, data in changes.items()},
    }
    files = {name: data for name, data in files.items() if data}
    return parse(files.pop(f"module:{document}"), raw_module(document), files)


def test_a_story_is_carried_on_where_it_begins() -> None:
    article = book("m2")
    assert [(each.box, each.document, each.passage.text) for each in article.continuations] == [
        (1, "openstax:invented/m3", "Her trace is odd."),
        (1, "openstax:invented/m3", "What would you test?"),
        (1, "openstax:invented/m3", "Ida had flutter."),
        (1, "openstax:invented/m3", "What would you test?"),
    ]
    assert "navigation_left_out" in article.flags
    assert not any("Jump" in passage.text for passage in article.passages)


def test_carried_passages_are_those_of_the_later_module() -> None:
    later = {passage.id: passage for passage in book("m3").passages}
    for each in book("m2").continuations:
        assert later[each.passage.id] == each.passage


def test_inside_one_module_boxes_are_joined_by_number() -> None:
    article = book("m3")
    assert [(box.number, box.title, box.continues) for box in article.boxes] == [
        (1, "Part 2", 0),
        (2, "Resolution", 1),
    ]
    assert article.continuations == ()
    assert "story_begins_elsewhere" not in article.flags  # it begins in m2, which is at hand


def test_a_missing_beginning_is_said() -> None:
    article = book("m3", module_m2=b"")
    assert article.boxes[1].continues == 1
    assert "story_begins_elsewhere" in article.flags


def test_a_missing_sequel_ends_the_story() -> None:
    assert book("m2", module_m3=b"").continuations == ()


def test_titles_join_boxes_without_links(read: Reader) -> None:
    article = read(
        case_box("a", "Part 1", "One.") + case_box("x", "Aside", "No.") + case_box("b", "Part 2", "Two."),
        others={"m1": module("<para>x</para>"), "m3": module(case_box("c", "Case: Resolution", "Three."))},
    )
    assert [box.continues for box in article.boxes] == [0, 0, 1]
    assert [each.passage.text for each in article.continuations] == ["Three.", "What would you test?"]


def test_titles_do_not_join_over_a_gap_or_another_class(read: Reader) -> None:
    other = case_box("b", "Part 2", "Two.").replace("clinical-focus", "case-in-point")
    assert [box.continues for box in read(case_box("a", "Part 1", "One.") + other).boxes] == [0, 0]
    skipped = read(case_box("a", "Part 1", "One.") + case_box("b", "Part 3", "Three."))
    assert [box.continues for box in skipped.boxes] == [0, 0]
    torn = read(case_box("b", "Part 2", "Two."), others={"m3": module("<para>x</para>")})
    assert "story_begins_elsewhere" in torn.flags


def test_titles_do_not_join_over_a_missing_module(read: Reader) -> None:
    first, chapters = module(case_box("a", "Part 1", "One.")), {"The Heart": ("m1", "m5", "m2")}
    torn = read(case_box("b", "Part 2", "Two."), others={"m1": first}, chapters=chapters)
    assert "story_begins_elsewhere" in torn.flags
    whole = {"m1": first, "m5": module("<para>x</para>")}
    joined = read(case_box("b", "Part 2", "Two."), others=whole, chapters=chapters)
    assert "story_begins_elsewhere" not in joined.flags


def test_links_in_circles_end(read: Reader) -> None:
    article = read(
        case_box("a", "Part 1", "One.", ("next", "m2", "b"), ("previous", "m2", "b"))
        + case_box("b", "Part 2", "Two.", ("next", "m2", "a"), ("next", "m2", "b"))
    )
    assert [box.continues for box in article.boxes] == [0, 1]


def test_the_full_stop_may_stand_outside(read: Reader) -> None:
    article = read(
        case_box("a", "Part 1", "One.", ("next", "m3", "b")).replace("</emphasis>", "</emphasis>.")
    )
    assert [passage.text for passage in article.passages] == ["One.", "What would you test?"]


def test_a_sentence_with_a_link_is_no_navigation(read: Reader) -> None:
    article = read(
        "<note class='x' id='n'><para>Mark rests (<link target-id='n'>as before</link>).</para>"
        "<para><emphasis>He sleeps.</emphasis></para></note>"
    )
    assert [passage.text for passage in article.passages] == ["Mark rests (as before).", "He sleeps."]
