"""Rules on confusion sets: eight documents of eight concepts, one of them right and none of the others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from curation.audit.rule import Check, Defect, Rule
from curation.audit.rules.planting import new_row
from curation.concepts.stems import name_form
from schemas.hashing import sha256_text

_SIZE = 8
_Q, _C = '"query-id"', '"corpus-id"'
_OF = 'SELECT "query-id" AS q, "corpus-id" AS c, * FROM confusions'
_MARKED = r"name_form(regexp_extract(q.text, '\[\[ (.*?) \]\]', 1))"
_TOLD = "told_forms(d.text)"
_COMMON = "coalesce(g.common, []::VARCHAR[])"
_PAIRS = f"""SELECT a.q, a.c, b.c AS other, a.concept, b.concept AS of_other, a.below, b.below AS below_other,
        a.role AS own, b.role AS role_other
    FROM ({_OF}) AS a JOIN ({_OF}) AS b ON b.q = a.q AND a.c < b.c"""
_WORDS = "len(string_split(trim(d.text), ' '))"
_EDGES = (8, 16, 32, 64)
_BAND = " + ".join(f"({_WORDS} >= {edge})::INTEGER" for edge in _EDGES)
_LONGEST_NAME = 8
"""Words of the longest name that texts are searched for."""
_APART = "list_filter(string_split(marked, ' '), lambda word: length(word) > 2)"
"""Words that are compared by themselves."""
_SHARED = f"""(marked <> '' AND (contains(told, ' ' || marked || ' ') OR list_has_any(
    string_split(told, ' '), list_filter({_APART}, lambda word: NOT list_contains(common, word)))))"""
_STATED = f"""
    SELECT q.id AS q, q.tier, {_MARKED} AS marked, {_TOLD} AS told, {_COMMON} AS common, s.far, s.near,
        split_part(q.language, '-', 1) = split_part(d.language, '-', 1) AS is_of_one_language
    FROM queries AS q JOIN ({_OF}) AS g ON g.q = q.id AND g.role = 'gold' JOIN corpus AS d ON d.id = g.c
    JOIN (SELECT q, count(*) FILTER (kin = 'far') AS far,
            count(*) FILTER (kin IN ('sibling', 'cousin')) AS near
        FROM ({_OF}) WHERE role = 'member' GROUP BY q) AS s ON s.q = q.id"""
_TIERS = f"""
    SELECT q, tier, wanted FROM (SELECT q, tier, CASE WHEN NOT is_of_one_language THEN ''
            WHEN near = 0 AND {_SHARED} THEN '1' WHEN far = 0 AND {_SHARED} THEN '2'
            WHEN far = 0 THEN '3' ELSE 'none' END AS wanted FROM ({_STATED}))
    WHERE tier IS DISTINCT FROM wanted"""
_KIN = f"""
    SELECT m.q, m.c, m.kin FROM ({_OF}) AS m JOIN ({_OF}) AS g ON g.q = m.q AND g.role = 'gold'
    WHERE m.role = 'member' AND CASE m.kin
        WHEN 'far' THEN list_has_any(list_concat(m.above, m.further), list_concat(g.above, g.further))
        WHEN 'sibling' THEN NOT (list_contains(m.above, m.via) AND list_contains(g.above, m.via))
        WHEN 'cousin' THEN NOT (list_contains(m.above, m.via) AND list_contains(g.above, m.via))
        ELSE true END"""
_CALLED_COMMON = f"""
    SELECT q, {_APART} AS words, common FROM (
        SELECT q.id AS q, {_MARKED} AS marked, {_COMMON} AS common
        FROM queries AS q JOIN ({_OF}) AS g ON g.q = q.id AND g.role = 'gold')"""
_RUNS = f"""list_transform(
        flatten(list_transform(range(1, {_LONGEST_NAME + 1}), lambda size: list_transform(
            range(1, len(m.words) - size + 2), lambda start: m.words[start:start + size - 1]))),
        lambda run: left(sha256(m.q || ' ' || array_to_string(run, ' ')), 16))"""
"""Hashes of every run of words of a member's text."""
_NAMED = f"""
    SELECT m.q, m.c FROM ({_OF}) AS g JOIN (
            SELECT s.q, s.c, string_split(trim({_TOLD}), ' ') AS words
            FROM ({_OF}) AS s JOIN corpus AS d ON d.id = s.c WHERE s.role = 'member') AS m ON m.q = g.q
    WHERE g.role = 'gold' AND len(g.name_hashes) > 0 AND list_has_any(g.name_hashes, {_RUNS})"""


def _in_common(column: str) -> str:
    """SQL: members that have a hash in common with the gold concept."""
    return f"""SELECT m.q, m.c FROM ({_OF}) AS m JOIN ({_OF}) AS g ON g.q = m.q AND g.role = 'gold'
        WHERE m.role = 'member' AND list_has_any(m.{column}, g.{column})"""


_TEXT = "A rare disorder of the {} kind that affects the left hand of old sailors."
_ORDER = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
_ASKED = "A child with [[ linnet fever ]] was seen in the ward."
_NAMING = "A rare disorder that goes with {} in the hands of old sailors."
_SHARING = "A rare fever of the first kind that affects the hands of old sailors."


def planted_set(number: int, *said: str, **changes: Mapping[str, Any]) -> str:
    """SQL: an invented query with its set, then what else is said.

    Args:
        number: tells it from others; <id> in what is said stands for its id.
        said: further statements.
        changes: values of `query`, and of the set's rows `m0` (gold) to `m7` with their document's text.
    """
    name = f"canary:set{number}"
    asked = {"text": _ASKED, "tier": "3", "language": "en", **changes.get("query", {})}
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
            "further": [],
            "below": [concept],
        }
        rows += [
            new_row("corpus", {"id": row["corpus-id"], "text": text, "language": "en"}),
            new_row("provenance_corpus", {"id": row["corpus-id"], "article_id": article}),
            new_row("confusions", row | changed),
        ]
    return "; ".join([*rows, *(text.replace("<id>", name) for text in said), f"SELECT '{name}' AS id"])


