"""Rules on questions in several languages: where each string comes from, what holds families together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from curation.audit.rule import Check, Context, Defect, Rule
from curation.audit.rules.languages import wrong_script
from curation.audit.rules.planting import drop_row, set_row
from curation.audit.rules.text_rows import literal
from schemas.benchmark import CORE_LANGUAGES

_STRINGS = "strings"
_Q = '"query-id"'
_OF_QUERY = f"{_STRINGS} s JOIN queries q ON q.id = s.{_Q}"
_CORE = ", ".join(literal(language) for language in CORE_LANGUAGES)
_FAMILIES = "(SELECT id, language FROM queries) AS q JOIN provenance_queries AS p USING (id)"


def _when(table: str, text: str) -> Any:
    """SQL for releases that have a table."""
    return lambda context: text if table in context.views else ""


def _scripts(context: Context) -> str:
    """Names that are not in the script of the language they stand for, each looked at alone."""
    if _STRINGS not in context.views:
        return ""
    parts = []
    for row in context.rows(f"SELECT DISTINCT language FROM {_STRINGS} ORDER BY language", _STRINGS):
        wrong = wrong_script(row["language"] or "")
        cases = " ".join(f"WHEN {test} THEN {literal(what)}" for what, test in wrong)
        if cases:
            parts.append(
                f"""SELECT {_Q} AS queries, text, language, CASE {cases} END AS wrong
                FROM (SELECT {_Q}, name AS text, language FROM {_STRINGS}
                    WHERE language = {literal(row["language"])})"""
            )
    return f"SELECT * FROM ({' UNION ALL '.join(parts)}) WHERE wrong IS NOT NULL" if parts else ""


def _incomplete(context: Context) -> str:
    """Families that lack a language of the parallel core, where the release says that it holds only it.

    The family of human text is the document that it has to find: it is there in the languages of its article.
    """
    stated: list[Mapping[str, Any]] = [stage["params"] for stage in context.manifest.stages]
    if not any(params.get("parallel_core") for params in stated):
        return ""
    return f"""SELECT min(id) AS queries, family, string_agg(DISTINCT language, ' ' ORDER BY language) AS has
        FROM {_FAMILIES} WHERE family <> '' AND family NOT IN (SELECT id FROM corpus)
        GROUP BY family HAVING count(DISTINCT language) FILTER (language IN ({_CORE})) < {len(CORE_LANGUAGES)}
        OR count(DISTINCT language) FILTER (language NOT IN ({_CORE})) > 0"""


def _joined(values: str) -> str:
    """SQL: the first two queries of the release made one family, with some other cells."""
    return f"""UPDATE queries SET {values} WHERE rowid < 2;
        UPDATE provenance_queries SET family = 'planted'
            WHERE id IN (SELECT id FROM queries WHERE rowid < 2);"""


def _human(wrong: str) -> str:
    """SQL: the first string as that of human text with its right place, but for some cells; it is named."""
    at = f"WHERE id = {_STRINGS}.{_Q}"
    right = f"""kind = 'human', name = '', start = 0, "end" = (SELECT length(text) FROM queries {at}),
        source = (SELECT article_id FROM provenance_queries {at}),
        record = (SELECT source_id FROM provenance_queries {at})"""
    return f"UPDATE {_STRINGS} SET {right} WHERE rowid = 0; {set_row(_STRINGS, wrong, names=_Q)}"


_LABELS_APART = f"""
    WITH members AS (SELECT id, family FROM {_FAMILIES} WHERE family <> ''),
    labels AS (
        SELECT m.family, m.id, r."corpus-id" AS corpus, r.score, r.label_status
        FROM members m JOIN qrels r ON r.{_Q} = m.id),
    by_people AS (
        SELECT family, corpus FROM labels WHERE label_status IN ('expert', 'adjudicated')
        UNION SELECT m.family, e."corpus-id" FROM members m JOIN excluded e ON e.{_Q} = m.id
        WHERE e.reason IN ('cannot_judge', 'middle')),
    told AS (
        SELECT family, corpus, score, min(id) AS other FROM labels ANTI JOIN by_people USING (family, corpus)
        GROUP BY family, corpus, score)
    SELECT m.id AS queries, t.other, t.corpus FROM told t JOIN members m USING (family)
    ANTI JOIN labels l ON l.id = m.id AND l.corpus = t.corpus AND l.score = t.score"""
"""A person judged the words of one translation: that verdict holds for this pair and for no other."""
_ONE = _joined("language = 'en'")
_LOWEST = "SELECT min(id) FROM provenance_queries WHERE family = 'planted'"
_RULE_STRINGS = Rule(
    "string_origins",
    2,
    "Every string has its origin",
    "Where a table `strings` is published, every query has a row in it, in its own language and under its "
    "licence; the name stands in the query at its offsets, unaltered, is in the script of the language "
    "looked at without the template around it, and may be passed on. Human text is quoted whole, from a "
    "record of the article that the query is of. What stands in `recipes` is no query.",
    "error",
    "queries",
    checks=(
        Check(
            "the name is not in the query where `strings` says it is",
            _when(
                _STRINGS,
                f"""SELECT q.id AS queries FROM {_OF_QUERY}
                WHERE s.kind IS DISTINCT FROM 'human' AND (coalesce(s.name, '') = ''
                    OR substr(q.text, s.start + 1, s."end" - s.start) IS DISTINCT FROM s.name)""",
            ),
            (
                Defect(
                    "a name altered", set_row(_STRINGS, "kind = 'template', name = name || 's'", names=_Q)
                ),
                Defect(
                    "a template without a name",
                    set_row(_STRINGS, "kind = 'template', name = '', start = 0, \"end\" = 0", names=_Q),
                ),
            ),
        ),
        Check(
            "human text is not quoted whole, or from no record of {article}",
            _when(
                _STRINGS,
                f"""SELECT q.id AS queries, p.article_id AS article FROM {_OF_QUERY}
                JOIN provenance_queries p ON p.id = q.id
                WHERE s.kind = 'human' AND (s.start <> 0 OR s."end" IS DISTINCT FROM length(q.text)
                    OR s.source IS DISTINCT FROM p.article_id OR s.record IS DISTINCT FROM p.source_id)""",
            ),
            (
                Defect("human text without its place", _human('"end" = 0')),
                Defect("human text from no record", _human("record = ''")),
                Defect("human text of another article", _human("source = 'canary'")),
            ),
        ),
        Check(
            "the string is under {stated}, the query under {asked}",
            _when(
                _STRINGS,
                f"""SELECT q.id AS queries, s.license AS stated, q.license AS asked FROM {_OF_QUERY}
                WHERE s.license IS DISTINCT FROM q.license""",
            ),
            Defect("a string under another licence", set_row(_STRINGS, "license = 'canary'", names=_Q)),
        ),
        Check(
            "the query has no row in `strings`",
            _when(
                _STRINGS,
                f"""SELECT q.id AS queries FROM queries q ANTI JOIN {_STRINGS} s ON s.{_Q} = q.id
                """,
            ),
            Defect("a query without origin", drop_row(_STRINGS, names=_Q)),
        ),
        Check(
            "the string is {stated}, the query {asked}",
            _when(
                _STRINGS,
                f"""SELECT q.id AS queries, s.language AS stated, q.language AS asked FROM {_OF_QUERY}
                WHERE s.language IS DISTINCT FROM q.language""",
            ),
            Defect("a string of another language", set_row(_STRINGS, "language = 'xx'", names=_Q)),
        ),
        Check(
            "the name of a query in {language}: {wrong}",
            _scripts,
            (
                Defect(
                    "a Chinese name among Japanese",
                    set_row(_STRINGS, "language = 'ja', name = '糖尿病酮症酸中毒综合征'", names=_Q),
                ),
                Defect(
                    "a Latin name among Chinese",
                    set_row(
                        _STRINGS, "language = 'zh', name = 'diabetic ketoacidosis, not otherwise'", names=_Q
                    ),
                ),
            ),
        ),
        Check(
            "the name in the query is {tier}, restriction level {restriction}",
            _when(
                _STRINGS,
                f"""SELECT q.id AS queries, s.tier, s.restriction FROM {_OF_QUERY}
                WHERE s.tier NOT IN ('', 'open', 'terms') OR s.restriction > 0""",
            ),
            (
                Defect("a restricted string in a query", set_row(_STRINGS, "tier = 'restricted'", names=_Q)),
                Defect("a string of restriction level 3", set_row(_STRINGS, "restriction = 3", names=_Q)),
            ),
        ),
        Check(
            "a recipe is a query as well",
            _when("recipes", f"SELECT q.id AS queries FROM recipes r JOIN queries q ON q.id = r.{_Q}"),
            Defect(
                "a recipe whose text is published",
                f"UPDATE recipes SET {_Q} = (SELECT min(id) FROM queries) WHERE rowid = 0 RETURNING {_Q}",
            ),
        ),
    ),
    compared="SELECT 1 FROM strings",
    about=(_STRINGS,),
    holds="queries made of a vocabulary's names",
)
_RULE_FAMILIES = Rule(
    "families",
    2,
    "Translations stay together",
    "Queries of one family are in one split, no two of them in one language, and where they are of different "
    "languages they have the same labels, but for documents that people judged for one of them. A release "
    "that says it holds the parallel core alone has every family in each of its languages and in no other, "
    "but for human text, which is there in the languages that people wrote.",
    "error",
    "queries",
    checks=(
        Check(
            "the family {family} is in several splits",
            """SELECT min(id) AS queries, family FROM provenance_queries WHERE family <> ''
            GROUP BY family HAVING count(DISTINCT split) > 1""",
            Defect(
                "a family over two splits",
                f"""UPDATE provenance_queries SET family = 'planted', split = 'dev' WHERE rowid = 0;
                UPDATE provenance_queries SET family = 'planted', split = 'test' WHERE rowid = 1;
                {_LOWEST}""",
            ),
        ),
        Check(
            "the family {family} has {n} queries in {language}",
            f"""SELECT min(id) AS queries, family, language, count(*) AS n FROM {_FAMILIES} WHERE family <> ''
            GROUP BY family, language HAVING count(*) > 1""",
            Defect("a family twice in a language", f"{_ONE} {_LOWEST}"),
        ),
        Check(
            "the label of {corpus} is not that of its translation {other}",
            _LABELS_APART,
            (
                Defect(
                    "a translation that lost its labels",
                    f"""{_ONE} UPDATE queries SET language = 'es' WHERE rowid = 1;
                    DELETE FROM qrels WHERE {_Q} IN (SELECT id FROM provenance_queries
                        WHERE family = 'planted');
                    INSERT INTO qrels BY NAME SELECT min(id) AS {_Q}, 'planted' AS "corpus-id", 2 AS score,
                        'structural' AS label_status FROM provenance_queries WHERE family = 'planted';
                    SELECT max(id) FROM provenance_queries WHERE family = 'planted'""",
                ),
                Defect(
                    "a label that only a later translation has",
                    f"""{_ONE} UPDATE queries SET language = 'es' WHERE rowid = 1;
                    DELETE FROM qrels WHERE {_Q} IN (SELECT id FROM provenance_queries
                        WHERE family = 'planted');
                    INSERT INTO qrels BY NAME SELECT max(id) AS {_Q}, 'planted' AS "corpus-id", 2 AS score,
                        'judge' AS label_status FROM provenance_queries WHERE family = 'planted';
                    {_LOWEST}""",
                ),
            ),
        ),
        Check(
            "the family {family} is not in each language of the parallel core, or in another: {has}",
            _incomplete,
            Defect(
                "a parallel core that is incomplete",
                f"{_ONE} {_LOWEST}",
                stated={"stages": ({"name": "planted", "version": 1, "params": {"parallel_core": True}},)},
            ),
        ),
    ),
    compared="SELECT 1 FROM provenance_queries WHERE family <> ''",
    tables=("queries", "provenance_queries", "qrels", "excluded", "corpus"),
    holds="queries with translations",
)
RULES = (_RULE_STRINGS, _RULE_FAMILIES)
