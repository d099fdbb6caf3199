"""SQL over the whole vocabulary: what names mean, the hierarchy in numbers, definitions as documents."""

from __future__ import annotations

from curation.concepts.stems import stemmed
from curation.fidelity.words import FUNCTION_WORDS
from curation.tasks.concept_discrimination.languages_sql import LANGUAGE, NAMED_IN
from curation.tasks.concept_discrimination.records import (
    CommonWord,
    ConceptNumber,
    DefinedConcept,
    Definition,
    Edge,
    Gold,
    NamedAnchor,
)
from curation.tasks.concept_discrimination.settings import OwnReason
from curation.tasks.shared.names import IS_NAME_SQL, RANK_SQL
from curation.vocabulary.merge_sql import OWN_NAMES, fold
from schemas.stages import Sql

MAX_CHILDREN = 50
"""A concept with more children is too general for an anchor or a member, or to make siblings of them."""
MIN_WORDS, MIN_LETTERS = 5, 20
"""A definition with fewer words, or fewer letters and digits, is a fragment and no document."""
BAND_EDGES = (8, 16, 32, 64)
"""Words from which the next length band begins."""
NAME_EDGES = (2, 3, 5, 9)
"""Names from which the next band of names begins."""
ARTICLE_EDGES = (1, 2, 4, 8, 16)
"""Articles of the crawl that name a concept, from which the next band begins."""
COMMON_PER_MILLE, LEAST_COMMON = 10, 10
"""A word in the names of more than so many concepts of a thousand, and of so many at all, tells none from
another: `syndrome`. Definitions say such words less often than names do."""
LEAST_LETTERS = 3
"""Of a word that is compared by itself."""

_BEING = ("presence", "occurrence", "existence")
_EMPTY = ", ".join(f"'{form}'" for form in sorted({stemmed(word) for word in (*FUNCTION_WORDS, *_BEING)}))
"""What is left of such words: those of any sentence, and that something is there."""


def band(column: str, edges: tuple[int, ...]) -> str:
    """SQL: how many of some edges a number has reached."""
    return "(" + " + ".join(f"({column} >= {edge})::BIGINT" for edge in edges) + ")"


