"""Bodies without sections: front matter printed in them, and headings in bold."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from schemas.article import Article

Reader = Callable[..., Article]

META = (
    "<title-group><article-title>Tempo de espera em ambulatórios de pneumologia</article-title></title-group>"
    "<contrib-group><contrib><name><surname>Oliveira</surname><given-names>Rita</given-names></name></contrib>"
    "</contrib-group><trans-abstract xml:lang='en'><p>Waiting times were measured in four clinics over a year"
    " and were found to be longer in winter than in summer, above all for those sent by letter.</p>"
    "</trans-abstract>"
)
FRONT = (
    "<p><bold>ARTIGO ORIGINAL</bold></p>"
    "<p><bold>Tempo de espera em ambulat&#243;rios de pneumologia<sup>*</sup></bold></p>"
    "<p><bold>Rita Oliveira<sup>I</sup>; Jos&#233; da Silva Costa<sup>II</sup></bold></p><p/>"
    "<p><sup>I</sup>Professora. Departamento de Pneumologia, Porto <sup>II</sup>M&#233;dico, Braga</p>"
    "<p><xref ref-type='corresp' rid='c'>Endere&#231;o para correspond&#234;ncia</xref></p>"
    "<p><bold>RESUMO</bold></p><p><bold>OBJETIVO: </bold>Medir o tempo. Foram medidos todos.</p>"
    "<p><bold>Descritores:</bold> Pneumologia; Listas de espera; Tempo.</p>"
    "<p><bold>ABSTRACT</bold></p><p>Waiting times were measured in four clinics over a year and were found to"
    " be longer in winter than in summer, above all for those sent by letter.</p>"
    "<p><bold>Keywords:</bold> waiting, clinics, time</p>"
)
REST = (
    "<p><bold>Introdu&#231;&#227;o</bold></p><p>O tempo de espera cresce.</p>"
    "<p><bold>Resultados:</bold></p><p>Cresceu. <bold>Mais</bold> no inverno.</p>"
    "<fig id='f'><caption><p>Um gr&#225;fico.</p></caption></fig>"
    "<p><bold>Refer&#234;ncias</bold></p><p>1. Costa J. O tempo. Rev 2001;1:2.</p>"
)


@pytest.mark.parametrize("front", [FRONT, ""])
def test_front_matter_in_a_flat_body_is_no_text_and_bold_lines_are_headings(read: Reader, front: str) -> None:
    got = read(front + REST, meta=META, attributes="xml:lang='pt'")
    assert [(passage.text, passage.section) for passage in got.passages] == [
        ("O tempo de espera cresce.", 1),
        ("Cresceu. Mais no inverno.", 2),
    ]
    assert [section.title for section in got.sections] == ["Introdução", "Resultados", "Referências"]
    assert [figure.caption for figure in got.figures] == ["Um gráfico."]
    assert ("front_matter_in_body" in got.flags) == bool(front)


def test_text_behind_the_title_is_kept(read: Reader) -> None:
    got = read(
        "<p>Tempo de espera em ambulatórios de pneumologia</p><p>Rita Oliveira</p>"
        "<p>Oliveira conta o tempo; ninguém mais o faz.</p><p>E conta outra vez.</p>",
        meta=META,
    )
    assert [passage.text for passage in got.passages] == [
        "Oliveira conta o tempo; ninguém mais o faz.",
        "E conta outra vez.",
    ]


def test_one_bold_line_and_a_long_one_are_no_headings(read: Reader) -> None:
    got = read("<p><bold>A question.</bold></p><p><bold>One line</bold></p><p>Text.</p>", meta=META)
    assert [passage.text for passage in got.passages] == ["A question.", "One line", "Text."]
    assert got.sections == ()


def test_a_body_with_sections_keeps_its_bold_lines(read: Reader) -> None:
    got = read("<sec><title>A</title><p><bold>One</bold></p><p>x</p><p><bold>Two</bold></p><p>y</p></sec>")
    assert [passage.text for passage in got.passages] == ["One", "x", "Two", "y"]
