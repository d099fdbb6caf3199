"""Rules on confusion sets in further languages: the same sets, one name for each of their documents."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from curation.audit.rule import Check, Context, Defect, Rule
from curation.audit.rules.confusions import planted_set
from curation.audit.rules.languages import wrong_script
from curation.audit.rules.planting import new_row
from curation.audit.rules.rights import profile_of
from curation.audit.rules.text_rows import literal
from schemas.licences import is_allowed

_Q, _C = '"query-id"', '"corpus-id"'
_SIZE = 8
_UNSPACED = ("ja", "zh")
_NAMES = f"""
    SELECT n.id AS q, n.document_language AS language, s.{_C} AS c, s.role, s.concept, d.text,
        normalise_text(d.text) AS name, d.status AS of_name, n.status, q.text AS asked
    FROM named_queries AS n JOIN confusions AS s ON s.{_Q} = n.id JOIN queries AS q ON q.id = n.id
    JOIN named_corpus AS d ON d.id = s.{_C} AND d.language = n.document_language"""
_MARKED = r"normalise_text(regexp_extract(m.asked, '\[\[ (.*?) \]\]', 1))"


def _holds(text: str, words: str) -> str:
    """SQL: some words stand in a name; where the script writes no spaces, its characters."""
    listed = ", ".join(map(literal, _UNSPACED))
    spaced, unspaced = f"contains(' ' || {text} || ' ', ' ' || {words} || ' ')", f"contains({text}, {words})"
    return f"({words} <> '' AND if(m.language IN ({listed}), {unspaced}, {spaced}))"


def _scripts(context: Context) -> str:
    """Names that are not in the script of their language."""
    parts = []
    for row in context.rows("SELECT DISTINCT language FROM named_corpus ORDER BY language", "named_corpus"):
        wrong = wrong_script(row["language"] or "")
        cases = " ".join(f"WHEN {test} THEN {literal(what)}" for what, test in wrong)
        if cases:
            parts.append(f"""SELECT id AS c, text, language, CASE {cases} END AS wrong FROM named_corpus
                WHERE language = {literal(row["language"])}""")
    return f"SELECT * FROM ({' UNION ALL '.join(parts)}) WHERE wrong IS NOT NULL" if parts else ""


def _licences(context: Context) -> str:
    """Names under a licence that the release's profile does not allow, or none."""
    profile = profile_of(context)
    stated = context.rows(
        "SELECT DISTINCT coalesce(license, '') AS license FROM named_corpus", "named_corpus"
    )
    listed = ", ".join(
        literal(row["license"])
        for row in sorted(stated, key=lambda row: str(row["license"]))
        if not row["license"] or not is_allowed(row["license"], profile)
    )
    return (
        listed
        and f"""SELECT id AS c, coalesce(license, '') AS license FROM named_corpus
        WHERE coalesce(license, '') IN ({listed})"""
    )


def _of_gold(context: Context) -> str:
    """Members' names that are names of the gold concept in the same language, by their hashes."""
    if "target_names" not in context.views:
        return ""
    return f"""SELECT m.q, m.c, m.language FROM ({_NAMES}) AS m
        JOIN confusions AS g ON g.{_Q} = m.q AND g.role = 'gold'
        JOIN target_names AS t ON t.concept = g.concept AND t.language = m.language
            AND t.name_hash = left(sha256(g.concept || ' ' || m.name), 16)
        WHERE m.role = 'member'"""


def _when(table: str, text: str) -> Callable[[Context], str]:
    """SQL for releases that have a table."""
    return lambda context: text if table in context.views else ""


def _named(number: int, language: str, name: str, *said: str, **changes: Mapping[str, object]) -> str:
    """SQL: an invented set with its names in a language, then what else is said.

    Args:
        number: tells it from others.
        language: of the names.
        name: with a place for what tells one from another.
        said: further statements; <id> stands for the query.
        changes: values of the names `d0` (gold) to `d7`, and of the `query` in that language.
    """
    asked = "A child with [[ linnet fever ]] was seen in the ward."
    query = {"id": "<id>", "document_language": language, "status": "official", "text": asked, "tier": "3"}
    rows = [
        new_row("named_queries", {**query, **changes.get("query", {})}),
        new_row(
            "named_qrels",
            {
                "query-id": "<id>",
                "corpus-id": "<id>d0",
                "document_language": language,
                "score": 2,
                "label_status": "structural",
            },
        ),
        f"UPDATE qrels SET label_status = 'structural' WHERE {_Q} = '<id>'",
    ]
    for place, nth in enumerate("αβγδεζηθ"):
        text = dict(changes.get(f"d{place}", {})).pop("text", name.format(nth))
        row = {
            "id": f"<id>d{place}", "title": "", "text": text, "language": language, "license": "CC0-1.0",
            "is_synthetic": False, "license_evidence": "planted", "article_id": "canary:entry",
            "concept": f"CANARY:{number}{place}", "source": "CANARY", "code": "", "term_type": "PT",
            "status": "official", "restriction": 0, "tier": "open",
        }  # fmt: skip
        rows.append(new_row("named_corpus", {**row, **changes.get(f"d{place}", {})}))
    rows.append("UPDATE named_corpus SET text_sha256 = sha256(text) WHERE starts_with(id, '<id>')")
    return planted_set(number, *rows, *said)


