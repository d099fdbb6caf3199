"""Mentions in the texts of one document: names found, short forms it defines, and what is said of them.

A short form means what the document says it means: where its long form is a concept, the short form is too;
where the long form is none, the short form is not looked up as if it were a name.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice

from curation.concepts.abbreviations import Definition, DocumentAbbreviations
from curation.concepts.context import Context, assign, of_heading
from curation.concepts.longer_names import Phrase, Use, named_by, phrases, stands_for, with_longer
from curation.concepts.matcher import Match, Matcher
from curation.concepts.references import outside
from schemas.concept import Mention

WHOLE, PART = 0.95, 0.75
"""A short form is less sure than its long form; more so when only the end of the long form is a concept."""
SPECIFIC = 6
"""Characters of short forms that are looked up even so: 'COVID-19' is hardly anything else."""
_TOGETHER = 150_000
"""Characters of documents that are read together."""
_HEAD_LAST = frozenset(["en", "de", "nl", "sv", "da", "no", "ja", "zh", "ko"])
"""Languages whose compounds end with what they are: of 'infarto agudo de miocardio' the end says where."""
_TURN = re.compile(
    r"\b(?:of|for|in|on|to|from|by|with|without|at|per|used|based"
    r"|von|des|der|für|mit|bei|im|zur?|van|voor|och|av|för|og|af)\b",
    re.IGNORECASE,
)
"""What a long form's head stands before: a 'Journal of Dental Research' is no research."""
_WORD = re.compile(r"[^\W_]+")
_NARROWS = re.compile(
    r"(?!(?:animal|signal|hospital|journal|metal|crystal|mineral|petal|clinic|music|fabric|plastic|mosaic|sugar"
    r"|collar|library|diary|virus|fungus|mucus|archive|survival)\Z)\w{2,}(?:al|ic|ar|ous|ive|ary|oid|ac)"
    r"|acute|severe|mild|moderate|early|late|rare|total|whole|complete|absolute|mean|median|average|maximum|minimum"
    r"|adjusted|standard|human|bovine|canine|murine|novel|new|modified|simple|small|large|major|minor|high|low"
    r"|higher|lower|grade|risk|dose|long|short|term|recurrent|persistent|advanced|mixed|isolated|combined|multiple"
    r"|single|common|forced|general(?:i[sz]ed)?|locali[sz]ed|randomi[sz]ed|controlled",
    re.IGNORECASE,
)
"""Adjectives, which make a kind of what they stand before; with a noun it may be another thing: 'ion mobility
mass spectrometry'."""
_COMPOUND = re.compile(
    r"\w+[-‐‑–](?:related|associated|induced|free|sensitive|resistant|based|specific|derived|dependent|adjusted|matched"
    r"|mediated|acquired|assisted|guided|grade|term|dose|risk)\b",
    re.IGNORECASE,
)
"""Adjectives made of a noun: 'catheter-related'."""
_UNLIKE = re.compile(r"(?:non|anti|pseudo|un|former|ex)(?:[\s‐‑–-]|\Z)", re.IGNORECASE)
"""What makes another thing of what it stands before: 'non-celiac gluten sensitivity'."""
_SPECIES = re.compile(r"([A-Z])[a-z]+ ([a-z]{3,})")
_SHORT_SPECIES = re.compile(r"\.(?<=\b[A-Z]\.)[ \u00a0\u202f]?([a-z]{3,})\b")
"""From its full stop on: the search skips to those."""
_HYPHENS = ("-", "‐", "‑", "–")


@dataclass(frozen=True, slots=True)
class Text:
    """One text of a document; `heading` is the one it stands under, if any."""

    id: str
    text: str
    language: str = "en"
    heading: str = ""


def annotate(
    document: str, texts: Sequence[Text], matcher: Matcher, *, overlaps: bool = False
) -> list[Mention]:
    """Mentions in the texts of one document, in order; see :func:`annotate_many`."""
    return next(annotate_many([(document, texts)], matcher, overlaps=overlaps))


