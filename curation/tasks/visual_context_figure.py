"""Which figures may ask: a usable image, a licence, and a caption that names a subject.

A caption that says only "flow chart of the study" fits every trial, so no passage is its own answer.
"""

from __future__ import annotations

from schemas.article import Graphic
from schemas.extracted import Figure
from schemas.hashing import normalise_text
from schemas.licences import Profile, is_allowed
from schemas.stages import Reason


def _words(*lines: str) -> frozenset[str]:
    return frozenset(word for line in lines for word in line.split())


_PLAN = _words(
    "flow flowchart flowcharts consort strobe prisma disposition profile timeline schedule schema scheme",
    "design fluxograma flujograma fluxo flujo cronograma cronologia cronología tempo tiempo",
)
"""Words for a figure that shows how a study or a stay in hospital went; one of them must be there."""
_GENERAL = _PLAN | _words(
    # words of every caption
    "a an the of in for and or to from by with at on through during over per each all this our chart charts",
    "diagram diagrams figure graph overview summary illustration representation plan process procedure line",
    "number numbers showing shows describing depicting indicates",
    # who took part, and in what
    "study studies trial trials project case cases report reports patient patients participant participants",
    "subject subjects individual individuals cohort cohorts sample group groups arm arms phase phases",
    "research clinical protocol course history event events",
    # what was done with them
    "recruitment recruited enrolment enrollment enrolled inclusion included exclusion excluded eligibility",
    "eligible selection selected screening screened allocation allocated randomisation randomization",
    "randomised randomized assignment distribution follow up analysis analysed analyzed completion completed",
    "treatment treatments intervention interventions assessment assessments visit visits outcome outcomes",
    # techniques, which JAMA and others spell out below such a figure
    "mri magnetic resonance ct computed tomography imaging",
    # the same in Portuguese and Spanish
    "de da do das dos del la el las los e y o os em en na no nas nos para por con com um uma un una linha",
    "línea diagrama estudo estudio ensaio ensayo clínico pesquisa investigación processo proceso etapas",
    "paciente pacientes participante participantes caso casos amostra muestra seleção selección",
    "recrutamento reclutamiento inclusão inclusión exclusão exclusión triagem acompanhamento seguimiento",
    "tratamento tratamiento",
)


def is_study_plan(caption: str) -> bool:
    """Whether a caption says only that the figure shows the course of a study, and not of which one."""
    words = [word for word in normalise_text(caption).split() if len(word) > 1 and not word.isdigit()]
    return not _PLAN.isdisjoint(words) and _GENERAL.issuperset(words)


def bar(figure: Figure, problem: str, profile: Profile, require_image: bool) -> tuple[Reason, str] | None:
    """Why a figure may not become a query, with a detail; None if it may.

    Args:
        figure: the figure.
        problem: reason code of `first_image`, '' if there is a usable image.
        profile: licence profile that the figure must satisfy.
        require_image: whether a figure without a usable image is barred.
    """
    if figure.is_third_party:
        return Reason.THIRD_PARTY, figure.rights[:200]
    if not is_allowed(figure.licence.spdx, profile):
        return Reason.LICENCE_NOT_ALLOWED, figure.licence.spdx
    if problem and require_image:
        return Reason(problem), figure.graphics[0].href if figure.graphics else ""
    if not figure.caption.strip():
        return Reason.NO_CAPTION, ""
    return None


def first_image(figure: Figure) -> tuple[Graphic | None, str]:
    """The first usable graphic, or the reason code of the first one's problem."""
    for graphic in figure.graphics:
        if is_usable(graphic):
            return graphic, ""
    if not figure.graphics:
        return None, Reason.NO_GRAPHIC.value
    problem = figure.graphics[0].problem
    known = {Reason.IMAGE_MISSING.value, Reason.IMAGE_CORRUPT.value, Reason.IMAGE_TOO_LARGE.value}
    return None, problem if problem in known else Reason.IMAGE_MISSING.value


def is_usable(graphic: Graphic) -> bool:
    """Whether a graphic has image bytes without a problem."""
    return not graphic.problem and graphic.path is not None
