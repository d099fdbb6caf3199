"""SQL of the confusion sets: what could stand beside a gold concept, why some may not, what is taken."""

from __future__ import annotations

from curation.tasks.concept_discrimination.languages_sql import LANGUAGE
from curation.tasks.concept_discrimination.records import Checked, ConfusionSet, Screened
from curation.tasks.concept_discrimination.vocabulary_sql import ARTICLE_EDGES, MAX_CHILDREN, band
from schemas.stages import Sql

MEMBERS = 7
"""Documents beside the gold one: a guess is right one time in eight."""
MAX_GRANDCHILDREN = 200
"""A concept with more at two steps below is too general to make cousins of them."""
DEPTH = 24
"""Candidates of a kin whose place in the hierarchy is looked at: members and what is rejected on the way."""
WINDOW = 48
"""Far candidates drawn for a query from each of the rings below."""
NEAR_STEPS, FAR_STEPS = 2, 3
"""Steps above within which something joins near concepts, and nothing joins far ones: cousins are at most
four steps apart, far members at least five."""
IDENTIFYING = ("DOID", "MESH", "OMIM", "SNOMEDCT_US", "UMLS")
"""Vocabularies whose ids stand for one concept each: two concepts that are mapped to the same one can be one.
A code of ICD is a class of many, and so are ids of ORPHA and NCIT as sources use them."""
MAX_STEPS = 40
TIERS = {("far", True): "1", ("near", True): "2", ("near", False): "3"}
"""(relation, whether the gold document shares a word with the marked ones) -> tier, written down before any
run: relation first. Far and not shared is no tier: nothing would tell why such a set is hard. Neither is any
set of marked words in another language than the documents: its surface can be shared with none of them."""
IDENTIFIES = f"split_part(other, ':', 1) IN ({', '.join(map(repr, IDENTIFYING))})"

_NEAR = f"""
    anchors AS (SELECT DISTINCT number FROM golds),
    parents AS (
        SELECT a.number AS gold, e.parent AS above FROM anchors AS a JOIN edges AS e ON e.child = a.number),
    below AS (SELECT e.parent, e.child FROM edges AS e SEMI JOIN parents AS p ON p.above = e.parent),
    siblings AS (
        SELECT p.gold, b.child AS number, p.above AS via
        FROM parents AS p JOIN below AS b ON b.parent = p.above
        WHERE b.child <> p.gold
            AND p.above IN (SELECT parent FROM below GROUP BY parent HAVING count(*) <= {MAX_CHILDREN})),
    grandparents AS (
        SELECT DISTINCT p.gold, e.parent AS above FROM parents AS p JOIN edges AS e ON e.child = p.above),
    middle AS (SELECT e.parent AS above, e.child AS mid FROM edges AS e
        SEMI JOIN grandparents AS g ON g.above = e.parent),
    small AS (SELECT above FROM middle GROUP BY above HAVING count(*) <= {MAX_GRANDCHILDREN}),
    grandchildren AS (
        SELECT DISTINCT m.above, e.child AS number FROM middle AS m SEMI JOIN small AS s ON s.above = m.above
        JOIN edges AS e ON e.parent = m.mid),
    cousins AS (
        SELECT g.gold, c.number, g.above AS via FROM grandparents AS g
        JOIN grandchildren AS c ON c.above = g.above
        WHERE c.number <> g.gold AND g.above IN (
            SELECT above FROM grandchildren GROUP BY above HAVING count(*) <= {MAX_GRANDCHILDREN})),
    kin AS (
        SELECT gold, number, min(if(kin = 'sibling', 'sibling', 'x')) AS first,
            coalesce(min(via) FILTER (kin = 'sibling'), min(via)) AS via
        FROM (SELECT *, 'sibling' AS kin FROM siblings UNION ALL SELECT *, 'cousin' FROM cousins)
        GROUP BY gold, number),
    near AS (SELECT g.query_id, k.gold, k.number, if(k.first = 'sibling', 'sibling', 'cousin') AS kin, k.via
        FROM kin AS k JOIN golds AS g ON g.number = k.gold)"""
