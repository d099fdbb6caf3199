"""Damaged CNXML modules and collections: each is read or quarantined, and no story goes in circles."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence

from benchmarks import mutations
from curation.extract.stage import EXTRACT
from schemas.article import BookPlace, RawArticle
from schemas.errors import InputError
from schemas.question import QuestionCollection
from schemas.stages import Reason
from sources import cnxml
from sources.cnxml import exercises

_MODULE = (
    '<document xmlns="http://cnx.rice.edu/cnxml" xmlns:m="http://www.w3.org/1998/Math/MathML"><title>T{n}</title>'
    '<metadata xmlns:md="http://cnx.rice.edu/mdml"><md:title>T{n}</md:title><md:abstract/></metadata><content>'
    '<section id="s{n}" class="summary"><title>Rhythm</title><para id="a{n}">The <term>trace</term> of '
    '<emphasis effect="italics">flutter</emphasis> (<link target-id="f{n}"/>, <link document="m{o}" '
    'target-id="f{o}"/>) has <m:math><m:msub><m:mi>x</m:mi><m:mn>2</m:mn></m:msub></m:math>.</para>'
    '<figure id="f{n}"><media id="i{n}" alt="drawn"><image mime-type="image/png" '
    'src="../../media/f{n}.png"/></media>'
    "<caption>(a) One lead. (b) Another. (credit: modification of work by CDC)</caption></figure>"
    '<list><item>One</item><item><para>Two</para></item></list><table id="t{n}"><tgroup/></table></section>'
    '<note id="c{n}" class="x clinical-focus"><title>Part {n}</title><para>Ida, {n}0, faints.</para><para>'
    '<emphasis effect="italics">Jump to the <link document="m{o}" target-id="c{o}">next</link> box.'
    "</emphasis></para></note>"
    '<exercise id="e{n}"><problem><para>Which?</para><list><item>One</item><item>Two</item></list></problem>'
    "<solution><para>B</para></solution></exercise></content><glossary>"
    "<definition><term>lead</term><meaning>a wire</meaning></definition></glossary></document>"
)
_COLLECTION = (
    b'<col:collection xmlns:col="http://cnx.rice.edu/collxml" xmlns:md="http://cnx.rice.edu/mdml"><metadata>'
    b'<md:title>Book</md:title><md:language>en</md:language><md:license url="https://creativecommons.org/licenses/'
    b'by/4.0/"/></metadata><col:content><col:subcollection><md:title>One</md:title><col:content>'
    b'<col:module document="m1"/><col:module document="m2"/></col:content></col:subcollection></col:content>'
    b"</col:collection>"
)
_REFERENCE = re.compile(rb'(?<=[ "])(?:id|target-id|document)="([^"]*)"')
_TAGS = (
    b"section",
    b"note",
    b"para",
    b"list",
    b"item",
    b"emphasis",
    b"figure",
    b"subfigure",
    b"quote",
    b"link",
)


def seeds() -> list[bytes]:
    """Two modules of one chapter that link to each other, and their collection."""
    modules = [_MODULE.format(n=n, o=3 - n).encode() for n in (1, 2)]
    return [*modules, _COLLECTION]


def nest_cnxml(data: bytes, rng: random.Random) -> bytes:
    """Elements of CNXML inside one another, up to thousands deep."""
    tag, depth = rng.choice(_TAGS), rng.choice([20, 60, 95, 300, 20_000])
    place = data.find(b"<para")
    place = place if place >= 0 else len(data) // 2
    closing = b"</" + tag + b">" if rng.random() < 0.8 else b""
    return data[:place] + (b"<" + tag + b">") * depth + b"x" + closing * depth + data[place:]


def scramble_references(data: bytes, rng: random.Random) -> bytes:
    """Every id and target exchanged at random: circles, doubles, links to nowhere and to themselves."""
    values = [found.group(1) for found in _REFERENCE.finditer(data)] + [
        b"",
        b"m1",
        b"m2",
        b"a b",
        b"#",
        b"p1",
    ]
    return _REFERENCE.sub(
        lambda found: found.group().replace(b'"' + found.group(1) + b'"', b'"' + rng.choice(values) + b'"'),
        data,
    )


def bomb_in_para(data: bytes, rng: random.Random) -> bytes:
    """Nested entities used where CNXML has its text."""
    bombed = mutations.entity_bomb(data, rng)
    return bombed.replace(b"</para>", b"&" + rng.choice([b"d", b"e", b"f"]) + b";</para>", 1)


OWN: Sequence[mutations.Mutation] = (nest_cnxml, scramble_references, bomb_in_para)


def mutants(files: Sequence[bytes], count: int, seed: int) -> Iterator[tuple[str, int, bytes]]:
    """Yield (name of the damage, index of the file, damaged bytes): damages to any XML, then to CNXML."""
    general = count * len(mutations.MUTATIONS) // (len(mutations.MUTATIONS) + len(OWN))
    yield from mutations.mutants(files, general, seed)
    rng = random.Random(seed)
    for number in range(count - general):
        mutation, index = OWN[number % len(OWN)], rng.randrange(len(files))
        yield mutation.__name__, index, mutation(files[index], rng)


def outcome(data: bytes) -> str:
    """What becomes of a damaged module or collection, the rest of its book being whole."""
    parts = {"collection": _COLLECTION, "module:m2": seeds()[1]}
    module = data
    if b"collection" in data[:2000]:
        module, parts["collection"] = seeds()[0], data
    raw = RawArticle(
        id="openstax:book/m1",
        source="openstax",
        format="cnxml",
        locator="book/m1",
        path="m1.xml",
        sha256="0" * 64,
        book=BookPlace(book_id="book", title="Book", chapter="1", position=1),
    )
    try:
        article = cnxml.parse(module, raw, parts)
    except InputError as error:
        return f"quarantined: {Reason(error.reason).value}"
    for passage in article.passages:
        if not all(0 <= xref.start <= xref.end <= len(passage.text) for xref in passage.xrefs):
            raise AssertionError(f"a cross-reference of {passage.id} leaves its passage")
    if any(box.continues >= box.number for box in article.boxes):
        raise AssertionError("a box goes on from itself or a later one")
    for _ in EXTRACT.process(article, **EXTRACT.params):
        pass
    *rows, account = exercises.questions(module, raw, parts)
    if not isinstance(account, QuestionCollection) or account.records != len({row.id for row in rows}):
        raise AssertionError("an exercise is lost, or two have one id")
    return "read"
