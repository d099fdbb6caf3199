"""Tables as rows of text: spans, notes, rights, and where they stand."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from schemas.article import Article

Reader = Callable[..., Article]

GRID = (
    "<table><thead><tr><th rowspan='2'>Drug</th><th colspan='2'>Dose</th></tr>"
    "<tr><th>Day 1</th><th>Day 2</th></tr></thead>"
    "<tbody><tr><td>Aspirin<xref ref-type='table-fn'>a</xref></td><td>100&#160;mg</td><td/></tr>"
    "<tr><td/><td/><td/></tr></tbody></table>"
)


def test_a_row_is_a_line_and_what_spans_rows_stands_in_each(read: Reader) -> None:
    (one,) = read(
        f"<sec><title>Results</title><p>One.</p><table-wrap id='T1'><label>Table 1</label>"
        f"<caption><title>Doses.</title><p>By day.</p></caption>{GRID}"
        "<table-wrap-foot><fn><label>a</label><p>Given once.</p></fn><p>mg, milligram.</p></table-wrap-foot>"
        "</table-wrap><p>Two.</p></sec>"
    ).tables
    assert one.rows == "Drug | Dose\nDrug | Day 1 | Day 2\nAspirina | 100 mg"
    assert (one.id, one.label, one.caption) == ("pmc:PMC123.1#T1", "Table 1", "Doses. By day.")
    assert one.notes == "a Given once.\nmg, milligram."
    assert (one.section, one.part, one.after, one.after_figures) == (1, "body", 1, 0)


def test_tables_inside_a_paragraph_a_group_and_apart_from_the_text(read: Reader) -> None:
    found = read(
        f"<p>One.<table-wrap>{GRID}</table-wrap></p><fig id='F1'><graphic href='a'/></fig>"
        f"<table-wrap-group><table-wrap><alternatives><graphic href='t'/>{GRID}</alternatives></table-wrap>"
        "</table-wrap-group><table-wrap id='T9'><graphic href='b'/></table-wrap>",
        after=f"<floats-group><table-wrap id='F1'>{GRID}</table-wrap></floats-group>",
    ).tables
    assert [(one.id.partition("#")[2], one.part, one.after, one.after_figures) for one in found] == [
        ("table1", "body", 1, 0),
        ("table2", "body", 1, 1),
        ("table3", "floats", 1, 1),
    ]
    assert all(one.rows.startswith("Drug | Dose\n") for one in found)


@pytest.mark.parametrize("span", ["0", "-1", "x", "99999999999", "2.5"])
def test_a_span_that_is_none_is_one_cell(read: Reader, span: str) -> None:
    (one,) = read(
        f"<p>Text.</p><table-wrap><table><tr><td rowspan='{span}' colspan='{span}'>a</td><td>b</td></tr>"
        "<tr><td>c</td></tr></table></table-wrap>"
    ).tables
    assert one.rows == "a | b\nc"


def test_a_table_taken_from_elsewhere_says_so(read: Reader) -> None:
    (one,) = read(
        f"<p>Text.</p><table-wrap>{GRID}<table-wrap-foot><p>Adapted from Smith et al., with permission.</p>"
        "</table-wrap-foot></table-wrap>"
    ).tables
    assert "permission" in one.rights