_FAME = band("greatest(d.articles - 1, 0)", ARTICLE_EDGES)
"""How well known the gold concept is beside the query's own article."""
_STOOD = """
    stood AS (
        SELECT g.query_id, g.number AS gold, n.number, e.kin = 'far' AS is_far FROM earlier AS e
        JOIN golds AS g ON g.query_id = e.query_id JOIN numbers AS n ON n.concept = e.concept
        WHERE e.kin <> 'itself')"""
"""Members of sets that were published: they are screened like any other, and taken first."""
_RINGS = {
    "same": ('"group"', "band", "fame", "languages", "open_languages", "name_band", "depth"),
    "spoken": ('"group"', "band", "fame", "languages", "open_languages"),
    "known": ('"group"', "band", "fame"),
}
"""What far candidates and the gold concept have in common: where there are enough of them, all that a ranking
blind to the query could go by, so that none can tell the gold one from them, else less."""


def _ring(name: str, keys: tuple[str, ...]) -> str:
    """SQL: concepts alike, in an order by lot, and for each query as many of them as its turn comes to."""
    of = ", ".join(keys)
    same = " AND ".join(f"z.{key} = d.{key}" for key in keys if key != "fame")
    return f"""
    {name}_ring AS (
        SELECT number, {of}, count(*) OVER ring AS size,
            row_number() OVER (ring ORDER BY md5(concept), number) - 1 AS turn
        FROM described WINDOW ring AS (PARTITION BY {of})),
    {name}_drawn AS (
        SELECT DISTINCT s.query_id, s.gold, {of}, (s.turn + t.range) % s.size AS turn
        FROM (
            SELECT g.query_id, g.number AS gold, z.*,
                ('0x' || left(md5(g.query_id), 12))::BIGINT % z.size AS turn
            FROM golds AS g JOIN described AS d ON d.number = g.number
            JOIN (SELECT DISTINCT {of}, size FROM {name}_ring) AS z ON {same} AND z.fame = {_FAME}
            WHERE g.is_shared) AS s CROSS JOIN range({WINDOW}) AS t),
    {name} AS (
        SELECT query_id, gold, number FROM {name}_drawn JOIN {name}_ring USING ({of}, turn))"""


_FAR = f"""{",".join(_ring(name, keys) for name, keys in _RINGS.items())},
    far AS (
        SELECT DISTINCT t.query_id, t.gold, t.number, 'far' AS kin, 0 AS via
        FROM ({" UNION ALL ".join(f"FROM {name}" for name in _RINGS)}) AS t
        WHERE t.number <> t.gold
            AND NOT EXISTS (FROM near AS n WHERE n.query_id = t.query_id AND n.number = t.number)
        UNION SELECT s.query_id, s.gold, s.number, 'far', 0 FROM stood AS s JOIN golds AS g USING (query_id)
        WHERE s.is_far AND g.is_shared
            AND NOT EXISTS (FROM near AS n WHERE n.query_id = s.query_id AND n.number = s.number))"""
