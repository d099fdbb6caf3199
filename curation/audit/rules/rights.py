"""Rules on rights and honesty: licences, retractions, synthetic marks."""

from __future__ import annotations

from collections.abc import Sequence

from curation.audit.rule import (
    Canary,
    Collector,
    Context,
    Outcome,
    Rows,
    Rule,
    SqlCheck,
    side,
)
from curation.audit.rules.planting import cell, manifest
from curation.release.rights import combined_family
from schemas.audit import Coverage
from schemas.licences import PROFILES, Profile, is_allowed, terms

_LICENCES = """SELECT tab, license, min(id) AS id, count(*) AS n FROM (
    SELECT 'queries' AS tab, license, id FROM queries UNION ALL SELECT 'corpus', license, id FROM corpus)
    GROUP BY tab, license ORDER BY tab, license"""
_COUNT = "SELECT (SELECT count(*) FROM queries) + (SELECT count(*) FROM corpus) AS n"
_CHANGED_IMAGES = """SELECT tab, license, image_transform, min(id) AS id, count(*) AS n FROM (
        SELECT 'queries' AS tab, q.id, q.license, p.image_transform FROM queries q
        JOIN provenance_queries p ON p.id = q.id
        UNION ALL SELECT 'corpus', d.id, d.license, p.image_transform FROM corpus d
        JOIN provenance_corpus p ON p.id = d.id)
    WHERE coalesce(image_transform, '') <> '' GROUP BY ALL ORDER BY tab, license, image_transform"""
_QUOTED = """SELECT s.license, split_part(e.text_id, '#', 1) AS article, min(q) AS q, count(*) AS n
    FROM (SELECT "query-id" AS q, unnest(evidence) AS e FROM provenance_qrels) t
    LEFT JOIN sources s ON s.id = split_part(e.text_id, '#', 1)
    GROUP BY ALL ORDER BY article, s.license"""


def _profile(context: Context) -> Profile:
    return "noncommercial" if context.manifest.licence_profile == "noncommercial" else "open"


def _licence_of_rows(context: Context) -> Outcome:
    found = Collector("licence_of_rows", "error")
    name = context.manifest.licence_profile
    if name not in PROFILES:
        found.add(
            f"release.json names an unknown licence profile: {name!r}",
            side("release.json", "licence_profile"),
        )
    profile = _profile(context)
    for row in context.rows(_LICENCES, "queries", "corpus"):
        if not row["license"]:
            found.add(
                f"{row['n']} rows of {row['tab']} state no licence, first {row['id']}",
                side(row["tab"], row["id"]),
            )
        elif not is_allowed(row["license"], profile):
            found.add(
                f"{row['n']} rows of {row['tab']} are under {row['license']}, "
                f"which profile '{profile}' does not allow, "
                f"first {row['id']}",
                side(row["tab"], row["id"], row["license"]),
            )
    evidence = """SELECT tab, id FROM (
        SELECT 'provenance_queries' AS tab, id, license_evidence FROM provenance_queries
        UNION ALL SELECT 'provenance_corpus', id, license_evidence FROM provenance_corpus)
        WHERE coalesce(license_evidence, '') = '' ORDER BY tab, id"""
    for row in context.rows(evidence, "provenance_queries", "provenance_corpus"):
        found.add("nothing says where this row's licence was read", side(row["tab"], row["id"]))
    return found.outcome(context.rows(_COUNT, "queries", "corpus")[0]["n"])


def _licence_of_evidence(context: Context) -> Outcome:
    """Quotes are published too: the article each stands in must be under an allowed licence."""
    found = Collector("licence_of_evidence", "error")
    profile = _profile(context)
    compared, unknown = 0, 0
    for row in context.rows(_QUOTED, "provenance_qrels", "sources"):
        if row["license"] is None:
            unknown += row["n"]
            continue
        compared += row["n"]
        if not is_allowed(row["license"], profile):
            found.add(
                f"{row['n']} quotes are from an article under {row['license']}, "
                f"which profile '{profile}' does not allow",
                side("sources", row["article"], row["license"]),
                side("queries", row["q"]),
            )
    why = "their article is not among the sources, so its licence is not published" if unknown else ""
    coverage = Coverage(compared_with="", compared=compared, unit="quotes", skipped=unknown, why=why)
    note = f"{unknown} quotes: {why}" if why else ""
    return Outcome(compared, found.found, tuple(found.kept), note, (coverage,))


