"""Rules on rights and honesty: licences, retractions, synthetic marks."""

from __future__ import annotations

from collections.abc import Callable

from curation.audit.rule import Check, Collector, Context, Defect, Outcome, Rule, side
from curation.audit.rules.planting import set_row
from curation.audit.rules.text_rows import literal
from curation.published.manifest import NAME
from curation.release.rights import combined_family
from schemas.audit import Coverage
from schemas.licences import PROFILES, Profile, is_allowed, terms
from schemas.name_tables import NAMED_CORPUS

_SIDES = (("queries", "q", "query"), ("corpus", "c", "document"))
_ROWS = "SELECT license FROM queries UNION ALL SELECT license FROM corpus"
_ORIGINS = ("provenance_queries", "provenance_corpus")
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


def profile_of(context: Context) -> Profile:
    """The licence profile that a release states; `open` where it is unknown."""
    return "noncommercial" if context.manifest.licence_profile == "noncommercial" else "open"


def _checked(text: str, *tables: str) -> Callable[[Context], str]:
    """SQL for releases only: other layouts do not say what it asks for."""

    def test(context: Context) -> str:
        _hold(context, *tables)
        return text

    return test


def _hold(context: Context, *tables: str) -> None:
    _ = context.manifest
    context.rows("SELECT 1 LIMIT 0", *tables)


def _unknown_profile(context: Context) -> str:
    _hold(context, "queries", "corpus", *_ORIGINS)
    name = context.manifest.licence_profile
    found = f"""SELECT 'licence_profile' AS "{NAME}", {literal(name)} AS profile"""
    return "" if name in PROFILES else found


def _forbidden(table: str, c: str) -> Callable[[Context], str]:
    """SQL: licences of a table's rows that the release's profile does not allow."""

    def test(context: Context) -> str:
        profile = profile_of(context)
        stated = [row["license"] for row in context.rows(f"SELECT DISTINCT license FROM {table}", table)]
        listed = ", ".join(
            literal(name) for name in sorted(filter(None, stated)) if not is_allowed(name, profile)
        )
        return (
            listed
            and f"""SELECT license, min(id) AS {c}, license AS text, '{profile}' AS profile, min(id) AS id,
            count(*) AS n FROM {table} WHERE license IN ({listed}) GROUP BY license"""
        )

    return test


def _of_rows(table: str, c: str, kind: str) -> tuple[Check, ...]:
    return (
        Check(
            f"{{n}} rows of {table} state no licence, first {{id}}",
            f"""SELECT min(id) AS {c}, min(id) AS id, count(*) AS n FROM {table}
            WHERE coalesce(license, '') = '' GROUP BY license""",
            (
                Defect(f"a {kind} without a licence", set_row(table, "license = NULL")),
                Defect(f"a {kind} with an empty licence", set_row(table, "license = ''")),
            ),
        ),
        Check(
            f"{{n}} rows of {table} are under {{license}}, "
            "which profile '{profile}' does not allow, first {id}",
            _forbidden(table, c),
            (
                Defect(
                    f"a {kind} under a no-derivatives licence", set_row(table, "license = 'CC-BY-NC-ND-4.0'")
                ),
                Defect(
                    f"a {kind} under an unknown licence", set_row(table, "license = 'LicenseRef-unknown'")
                ),
            ),
        ),
    )


LICENCE_OF_ROWS = (
    Check(
        "release.json names an unknown licence profile: {profile!r}",
        _unknown_profile,
        Defect(
            "an unknown profile in release.json",
            "SELECT 'licence_profile'",
            stated={"licence_profile": "canary"},
        ),
    ),
    *(check for one in _SIDES for check in _of_rows(*one)),
    Check(
        "where this row's licence was read is not stated",
        """SELECT NULL AS provenance_corpus, id AS provenance_queries FROM provenance_queries
            WHERE coalesce(license_evidence, '') = ''
        UNION ALL SELECT id, NULL FROM provenance_corpus WHERE coalesce(license_evidence, '') = ''""",
        tuple(
            Defect(
                f"a {kind}'s licence read {where}",
                set_row(f"provenance_{table}", f"license_evidence = {said}"),
            )
            for table, _, kind in _SIDES
            for where, said in (("nowhere", "''"), ("in no file", "NULL"))
        ),
    ),
)