def annotate_many(
    documents: Iterable[tuple[str, Sequence[Text]]], matcher: Matcher, *, overlaps: bool = False
) -> Iterator[list[Mention]]:
    """Mentions in the texts of each document, in order; documents are read together, which is faster.

    Args:
        documents: id of each and its texts in reading order; a short form means what its document said of it
            last.
        matcher: a backend.
        overlaps: names inside longer ones too.
    """
    waiting: list[tuple[str, Sequence[Text]]] = []
    size = 0
    for document, texts in documents:
        waiting.append((document, texts))
        size += sum(len(text.text) for text in texts)
        if size >= _TOGETHER:
            yield from _annotate_together(waiting, matcher, overlaps)
            waiting, size = [], 0
    yield from _annotate_together(waiting, matcher, overlaps)


def _annotate_together(
    documents: Sequence[tuple[str, Sequence[Text]]], matcher: Matcher, overlaps: bool
) -> Iterator[list[Mention]]:
    found = iter(_find([text for _, texts in documents for text in texts], matcher, overlaps))
    drafts = [_draft(document, texts, list(islice(found, len(texts)))) for document, texts in documents]
    wanted = list(dict.fromkeys(phrase for draft in drafts for _, phrase in draft.phrases()))
    named = dict(zip(wanted, _find(wanted, matcher, overlaps=False), strict=True)) if wanted else {}
    for draft in drafts:
        yield list(_mentions(draft, named, overlaps))


@dataclass(frozen=True, slots=True)
class _Draft:
    """What is known of a document before longer names are looked up.

    Attributes:
        document: its id.
        texts: its texts.
        found: matches in each.
        uses: short forms in each.
        longer: what may be a longer name in each.
        meanings: of definitions, by their identity.
    """

    document: str
    texts: Sequence[Text]
    found: list[list[Match]]
    uses: list[list[Use]]
    longer: list[list[Phrase]]
    meanings: dict[int, Match | None]

    def phrases(self) -> Iterator[tuple[Phrase, Text]]:
        """What may be a longer name, and the text to look it up in."""
        for text, those in zip(self.texts, self.longer, strict=True):
            for phrase in those:
                yield phrase, Text("", phrase.words, text.language)


def _draft(document: str, texts: Sequence[Text], found: list[list[Match]]) -> _Draft:
    found = _with_species(texts, found)
    abbreviations = DocumentAbbreviations()
    defined = [abbreviations.add(text.text) for text in texts]
    meanings = {
        id(definition): _meaning(definition, matches, text.language)
        for text, matches, own in zip(texts, found, defined, strict=True)
        for definition in own
    }
    uses = [abbreviations.uses(text.text, position) for position, text in enumerate(texts)]
    longer = [
        list(phrases(text.text, some, own)) if some else []
        for text, some, own in zip(texts, uses, defined, strict=True)
    ]
    return _Draft(document, texts, found, uses, longer, meanings)


def _mentions(draft: _Draft, named: Mapping[Text, list[Match]], overlaps: bool) -> Iterator[Mention]:
    longer: list[list[Match]] = []
    for text, those in zip(draft.texts, draft.longer, strict=True):
        longer.append([])
        for phrase in those:
            match = named_by(phrase, named[Text("", phrase.words, text.language)])
            if match is not None:
                match = match._replace(rule="short_form", score=round(match.score * WHOLE, 3))
                longer[-1].append(match)
                if draft.meanings[id(phrase.definition)] is None and stands_for(phrase, match):
                    draft.meanings[id(phrase.definition)] = match
    for text, matches, uses, names in zip(draft.texts, draft.found, draft.uses, longer, strict=True):
        matches = with_longer(matches, names, overlaps=overlaps) if names else matches
        read = _with_short_forms(matches, uses, draft.meanings)
        spans = [(match.start, match.end) for match in read]
        headed = of_heading(text.heading, text.language) if spans and text.heading else None
        for match, context in zip(read, assign(text.text, spans, text.language), strict=True):
            yield _mention(draft.document, text, match, context if headed is None else context | headed)


def _find(texts: Sequence[Text], matcher: Matcher, overlaps: bool) -> list[list[Match]]:
    """Matches in each text; texts of one language are read together, which is faster."""
    found: list[list[Match]] = [[] for _ in texts]
    places: dict[str, list[int]] = {}
    for place, text in enumerate(texts):
        places.setdefault(text.language, []).append(place)
    for language, those in places.items():
        together = matcher.find_many((texts[place].text for place in those), language, overlaps=overlaps)
        for place, matches in zip(those, together, strict=True):
            found[place] = outside(texts[place].text, matches)
    return found


