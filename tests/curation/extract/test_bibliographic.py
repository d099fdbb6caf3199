"""References and lines about the publication are told from text that cites."""

from __future__ import annotations

import pytest

from curation.extract.bibliographic import is_bibliographic


@pytest.mark.parametrize(
    "text",
    [
        "Meier A, Costa JL, Ito VB, et al. Rest for gout: a protocol. J Rest 2017;7:e017631. doi: 10.1000/5.",
        "[4] A.B. Meier & J. Costa. Joints at rest. 3rd ed. Basel: The Rest Press, (1996).",
        "Costa, J. L., & van der Berg, K. (2018). Rest and gout. Journal of Rest, 12(3), 45–57.",
        "Lima Filho AB, Souza C. Repouso e gota. Rev Repouso. 2012;4(2):11-9.",
        "12. Meier A. Rest. In: Costa J, editor. Joints. 2nd edn. Basel: Rest Press; 2003. pp. 12–20.",
        "Current Opinion in Rest 2018, 45:205–211",
        "Journal of Rest, Vol. 69, No. 16 pp. 3883–3898, doi:10.1000/jr200",
        "How to cite this article: Meier A et al. Rest for gout. Sci. Rest 5:18 (2018).",
    ],
)
def test_references(text: str) -> None:
    assert is_bibliographic(text)


@pytest.mark.parametrize(
    "text",
    [
        "Meier et al. (2017) were the first to rest joints; J. Costa repeated it in 2018, 12: 4–7.",
        "Vitamin D was measured in 2017 and 2018 in all patients, with a median of 12 (range, 4-19).",
        "The patient was seen on 12 May 2017; 3 weeks later the joint was red and 4 cm wide.",
        "Previous work (Meier A, Costa J. J Rest 2017;7:1–5) shows that rest is enough in most patients.",
        "Follow-up was 24 (range: 12–36) months in 2019.",
        "A 45-year-old man, J.C., presented in 2015 with a swollen knee after a fall.",
    ],
)
def test_text(text: str) -> None:
    assert not is_bibliographic(text)
