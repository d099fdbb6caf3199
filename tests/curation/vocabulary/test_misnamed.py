"""Names of disorders that are those of organs, organisms and trades: which are told, and which stay."""

from __future__ import annotations

import duckdb
import pytest

from curation.vocabulary.merge_sql import MISNAMED

TYPES = {
    "MONDO:1": "DISO",
    "MONDO:2": "DISO",
    "HP:1": "DISO",
    "MESH:1": "ANAT",
    "MESH:2": "OCCU",
    "MESH:3": "ACTI",
}
THINGS = [("MESH:1", "Knee Gland", "MESH", "MH", True), ("MESH:2", "Curing, Spot", "MESH", "PM", False)]


def misnamed(*names: tuple[str, str, str, str, bool]) -> set[tuple[str, str]]:
    """Names that are told: of rows of concept, name, source, term type and whether it is a label."""
    with duckdb.connect() as connection:
        run = connection.execute
        run('CREATE TABLE types (concept VARCHAR, "group" VARCHAR)')
        connection.executemany("INSERT INTO types VALUES (?, ?)", list(TYPES.items()))
        run("CREATE TABLE members (concept VARCHAR, canonical VARCHAR)")
        run(
            "CREATE TABLE names (concept VARCHAR, name VARCHAR, source VARCHAR, term_type VARCHAR,"
            " is_preferred BOOLEAN, language VARCHAR DEFAULT 'en', is_suppressed BOOLEAN DEFAULT false)"
        )
        connection.executemany(
            "INSERT INTO names (concept, name, source, term_type, is_preferred) VALUES (?, ?, ?, ?, ?)",
            [*THINGS, *names],
        )
        return set(run(MISNAMED).fetchall())


@pytest.mark.parametrize(
    ("name", "source", "kind", "is_label", "is_told"),
    [
        ("knee gland", "MONDO", "SY", False, True),
        ("knee gland", "HPO", "SY", False, False),  # a source that says it is exact
        ("knee gland", "HPO", "BROAD", False, True),
        ("knee gland", "MONDO", "PT", True, False),
        ("curing", "HPO", "RELATED", False, True),  # the head of a trade's inverted name
        ("knee", "MONDO", "SY", False, False),
        ("knee gland spots", "MONDO", "SY", False, False),
    ],
)
def test_a_name_of_a_thing_is_none_of_a_disorder(
    name: str, source: str, kind: str, is_label: bool, is_told: bool
) -> None:
    assert misnamed(("MONDO:1", name, source, kind, is_label)) == ({("MONDO:1", name)} if is_told else set())


def test_words_of_such_a_name_go_with_it_for_that_disorder_alone() -> None:
    rows = [("MONDO:1", "gland, knee", "MONDO", "SY", False), ("MONDO:1", "knee", "MONDO", "SY", False)]
    rows += [("MONDO:1", "knee gland", "MONDO", "SY", False), ("MONDO:2", "knee", "MONDO", "SY", False)]
    assert misnamed(*rows) == {("MONDO:1", "knee"), ("MONDO:1", "knee gland")}


def test_what_another_source_calls_the_disorder_itself_stays() -> None:
    rows = [("HP:1", "knee gland", "MONDO", "SY", False), ("HP:1", "Knee gland", "HPO", "SY", False)]
    assert misnamed(*rows) == set()
    behaviour = [("MESH:3", "Gloom", "MESH", "MH", True), ("MONDO:1", "gloom", "MONDO", "SY", False)]
    assert misnamed(*behaviour) == set()