def _with_species(texts: Sequence[Text], found: list[list[Match]]) -> list[list[Match]]:
    """Matches with species whose genus is one letter, where the document writes the name in full.

    "Staphylococcus aureus … S. aureus": codes of nomenclature let a genus be abbreviated once it was named.
    """
    known: dict[tuple[str, str], Match] = {}
    for text, matches in zip(texts, found, strict=True):
        for match in matches:
            if name := _SPECIES.fullmatch(text.text, match.start, match.end):
                known.setdefault((name[1], name[2]), match)
    if not known:
        return found
    return [_with_those(text.text, matches, known) for text, matches in zip(texts, found, strict=True)]


def _with_those(text: str, matches: list[Match], known: Mapping[tuple[str, str], Match]) -> list[Match]:
    made: list[Match] = []
    starts = [match.start for match in matches]
    reach = list(accumulate((match.end for match in matches), max))  # how far those up to each place go
    for short in _SHORT_SPECIES.finditer(text):
        start, end = short.start() - 1, short.end()
        meant = known.get((text[start], short[1]))
        before = bisect_right(starts, start)
        if meant is None or (before and reach[before - 1] >= end):
            continue  # not named in full, or part of a longer name
        score = round(meant.score * WHOLE, 3)
        made.append(meant._replace(start=start, end=end, rule="short_form", score=score))
    if not made:
        return matches
    begun = [one.start for one in made]
    kept = []
    for match in matches:
        last = bisect_left(begun, match.end)
        if not last or made[last - 1].end <= match.start:
            kept.append(match)
    return sorted([*kept, *made], key=lambda match: (match.start, -match.end, match.concept))


def _meaning(definition: Definition, matches: Sequence[Match], language: str) -> Match | None:
    """What a definition's long form is: a match of all of it, else of its end where that is its head."""
    start, end = definition.long_start, definition.long_end
    inside = [match for match in matches if match.end == end and match.start >= start]
    longest = min(inside, key=lambda match: match.start, default=None)
    if longest is not None and definition.long[: longest.start - start].rstrip().endswith(_HYPHENS):
        return None  # 'ST-elevation infarction' is not what 'non-ST-elevation infarction' means
    if longest is None:
        return None
    is_whole = longest.start == start
    if not is_whole and not _is_most(definition.long, longest.start - start, language):
        return None
    sure = WHOLE if is_whole else PART
    return longest._replace(rule="short_form", score=round(longest.score * sure, 3))


def _is_most(long: str, at: int, language: str) -> bool:
    """Whether the end of a long form, from `at`, is its head with most of what it says.

    One word hardly is: of a 'cervical lymph node metastasis' "metastasis" says too little. In English only
    adjectives may stand before it.
    """
    before, after = _WORD.findall(long[:at]), _WORD.findall(long[at:])
    return (
        len(after) >= max(2, len(before))
        and (code := language.split("-")[0].lower()) in _HEAD_LAST
        and (code != "en" or all(map(_NARROWS.fullmatch, _COMPOUND.sub("mixed", long[:at]).split())))
        and _TURN.search(long[:at]) is None
        and not any(map(_UNLIKE.match, long[:at].split()))
    )


def _with_short_forms(
    matches: Sequence[Match],
    uses: Sequence[Use],
    meanings: Mapping[int, Match | None],
) -> list[Match]:
    """Matches with the short forms' own readings in place of whatever the vocabulary makes of them."""
    read: list[Match] = []
    taken: set[tuple[int, int]] = set()
    for start, end, definition in uses:
        if any(match.start <= start and end < match.end for match in matches):
            continue  # part of a longer name: "CKD stage 3"
        meaning = meanings[id(definition)]
        if meaning is None and end - start >= SPECIFIC:
            continue
        taken.add((start, end))
        if meaning is not None:
            read.append(meaning._replace(start=start, end=end))
    kept = [match for match in matches if (match.start, match.end) not in taken]
    return sorted([*kept, *read], key=lambda match: (match.start, -match.end, match.concept))


def _mention(document: str, text: Text, match: Match, context: Context) -> Mention:
    return Mention(
        article_id=document,
        text_id=text.id,
        start=match.start,
        end=match.end,
        text=text.text[match.start : match.end],
        concept=match.concept,
        name=match.name,
        score=match.score,
        rule=match.rule,
        is_negated=context.is_negated,
        is_hypothetical=context.is_hypothetical,
        is_historical=context.is_historical,
        is_family=context.is_family,
    )
