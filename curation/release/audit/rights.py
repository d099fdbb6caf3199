"""Rules on rights and honesty: licences of rows and of the whole, retractions, synthetic marks."""

from __future__ import annotations

from curation.release.audit.rule import Collector, Context, Outcome, Rule, SqlCheck, side
from curation.release.rights import combined_family
from schemas.licences import PROFILES, Profile, is_allowed

_LICENCES = """SELECT tab, license, min(id) AS id, count(*) AS n FROM (
    SELECT 'queries' AS tab, license, id FROM queries UNION ALL SELECT 'corpus', license, id FROM corpus)
    GROUP BY tab, license ORDER BY tab, license"""
_COUNT = "SELECT (SELECT count(*) FROM queries) + (SELECT count(*) FROM corpus) AS n"


def _licence_of_rows(context: Context) -> Outcome:
    found = Collector("licence_of_rows", "error")
    name = context.manifest.licence_profile
    if name not in PROFILES:
        found.add(
            f"release.json names an unknown licence profile: {name!r}",
            side("release.json", "licence_profile"),
        )
    profile: Profile = "noncommercial" if name == "noncommercial" else "open"
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


def _licence_of_release(context: Context) -> Outcome:
    found = Collector("licence_of_release", "error")
    stated = [row["license"] or "" for row in context.rows(_LICENCES, "queries", "corpus")]
    combined = combined_family(stated)
    if combined is None:
        found.add(
            f"no licence fits all rows together: {', '.join(sorted(set(stated)))}",
            side("release.json", "license"),
        )
    elif combined != context.manifest.license:
        found.add(
            f"release.json says {context.manifest.license}; its rows combine to {combined}",
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
_synthetic = SqlCheck(
    "synthetic",
    "declared",
    ("queries", "corpus"),
    _COUNT,
    _SYNTHETIC,
    "tab, id",
    lambda row: ("the row was made from synthetic input", (side(row["tab"], row["id"], row["text"]),)),
)


def _declaration(context: Context) -> Outcome:
    found = Collector("synthetic_declared", "error")
    marked = context.rows(f"SELECT count(*) AS n FROM ({_SYNTHETIC})", "queries", "corpus")[0]["n"]
    origins = context.rows(
        """SELECT tab, id FROM (
            SELECT 'queries' AS tab, q.id FROM queries q JOIN provenance_queries p ON p.id = q.id
            JOIN sources s ON s.id = p.article_id WHERE s.is_synthetic AND NOT q.is_synthetic
            UNION ALL SELECT 'corpus', d.id FROM corpus d JOIN provenance_corpus p ON p.id = d.id
            JOIN sources s ON s.id = p.article_id WHERE s.is_synthetic AND NOT d.is_synthetic
        ) ORDER BY tab, id""",
        "queries", "corpus", "provenance_queries", "provenance_corpus", "sources",
    )  # fmt: skip
    for row in origins:
        found.add("a row of a synthetic article is not marked synthetic", side(row["tab"], row["id"]))
    if marked and context.manifest.publishable:
        found.add(
            f"release.json says publishable although {marked} rows are synthetic",
            side("release.json", "publishable"),
        )
    return found.outcome(context.rows(_COUNT, "queries", "corpus")[0]["n"])


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
    ),
    Rule(
        "licence_of_release",
        1,
        "One licence fits all",
        "The licence of the whole is the one the compatibility table gives for all rows together.",
        "error",
        "licences",
        _licence_of_release,
    ),
    Rule(
        "retracted",
        1,
        "No retracted source",
        "No source article was retracted when the release was built.",
        "error",
        "articles",
        _retracted,
    ),
    Rule(
        "synthetic",
        1,
        "Synthetic rows",
        "Rows made from synthetic input are counted; a release that has any may not be published.",
        "declared",
        "rows",
        _synthetic,
    ),
    Rule(
        "synthetic_declared",
        1,
        "Synthetic marks agree",
        (
            "Rows of synthetic articles are marked, and release.json is not publishable when any row "
            "is marked."
        ),
        "error",
        "rows",
        _declaration,
    ),
)
