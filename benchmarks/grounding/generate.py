"""A generated vocabulary of UMLS's shape, any number of names, and documents with planted mentions.

Every name is a pure function of its number, so ten million need no memory. Mentions are planted as written,
in other case, plural, "last, first" order or with one wrong letter, among words that are names too.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.grounding.gold import Found
from schemas.record import arrow_schema
from schemas.vocabulary import ConceptName


def _table(words: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in words.split(","))


KINDS = ("exact", "case", "plural", "reorder", "typo")
_PREFIXES = (
    "",
    *_table(
        """
    hyper, hypo, endo, peri, para, poly, pan, pseudo, meta, epi, dys, hemi, macro, micro, neo, tachy,
    brady, auto, trans, supra, infra, retro, oligo, eu, iso, ana, cata, extra, inter, contra, ultra
    """
    ),
)
_ROOTS = _table(
    """
    cardi, nephr, hepat, gastr, enter, derm, neur, oste, chondr, arthr, my, angi, phleb, arteri, lymph,
    splen, pancreat, col, proct, cyst, ureter, urethr, prostat, orch, oophor, salping, metr, mast, thyr,
    adren, pituit, thym, bronch, pneum, pleur, laryng, pharyng, rhin, sinus, ot, tympan, ophthalm,
    kerat, irid, retin, blephar, gloss, cheil, gingiv, odont, esophag, duoden, jejun, ile, append,
    cholecyst, encephal, mening, myel, radicul, vertebr, spondyl, tend, burs
    """
)
_SUFFIXES = _table(
    """
    itis, osis, oma, opathy, ectasia, algia, ectomy, otomy, oscopy, ogram, odynia, omegaly, oplasty,
    orrhaphy, ostomy, odesis, olysis, ocele, oplasia, ostenosis, otropin, ozyme, ogenesis, otoxin
    """
)
_QUALIFIERS = _table(
    """
    acute, chronic, congenital, hereditary, recurrent, idiopathic, primary, secondary, benign,
    malignant, juvenile, neonatal, postoperative, traumatic, toxic, viral, bacterial, fungal, severe,
    mild, diffuse, focal, bilateral, unilateral, progressive, familial, sporadic, eosinophilic,
    granulomatous, necrotizing, ulcerative, hemorrhagic, ischemic, obstructive, fibrous, cystic,
    atrophic, allergic, autoimmune, drug-induced, radiation-induced, type 1, type 2, type III, grade 2,
    stage IV, alpha, beta, segmental, multiple
    """
)
_SITES = _table(
    """
    lung, liver, kidney, breast, skin, brain, spinal cord, left ventricle, right atrium, femur, tibia,
    humerus, hip joint, knee joint, shoulder, wrist, ankle, lower limb, upper limb, neck, scalp, eyelid,
    cornea, optic nerve, inner ear, nasal cavity, tongue, salivary gland, trachea, aorta, portal vein,
    renal artery, bladder, uterus, ovary, testis, bone marrow, thyroid gland, parathyroid gland,
    gallbladder, bile duct, small intestine, rectum, peritoneum, diaphragm, lymph node, thoracic wall,
    pelvis, sacrum, mandible
    """
)
_GENERAL = _table(
    """
    pain, blood, patient, treatment, therapy, surgery, diagnosis, disease, syndrome, lesion, biopsy,
    fever, edema, cough, weight, age, family, history, hospital, nurse, dose, infection, risk, death,
    study, examination, tissue, cell, protein, gene, antibody, virus
    """
)
_PLAIN = _table(
    """
    the, of, and, in, was, with, for, a, were, after, showed, without, that, at, on, during, she, he,
    had, been, reported, before, because, between, we, found, not, several, weeks, days, seen, using,
    but, further, normal, same, second, later, then, also, most, compared, group, results, however,
    significant, increased, two, three, 12, 2019, 0.05, followed, presented, suggests, important,
    observed, considered, including, which, these, remained
    """
)
_SYLLABLES = tuple(
    start + vowel + end for start in "bdfgklmnprstvz" for vowel in "aeiou" for end in ("", "n", "r", "s", "l")
)
_LETTERS = re.compile(r"[A-Za-z]{3,}")
_EPONYMS = ("syndrome", "disease", "sign", "anomaly", "operation")
_HEADS = 24_000
_WORDS = len(_PREFIXES) * len(_ROOTS) * len(_ROOTS) * len(_SUFFIXES)
_STEP = 1_000_003  # prime, so that steps visit every word once before one comes again


@dataclass(frozen=True, slots=True)
class Planted:
    """One mention that should be found; `kind` is one of KINDS."""

    start: int
    end: int
    concept: str
    kind: str


@dataclass(frozen=True, slots=True)
class Document:
    """A generated text of about 1,400 characters."""

    id: str
    text: str
    planted: tuple[Planted, ...]


def _word(number: int) -> str:
    number = number * _STEP % _WORDS
    number, suffix = divmod(number, len(_SUFFIXES))
    number, last = divmod(number, len(_ROOTS))
    prefix, first = divmod(number, len(_ROOTS))
    joined = "" if first == last else _ROOTS[first] + "o"
    return _PREFIXES[prefix] + joined + _ROOTS[last] + _SUFFIXES[suffix]


def _surname(number: int) -> str:
    number = number * _STEP % len(_SYLLABLES) ** 3
    parts = []
    for _ in range(3):
        number, place = divmod(number, len(_SYLLABLES))
        parts.append(_SYLLABLES[place])
    return "".join(parts).capitalize()


def name(number: int) -> ConceptName:
    """The name of that number; five names belong to two concepts, and no two have the same words."""
    pair, place = divmod(number, 5)
    concept = f"GEN:C{pair * 2 + (place > 2):07d}"
    words = _GENERAL[number] if number < len(_GENERAL) else _text(number)
    return ConceptName(
        concept=concept,
        name=words[0].upper() + words[1:],
        source="GEN",
        term_type="PT" if place in (0, 3) else "SY",
        is_preferred=place in (0, 3),
    )


def _text(number: int) -> str:
    rest, kind = divmod(number, 5)
    if kind == 0:
        return _word(_HEADS + rest)
    if kind == 4:
        rest, eponym = divmod(rest, len(_EPONYMS))
        return f"{_surname(rest)} {_EPONYMS[eponym]}"
    rest, head = divmod(rest, _HEADS)
    word = _word(head)
    rest, site = divmod(rest + head, len(_SITES))
    if kind == 1:
        return f"{word} of the {_SITES[site]}" if rest == 0 else f"{word} of the {_SITES[site]}, grade {rest}"
    rest, qualifier = divmod(rest + head, len(_QUALIFIERS))
    extra = "" if rest == 0 else f" {_QUALIFIERS[(rest + qualifier) % len(_QUALIFIERS)]}"
    if kind == 2:
        return f"{_QUALIFIERS[qualifier]}{extra} {_SITES[site]} {word}"
    return f"{_QUALIFIERS[qualifier]}{extra} {word}, {_SITES[site]} {'region' if rest % 2 else 'structure'}"


def names(count: int) -> Iterator[ConceptName]:
    """The first `count` names."""
    return map(name, range(count))


def write_names(path: Path, count: int, chunk: int = 200_000) -> Path:
    """The first `count` names as Parquet of ConceptName rows."""
    schema = arrow_schema(ConceptName)
    with pq.ParquetWriter(path, schema) as writer:
        for first in range(0, count, chunk):
            rows = [name(number) for number in range(first, min(first + chunk, count))]
            columns = {field: [getattr(row, field) for row in rows] for field in schema.names}
            writer.write_table(pa.table(columns, schema=schema))
    return path


def documents(vocabulary: int, count: int, seed: int = 4) -> list[Document]:
    """Documents that mention names of the first `vocabulary` ones, ten each, two of every kind."""
    return [
        _document(vocabulary, random.Random(seed * 1_000_003 + number), number) for number in range(count)
    ]


def _document(vocabulary: int, rng: random.Random, number: int) -> Document:
    kinds = list(KINDS) * 2
    rng.shuffle(kinds)
    parts: list[str] = []
    planted: list[Planted] = []
    length = 0
    for kind in kinds:
        filler = _filler(rng)
        item, written = _mention(vocabulary, rng, kind)
        start = length + len(filler) + 1
        planted.append(Planted(start, start + len(written), item.concept, kind))
        end = rng.choice((" ", ", ", ". "))
        parts += [filler, " ", written, end]
        length = start + len(written) + len(end)
    return Document(f"generated-{number}", "".join(parts) + _filler(rng) + ".", tuple(planted))


def _filler(rng: random.Random) -> str:
    words = []
    for _ in range(rng.randint(9, 15)):
        drawn = rng.random()
        words.append(rng.choice(_GENERAL if drawn < 0.18 else _QUALIFIERS if drawn < 0.22 else _PLAIN))
        if rng.random() < 0.02:
            words[-1] += rng.choice((",", ".", ";"))
    return " ".join(words) + " the"


def _mention(vocabulary: int, rng: random.Random, kind: str) -> tuple[ConceptName, str]:
    while True:
        item = name(rng.randrange(min(len(_GENERAL), vocabulary - 1), vocabulary))
        if kind == "reorder" and " " not in item.name:
            continue
        return item, _written(item.name, rng, kind)


def _written(text: str, rng: random.Random, kind: str) -> str:
    if kind == "case":
        return rng.choice((text.upper(), text.lower(), text.title()))
    if kind == "plural":
        return _many(text)
    if kind == "reorder":
        first, last = text.rsplit(" ", 1)
        return f"{last}, {first}"
    return _misspelt(text, rng) if kind == "typo" else text


def _plural(text: str) -> str:
    if text.endswith(("sis", "xis")):
        return text[:-2] + "es"
    if text.endswith("y") and text[-2] not in "aeiou":
        return text[:-1] + "ies"
    return text + ("es" if text.endswith(("s", "x", "ch", "sh")) else "s")


def _many(text: str) -> str:
    """The name with its last word (a number is none) in the plural."""
    last = [found for found in _LETTERS.finditer(text) if found.group().islower() or found.start() == 0][-1]
    return text[: last.start()] + _plural(last.group()) + text[last.end() :]


def _misspelt(text: str, rng: random.Random) -> str:
    places = [place for place, letter in enumerate(text) if letter.isalpha()]
    place = rng.choice(places)
    letter = rng.choice([item for item in "abcdefghijklmnopqrstuvwxyz" if item != text[place].lower()])
    kept = {"change": letter, "drop": "", "add": text[place] + letter}
    return text[:place] + kept[rng.choice(sorted(kept))] + text[place + 1 :]


def score(documents: Iterable[Document], found: Mapping[str, Sequence[Found]]) -> dict[str, float]:
    """Recall per kind (right concept on an overlapping span), precision, predictions a document."""
    wanted = dict.fromkeys((*KINDS, "all"), 0)
    got = dict.fromkeys((*KINDS, "all"), 0)
    right = predicted = 0
    texts = list(documents)
    for document in texts:
        mentions = found.get(document.id, ())
        predicted += len(mentions)
        right += sum(any(_is_hit(item, mention) for item in document.planted) for mention in mentions)
        for item in document.planted:
            is_found = any(_is_hit(item, mention) for mention in mentions)
            for kind in (item.kind, "all"):
                wanted[kind] += 1
                got[kind] += is_found
    recalls = {kind: round(got[kind] / wanted[kind], 4) for kind in wanted if wanted[kind]}
    return {
        **recalls,
        "precision": round(right / predicted, 4) if predicted else 0.0,
        "predicted_per_document": round(predicted / max(len(texts), 1), 2),
    }


def _is_hit(item: Planted, mention: Found) -> bool:
    return mention.concept == item.concept and mention.start < item.end and item.start < mention.end