def _derived_images(context: Context) -> Outcome:
    found = Collector("derived_images", "error")
    _ = context.manifest  # other layouts do not say what was done to an image
    compared = 0
    tables = ("queries", "corpus", "provenance_queries", "provenance_corpus")
    for row in context.rows(_CHANGED_IMAGES, *tables):
        compared += row["n"]
        if not terms(row["license"] or "").derivatives:
            found.add(
                f"{row['n']} images under {row['license'] or 'no licence'} were changed "
                f"({row['image_transform']}), first of {row['id']}",
                side(row["tab"], row["id"], row["license"]),
            )
    return found.outcome(compared)


def _licence_combination(context: Context) -> Outcome:
    found = Collector("licence_combination", "error")
    stated_whole = context.manifest.license
    stated = [row["license"] or "" for row in context.rows(_LICENCES, "queries", "corpus")]
    combined = combined_family(stated)
    if combined is None:
        found.add(
            f"no licence fits all rows together: {', '.join(sorted(set(stated)))}",
            side("release.json", "license"),
        )
    elif combined != stated_whole:
        found.add(
            f"release.json says {stated_whole}; its rows combine to {combined}",
            side("release.json", "license"),
        )
    return found.outcome(len(set(stated)))


_retracted = SqlCheck(
    "retracted",
    "error",
    ("sources",),
    "SELECT count(*) AS n FROM sources",
    "SELECT id, title FROM sources WHERE is_retracted IS DISTINCT FROM false",
    "id",
    lambda row: ("a source article is retracted", (side("sources", row["id"], row["title"]),)),
)
_SYNTHETIC = """SELECT * FROM (
    SELECT 'queries' AS tab, id, text FROM queries WHERE is_synthetic IS DISTINCT FROM false
    UNION ALL SELECT 'corpus', id, text FROM corpus WHERE is_synthetic IS DISTINCT FROM false)"""
_marked = SqlCheck(
    "synthetic",
    "declared",
    ("queries", "corpus"),
    _COUNT,
    _SYNTHETIC,
    "tab, id",
    lambda row: ("the row was made from synthetic input", (side(row["tab"], row["id"], row["text"]),)),
)


def _synthetic(context: Context) -> Outcome:
    _ = context.manifest  # other layouts mark nothing
    return _marked(context)


def _declaration(context: Context) -> Outcome:
    found = Collector("synthetic_declared", "error")
    is_publishable = context.manifest.publishable_by_content
    marked = context.rows(f"SELECT count(*) AS n FROM ({_SYNTHETIC})", "queries", "corpus")[0]["n"]
    origins = context.rows(
        """SELECT tab, id FROM (
            SELECT 'queries' AS tab, q.id FROM queries q JOIN provenance_queries p ON p.id = q.id
            JOIN sources s ON s.id = p.article_id
            WHERE s.is_synthetic AND q.is_synthetic IS DISTINCT FROM true
            UNION ALL SELECT 'corpus', d.id FROM corpus d JOIN provenance_corpus p ON p.id = d.id
            JOIN sources s ON s.id = p.article_id
            WHERE s.is_synthetic AND d.is_synthetic IS DISTINCT FROM true
        ) ORDER BY tab, id""",
        "queries", "corpus", "provenance_queries", "provenance_corpus", "sources",
    )  # fmt: skip
    for row in origins:
        found.add("a row of a synthetic article is not marked synthetic", side(row["tab"], row["id"]))
    if marked and is_publishable:
        found.add(
            f"release.json says publishable by content although {marked} rows are synthetic",
            side("release.json", "publishable_by_content"),
        )
    return found.outcome(context.rows(_COUNT, "queries", "corpus")[0]["n"])


def _changed_image(table: str) -> Canary:
    def plant(rows: Rows, second: Rows) -> Sequence[str] | None:
        if not rows[table] or not rows[f"provenance_{table}"]:
            return None
        row = min(rows[table], key=lambda item: str(item["id"]))
        row["license"] = "CC-BY-ND-4.0"
        for origin in rows[f"provenance_{table}"]:
            if origin["id"] == row["id"]:
                origin["image_transform"] = "png"
        return [row["id"]]

    part = "query" if table == "queries" else "document"
    return Canary(f"a changed image of a {part} under a no-derivatives licence", plant)


