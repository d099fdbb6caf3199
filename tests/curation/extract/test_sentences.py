from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.extract.sentences import sentence_at, sentence_spans


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("See Fig. 2 for it. Next one.", ["See Fig. 2 for it.", "Next one."]),
        ("It was seen (Fig. 2). Next one.", ["It was seen (Fig. 2).", "Next one."]),
        ("Smith et al. Reported it. Then more.", ["Smith et al. Reported it.", "Then more."]),
        ("By Smith et al. The patient died.", ["By Smith et al.", "The patient died."]),
        ("Glucose was 3.5 mg/dL. He left.", ["Glucose was 3.5 mg/dL.", "He left."]),
        ("They had hepatitis B. Screening helps.", ["They had hepatitis B.", "Screening helps."]),
        (
            "All were of group A. Interestingly, some left.",
            ["All were of group A.", "Interestingly, some left."],
        ),
        ("It was found by J. Roe and others.", ["It was found by J. Roe and others."]),
        ("We thank S. Roe for help.", ["We thank S. Roe for help."]),
        ("It was shown by group A. Roe et al. agree.", ["It was shown by group A. Roe et al. agree."]),
        (
            "Drugs, e.g. Aspirin, i.e. ASA. Dr. Roe vs. Dr. Doe.",
            ["Drugs, e.g. Aspirin, i.e. ASA.", "Dr. Roe vs. Dr. Doe."],
        ),
        ("It drained 150 mL. Computed tomography came.", ["It drained 150 mL.", "Computed tomography came."]),
        ("Within 30 min. Cytology was read.", ["Within 30 min.", "Cytology was read."]),
        ("He took 5 ml. 3 times a day.", ["He took 5 ml. 3 times a day."]),
        ("It was below 0.05 g/L. Once awake, he left.", ["It was below 0.05 g/L.", "Once awake, he left."]),
        ("IgE was 1186 IU/L. Macrocytosis was seen.", ["IgE was 1186 IU/L.", "Macrocytosis was seen."]),
        ("A clearance of 56 mL/min. Urine was clear.", ["A clearance of 56 mL/min.", "Urine was clear."]),
        ("At 5 p.m. Blood was drawn.", ["At 5 p.m.", "Blood was drawn."]),
        (
            "He has MS. Despite that, MM. FIG. 2 shows it.",
            ["He has MS.", "Despite that, MM. FIG. 2 shows it."],
        ),
        ("Signs (fever, cough, etc.). Treatment began.", ["Signs (fever, cough, etc.).", "Treatment began."]),
        (
            "They said no. The family left. No. 3 stayed.",
            ["They said no.", "The family left.", "No. 3 stayed."],
        ),
        ("With R v. 3.2.5 and BOE Num. 298 it ran.", ["With R v. 3.2.5 and BOE Num. 298 it ran."]),
        ("By StataCorp. 2005. The end.¹⁴ ¹⁵", ["By StataCorp. 2005.", "The end.¹⁴ ¹⁵"]),
        ("By J. Smith. We saw it.", ["By J. Smith.", "We saw it."]),
        ("Low vitamin C. The skin bled.", ["Low vitamin C.", "The skin bled."]),
        ("It is rare.12 The cause is unknown.", ["It is rare.12", "The cause is unknown."]),
        ("It is rare.¹² The cause is unknown.", ["It is rare.¹²", "The cause is unknown."]),
        ("It is rare.¹²⁻¹⁴, ¹⁶ The end.", ["It is rare.¹²⁻¹⁴, ¹⁶", "The end."]),
        ("It is rare (Fig. 1).[3] The end.", ["It is rare (Fig. 1).[3]", "The end."]),
        ("It is rare.(2,5–7) The end.", ["It is rare.(2,5–7)", "The end."]),
        ("It is rare. (2) The end.", ["It is rare.", "(2) The end."]),
        ("Smith et al.¹² reported it.", ["Smith et al.¹² reported it."]),
        ("It is in Fig. 3. The end.", ["It is in Fig. 3.", "The end."]),
        ("It was so. 2. The next step.", ["It was so.", "2. The next step."]),
        ("A capacity of 14.37 Mets was reached.", ["A capacity of 14.37 Mets was reached."]),
        ("Was it? Yes! It was.", ["Was it?", "Yes!", "It was."]),
        ("患者发热。第二天好转。", ["患者发热。", "第二天好转。"]),
        ("¿Tiene dolor? Sí. El Sr. García vino.", ["¿Tiene dolor?", "Sí.", "El Sr. García vino."]),
        ("1. Introduction to it. Then.", ["1. Introduction to it.", "Then."]),
        ("", []),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in sentence_spans(text)] == expected


@given(st.text(alphabet="aB.!? \n(1)。Fig", max_size=60))
def test_spans_cover_everything_but_space(text: str) -> None:
    spans = sentence_spans(text)
    covered = {at for start, end in spans for at in range(start, end)}
    assert all(text[at].isspace() or at in covered for at in range(len(text)))
    assert all(a[1] <= b[0] for a, b in itertools.pairwise(spans))
    for start, end in spans:
        assert sentence_at(spans, start) == (start, end) == sentence_at(spans, end - 1)