ANCHORED = f"""
    WITH asked AS (
        FROM all_anchors QUALIFY row_number() OVER (PARTITION BY query_id ORDER BY article_id, link_id) = 1),
    wanted AS (SELECT DISTINCT {fold("name")} AS folded, split_part(language, '-', 1) AS language FROM asked),
    held AS (
        SELECT w.folded, w.language, n.concept, bool_or({OWN_NAMES}) AS is_own
        FROM names AS n JOIN wanted AS w
            ON w.folded = {fold("n.name")} AND w.language = split_part(n.language, '-', 1)
        WHERE w.folded <> '' GROUP BY ALL),
    told AS (
        SELECT folded, language, count(*) AS concepts, min(concept) AS concept, bool_or(is_own) AS is_own
        FROM held GROUP BY ALL)
    SELECT a.query_id, a.link_id, a.article_id, lower(split_part(a.language, '-', 1)) AS language,
        a.surface, a.matched,
        coalesce(t.concepts, 0) AS concepts,
        CASE WHEN t.concepts = 1 AND t.is_own THEN t.concept ELSE '' END AS concept
    FROM asked AS a LEFT JOIN told AS t
        ON t.folded = {fold("a.name")} AND t.language = split_part(a.language, '-', 1)
"""
"""A name that any other concept has, too, broader or narrower ones included, is not unambiguous."""
NUMBERS = """
    SELECT concept, row_number() OVER (ORDER BY concept) AS number FROM (
        SELECT concept FROM names UNION SELECT concept FROM relations UNION SELECT other FROM relations)
"""
EDGES = """
    WITH up AS (
        SELECT concept AS child, other AS parent FROM relations WHERE relation IN ('parent', 'broader')
        UNION ALL
        SELECT other, concept FROM relations WHERE relation IN ('child', 'narrower'))
    SELECT DISTINCT c.number AS child, p.number AS parent FROM up
    JOIN numbers AS c ON c.concept = up.child JOIN numbers AS p ON p.concept = up.parent
    WHERE up.child <> up.parent
"""
_WORDS = "len(string_split(trim(text), ' '))"
DEFINED = f"""
    WITH fit AS (
        SELECT concept, trim(text) AS text, source FROM definitions
        WHERE language = '{LANGUAGE}' AND tier <> 'restricted' AND {_WORDS} >= {MIN_WORDS}
            AND length(regexp_replace(text, '[^\\pL\\pN]', '', 'g')) >= {MIN_LETTERS}
            AND concept NOT IN (SELECT concept FROM retired)),
    own AS (
        SELECT concept, source, name, name_form(name) AS form, is_preferred, code <> '' AS is_merged
        FROM names SEMI JOIN fit AS f ON f.concept = names.concept
        WHERE split_part(language, '-', 1) = '{LANGUAGE}' AND {OWN_NAMES}),
    labelled AS (
        SELECT f.concept, f.source, bool_and(o.is_merged) AS is_merged,
            bool_or(o.form IN (SELECT x.form FROM own AS x
                WHERE x.concept = f.concept AND x.source <> f.source)) AS is_agreed
        FROM fit AS f JOIN own AS o ON o.concept = f.concept AND o.source = f.source AND o.is_preferred
        GROUP BY ALL),
    called AS (
        SELECT concept, told_forms(name) AS form FROM names SEMI JOIN fit AS f ON f.concept = names.concept
        WHERE split_part(language, '-', 1) = '{LANGUAGE}' AND {IS_NAME_SQL}
        QUALIFY row_number() OVER (PARTITION BY concept ORDER BY {RANK_SQL}) = 1),
    read AS (
        SELECT f.*, CASE
            WHEN l.is_merged AND NOT l.is_agreed AND EXISTS (
                FROM own AS x WHERE x.concept = f.concept AND x.source <> f.source AND x.is_preferred)
                THEN '{OwnReason.OTHER_DEFINITION}'
            WHEN len(list_filter(string_split(trim(told_forms(f.text)), ' '), lambda x:
                length(x) >= {LEAST_LETTERS} AND x NOT IN ({_EMPTY})
                AND NOT contains(coalesce(c.form, ''), ' ' || x || ' '))) = 0
                THEN '{OwnReason.EMPTY_DEFINITION}'
            ELSE '' END AS flaw
        FROM fit AS f LEFT JOIN labelled AS l ON l.concept = f.concept AND l.source = f.source
        LEFT JOIN called AS c ON c.concept = f.concept)
    SELECT concept, text, source, flaw FROM read
    QUALIFY row_number() OVER (PARTITION BY concept ORDER BY flaw, source, text) = 1
"""
"""Vocabularies are merged where concepts share a name. A definition came with the concept that its source has
by that label: where no other source has the label for a name, that was another concept, wider, narrower or a
part of it. One that has no words but those of the name tells nobody what it is."""
DESCRIBED = f"""
    WITH RECURSIVE deep(number, depth) USING KEY (number) AS (
        SELECT DISTINCT parent, 0 FROM edges ANTI JOIN edges AS u ON u.child = edges.parent
        UNION SELECT DISTINCT e.child, d.depth + 1 FROM deep AS d JOIN edges AS e ON e.parent = d.number
            ANTI JOIN recurring.deep AS r ON r.number = e.child),
    told AS (
        SELECT concept, text, source, ' ' || {fold("text")} || ' ' AS folded FROM defined WHERE flaw = ''
        QUALIFY count(*) OVER (PARTITION BY folded) = 1),
    named AS (
        SELECT concept, count(DISTINCT lower(name)) AS names FROM names
        WHERE split_part(language, '-', 1) = '{LANGUAGE}' AND {OWN_NAMES} GROUP BY concept),
    kinds AS (SELECT concept, min("group") AS "group" FROM types GROUP BY concept),
    said AS (SELECT concept, count(DISTINCT article_id) AS articles FROM found_concepts GROUP BY concept),
    named_in AS ({NAMED_IN})
    SELECT n.number, t.concept, t.text, t.folded, {_WORDS} AS words, {band(_WORDS, BAND_EDGES)} AS band,
        t.source, k."group", d.names, {band("d.names", NAME_EDGES)} AS name_band,
        coalesce(s.articles, 0) AS articles, {band("coalesce(s.articles, 0)", ARTICLE_EDGES)} AS fame,
        coalesce(i.languages, 0) AS languages, coalesce(i.open_languages, 0) AS open_languages,
        coalesce(p.depth, 0) AS depth
    FROM told AS t JOIN numbers AS n ON n.concept = t.concept JOIN named AS d ON d.concept = t.concept
    JOIN kinds AS k ON k.concept = t.concept LEFT JOIN said AS s ON s.concept = t.concept
    LEFT JOIN named_in AS i ON i.concept = t.concept LEFT JOIN deep AS p ON p.number = n.number
"""
"""A definition that two concepts have in the same words tells neither from the other. What a round of the
hierarchy reaches first is not reached again, so that a depth is the shortest way from the top."""
COMMON_WORDS = f"""
    WITH said AS (
        SELECT DISTINCT concept, unnest(string_split({fold("name")}, ' ')) AS word FROM names
        WHERE split_part(language, '-', 1) = '{LANGUAGE}' AND {OWN_NAMES}),
    counted AS (SELECT word, count(*) AS concepts FROM said WHERE word <> '' GROUP BY word)
    SELECT word, concepts FROM counted
    WHERE concepts > {LEAST_COMMON}
        AND concepts * 1000 > {COMMON_PER_MILLE} * (SELECT count(DISTINCT concept) FROM said)
"""
"""Counted as written, and stemmed when they are asked for: the names of a large vocabulary have millions."""
GOLDS = f"""
    WITH meant AS (
        SELECT a.query_id, d.number, a.language, {fold("a.surface")} AS surface, name_form(a.surface) AS form,
            told_forms(d.text) AS told
        FROM anchored AS a JOIN described AS d ON d.concept = a.concept
        WHERE a.matched IN ('', a.concept)
            AND (SELECT count(*) FROM edges AS e WHERE e.parent = d.number) <= {MAX_CHILDREN}),
    each AS (
        SELECT *, list_distinct(list_filter(string_split(form, ' '), lambda x: length(x) >= {LEAST_LETTERS}))
            AS words FROM meant),
    apart AS (
        SELECT e.*, list_sort(list_intersect(words, c.forms)) AS common FROM each AS e
        CROSS JOIN (SELECT coalesce(list(DISTINCT name_form(word)), []) AS forms FROM common_words) AS c)
    SELECT query_id, number, language, surface, form, common,
        language = '{LANGUAGE}' AND form <> '' AND (contains(told, ' ' || form || ' ')
            OR len(list_filter(words, lambda x: NOT list_contains(common, x)
                AND contains(told, ' ' || x || ' '))) > 0) AS is_shared
    FROM apart
"""
"""Words of another language are in no English definition, whatever they mean: nothing can be shared."""
VOCABULARY: dict[str, Sql] = {
    "anchored": Sql(ANCHORED, NamedAnchor, ("query_id",)),
    "numbers": Sql(NUMBERS, ConceptNumber, ("concept",)),
    "edges": Sql(EDGES, Edge, ("child", "parent")),
    "defined": Sql(DEFINED, DefinedConcept, ("concept",)),
    "described": Sql(DESCRIBED, Definition, ("number",)),
    "common_words": Sql(COMMON_WORDS, CommonWord, ("word",)),
    "golds": Sql(GOLDS, Gold, ("query_id",)),
}
"""In the order in which they run."""
