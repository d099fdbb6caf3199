"""Values of laboratories: what is said of where they were measured, and what is left out."""

from __future__ import annotations

import pytest

from curation.concepts.laboratory import is_in_blood, ways_of_value
from curation.concepts.normalise import language_of
from tests.curation.concepts.test_native import Open, found

NAMES = (
    "1=Increased circulating lactate concentration", "2=Increased CSF lactate", "3=Increased urine lactate",
    "4=Decreased circulating copper concentration", "5=Decreased circulating iron concentration",
    "6=Decreased hemoglobin concentration", "7=Low blood pressure", "8=Elevated hepatic iron concentration",
    "9=Low blood calcium levels", "10~High serum calcium", "11=Abnormal circulating zinc concentration",
)  # fmt: skip

IRON = "iron were low"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He had a raised lactate", [("raised lactate", "T:1")]),
        ("Elevated plasma lactate levels were found", [("Elevated plasma lactate levels", "T:1")]),
        ("Lactate was high at 5 mmol/l", [("Lactate was high", "T:1")]),
        ("Lactate was raised in blood and cerebrospinal fluid", [("Lactate was raised in blood", "T:1")]),
        ("Lactate was not raised in the CSF.", [("Lactate was not raised in the CSF", "T:2")]),
        ("Serum copper and iron were low", [("Serum copper and iron were low", "T:4"), (IRON, "T:5")]),
        ("raised lactate in the cerebrospinal fluid", [("raised lactate in the cerebrospinal fluid", "T:2")]),
        ("Urinary lactate was raised", [("Urinary lactate was raised", "T:3")]),
        ("Hemoglobin was low", [("Hemoglobin was low", "T:6")]),
        ("elevated hepatic iron", [("elevated hepatic iron", "T:8")]),
        ("Copper was undetectable", [("Copper was undetectable", "T:4")]),
        ("iron was low under treatment, too", [("iron was low", "T:5")]),
        ("low calcium, high phosphate", [("low calcium", "T:9")]),
    ],
)
def test_values_are_found_as_they_are_written(
    matcher: Open, text: str, expected: list[tuple[str, str]]
) -> None:
    assert found(matcher(*NAMES), text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Lactate was raised in muscle",
        "muscle lactate was raised",
        "raised lactate production",
        "a low-calcium diet",
        "a decrease in iron",
        "Training increased lactate dehydrogenase",
        "In the liver biopsy iron was low",
        "evaporated under low pressure",
        "abnormal zinc fingers",
        "Brain iron was low",
        "Iron was low in the vitreous",
        "The infusion raised lactate to 3 mmol/l",
    ],
)
def test_a_value_elsewhere_or_a_change_that_something_makes_is_not_one_of_blood(
    matcher: Open, text: str
) -> None:
    assert found(matcher(*NAMES, "12=Dehydrogenase fingers"), text) == []


def test_what_stands_in_the_text_before_says_nothing_of_a_value(matcher: Open) -> None:
    """Texts are read together, and one that ends with an organ must not change the next."""
    opened = matcher(*NAMES)
    texts = ["Biopsy of the liver", "Raised lactate", "Urine"]
    assert [[match.concept for match in one] for one in opened.find_many(texts)] == [[], ["T:1"], []]


def test_an_adjective_is_said_of_nobody_in_the_text_before(matcher: Open) -> None:
    opened = matcher("1=Hypotonia")
    assert list(map(len, opened.find_many(["She said the girl was ", "hypotonic"]))) == [0, 0]


@pytest.mark.parametrize(
    ("name", "ways"),
    [
        ("Abnormal circulating lactate concentration", 0),
        ("Low blood pressure", 16),  # each place with and without a measure, none without a place
        ("Decreased hemoglobin concentration", 4),
        ("Increased serum serum lactate", 0),
        ("Increased concentration", 0),
        ("Elevated CSF protein", 9),
    ],
)
def test_ways_to_say_a_value(name: str, ways: int) -> None:
    words = [word for word in language_of("en").words(name.split()) if word.key]
    assert len(list(ways_of_value(words))) == ways


@pytest.mark.parametrize("text", ["raised lactate" + ", and" * 100_000, "(" * 100_000 + "raised lactate"])
def test_a_long_text_is_looked_at_in_part(text: str) -> None:
    start = text.index("raised")
    assert is_in_blood("raised lactate", text, start, start + len("raised lactate"))
