"""The audit page as text: escaped, self-contained, complete, repeatable, bounded in size."""

from __future__ import annotations

import dataclasses
import re
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import pyarrow.parquet as pq
import pytest

from curation.audit import audit
from curation.audit.page import excerpts, matrix, wording
from curation.audit.page.render import render_page
from schemas.audit import AuditReport, Kind, Role, RuleStatus, Verdict
from schemas.overlap_policy import Dimension
from tests.curation.audit import pages, reports
from tests.curation.audit.outline import outline, words_of
from tests.curation.release.known import run_sql

Make = Callable[[Path], AuditReport]
REPORTS: dict[str, Make] = {
    "clean": reports.clean,
    "many": reports.many,
    "invalid": reports.invalid,
    "partial": reports.partial,
    "incomplete": reports.incomplete,
}


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small hostile release; read-only for tests."""
    return pages.release(tmp_path_factory.mktemp("pages"), hostile=True)


def foreign(folder: Path) -> str:
    report, datasets = reports.foreign(folder)
    return render_page(report, folder, datasets=datasets)


@pytest.fixture(params=[*REPORTS, "foreign"])
def page(request: pytest.FixtureRequest, directory: Path, tmp_path: Path) -> str:
    """Every kind of page."""
    if request.param == "foreign":
        return foreign(tmp_path / "foreign")
    return render_page(REPORTS[request.param](directory), directory)


def test_the_markup_is_sound_for_people_who_listen_or_use_the_keyboard(page: str) -> None:
    found = outline(page)
    assert [found.tags.count(tag) for tag in ("main", "header", "footer", "h1")] == [1, 1, 1, 1]
    assert found.tags.count("table") == found.tags.count("caption")
    assert set(found.scopes) <= {"col", "row", "colgroup", "rowgroup"}
    assert not [name for name, n in Counter(found.ids).items() if n > 1]
    assert set(found.named_by) <= set(found.ids)
    assert all(after - before <= 1 for before, after in zip(found.headings, found.headings[1:], strict=False))
    assert found.headings[0] == 1 and all(found.alts)
    assert page.startswith('<!DOCTYPE html>\n<html lang="en">')


def test_the_page_loads_nothing_runs_nothing_and_its_links_lead_somewhere(page: str) -> None:
    found = outline(page)
    siblings = {"../summary/audit.html", "../visual_context/audit.html"}
    inside = {address[1:] for address in found.addresses if address.startswith("#")}
    data = [address for address in found.addresses if address.startswith("data:")]
    assert inside <= set(found.ids)
    assert {address for address in found.addresses if address[0] != "#"} - set(data) <= siblings
    assert all(address == "data:," or address.startswith("data:image/jpeg;base64,") for address in data)
    assert not {"script", "b onclick", "i", "u", "iframe", "object", "form", "base"} & set(found.tags)
    assert not [name for name in found.attributes if name.startswith("on")]
    assert "default-src 'none'" in page and "url(" not in page and "@import" not in page


def test_hostile_text_is_shown_and_never_obeyed(directory: Path) -> None:
    page = render_page(reports.many(directory), directory)
    assert "&lt;script&gt;" in page and "&lt;u&gt;why&lt;/u&gt;" in page and "&lt;i&gt;CC&lt;/i&gt;" in page
    assert "&#34;&gt;&lt;b onclick=&#34;x&#34;&gt;" in page
    assert "\u202e" not in page and "\\u202egnp.exe" in page


@pytest.mark.parametrize(
    "hidden",
    ["\u202e", "\u2066", "\u200b", "\x00", "\x1b", "\x85", "\ufeff", "\U000e0041", "\ud800", "\u2028"],
)
def test_what_hides_or_reorders_is_written_out(hidden: str) -> None:
    assert wording.visible(f"a{hidden}b") == f"a\\u{ord(hidden):04x}b"


def test_ordinary_writing_stays_as_it_is() -> None:
    for text in ("日本語の文章", "مرض السكري", "Größe\tµ\n", "क्‍ष", "👩‍⚕️"):  # with joiners
        assert wording.visible(text) == text
    assert wording.shortened("x" * 200) == "x" * 160 + "… (40 more characters)"
    assert str(wording.breakable("a_b/<c>&'")) == "a_<wbr>b/<wbr>&lt;c&gt;&amp;&#39;"


@pytest.mark.parametrize("name", REPORTS)
def test_each_verdict_says_what_it_means_and_what_to_do(name: str, directory: Path) -> None:
    report = REPORTS[name](directory)
    page = render_page(report, directory)
    said = wording.VERDICTS[report.verdict]
    assert f'<div class="verdict {report.verdict}">' in page
    assert f"Verdict: {said.word} {said.meaning} {said.action}" in words_of(page)
    assert report.release_hash in page
    assert ("no number here counts" in page) == (name == "invalid")


def test_every_verdict_and_status_has_its_words() -> None:
    assert set(wording.VERDICTS) == set(get_args(Verdict))
    assert set(wording.ROLES) == set(get_args(Role)) and set(wording.KINDS) == set(get_args(Kind))
    assert set(wording.DIMENSIONS) == set(get_args(Dimension))
    shown = {
        wording.state(reports.result(0, status=status, severity=severity))
        for status in get_args(RuleStatus)
        for severity in ("error", "warn")
    }
    assert shown == set(wording.STATUSES)


def test_all_statuses_versions_and_definitions_are_on_the_page(directory: Path) -> None:
    page = render_page(reports.many(directory), directory) + render_page(
        reports.invalid(directory), directory
    )
    table = page[page.index('id="rules"') : page.index('id="words"')]
    for state in wording.STATUSES:
        if state != "unproven":
            assert f'">{state}</span>' in table, state
    assert page.count('class="badge unproven">unproven</span>') >= 3
    for rule, title, _, definition in reports.RULE_IDS:
        assert f'<tr id="row-{rule}">' in page and f"<code>{rule}@1</code>" in page
        assert title in page and definition.replace("'", "&#39;") in page


def test_the_matrix_tells_zero_shared_reported_and_not_covered_apart_in_words(directory: Path) -> None:
    report = reports.many(directory)
    page = render_page(report, directory)
    found = matrix.build(report)
    assert found is not None and len(found.pairs) == len(report.matrix)
    assert (found.count("breach-1"), found.count("breach-2"), found.count("breach-3")) == (2, 1, 1)
    assert found.count("uncovered") == 20 and found.count("reported") == 1
    labels = re.findall(r'<td class="sq ([\w-]+)[^"]*"><a href="#([\w-]+)" aria-label="([^"]+)"', page)
    told = {label: (kind, target) for kind, target, label in labels}
    assert told["Source articles, clinical_case/dev and summary/dev: 12 of 96, must be zero"] == (
        "breach-3",
        "rule-overlap_article",
    )
    assert told["Queries, clinical_case/test and MedQA: 1 of 14,112, must be zero"] == (
        "breach-1",
        "rule-contaminated_queries",
    )
    assert told[
        "Target concepts, clinical_case/test and summary/test: 117 of 1,204, reported only, no error"
    ][0] == ("reported")
    label = "Patients, clinical_case/dev and image_search/test: not covered, could not be compared"
    assert told[label][0] == "uncovered"
    zero = "Patients, clinical_case/dev and clinical_case/test: 0 of 96, none shared, as required"
    assert told[zero][0] == "zero" and told[zero][1].startswith("pair-")
    compared = sum(cell.level == "zero" and cell.shared is not None for cell in report.matrix)
    assert f"4 of {compared} pairs, 20 not covered" in words_of(page)


def test_the_worst_of_several_rules_cells_is_shown_and_all_are_listed(directory: Path) -> None:
    report = reports.clean(directory)
    cell = next(item for item in report.matrix if item.dimension == "image_family")
    worse = dataclasses.replace(cell, shared=None, keys=0)
    copies = dataclasses.replace(cell, shared=2)
    for extra, kind in (((worse,), "uncovered"), ((worse, copies), "breach-2"), ((), "zero")):
        found = matrix.build(dataclasses.replace(report, matrix=(*report.matrix, *extra)))
        assert found is not None and len(found.pairs) == len(report.matrix) + len(extra)
        row = next(row for row in found.rows if row.name == cell.other)
        square = row.squares[len(found.ones) * found.dimensions.index("image_family")]
        assert square is not None and square.kind == kind


def test_parts_without_a_split_and_absent_siblings_have_names(directory: Path) -> None:
    report = reports.clean(directory)
    cell = report.matrix[0]
    absent = dataclasses.replace(cell, other="summary/*", shared=None, keys=0)
    whole = dataclasses.replace(cell, one=pages.TASK, other="MedQA", dimension="image_family")
    benchmark = reports.source("MedQA", "against", "jsonl", pages.HASH, ())
    report = dataclasses.replace(report, matrix=(cell, absent, whole), inputs=(*report.inputs, benchmark))
    found = matrix.build(report)
    assert found is not None
    assert [found.column(one) for one in found.ones] == ["test", "all splits"]
    assert [(name, [row.name for row in rows]) for name, rows in found.groups()] == [
        ("same task", [f"{pages.TASK}/dev"]),
        ("sibling task", ["summary/*"]),
        ("other benchmark", ["MedQA"]),
    ]
    assert '<th scope="row">summary (all splits)</th>' in render_page(report, directory)


def test_a_real_audit_has_a_page_whose_links_lead_somewhere(known: Path) -> None:
    report = audit(known, run_sql, plant=False)
    page = render_page(report, known)
    found = outline(page)
    assert {address[1:] for address in found.addresses if address.startswith("#")} <= set(found.ids)
    assert all(f'<tr id="row-{result.rule}">' in page for result in report.rules)
    assert "Nothing was planted in this run" in page and "licence_not_allowed" in page


def test_the_shared_words_are_marked_on_both_sides(directory: Path) -> None:
    page = render_page(reports.many(directory), directory)
    assert f"came with fever. Radiography showed <mark>{pages.SHARED}</mark>, and fever." in page
    assert f"The film showed <mark>{pages.SHARED}</mark>. She recovered." in page
    assert "characters 56–148" in page


def test_words_that_are_not_where_the_report_says_are_shown_without_surroundings(directory: Path) -> None:
    report = reports.many(directory)
    moved = reports.finding(
        "copied_span",
        "error",
        "moved",
        reports.side("queries", "q00", 3, 3 + len(pages.SHARED), pages.SHARED),
    )
    rules = tuple(
        dataclasses.replace(item, findings=(moved,), found=1) if item.rule == "copied_span" else item
        for item in report.rules
    )
    page = render_page(dataclasses.replace(report, rules=rules), directory)
    assert f'<blockquote dir="auto"><mark>{pages.SHARED}</mark></blockquote>' in page


def test_other_inputs_texts_are_read_when_they_are_given(tmp_path: Path) -> None:
    page = foreign(tmp_path / "foreign")
    assert f"why <mark>{pages.SHARED}</mark>" in page and f"It shows <mark>{pages.SHARED}</mark>." in page


def test_what_is_not_shown_is_counted(directory: Path) -> None:
    words = words_of(render_page(reports.many(directory), directory))
    assert "312 found; 5 shown with texts, 45 more by id. audit.json holds 50 of them; the other 262" in words
    assert "no_principal_diagnosis 25 pmc:PMC20.1#case1, pmc:PMC21.1#case1, pmc:PMC22.1#case1, …" in words
    assert "retracted 1 pmc:PMC3.1" in words


def test_images_are_thumbnails_without_metadata_and_their_number_is_bounded(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = reports.many(directory)
    page = render_page(report, directory)
    assert 5 <= page.count('<img src="data:image/jpeg') <= excerpts.MAX_THUMBNAILS
    assert "Secret" not in page and len(page) < 400_000
    monkeypatch.setattr(excerpts, "MAX_THUMBNAILS", 2)
    shown = re.findall(r'<img src="([^"]+)"', render_page(report, directory))
    assert len(set(shown)) == 2


def test_coverage_canaries_and_gaps(directory: Path) -> None:
    words = words_of(render_page(reports.many(directory), directory))
    assert "MedQA 15,288 pairs 42 shorter than 13 words; compared whole instead" in words
    assert "Patients are disjoint not covered siblings absent: image_search" in words
    assert "44 of 44 were found" in words
    broken = render_page(reports.invalid(directory), directory)
    assert "43 of 44 were found" in words_of(broken) and "The audit therefore fails itself" in broken
    assert '<span class="badge error">missed</span>' in broken
    bare = render_page(reports.incomplete(directory), directory)
    assert "no zero on this page is proven" in bare and "No rule of this run compared parts" in bare


def test_siblings_are_linked_only_when_their_files_were_read_and_lie_beside(directory: Path) -> None:
    together, alone = reports.clean(directory), reports.partial(directory)
    assert "../summary/audit.html" in render_page(together, directory)
    assert "audit.html" not in render_page(alone, directory)
    assert "audit.html" not in render_page(together, directory, links_siblings=False)
    odd = reports.source(f"{pages.RELEASE}/../../etc", "sibling", "release", pages.HASH, ())
    other = reports.source("other@1.0.0/summary", "sibling", "release", pages.HASH, ())
    page = render_page(dataclasses.replace(alone, inputs=(*alone.inputs, odd, other)), directory)
    assert "audit.html" not in page


def test_a_foreign_dataset_has_a_page_without_what_its_layout_lacks(tmp_path: Path) -> None:
    page = foreign(tmp_path / "foreign")
    assert "<h1>nfcorpus-like</h1>" in page and "BEIR layout" in page
    assert 'id="funnel"' not in page and 'id="licences"' not in page and 'id="grades"' in page
    assert "it has no release record" in words_of(page).lower()


def test_the_same_report_and_files_give_the_same_page(directory: Path, tmp_path: Path) -> None:
    moved = tmp_path / "moved"
    shutil.copytree(directory, moved)
    for make in REPORTS.values():
        assert render_page(make(directory), directory) == render_page(make(moved), moved)


def test_a_page_can_be_made_of_broken_files(directory: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(directory, broken)
    report = reports.many(directory)
    for path in broken.rglob("*.parquet"):
        path.write_bytes(b"PAR1 no longer a table")
    page = render_page(report, broken)
    assert "cannot be read" in page and str(broken) not in page and "<img" not in page
    shutil.rmtree(broken / "queries")
    assert "<img" not in render_page(report, broken)


def test_corrupt_images_and_null_columns_do_not_stop_the_page(directory: Path, tmp_path: Path) -> None:
    odd = tmp_path / "odd"
    shutil.copytree(directory, odd)
    path = next((odd / "queries").glob("*.parquet"))
    table = pq.read_table(path)
    rows = table.to_pylist()
    for number, row in enumerate(rows):
        image = ({"bytes": b"\xff\xd8\xffnope", "path": None}, None, {"bytes": None, "path": "x"})[number % 3]
        row.update(image=image, text=None, license=None)
    pq.write_table(table.from_pylist(rows, schema=table.schema), path)
    page = render_page(reports.many(odd), odd)
    assert "<img" not in page and '<th scope="row">none</th>' in page


def test_long_reports_stay_bounded(directory: Path) -> None:
    """40 rules with 50 findings of the longest quotes, and 100 canaries."""
    words = "fever " * 50
    report = reports.many(directory)
    rules = tuple(
        dataclasses.replace(
            reports.result(5, status="failed", found=10_000, note="x" * 5_000),
            rule=f"rule_{n}",
            findings=tuple(
                reports.finding(
                    f"rule_{n}",
                    "error",
                    "m" * 5_000,
                    reports.side("corpus", "i" * 5_000 + str(m), quote=words[:300]),
                    reports.side("queries", "q01", quote=words[:300]),
                )
                for m in range(50)
            ),
        )
        for n in range(40)
    )
    page = render_page(dataclasses.replace(report, rules=rules), directory)
    assert len(page) < 2_500_000
    assert page.count("<img") <= 200 and len(set(re.findall(r'src="(data:image[^"]+)"', page))) <= 60


def luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, two: str) -> float:
    light, dark = sorted((luminance(one), luminance(two)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_text_contrast_meets_wcag_aa_in_light_dark_and_print(directory: Path) -> None:
    page = render_page(reports.clean(directory), directory)
    themes = [
        dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})\b", block))
        for block in re.findall(r":root \{(.*?)\}", page, re.DOTALL)
    ]
    assert len(themes) == 3 and len({frozenset(theme) for theme in themes}) == 1
    pairs = [(ink, ground) for ink in ("ink", "soft", "accent", "bad") for ground in ("bg", "card")]
    pairs += [
        (name, f"{name}-bg") for name in ("good", "bad", "warn", "note", "none", "heat1", "heat2", "heat3")
    ]
    pairs += [("ink", f"{name}-bg") for name in ("good", "bad", "warn", "note")] + [("ink", "mark")]
    for theme in themes:
        for ink, ground in pairs:
            assert contrast(theme[ink], theme[ground]) >= 4.5, (ink, ground, theme)
