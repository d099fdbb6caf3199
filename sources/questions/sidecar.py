"""The sidecar of a question collection: name, licence, language, and how the file calls its fields.

`<file>.meta.toml` beside the file, or anywhere with a `file` key. Documented in docs/questions.md.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from schemas import licences
from schemas.article import Licence
from schemas.errors import InputError
from schemas.stages import Reason

SUFFIX: Final = ".meta.toml"
MAX_BYTES: Final = 64 * 1024
EVIDENCE: Final = "questions:sidecar licence"

_SPDX = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+-]{1,60}")
_MAX_STATEMENT: Final = 500
_Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(?:[-_.][a-z0-9]+)*$", max_length=80)]
_Language = Annotated[str, StringConstraints(pattern=r"^[a-z]{2,3}(?:-[A-Za-z0-9]{2,8})*$")]
_Path = Annotated[str, StringConstraints(min_length=1, max_length=200)]
"""A key of the record; dots lead into objects within it."""


class Fields(BaseModel):
    """What the file calls each field of the documented format."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    records: str = Field(
        default="", description="key of the list of records in the file's one object; '' when it is the list"
    )
    id: str = Field(default="id", description="'' when records have none: the id is then made of the content")
    question: _Path = "question"
    context: _Path | None = Field(default=None, description="text that stands before the question")
    options: _Path | tuple[_Path, ...] = Field(
        default="options", description="or one key for each option, which get the letters A, B, …"
    )
    correct: _Path = "correct"
    answer: _Path = "answer"
    explanation: _Path = "explanation"
    citations: _Path = "citations"
    snippets: _Path = "snippets"
    images: _Path | None = Field(
        default=None, description="images that a question with any cannot do without"
    )
    choices: str = Field(default="", description="words behind which the question's text repeats its options")
    language: _Path = "language"
    subject: _Path = "subject"


PRESETS: Final[dict[str, dict[str, Any]]] = {
    "bioasq": {
        "records": "questions",
        "question": "body",
        "answer": "ideal_answer",
        "citations": "documents",
        "subject": "type",
    },
    "frenchmedmcqa": {"options": "answers", "correct": "correct_answers", "subject": "subject_name"},
    "medmcqa": {
        "options": ("opa", "opb", "opc", "opd"),
        "correct": "cop",
        "explanation": "exp",
        "subject": "subject_name",
    },
    "medqa": {"id": "", "correct": "answer_idx", "subject": "meta_info"},
    "medxpertqa": {
        "correct": "label",
        "choices": "Answer Choices:",
        "images": "images",
        "subject": "body_system",
    },
}
"""Field names of published collections; what they do not name is as documented."""
_NUMBERED: Final = frozenset({"medmcqa"})
"""Collections whose correct option counts from 0 in one distribution and from 1 in another."""


class Sidecar(BaseModel):
    """What a sidecar says of its collection."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: _Name
    licence: Annotated[str, StringConstraints(strip_whitespace=True, min_length=2, max_length=500)]
    language: _Language
    title: Annotated[str, StringConstraints(max_length=500)] = ""
    citation: Annotated[str, StringConstraints(max_length=4000)] = ""
    url: Annotated[str, StringConstraints(max_length=2000)] = ""
    file: str | None = Field(default=None, description="the data file, relative to the sidecar")
    preset: Literal["bioasq", "frenchmedmcqa", "medmcqa", "medqa", "medxpertqa"] | None = None
    fields: Fields = Fields()
    correct_from: Annotated[int, Field(ge=0, le=1)] | None = Field(
        default=None, description="the correct option is a number that counts from 0 or 1"
    )
    synthetic: bool = False

    @model_validator(mode="after")
    def _says_where_numbers_begin(self) -> Self:
        if self.preset in _NUMBERED and self.correct_from is None:
            raise ValueError(f"preset {self.preset!r} needs correct_from: 0 or 1, as this file counts")
        return self

    def mapping(self) -> Fields:
        """Field names: the sidecar's own over the preset's over the documented ones."""
        own = self.fields.model_dump(exclude_unset=True)
        return Fields(**{**PRESETS.get(self.preset or "", {}), **own})

    def stated_licence(self) -> Licence:
        """The licence: a Creative Commons address or name in any form, else the SPDX id as written."""
        text = self.licence
        is_address = text.lower().startswith(("http://", "https://"))
        if is_address:
            spdx = licences.from_url(text) or licences.UNKNOWN
        elif licences.terms(text).family != "none":
            spdx = text
        else:
            spdx = licences.from_text(text) or (text if _SPDX.fullmatch(text) else licences.UNKNOWN)
        address = text if is_address else (licences.url(spdx) or None)
        return Licence(spdx=spdx, evidence=EVIDENCE, url=address, statement=text[:_MAX_STATEMENT])


def read_sidecar(data: bytes, file: str = "") -> Sidecar:
    """Read a sidecar.

    Args:
        data: its bytes.
        file: its name, for messages.

    Raises:
        InputError: not TOML, a key missing, unknown or of a wrong form (`metadata_invalid`).
    """
    if len(data) > MAX_BYTES:
        raise _invalid(f"larger than {MAX_BYTES} bytes", file)
    try:
        return Sidecar.model_validate(tomllib.loads(data.decode("utf-8-sig")))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "sidecar"
        raise _invalid(f"{where}: {first['msg']}", file) from None
    except (ValueError, RecursionError) as error:
        raise _invalid(f"not TOML: {str(error)[:200]}", file) from None


def _invalid(what: str, file: str) -> InputError:
    return InputError(
        f"the sidecar cannot be used: {what}",
        reason=Reason.METADATA_INVALID.value,
        file=file,
        hint="docs/questions.md lists its keys",
    )


def sidecar_of(data_file: Path) -> Path:
    """Where the sidecar of a data file stands unless another names it."""
    return data_file.with_name(data_file.name + SUFFIX)
