"""Which figures may ask: a usable image, a licence, and a caption that names a subject.

A caption that says only "flow chart of the study" fits every trial, so no passage is its own answer.
"""

from __future__ import annotations

from curation.tasks.shared.bars import Bar, first_image, no_image, rights_bar
from schemas.extracted import Figure
from schemas.hashing import normalise_text
from schemas.licences import Profile
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


def bar(figure: Figure, profile: Profile, *, require_image: bool) -> Bar | None:
    """Why a figure may not become a query, with a detail; None if it may.

    Args:
        figure: the figure.
        profile: licence profile that the figure must satisfy.
        require_image: whether a figure without a usable image is barred.
    """
    if barred := rights_bar(figure, profile):
        return barred
    if require_image and first_image(figure) is None:
        return no_image(figure), figure.graphics[0].href if figure.graphics else ""
    return None if figure.caption.strip() else (Reason.NO_CAPTION, "")