_NAMES = f"""
    could AS MATERIALIZED (SELECT query_id, gold, number, kin, via FROM near UNION ALL FROM far),
    every AS (SELECT number FROM golds UNION SELECT number FROM could),
    called AS MATERIALIZED (
        SELECT DISTINCT number, name_form(name) AS form FROM (
            SELECT DISTINCT m.number, n.name FROM names AS n
            JOIN numbers AS m ON m.concept = n.concept SEMI JOIN every AS x ON x.number = m.number
            WHERE split_part(n.language, '-', 1) = '{LANGUAGE}')),
    said AS (
        SELECT number AS gold, form FROM called WHERE form <> '' AND number IN (SELECT number FROM golds)
        UNION SELECT number, form FROM golds WHERE form <> ''),
    wanted AS MATERIALIZED (
        SELECT DISTINCT c.gold, c.number, g."group", g.band FROM could AS c
        JOIN described AS g ON g.number = c.gold),
    alike AS MATERIALIZED (
        SELECT w.gold, w.number FROM wanted AS w SEMI JOIN described AS m
            ON m.number = w.number AND m."group" = w."group" AND m.band = w.band),
    told AS MATERIALIZED (
        SELECT number, told_forms(text) AS told FROM described
        WHERE number IN (SELECT number FROM alike)),
    naming AS (
        SELECT c.gold, c.number, min(s.form) AS form FROM alike AS c
        JOIN told AS d ON d.number = c.number JOIN said AS s ON s.gold = c.gold
        WHERE contains(d.told, ' ' || s.form || ' ') GROUP BY ALL),
    shared AS (
        SELECT c.gold, c.number, min(a.form) AS form FROM (SELECT DISTINCT gold, number FROM could) AS c
        JOIN said AS a ON a.gold = c.gold JOIN called AS b ON b.number = c.number AND b.form = a.form
        GROUP BY ALL),
    stated AS (
        SELECT concept, other, 'synonym' AS what FROM relations WHERE relation = 'synonym'
        UNION SELECT concept, other, 'mapped' FROM mappings),
    meant AS (SELECT DISTINCT concept, other FROM mappings WHERE {IDENTIFIES}),
    tied AS (
        SELECT c.gold, c.number, max(what) AS what FROM (SELECT DISTINCT gold, number FROM could) AS c
        JOIN numbers AS g ON g.number = c.gold JOIN numbers AS m ON m.number = c.number
        JOIN stated AS s ON (s.concept = g.concept AND s.other = m.concept)
        GROUP BY ALL
        UNION SELECT c.gold, c.number, max(what) FROM (SELECT DISTINCT gold, number FROM could) AS c
        JOIN numbers AS g ON g.number = c.gold JOIN numbers AS m ON m.number = c.number
        JOIN stated AS s ON (s.concept = m.concept AND s.other = g.concept)
        GROUP BY ALL
        UNION SELECT c.gold, c.number, 'mapped' FROM (SELECT DISTINCT gold, number FROM could) AS c
        JOIN numbers AS g ON g.number = c.gold JOIN numbers AS m ON m.number = c.number
        JOIN meant AS a ON a.concept = g.concept
        JOIN meant AS b ON b.concept = m.concept AND b.other = a.other)"""
_CODES = "substr({}, length('ICD10CM:') + 1)"
_SEEDS = f"""
    excluding AS (
        SELECT {_CODES.format("concept")} AS one, {_CODES.format("other")} AS other FROM relations
        WHERE relation = 'excludes'
        UNION SELECT {_CODES.format("other")}, {_CODES.format("concept")} FROM relations
        WHERE relation = 'excludes'),
    coded AS (
        SELECT DISTINCT n.number, {_CODES.format("m.other")} AS code FROM mappings AS m
        JOIN numbers AS n ON n.concept = m.concept
        WHERE starts_with(m.other, 'ICD10CM:') AND m.status <> 'refused'),
    seeds AS (
        SELECT DISTINCT c.gold, c.number FROM (SELECT DISTINCT gold, number FROM near) AS c
        JOIN coded AS a ON a.number = c.gold JOIN coded AS b ON b.number = c.number
        JOIN excluding AS x ON left(x.one, 3) = left(a.code, 3) AND left(x.other, 3) = left(b.code, 3)
        WHERE starts_with(a.code, x.one) AND starts_with(b.code, x.other))"""