def _licence_of_evidence(context: Context) -> Outcome:
    """Quotes are published too: the article each stands in must be under an allowed licence."""
    found = Collector("licence_of_evidence", "error")
    profile = profile_of(context)
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


def _combined(context: Context) -> tuple[list[str], str | None]:
    """Licences of the rows, and the one that fits all."""
    rows, names = _ROWS, NAMED_CORPUS.name
    if names in context.views:
        rows = f"{rows} UNION ALL SELECT license FROM {names}"
    stated_whole = context.rows(
        f"SELECT DISTINCT coalesce(license, '') AS name FROM ({rows})",
        *("queries", "corpus", names)[: 3 if names in context.views else 2],
    )
    stated = sorted(row["name"] for row in stated_whole)
    return stated, combined_family(stated)


def _unfit(context: Context) -> str:
    _ = context.manifest
    stated, combined = _combined(context)
    found = f"""SELECT 'license' AS "{NAME}", {literal(", ".join(stated))} AS listed"""
    return found if combined is None else ""


def _other_licence(context: Context) -> str:
    stated = context.manifest.license
    combined = _combined(context)[1]
    found = f"""SELECT 'license' AS "{NAME}", {literal(stated)} AS stated, '{combined}' AS combined"""
    return "" if combined in (None, stated) else found


LICENCE_COMBINATION = (
    Check(
        "no licence fits all rows together: {listed}",
        _unfit,
        (
            Defect(
                "licences that no licence fits",
                set_row("queries", "license = 'CC-BY-NC-ND-4.0'", names="'license'"),
            ),
            Defect(
                "share-alike beside non-commercial",
                f"""{set_row("queries", "license = 'CC-BY-SA-4.0'")};
                {set_row("corpus", "license = 'CC-BY-NC-4.0'", names="'license'")}""",
            ),
        ),
    ),
    Check(
        "release.json says {stated}; its rows combine to {combined}",
        _other_licence,
        Defect("another licence in release.json", "SELECT 'license'", stated={"license": "canary"}),
    ),
)
_SYNTHETIC = """SELECT NULL AS c, id AS q, text FROM queries WHERE is_synthetic IS DISTINCT FROM false
    UNION ALL SELECT id, NULL, text FROM corpus WHERE is_synthetic IS DISTINCT FROM false"""
_OF_SYNTHETIC = """
    SELECT NULL AS c, q.id AS q FROM queries q JOIN provenance_queries p ON p.id = q.id
    JOIN sources s ON s.id = p.article_id WHERE s.is_synthetic AND q.is_synthetic IS DISTINCT FROM true
    UNION ALL SELECT d.id, NULL FROM corpus d JOIN provenance_corpus p ON p.id = d.id
    JOIN sources s ON s.id = p.article_id WHERE s.is_synthetic AND d.is_synthetic IS DISTINCT FROM true"""


def _declared(context: Context) -> str:
    text = f"""SELECT 'publishable_by_content' AS "{NAME}", count(*) AS n FROM ({_SYNTHETIC})
        HAVING count(*) > 0"""
    return text if context.manifest.publishable_by_content else ""


def _changed_image(table: str, kind: str) -> Defect:
    return Defect(
        f"a changed image of a {kind} under a no-derivatives licence",
        f"""UPDATE provenance_{table} SET image_transform = 'png'
            WHERE id = (SELECT id FROM {table} WHERE rowid = 0);
        {set_row(table, "license = 'CC-BY-ND-4.0'")}""",
    )


def _unmarked(table: str, name: str, mark: str) -> Defect:
    first = f"(SELECT * FROM provenance_{table} WHERE rowid = 0)"
    return Defect(
        name,
        f"""UPDATE sources SET is_synthetic = true WHERE id = (SELECT article_id FROM {first});
        UPDATE {table} SET is_synthetic = {mark} WHERE id = (SELECT id FROM {first}) RETURNING id""",
    )