_FORMS = {"es": "morbo {} del mar", "ja": "海の{}熱", "zh": "海之{}病"}


def planted_names(number: int, language: str, *, is_first: bool) -> str:
    """SQL: an invented set with its names in a language; the set itself only where this is its first one."""
    text = _named(number, language, _FORMS[language])
    if is_first:
        return text
    own = ("named_queries", "named_qrels", "named_corpus")
    return "; ".join(part for part in text.split("; ") if any(f"INTO {name} " in part for name in own))


def _query(name: str, number: int, *said: str, language: str = "es", **changes: Mapping[str, Any]) -> Defect:
    """A defect by which a query has to be named."""
    return Defect(name, _named(number, language, _FORMS[language], *said, **changes))


def _document(name: str, number: int, language: str = "es", **change: object) -> Defect:
    """A defect by which the fourth document of a set has to be named."""
    planted = _named(number, language, _FORMS[language], d3=change)
    return Defect(name, f"{planted}; SELECT 'canary:set{number}d3' AS id")


RULES = (
    Rule(
        "confusion_names",
        1,
        "Confusion sets in other languages",
        "A query that is asked in another language has the text, tier and gold document it has in English. "
        f"Each of the {_SIZE} documents of its set has one name in that language, in its script, under a "
        "licence of the profile, unaltered by its hash and not restricted. No two names of a set are the "
        "same once case and punctuation are folded; no member's name is one of the gold concept's, or holds "
        "it or the marked words. A set with a name that no one has confirmed says so. What stands in "
        "`name_recipes` is asked in no other way, and holds no restricted name.",
        "error",
        "queries",
        checks=(
            Check(
                "the query in {language} is not that of the same id in queries",
                """SELECT n.id AS q, n.document_language AS language FROM named_queries AS n
                    LEFT JOIN queries AS o ON o.id = n.id
                    WHERE o.text IS DISTINCT FROM n.text OR o.tier IS DISTINCT FROM n.tier""",
                (
                    _query("a query with another text", 31, query={"text": "A [[ linnet fever ]] it was."}),
                    _query("a query of another tier", 32, query={"tier": "1"}),
                ),
            ),
            Check(
                f"{{n}} documents of the set have a name in {{language}}, not {_SIZE}",
                f"""SELECT n.id AS q, n.document_language AS language, count(d.id) AS n
                    FROM named_queries AS n LEFT JOIN confusions AS s ON s.{_Q} = n.id
                    LEFT JOIN named_corpus AS d ON d.id = s.{_C} AND d.language = n.document_language
                    GROUP BY ALL HAVING count(d.id) <> {_SIZE}""",
                _query("a set of seven names", 33, "DELETE FROM named_corpus WHERE id = '<id>d5'"),
            ),
            Check(
                "the label in {language} is not that of the query in English",
                f"""SELECT n.id AS q, n.document_language AS language FROM named_queries AS n
                    LEFT JOIN named_qrels AS r ON r.{_Q} = n.id AND r.document_language = n.document_language
                    LEFT JOIN qrels AS g ON g.{_Q} = n.id AND g.{_C} = r.{_C} AND g.score = r.score
                        AND g.label_status = r.label_status AND g.score > 0
                    GROUP BY ALL HAVING count(r.{_Q}) <> 1 OR count(g.{_Q}) <> 1
                    UNION ALL SELECT r.{_Q}, r.document_language FROM named_qrels AS r
                    ANTI JOIN named_queries AS n
                        ON n.id = r.{_Q} AND n.document_language = r.document_language""",
                (
                    _query(
                        "a member as gold document",
                        34,
                        f"UPDATE named_qrels SET {_C} = '<id>d2' WHERE {_Q} = '<id>'",
                    ),
                    _query("a query without a label", 35, f"DELETE FROM named_qrels WHERE {_Q} = '<id>'"),
                    _query(
                        "a label in a language that is not asked",
                        36,
                        "DELETE FROM named_queries WHERE id = '<id>'",
                    ),
                ),
            ),
            Check(
                "two documents of the set have the same name in {language}",
                f"""SELECT m.q, m.language, min(m.c) AS c FROM ({_NAMES}) AS m
                    GROUP BY m.q, m.language, m.name HAVING count(*) > 1""",
                _query("a name of two members", 37, d2={"text": "Morbo-ζ del mar"}),
            ),
            Check(
                "the member's name is one of the gold concept's in {language}",
                _of_gold,
                _query(
                    "a synonym of the gold concept as a member's name",
                    38,
                    """INSERT INTO target_names BY NAME SELECT 'CANARY:380' AS concept, 'es' AS language,
                        4 AS words, left(sha256('CANARY:380 ' || normalise_text('morbo δ del mar')), 16)
                        AS name_hash""",
                ),
            ),
            Check(
                "the member's name holds that of the gold concept, or the marked words",
                f"""SELECT m.q, m.c FROM ({_NAMES}) AS m JOIN ({_NAMES}) AS g
                        ON g.q = m.q AND g.language = m.language AND g.role = 'gold'
                    WHERE m.role = 'member' AND m.name <> g.name
                        AND ({_holds("m.name", "g.name")} OR {_holds("m.name", _MARKED)})""",
                (
                    _query(
                        "a member that is a kind of the gold concept",
                        39,
                        d5={"text": "morbo α del mar grave"},
                    ),
                    _query("the same without spaces", 40, language="zh", d5={"text": "急性海之α病"}),
                    _query("a member called by the marked words", 41, d5={"text": "linnet fever"}),
                ),
            ),
            Check(
                "the name in {language}: {wrong}",
                _scripts,
                (
                    _document("a Chinese name among Japanese", 42, "ja", text="糖尿病酮症酸中毒综合征"),
                    _document("a Japanese name among Chinese", 43, "zh", text="海のかぜの病"),
                    _document("a Chinese name among Spanish", 44, text="糖尿病酮症酸中毒综合征"),
                ),
            ),
            Check(
                "the name is {tier}, restriction level {restriction}",
                """SELECT id AS c, tier, restriction FROM named_corpus
                    WHERE tier NOT IN ('open', 'terms') OR restriction > 0""",
                (
                    _document("a restricted name", 45, tier="restricted"),
                    _document("a name of restriction level 3", 46, restriction=3),
                ),
            ),
            Check(
                "the name is under licence {license!r}",
                _licences,
                (
                    _document("a name without a licence", 47, license=""),
                    _document("a name under a licence outside the profile", 48, license="CC-BY-ND-4.0"),
                ),
            ),
            Check(
                "the name is not the one that was hashed, or has no source",
                """SELECT id AS c FROM named_corpus
                    WHERE text_sha256 IS DISTINCT FROM sha256(text) OR coalesce(source, '') = ''
                        OR coalesce(license_evidence, '') = ''""",
                (
                    Defect(
                        "a name altered",
                        _named(
                            49,
                            "es",
                            _FORMS["es"],
                            "UPDATE named_corpus SET text = text || 's' WHERE id = '<id>d3'",
                        )
                        + "; SELECT 'canary:set49d3' AS id",
                    ),
                    _document("a name from nowhere", 50, source=""),
                    _document("a name whose licence was read nowhere", 51, license_evidence=""),
                ),
            ),
            Check(
                "the set in {language} is called {status}, its names say otherwise",
                f"""SELECT m.q, m.language, m.status FROM ({_NAMES}) AS m GROUP BY ALL
                    HAVING m.status <> if(bool_or(m.of_name <> 'official'), 'candidate', 'official')""",
                (
                    _query("a set with an unconfirmed name", 52, d6={"status": "candidate"}),
                    _query("a confirmed set called unconfirmed", 53, query={"status": "candidate"}),
                ),
            ),
            Check(
                "a recipe holds a restricted name, or is asked already",
                _when(
                    "name_recipes",
                    f"""SELECT r.{_Q} AS q FROM name_recipes AS r LEFT JOIN named_queries AS n
                        ON n.id = r.{_Q} AND n.document_language = r.document_language
                    WHERE n.id IS NOT NULL OR (r.tier = 'restricted' AND r.text <> '')""",
                ),
                (
                    _query(
                        "a recipe of what is asked",
                        54,
                        f"""INSERT INTO name_recipes BY NAME SELECT '<id>' AS {_Q}, '<id>d1' AS {_C},
                            'es' AS document_language, 'terms' AS tier, '' AS text""",
                    ),
                    _query(
                        "a recipe with a restricted name",
                        55,
                        f"""INSERT INTO name_recipes BY NAME SELECT '<id>' AS {_Q}, '<id>d1' AS {_C},
                            'pt' AS document_language, 'restricted' AS tier, 'doença' AS text""",
                    ),
                ),
            ),
        ),
        compared="SELECT 1 FROM named_queries",
        tables=("queries", "qrels", "confusions", "named_queries", "named_qrels", "named_corpus"),
        about=("named_queries",),
        holds="sets in other languages",
    ),
)