def _quoted_article(rows: Rows, second: Rows) -> Sequence[str] | None:
    """The licence of the article a quote stands in, changed where the rows' own licences are not."""
    spans = [span for row in rows["provenance_qrels"] for span in row["evidence"] or ()]
    quoted = {span["text_id"].partition("#")[0] for span in spans}
    for row in rows["sources"]:
        if row["id"] in quoted:
            row["license"] = "LicenseRef-unknown"
            return [row["id"]]
    return None


def _unmarked(table: str) -> Canary:
    def plant(rows: Rows, second: Rows) -> Sequence[str] | None:
        if not rows[f"provenance_{table}"]:
            return None
        origin = rows[f"provenance_{table}"][0]
        for row in rows["sources"]:
            if row["id"] == origin["article_id"]:
                row["is_synthetic"] = True
        for row in rows[table]:
            if row["id"] == origin["id"]:
                row["is_synthetic"] = False
        return [origin["id"]]

    part = "query" if table == "queries" else "document"
    return Canary(f"an unmarked {part} of a synthetic article", plant)


def _first_synthetic(rows: Rows, second: Rows) -> Sequence[str] | None:
    """A release that has synthetic rows says already that it is not publishable: nothing to plant there."""
    if any(row["is_synthetic"] for name in ("queries", "corpus") for row in rows[name]):
        return None
    return cell("corpus", "is_synthetic", True, ["publishable_by_content"])(rows, second)


RULES = (
    Rule(
        "licence_of_rows",
        1,
        "A licence on every row",
        (
            "Every query and document states a licence that the release's profile allows, and where "
            "it was read."
        ),
        "error",
        "rows",
        _licence_of_rows,
        canaries=(
            Canary("a document under a no-derivatives licence", cell("corpus", "license", "CC-BY-NC-ND-4.0")),
            Canary("a query under an unknown licence", cell("queries", "license", "LicenseRef-unknown")),
            Canary("a query without a licence", cell("queries", "license", None, at=1)),
            Canary("a licence read nowhere", cell("provenance_corpus", "license_evidence", "", at=1)),
            Canary("an unknown profile in release.json", files=manifest(licence_profile="canary")),
        ),
    ),
    Rule(
        "licence_of_evidence",
        1,
        "Quotes may be published",
        "The article that a label's quote stands in is under a licence that the release's profile allows.",
        "error",
        "quotes",
        _licence_of_evidence,
        canaries=(Canary("a quote from an article under an unknown licence", _quoted_article),),
    ),
    Rule(
        "derived_images",
        1,
        "No derived image where none may be",
        "No image was resized, converted or cropped under a licence that forbids derivatives.",
        "error",
        "changed images",
        _derived_images,
        canaries=(_changed_image("queries"), _changed_image("corpus")),
    ),
    Rule(
        "licence_combination",
        2,
        "One licence fits all",
        "The licence of the whole is the one the compatibility table gives for all rows together.",
        "error",
        "licences",
        _licence_combination,
        canaries=(
            Canary(
                "licences that no licence fits", cell("queries", "license", "CC-BY-NC-ND-4.0", ["license"])
            ),
            Canary("another licence in release.json", files=manifest(license="canary")),
        ),
    ),
    Rule(
        "retracted",
        1,
        "No retracted source",
        "No source article was retracted when the release was built.",
        "error",
        "articles",
        _retracted,
        canaries=(
            Canary("a retracted article", cell("sources", "is_retracted", True)),
            Canary("an article of which nothing is said", cell("sources", "is_retracted", None, at=1)),
        ),
    ),
    Rule(
        "synthetic",
        1,
        "Synthetic rows",
        "Rows made from synthetic input are counted; a release that has any may not be published.",
        "declared",
        "rows",
        _synthetic,
        canaries=(
            Canary("a synthetic query", cell("queries", "is_synthetic", True)),
            Canary("a document that says nothing of it", cell("corpus", "is_synthetic", None)),
        ),
    ),
    Rule(
        "synthetic_declared",
        1,
        "Synthetic marks agree",
        (
            "Rows of synthetic articles are marked, and release.json is not publishable by content when "
            "any row is marked."
        ),
        "error",
        "rows",
        _declaration,
        canaries=(
            _unmarked("queries"),
            _unmarked("corpus"),
            Canary("a synthetic row in a publishable release", _first_synthetic),
        ),
    ),
)
