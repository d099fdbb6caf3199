"""Flags of an image: what a reviewer must look at before it is shown or released.

A check that did not run leaves its own flag (`face_unchecked`, `text_unchecked`). `sensitive` rests on the
caption alone, so its absence promises nothing.
"""

from __future__ import annotations

import re

FACE, FACE_UNCHECKED = "face", "face_unchecked"
TEXT, TEXT_UNCHECKED = "text", "text_unchecked"
SENSITIVE = "sensitive"
PRIVATE = "private_metadata"
FLAGS = (FACE, FACE_UNCHECKED, PRIVATE, SENSITIVE, TEXT, TEXT_UNCHECKED)
"""The closed list of flags."""

DRAWN_KINDS = frozenset({"chart", "diagram", "table", "structure", "equation", "sequence", "signal", "gel"})
_SHOWN_FACE = re.compile(
    r"(?<!\w)(?:(?:photo\w*|picture|image|view|appearance|portrait|profile)s?\W+(?:\w+\W+){0,6}?"
    r"(?:face|facial|facies|forehead|eyes|eyelids?|periorbital)|"
    r"(?:face|facial|facies)\W+(?:\w+\W+){0,4}?(?:photo\w*|appearance|profile|view|features|dysmorphi\w+|"
    r"swelling|oedema|edema|rash|erythema|asymmetry|lesions?)|"
    r"extra-?oral\W+(?:\w+\W+){0,2}?(?:photo\w*|picture|image|view|appearance)s?|"
    r"(?:photo\w*|picture|portrait|appearance)s?\W+of\W+(?:\w+\W+){0,3}?(?:patient|proband|child|infant|newborn|"
    r"neonate|baby|boy|girl|man|woman|twin)s?(?!['’]?s?['’]?\W+(?:\w+\W+){0,2}?(?:hand|finger|nail|arm|forearm|leg|foot|"
    r"feet|toe|knee|skin|back|trunk|abdomen|chest|thigh|elbow|wrist|heel|sole|palm|specimen|lesion|biops\w+|mucosa|"
    r"tongue|teeth|mouth|oral|intraoral)s?(?!\w))|"
    r"(?:patient|child|infant|girl|boy|man|woman|baby)['’]s\W+(?:head|face|eyes?|forehead))(?!\w)",
    re.IGNORECASE,
)
_SENSITIVE = re.compile(
    r"(?<!\w)(?:genital\w*|penis|penile|scrot\w+|testic\w+|testis|vulva\w*|vagina\w*|labia\w*|perine\w+|perianal|"
    r"an(?:al|us|orectal)|breasts?|nipples?|nud(?:e|ity)|naked|buttocks?|autops\w+|post[- ]?mortem|"
    r"cadaver\w*|corpses?|deceased|stillb\w+|fetal demise|aborted|decapitat\w+|suicid\w+|hang(?:ing|ed)|"
    r"gunshot|stab wounds?|burns?|burned|mutilat\w+|amputat\w+|gangren\w+|necroti[sz]ing|open wounds?|"
    r"wounds?|eviscerat\w+|abuse[ds]?|bite marks?|intra-?operative (?:photo\w*|image|picture|view)|"
    r"pene|escroto|mamas?|senos?|pechos?|autopsia|cad[aá]ver|quemadur\w+|queimadur\w+|feridas?|heridas?|"
    r"gangrena|sein|brûlures?|nécrose|plaies?|hoden|verbrennung\w*|obduktion)(?!\w)",
    re.IGNORECASE,
)


def caption_shows_face(caption: str, kind: str) -> bool:
    """Whether the caption speaks of a picture of a face and the image is none of the drawn kinds."""
    return kind not in DRAWN_KINDS and bool(_SHOWN_FACE.search(caption))


def caption_is_sensitive(caption: str, kind: str) -> bool:
    """Whether the caption names nudity, wounds or the dead and the image may show what it names.

    Scans and tissue under a microscope show neither to a lay viewer.
    """
    shows_outside = kind not in DRAWN_KINDS | {"radiology", "pathology", "microscopy"}
    return shows_outside and bool(_SENSITIVE.search(caption))


def flags_of(
    caption: str, kind: str, *, private: tuple[str, ...], faces: int | None, text: str | None
) -> tuple[str, ...]:
    """Flags of one image, sorted.

    Args:
        caption: the figure's caption.
        kind: as decided, '' when undecided.
        private: identifying metadata found in the file.
        faces: faces a detector found, None where none was asked.
        text: text read in the image, None where it was not read.
    """
    found = {
        FACE: bool(faces) or caption_shows_face(caption, kind),
        FACE_UNCHECKED: faces is None,
        TEXT: bool(text),
        TEXT_UNCHECKED: text is None,
        SENSITIVE: caption_is_sensitive(caption, kind),
        PRIVATE: bool(private),
    }
    return tuple(sorted(flag for flag, is_raised in found.items() if is_raised))