_set = planted_set


def _hashed(number: int, name: str) -> list[str]:
    """The published hash of a name, or of an id, in an invented set."""
    return [sha256_text(f"canary:set{number} {name}")[:16]]


def _called(number: int, gold: str, member: str) -> str:
    """SQL: an invented set, a name of its gold concept and one of a member's."""
    one, other = (_hashed(number, name_form(name)) for name in (gold, member))
    return _set(number, m0={"name_hashes": one}, m4={"name_hashes": other})


def _told_of(number: int, name: str, words: str) -> str:
    """SQL: an invented set, a name of its gold concept and what a member's text goes with."""
    named = {"name_hashes": _hashed(number, name_form(name))}
    return _set(number, m0=named, m6={"text": _NAMING.format(words)})


def _uncommon(number: int) -> str:
    """SQL: a further query of the same marked words, none of which it calls common."""
    asked = {"id": f"canary:more{number}", "text": _ASKED, "tier": "", "language": "en"}
    gold = {"query-id": asked["id"], "corpus-id": f"canary:set{number}d0", "role": "gold", "common": []}
    return "; ".join([new_row("queries", asked), new_row("confusions", gold)])


RULES = (
    Rule(
        "confusion_sets",
        2,
        "Confusion sets",
        f"Every query has a set of {_SIZE} documents of as many concepts, one length band and other articles "
        "than its own. One of them is about its target concept and is its positive; no other is about a "
        "concept that has a concept below itself in common with another one of the set, shares a name or an "
        "id it is mapped to with the gold concept, has the marked words for a name, or is told in a text "
        f"that has these or a name of the gold concept of at most {_LONGEST_NAME} words. Inflection makes no "
        "other name; short ones in capitals are compared as they are written.",
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
                "the member's concept has a name of the gold concept",
                _in_common("name_hashes"),
                (
                    Defect("a member of the same short name", _called(24, "LNP", "LNP")),
                    Defect("a member whose name is the plural", _called(25, "Linnet pox", "linnet poxes")),
                ),
            ),
            Check(
                "the member's concept is mapped to an id that the gold concept is mapped to",
                _in_common("id_hashes"),
                Defect(
                    "two concepts that are mapped to a third",
                    _set(
                        26,
                        m0={"id_hashes": _hashed(26, "UMLS:C1")},
                        m2={"id_hashes": _hashed(26, "UMLS:C1")},
                    ),
                ),
            ),
            Check(
                "the member's text names the marked words",
                f"""SELECT s.q, s.c FROM ({_OF}) AS s JOIN queries AS q ON q.id = s.q
                    JOIN corpus AS d ON d.id = s.c
                    WHERE s.role = 'member' AND {_MARKED} <> ''
                        AND contains({_TOLD}, ' ' || {_MARKED} || ' ')""",
                (
                    Defect(
                        "a member that names the anchor",
                        _set(11, m6={"text": _NAMING.format("linnet fever")}),
                    ),
                    Defect(
                        "a member that names it in the plural",
                        _set(27, m6={"text": _NAMING.format("linnet fevers")}),
                    ),
                ),
            ),
            Check(
                "the member's text has a name of the gold concept",
                _NAMED,
                (
                    Defect(
                        "a member told with another name of the gold concept",
                        _told_of(28, "Zephyr pox", "zephyr poxes"),
                    ),
                    Defect("a member told with its short name", _told_of(29, "LNP", "LNP itself")),
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
        2,
        "Tiers of confusion sets",
        "The tier of a query is the function of its set that is stated: how members stand to the gold "
        "concept by what is above both (near: within two steps, far: nothing within three), then whether the "
        "gold document has the marked words or one of them that is not called common; none where query and "
        "document are in two languages. A word is common in all sets or in none.",
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
                        "a gold document that shares a common word alone",
                        _set(70, query={"tier": "2"}, m0={"text": _SHARING, "common": ["fever"]}),
                    ),
                    Defect(
                        "a tier across two languages",
                        _set(71, query={"language": "es"}),
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
                        "a far member with something three steps above both",
                        _set(
                            72,
                            m0={"further": ["CANARY:F"]},
                            m5={"kin": "far", "via": "", "above": ["CANARY:725"], "further": ["CANARY:F"]},
                        ),
                    ),
                    Defect(
                        "a cousin with no grandparent in common",
                        _set(21, m6={"kin": "cousin", "via": "CANARY:x"}),
                    ),
                ),
            ),
            Check(
                "a word is called common that is none of the marked ones",
                f"SELECT q FROM ({_CALLED_COMMON}) WHERE NOT list_has_all(words, common)",
                Defect("a common word that is not marked", _set(73, m0={"common": ["syndrom"]})),
            ),
            Check(
                "{word} is called common here, in other sets it is not",
                f"""SELECT c.q, c.word FROM (
                        SELECT q, unnest(common) AS word FROM ({_CALLED_COMMON})) AS c
                    WHERE c.word IN (SELECT unnest(list_filter(words, lambda word: NOT list_contains(
                        common, word))) FROM ({_CALLED_COMMON}))""",
                Defect(
                    "a word that is common in one set alone",
                    _set(74, _uncommon(74), m0={"common": ["linnet"]}),
                ),
            ),
        ),
        compared='SELECT DISTINCT "query-id" FROM confusions',
        tables=("queries", "corpus"),
        about=("confusions",),
        holds="confusion sets",
    ),
)