_QUOTED_ARTICLE = """UPDATE sources SET license = 'LicenseRef-unknown' WHERE id = (
    SELECT min(s.id) FROM (SELECT unnest(evidence) AS e FROM provenance_qrels)
    JOIN sources s ON s.id = split_part(e.text_id, '#', 1)) RETURNING id"""
"""The licence of the article a quote stands in, changed where the rows' own licences are not."""
SYNTHETIC_DECLARED = (
    Check(
        "a row of a synthetic article is not marked synthetic",
        _checked(_OF_SYNTHETIC, "queries", "corpus", *_ORIGINS, "sources"),
        tuple(
            defect
            for table, _, kind in _SIDES
            for defect in (
                _unmarked(table, f"an unmarked {kind} of a synthetic article", "false"),
                _unmarked(table, f"a {kind} of a synthetic article without a mark", "NULL"),
            )
        ),
    ),
    Check(
        "release.json says publishable by content although {n} rows are synthetic",
        _declared,
        tuple(
            Defect(
                f"a synthetic {kind} in a publishable release",
                set_row(table, "is_synthetic = true", names="'publishable_by_content'"),
                stated={"publishable_by_content": True},
            )
            for table, _, kind in _SIDES
        ),
    ),
)
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
        checks=LICENCE_OF_ROWS,
        compared=_ROWS,
    ),
    Rule(
        "licence_of_evidence",
        1,
        "Quotes may be published",
        "The article that a label's quote stands in is under a licence that the release's profile allows.",
        "error",
        "quotes",
        checks=(
            Check(
                "a quote is from an article under a licence that the profile does not allow",
                _licence_of_evidence,
                Defect("a quote from an article under an unknown licence", _QUOTED_ARTICLE),
            ),
        ),
    ),
    Rule(
        "derived_images",
        1,
        "No derived image where none may be",
        "No image was resized, converted or cropped under a licence that forbids derivatives.",
        "error",
        "changed images",
        checks=(
            Check(
                "an image was changed under a licence that forbids it",
                _derived_images,
                tuple(_changed_image(table, kind) for table, _, kind in _SIDES),
            ),
        ),
    ),
    Rule(
        "licence_combination",
        2,
        "One licence fits all",
        "The licence of the whole is the one the compatibility table gives for all rows together.",
        "error",
        "licences",
        checks=LICENCE_COMBINATION,
        compared=f"SELECT DISTINCT coalesce(license, '') FROM ({_ROWS})",
    ),
    Rule(
        "retracted",
        1,
        "No retracted source",
        "No source article was retracted when the release was built.",
        "error",
        "articles",
        checks=(
            Check(
                "a source article is retracted",
                "SELECT id AS sources, title AS text FROM sources WHERE is_retracted IS DISTINCT FROM false",
                (
                    Defect("a retracted article", set_row("sources", "is_retracted = true")),
                    Defect(
                        "an article without a retraction status",
                        set_row("sources", "is_retracted = NULL", at=1),
                    ),
                ),
            ),
        ),
        tables=("sources",),
        compared="FROM sources",
    ),
    Rule(
        "synthetic",
        1,
        "Synthetic rows",
        "Rows made from synthetic input are counted; a release that has any may not be published.",
        "declared",
        "rows",
        checks=(
            Check(
                "the row was made from synthetic input",
                _checked(_SYNTHETIC, "queries", "corpus"),
                tuple(
                    defect
                    for table, _, kind in _SIDES
                    for defect in (
                        Defect(f"a synthetic {kind}", set_row(table, "is_synthetic = true")),
                        Defect(f"a {kind} without a synthetic mark", set_row(table, "is_synthetic = NULL")),
                    )
                ),
            ),
        ),
        compared=_ROWS,
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
        checks=SYNTHETIC_DECLARED,
        compared=_ROWS,
    ),
)