"""Near concepts that ICD-10-CM says are never meant together with the gold one, by the codes they map to."""
_UNLIKE = "bit_count(xor(g.languages, m.languages)) + bit_count(xor(g.open_languages, m.open_languages))"
"""In how many languages just one of a member and the gold concept has a name, and one that can be published:
a member with more than the gold one would be told from it as well as one with fewer."""
SCREENED = f"""
    WITH {_NEAR}, {_STOOD}, {_FAR}, {_NAMES}, {_SEEDS},
    gone AS (SELECT n.number FROM retired AS r JOIN numbers AS n ON n.concept = r.concept),
    wide AS (SELECT e.parent AS number FROM edges AS e SEMI JOIN could AS c ON c.number = e.parent
        GROUP BY e.parent HAVING count(*) > {MAX_CHILDREN}
        UNION SELECT d.number FROM described AS d SEMI JOIN could AS c ON c.number = d.number
        WHERE starts_with(d.folded, ' any ') OR d.number IN (
            SELECT e.child FROM edges AS e ANTI JOIN edges AS p ON p.child = e.parent
            SEMI JOIN edges AS b ON b.parent = e.child)),
    tied_once AS (SELECT gold, number, max(what) AS what FROM tied GROUP BY ALL),
    judged AS (
        SELECT c.*, o.concept, g."group" AS of_gold, m."group" AS of_member,
            abs(m.name_band - g.name_band) + abs(m.depth - g.depth)
                + abs(m.fame - {_FAME.replace("d.", "g.")}) AS apart,
            {_UNLIKE} AS unlike,
            CASE WHEN c.number IN (SELECT number FROM gone) THEN 'retired'
                WHEN t.what IS NOT NULL THEN t.what
                WHEN s.form IS NOT NULL THEN 'synonym'
                WHEN m.number IS NULL THEN 'kind'
                WHEN m."group" <> g."group" THEN 'semantic_group'
                WHEN m.band <> g.band THEN 'length_band'
                WHEN n.form IS NOT NULL THEN 'names_anchor'
                WHEN c.number IN (SELECT number FROM wide) THEN 'general'
                ELSE '' END AS reason,
            coalesce(s.form, n.form, '') AS said, e.number IS NOT NULL AS is_seed,
            EXISTS (FROM stood AS d WHERE d.query_id = c.query_id AND d.number = c.number
                AND d.is_far = (c.kin = 'far')) AS has_stood
        FROM could AS c JOIN numbers AS o ON o.number = c.number JOIN described AS g ON g.number = c.gold
        LEFT JOIN described AS m ON m.number = c.number
        LEFT JOIN tied_once AS t ON t.gold = c.gold AND t.number = c.number
        LEFT JOIN shared AS s ON s.gold = c.gold AND s.number = c.number
        LEFT JOIN naming AS n ON n.gold = c.gold AND n.number = c.number
        LEFT JOIN seeds AS e ON e.gold = c.gold AND e.number = c.number AND c.kin <> 'far')
    SELECT query_id, gold, number, kin, via, is_seed, reason,
        CASE WHEN reason IN ('synonym', 'names_anchor') THEN said ELSE '' END AS detail,
        CASE WHEN reason = '' THEN row_number() OVER (
            PARTITION BY query_id, kin = 'far', reason = ''
            ORDER BY has_stood DESC, is_seed DESC, unlike, apart, kin DESC, md5(query_id || concept), number)
            ELSE 0 END AS place
    FROM judged
"""
"""What a release has stands first, so that a new article or one withdrawn changes no set that was published;
then seeds are taken, then members named in the same languages as the gold one, as a set is asked in a
language only where all eight have a name, then in the order of how near their numbers of names and of
articles and their depths are to the gold one's, so that none of these gives it away, siblings before cousins,
then by lot: no text and no system has a part in it."""
CHECKED = f"""
    WITH RECURSIVE
    kept AS MATERIALIZED (FROM screened WHERE reason = '' AND place <= {DEPTH}),
    starts AS (SELECT number FROM golds UNION SELECT number FROM kept),
    ways(start, above, steps) AS (
        SELECT number, number, 0 FROM starts
        UNION SELECT w.start, e.parent, w.steps + 1 FROM ways AS w JOIN edges AS e ON e.child = w.above
            WHERE w.steps < {MAX_STEPS}),
    above AS MATERIALIZED (SELECT start, above, min(steps) AS steps FROM ways GROUP BY ALL),
    progeny(start, below) AS (
        SELECT number, number FROM starts
        UNION SELECT p.start, e.child FROM progeny AS p JOIN edges AS e ON e.parent = p.below),
    pairs AS (SELECT DISTINCT gold, number, kin = 'far' AS is_far FROM kept),
    lines AS (
        SELECT p.gold, p.number, 'ancestor' AS reason FROM pairs AS p
        JOIN above AS a ON a.start = p.gold AND a.above = p.number
        UNION SELECT p.gold, p.number, 'descendant' FROM pairs AS p
        JOIN above AS a ON a.start = p.number AND a.above = p.gold
        UNION SELECT p.gold, p.number, 'near_relative' FROM pairs AS p
        JOIN above AS a ON a.start = p.gold AND a.steps <= {FAR_STEPS}
        JOIN above AS b ON b.start = p.number AND b.above = a.above AND b.steps <= {FAR_STEPS}
        WHERE p.is_far
        UNION SELECT p.gold, p.number, 'general' FROM pairs AS p WHERE p.number IN (
            SELECT start FROM progeny GROUP BY start HAVING count(*) > {MAX_CHILDREN} + 1)
        UNION SELECT p.gold, p.number, 'shared_descendant' FROM pairs AS p
        JOIN progeny AS a ON a.start = p.gold JOIN progeny AS b ON b.start = p.number AND b.below = a.below),
    own AS (
        SELECT k.*, coalesce(min(l.reason), '') AS line FROM kept AS k LEFT JOIN lines AS l
            ON l.gold = k.gold AND l.number = k.number AND (l.reason <> 'near_relative' OR k.kin = 'far')
        GROUP BY ALL),
    fits AS (SELECT o.*, p.below FROM own AS o JOIN progeny AS p ON p.start = o.number WHERE o.line = ''),
    clashes AS (
        SELECT b.query_id, b.number, b.kin, min(a.number) AS other FROM fits AS a
        JOIN fits AS b ON b.query_id = a.query_id AND b.below = a.below AND (a.kin = 'far') = (b.kin = 'far')
            AND a.place < b.place
        GROUP BY ALL),
    judged AS (
        SELECT o.query_id, o.kin, o.number, o.via, o.is_seed, o.place, '' AS said,
            CASE WHEN o.line <> '' THEN o.line WHEN c.other IS NOT NULL THEN 'shared_with_member'
                ELSE '' END AS reason, coalesce(c.other, 0) AS other
        FROM own AS o LEFT JOIN clashes AS c
            ON c.query_id = o.query_id AND c.number = o.number AND c.kin = o.kin
        UNION ALL
        SELECT query_id, kin, number, via, is_seed, place, detail, reason, 0 FROM screened WHERE reason <> '')
    SELECT j.query_id, j.kin, j.number, n.concept, coalesce(v.concept, '') AS via, j.is_seed, j.place,
        j.reason, coalesce(o.concept, j.said) AS detail
    FROM judged AS j JOIN numbers AS n ON n.number = j.number
    LEFT JOIN numbers AS v ON v.number = j.via LEFT JOIN numbers AS o ON o.number = j.other
"""
_TIER = " ".join(
    f"WHEN kin = '{kin}' AND {'' if shared else 'NOT '}is_shared THEN '{tier}'"
    for (kin, shared), tier in TIERS.items()
)
SETS = f"""
    WITH counted AS (
        SELECT g.query_id, g.is_shared, g.language,
            count(*) FILTER (c.kin <> 'far' AND c.reason = '') >= {MEMBERS} AS has_near,
            count(*) FILTER (g.is_shared AND c.kin = 'far' AND c.reason = '') >= {MEMBERS} AS has_far
        FROM golds AS g LEFT JOIN checked AS c ON c.query_id = g.query_id GROUP BY ALL),
    dealt AS (
        SELECT query_id, is_shared, language, e.is_far IS NOT NULL AS has_stood, CASE
            WHEN has_near AND has_far THEN CASE e.is_far WHEN true THEN 'far' WHEN false THEN 'near'
                ELSE if(md5('kin ' || query_id) < '8', 'near', 'far') END
            WHEN has_near THEN 'near' WHEN has_far THEN 'far' ELSE '' END AS kin
        FROM counted LEFT JOIN (
            SELECT query_id, bool_or(kin = 'far') AS is_far FROM earlier WHERE kin <> 'itself' GROUP BY ALL
            ) AS e USING (query_id))
    SELECT query_id, kin, is_shared,
        CASE WHEN language <> '{LANGUAGE}' THEN '' {_TIER} ELSE '' END AS tier,
        row_number() OVER (
            PARTITION BY p.source_id ORDER BY has_stood DESC, tier DESC, md5(query_id)) AS place
    FROM dealt JOIN (SELECT DISTINCT id AS query_id, source_id FROM all_queries) AS p USING (query_id)
    WHERE kin <> ''
"""
"""Where both kinds of set can be made, a lot decides which is: the same names stand in both tiers. Two marks
in one passage would make two queries of the same words, so one is asked about, of the highest tier."""
SETS_SQL: dict[str, Sql] = {
    "screened": Sql(SCREENED, Screened, ("query_id", "number")),
    "checked": Sql(CHECKED, Checked, ("query_id", "number")),
    "sets": Sql(SETS, ConfusionSet, ("query_id",)),
}
