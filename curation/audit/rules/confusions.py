"""Rules on confusion sets: eight documents of eight concepts, one of them right and none of the others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from curation.audit.rule import Check, Defect, Rule
from curation.audit.rules.planting import new_row

_SIZE = 8
_Q, _C = '"query-id"', '"corpus-id"'
_OF = 'SELECT "query-id" AS q, "corpus-id" AS c, * FROM confusions'
_MARKED = r"normalise_text(regexp_extract(q.text, '\[\[ (.*?) \]\]', 1))"
_TOLD = "' ' || normalise_text(d.text) || ' '"
_PAIRS = f"""SELECT a.q, a.c, b.c AS other, a.concept, b.concept AS of_other, a.below, b.below AS below_other,
        a.role AS own, b.role AS role_other
    FROM ({_OF}) AS a JOIN ({_OF}) AS b ON b.q = a.q AND a.c < b.c"""
_WORDS = "len(string_split(trim(d.text), ' '))"
_EDGES = (8, 16, 32, 64)
_BAND = " + ".join(f"({_WORDS} >= {edge})::INTEGER" for edge in _EDGES)
_ROOTS = (
    """list_transform(list_filter(string_split(marked, ' '), lambda x: length(x) > 3), lambda x: x[1:5])"""
)
_SHARED = f"""(contains(told, ' ' || marked || ' ')
    OR len(list_filter({_ROOTS}, lambda x: contains(told, ' ' || x))) > 0)"""
_STATED = f"""
    SELECT q.id AS q, q.tier, {_MARKED} AS marked, {_TOLD} AS told, s.far, s.near
    FROM queries AS q JOIN ({_OF}) AS g ON g.q = q.id AND g.role = 'gold' JOIN corpus AS d ON d.id = g.c
    JOIN (SELECT q, count(*) FILTER (kin = 'far') AS far,
            count(*) FILTER (kin IN ('sibling', 'cousin')) AS near
        FROM ({_OF}) WHERE role = 'member' GROUP BY q) AS s ON s.q = q.id"""
_TIERS = f"""
    SELECT q, tier, wanted FROM (SELECT q, tier, CASE
            WHEN near = 0 AND {_SHARED} THEN '1' WHEN far = 0 AND {_SHARED} THEN '2'
            WHEN far = 0 THEN '3' ELSE 'none' END AS wanted FROM ({_STATED}))
    WHERE tier IS DISTINCT FROM wanted"""
_KIN = f"""
    SELECT m.q, m.c, m.kin FROM ({_OF}) AS m JOIN ({_OF}) AS g ON g.q = m.q AND g.role = 'gold'
    WHERE m.role = 'member' AND CASE m.kin
        WHEN 'far' THEN list_has_any(m.above, g.above)
        WHEN 'sibling' THEN NOT (list_contains(m.above, m.via) AND list_contains(g.above, m.via))
        WHEN 'cousin' THEN NOT (list_contains(m.above, m.via) AND list_contains(g.above, m.via))
        ELSE true END"""
_TEXT = "A rare disorder of the {} kind that affects the left hand of old sailors."
_ORDER = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
_ASKED = "A child with [[ linnet fever ]] was seen in the ward."
_NAMING = "A rare disorder that goes with linnet fever in the hands of old sailors."
_SHARING = "A rare fever of the first kind that affects the hands of old sailors."


def planted_set(number: int, *said: str, **changes: Mapping[str, Any]) -> str:
    """SQL: an invented query with its set, then what else is said.

    Args:
        number: tells it from others; <id> in what is said stands for its id.
        said: further statements.
        changes: values of `query`, and of the set's rows `m0` (gold) to `m7` with their document's text.
    """
    name = f"canary:set{number}"
    asked = {"text": _ASKED, "tier": "3", **changes.get("query", {})}
    rows = [
        new_row("queries", {"id": name, **asked}),
        new_row("provenance_queries", {"id": name, "article_id": f"canary:article{number}"}),
        new_row("keys", {"query-id": name, "dimension": "target_concept", "key": f"CANARY:{number}0"}),
        new_row("qrels", {"query-id": name, "corpus-id": f"{name}d0", "score": 2}),
    ]
    for place, nth in enumerate(_ORDER):
        concept, changed = f"CANARY:{number}{place}", dict(changes.get(f"m{place}", {}))
        text = changed.pop("text", _TEXT.format(nth))
        article = changed.pop("article_id", f"canary:entry{number}{place}")
        row = {
            "query-id": name,
            "corpus-id": f"{name}d{place}",
            "concept": concept,
            "role": "member" if place else "gold",
            "kin": "sibling" if place else "itself",
            "via": "CANARY:P" if place else "",
            "surface_distance": 900 if place else 0,
            "above": [concept, "CANARY:P"],
            "below": [concept],
        }
        rows += [
            new_row("corpus", {"id": row["corpus-id"], "text": text}),
            new_row("provenance_corpus", {"id": row["corpus-id"], "article_id": article}),
            new_row("confusions", row | changed),
        ]
    return "; ".join([*rows, *(text.replace("<id>", name) for text in said), f"SELECT '{name}' AS id"])


_set = planted_set

RULES = (
    Rule(
        "confusion_sets",
        1,
        "Confusion sets",
        f"Every query has a set of {_SIZE} documents of as many concepts, one length band and other articles "
        "than its own. One of them is about its target concept and is its positive; no other is about a "
        "concept that has a concept below itself in common with another one of the set, has the marked words "
        "for a name, or is told in a text that names them.",
        "error",
        "queries",
        checks=(
            Check(
                f"the query has {{n}} documents in its set, not {_SIZE}",
                f"""SELECT id AS q, count(s.q) AS n FROM queries LEFT JOIN ({_OF}) AS s ON s.q = id
                    GROUP BY id HAVING count(s.q) <> {_SIZE}""",
                (
                    Defect("a set of seven", _set(1, f"DELETE FROM confusions WHERE {_C} = '<id>d7'")),
                    Defect("a query without a set", _set(2, f"DELETE FROM confusions WHERE {_Q} = '<id>'")),
                ),
            ),
            Check(
                "a set is of no query, or has a document that is not in the corpus",
                f"""SELECT DISTINCT s.q, s.c FROM ({_OF}) AS s LEFT JOIN queries AS q ON q.id = s.q
                    LEFT JOIN corpus AS d ON d.id = s.c WHERE q.id IS NULL OR d.id IS NULL""",
                (
                    Defect("a set of a lost query", _set(22, "DELETE FROM queries WHERE id = '<id>'")),
                    Defect(
                        "a set with a lost document",
                        _set(23, "DELETE FROM corpus WHERE id = '<id>d5'"),
                    ),
                ),
            ),
            Check(
                "a set has not one gold document that is the query's positive",
                f"""SELECT q.id AS q FROM queries AS q
                    LEFT JOIN ({_OF}) AS g ON g.q = q.id AND g.role = 'gold'
                    LEFT JOIN qrels AS r ON r."query-id" = q.id AND r."corpus-id" = g.c AND r.score > 0
                    WHERE q.id IN (SELECT q FROM ({_OF})) GROUP BY q.id
                    HAVING count(g.c) <> 1 OR count(r.score) <> 1""",
                (
                    Defect("a set without a gold document", _set(3, m0={"role": "member", "kin": "far"})),
                    Defect("two gold documents", _set(4, m1={"role": "gold"})),
                    Defect(
                        "a positive that is no gold document",
                        _set(5, f"UPDATE qrels SET {_C} = '<id>d1' WHERE {_Q} = '<id>'"),
                    ),
                ),
            ),
            Check(
                "the gold document is not about the query's target concept, or a member is",
                f"""SELECT s.q, s.c FROM ({_OF}) AS s LEFT JOIN keys AS k ON k."query-id" = s.q
                        AND k.dimension = 'target_concept' AND k.key = s.concept
                    WHERE (s.role = 'gold') <> (k.key IS NOT NULL)""",
                (
                    Defect(
                        "a gold document about another concept",
                        _set(6, m0={"concept": "CANARY:other"}),
                    ),
                    Defect("a member about the target concept", _set(7, m3={"concept": "CANARY:70"})),
                ),
            ),
            Check(
                "two documents of a set are about {concept} and {of_other}, which have one below in common",
                f"""SELECT q, c, concept, of_other FROM ({_PAIRS})
                    WHERE list_has_any(below, below_other) OR concept = of_other""",
                (
                    Defect(
                        "a descendant of the gold concept, which is right too",
                        _set(8, m0={"below": ["CANARY:80", "CANARY:84"]}),
                    ),
                    Defect(
                        "two members with a common descendant",
                        _set(
                            9,
                            m2={"below": ["CANARY:92", "CANARY:x"]},
                            m5={"below": ["CANARY:95", "CANARY:x"]},
                        ),
                    ),
                ),
            ),
            Check(
                "a name of the member's concept is the marked words",
                f"SELECT q, c FROM ({_OF}) WHERE role = 'member' AND surface_distance = 0",
                Defect("a synonym as member", _set(10, m4={"surface_distance": 0})),
            ),
            Check(
                "the member's text names the marked words",
                f"""SELECT s.q, s.c FROM ({_OF}) AS s JOIN queries AS q ON q.id = s.q
                    JOIN corpus AS d ON d.id = s.c
                    WHERE s.role = 'member' AND {_MARKED} <> ''
                        AND contains({_TOLD}, ' ' || {_MARKED} || ' ')""",
                Defect(
                    "a member that names the anchor",
                    _set(11, m6={"text": _NAMING}),
                ),
            ),
            Check(
                "no words, or several, are marked in the query",
                """SELECT id AS q FROM queries WHERE id IN (SELECT "query-id" FROM confusions)
                    AND (len(string_split(text, '[[ ')) <> 2 OR len(string_split(text, ' ]]')) <> 2)""",
                (
                    Defect(
                        "a query without a mark",
                        _set(12, query={"text": "A child with linnet fever."}),
                    ),
                    Defect(
                        "a query with two marks",
                        _set(13, query={"text": "[[ linnet fever ]] and [[ linnet fever ]] again."}),
                    ),
                ),
            ),
            Check(
                "documents of a set are of several length bands",
                f"""SELECT s.q FROM ({_OF}) AS s JOIN corpus AS d ON d.id = s.c
                    GROUP BY s.q HAVING count(DISTINCT {_BAND}) > 1""",
                Defect("a member of another length", _set(14, m2={"text": "A rare disorder of sailors."})),
            ),
            Check(
                "a document of the set is of the query's own article",
                f"""SELECT s.q, s.c FROM ({_OF}) AS s JOIN provenance_queries AS p ON p.id = s.q
                    JOIN provenance_corpus AS o ON o.id = s.c AND o.article_id = p.article_id""",
                Defect("a member of the query's article", _set(15, m1={"article_id": "canary:article15"})),
            ),
        ),
        compared='SELECT DISTINCT "query-id" FROM confusions',
        tables=("queries", "corpus", "qrels", "keys", "provenance_queries", "provenance_corpus"),
        about=("confusions",),
        holds="confusion sets",
    ),
    Rule(
        "confusion_tiers",
        1,
        "Tiers of confusion sets",
        "The tier of a query is the function of its set that is stated: how members stand to the gold "
        "concept by what is within two steps above both, then whether the gold document shares a word with "
        "the marked ones.",
        "error",
        "queries",
        checks=(
            Check(
                "the tier of the query is {tier!r}; its set and texts say {wanted!r}",
                _TIERS,
                (
                    Defect("a query of another tier", _set(16, query={"tier": "2"})),
                    Defect(
                        "a gold document that shares a word",
                        _set(17, m0={"text": _SHARING}),
                    ),
                    Defect(
                        "near and far members in one set",
                        _set(18, m3={"kin": "far", "above": ["CANARY:183"]}),
                    ),
                ),
            ),
            Check(
                "the member is called {kin!r}, which what is above both does not bear out",
                _KIN,
                (
                    Defect(
                        "a sibling that has no parent in common",
                        _set(19, m2={"above": ["CANARY:192"]}),
                    ),
                    Defect("a far member that is near", _set(20, m5={"kin": "far", "via": ""})),
                    Defect(
                        "a cousin with no grandparent in common",
                        _set(21, m6={"kin": "cousin", "via": "CANARY:x"}),
                    ),
                ),
            ),
        ),
        compared='SELECT DISTINCT "query-id" FROM confusions',
        tables=("queries", "corpus"),
        about=("confusions",),
        holds="confusion sets",
    ),
)
