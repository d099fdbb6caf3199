"""Clinicians' pages in a real Label Studio and a real browser: everything in sight, graded by keyboard."""

from __future__ import annotations

import hashlib
import io
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import requests
from PIL import Image, ImageDraw

from annotation.layouts import HIDDEN_COLUMNS, answer, grades, layout, task_data
from annotation.layouts.answers import Answer
from curation.tasks.registry import TASKS
from flows.review.delivery import for_adjudicator, with_readers
from flows.review.label_studio import Server
from schemas.review import Kind, ReviewCandidate
from tests.annotation.review_samples import CAPTION, HOSTILE, LAYOUTS, candidate, fields
from tests.browser import Tab, chromium

WIDTH, HEIGHT = 1440, 900
SMALL = ((1366, 640), (1280, 600), (1280, 720))
PHONE = (390, 844)
CONTROL = 2
OFFENDERS = """(() => {
  const end = document.querySelector('.lsf-bottombar').getBoundingClientRect().top;
  const wanted = '.mq, .mq-panel, .mq-image, .mq-words, .mq-readers, .mq .lsf-choice, .mq input.ant-input, '
    + '.mq .lsf-image, .mq button';
  const out = [...document.querySelectorAll(wanted)].filter(e => e.checkVisibility()).flatMap(e => {
    const r = e.getBoundingClientRect(), box = e.closest('.mq-panel, .mq-answer')?.getBoundingClientRect();
    const bad = r.top < 40 || r.left < 0 || r.bottom > end || r.right > innerWidth
      || (box && (r.bottom > box.bottom + 1 || r.right > box.right + 1));
    return bad ? [`${e.className} ${r.left} ${r.top} ${r.right} ${r.bottom} ${end}`] : [] });
  const page = document.scrollingElement;
  if (page.scrollHeight > innerHeight || page.scrollWidth > innerWidth) out.push('the page scrolls');
  for (const e of document.querySelectorAll('.mq-words, .mq-panel, .mq-answer, .mq .lsf-choice label'))
    if (e.scrollWidth > e.clientWidth + 1) out.push('too wide: ' + e.className);
  for (const e of document.querySelectorAll('.mq-words, .mq-readers')) {
    const lines = e.clientHeight / parseFloat(getComputedStyle(e).lineHeight);
    if (e.scrollHeight > e.clientHeight + 1 && lines < 5) out.push(`${lines} lines: ` + e.className);
  }
  for (const e of document.querySelectorAll('.mq-image .lsf-image')) {
    const longer = Math.max(e.clientWidth, e.clientHeight);
    if (e.checkVisibility() && longer < 140) out.push(`an image of ${longer} px`);
  }
  return out })()"""
OUTSIDE = """(() => {
  const wanted = '.mq, .mq-image, .mq-words, .mq .lsf-choice label, .mq input.ant-input, .mq .lsf-image, '
    + '.mq button, .lsf-bottombar button, .lsf-menu-header button';
  return [...document.querySelectorAll(wanted)].filter(e => e.checkVisibility()).filter(e => {
    const r = e.getBoundingClientRect();
    return r.left < 0 || r.right > document.documentElement.clientWidth }).map(e => e.className) })()"""
GRADED = "!!document.querySelector('.mq .lsf-choice input:checked')"
FILTER = (
    "getComputedStyle(document.querySelector('.mq-left .mq-image .lsf-object:not(.lsf-richtext)')).filter"
)
SCROLLED = "[...document.querySelectorAll('.lsf-modal-ls, .lsf-modal-ls *')].some(e => e.scrollTop)"
LOADED = (
    "[...document.querySelectorAll('.mq-image')].every(e => !e.checkVisibility() || e.querySelector('img'))"
)


@dataclass(frozen=True)
class Project:
    """A project on the server, and what was put into it."""

    id: int
    kind: Kind
    task: str
    candidates: tuple[ReviewCandidate, ...]


class Site:
    """The server's API and one browser that is logged in."""

    def __init__(self, server: Server, tab: Tab) -> None:
        self.server, self.tab = server, tab
        self.pressed = 0
        self._session = requests.Session()
        self._session.trust_env = False
        self._session.headers["Authorization"] = f"Token {server.token}"

    def api(self, method: str, path: str, **body: Any) -> Any:
        answered = self._session.request(method, f"{self.server.url}/api/{path}", timeout=60, **body)
        assert answered.ok, (path, answered.status_code)
        return answered.json()

    def log_in(self) -> None:
        self.tab.size(WIDTH, HEIGHT)
        self.tab.visit(f"{self.server.url}/user/login/")
        for name, text in (("email", self.server.login), ("password", self.server.password)):
            self.tab.click(f"input[name={name}]")
            self.tab.write(text)
        self.tab.press("Enter", 13)
        self.tab.wait("!location.pathname.includes('login') && document.readyState == 'complete'")

    def project(self, kind: Kind, task: str, *candidates: ReviewCandidate) -> Project:
        """Make a project as a push does, with its tasks."""
        made = layout(kind, TASKS.get(task))
        tasks = [{"data": task_data(one, self.image_url)} for one in candidates]
        return self.filled(Project(0, kind, task, candidates), made.config, made.guidelines, tasks)

    def filled(self, what: Project, config: str, guidelines: str, tasks: list[dict[str, Any]]) -> Project:
        """Make a project of this layout with these tasks."""
        settings = {"sampling": "Sequential sampling", "show_skip_button": False, "show_instruction": True}
        texts = {"label_config": config, "expert_instruction": guidelines, "title": f"browser {what.task}"}
        made = self.api("POST", "projects", json={**settings, **texts})["id"]
        hidden = dict.fromkeys(("explore", "labeling"), HIDDEN_COLUMNS[what.kind])
        view = {"title": "Tasks", "type": "list", "target": "tasks", "hiddenColumns": hidden}
        self.api("POST", "dm/views", json={"project": made, "data": view})
        storage = {"project": made, "path": str(self.server.media / "images"), "regex_filter": "none"}
        self.api("POST", "storages/localfiles", json=storage)
        self.api("POST", f"projects/{made}/import", json=tasks)
        return replace(what, id=made)

    def image_url(self, sha256: str) -> str:
        return f"/data/local-files/?d=images/{sha256}.png"

    def picture(self, width: int, height: int) -> str:
        """Draw a scan, serve it, return its hash."""
        image = Image.new("L", (width, height), 12)
        draw = ImageDraw.Draw(image)
        draw.ellipse((width * 0.1, height * 0.05, width * 0.9, height * 0.95), fill=80)
        for left in (0.2, 0.54):
            draw.ellipse((width * left, height * 0.2, width * (left + 0.26), height * 0.8), fill=25)
        draw.ellipse((width * 0.62, height * 0.3, width * 0.68, height * 0.38), fill=210)
        data = io.BytesIO()
        image.save(data, "PNG")
        sha256 = hashlib.sha256(data.getvalue()).hexdigest()
        (self.server.media / "images" / f"{sha256}.png").write_bytes(data.getvalue())
        return sha256

    def open(self, project: Project) -> None:
        """Begin a project's queue: its guidelines come first and are closed."""
        self.begin(project)
        self.tab.press("Escape", 27)
        self.tab.wait("!document.querySelector('.mq-guide')")
        self.await_task(project.candidates[0])

    def begin(self, project: Project) -> None:
        """Go to a project's queue and wait for its guidelines."""
        self.tab.size(WIDTH, HEIGHT)
        self.tab.visit(f"{self.server.url}/projects/{project.id}/data?labeling=1")
        self.tab.wait("!!document.querySelector('.mq-guide')?.checkVisibility()")

    def await_task(self, shown: ReviewCandidate) -> None:
        """Wait until the page shows a candidate with its images."""
        title = next((item.value for item in shown.shown if item.name == "document_title"), "")
        words = f"document.querySelector('.mq')?.textContent.includes({json.dumps(title)})"
        self.tab.wait(f"!!({words}) && document.querySelectorAll('.mq .lsf-choice').length > 2 && {LOADED}")

    def offenders(self, *size: int) -> list[str]:
        """What is out of sight or too small in a window of a size, once the page has settled in it."""
        self.tab.size(*(size or (WIDTH, HEIGHT)))
        until = time.monotonic() + 5
        while (found := self.tab.run(OFFENDERS)) and time.monotonic() < until:
            time.sleep(0.1)
        return [f"{size}: {text}" for text in found]

    def names(self) -> set[tuple[str, str]]:
        """Role and name of what a screen reader is told."""
        return {(node["role"]["value"], node.get("name", {}).get("value", "")) for node in self.tab.tree()}

    def key(self, key: str) -> None:
        self.pressed += 1
        self.tab.press(key, ord(key.upper()))

    def submit(self) -> None:
        """Submit by keyboard, wherever the focus is, and wait until the server has the answer."""
        start = len(self.tab.events)
        self.pressed += 1
        self.tab.press("Enter", 13, CONTROL)
        until = time.monotonic() + 60
        while not self._is_stored(start):
            assert time.monotonic() < until, "the answer was not stored"
            self.tab.run("1")
            time.sleep(0.05)

    def _is_stored(self, start: int) -> bool:
        sent = {
            event["params"]["requestId"]
            for event in self.tab.events[start:]
            if event.get("method") == "Network.requestWillBeSent"
            and event["params"]["request"]["method"] == "POST"
            and "/annotations" in event["params"]["request"]["url"]
        }
        finished = (e for e in self.tab.events[start:] if e.get("method") == "Network.loadingFinished")
        return any(event["params"]["requestId"] in sent for event in finished)

    def answers(self, project: Project) -> dict[str, Answer]:
        """Submitted answers by candidate id, read through the API."""
        exported = self.api("GET", f"projects/{project.id}/export?exportType=JSON")
        allowed = grades(project.kind, TASKS.get(project.task))
        return {
            task["data"]["candidate_id"]: answer(given["result"], allowed)
            for task in exported
            for given in task["annotations"]
        }


@pytest.fixture(scope="module")
def site(label_studio: Server) -> Iterator[Site]:
    with chromium() as tab:
        site = Site(label_studio, tab)
        site.log_in()
        yield site
        outside = [url for url in tab.requests() if not url.startswith((label_studio.url, "data:", "blob:"))]
        assert outside == []


@pytest.mark.parametrize(("kind", "task"), LAYOUTS[1:])
def test_whole_task_in_sight_and_graded_by_keyboard(
    site: Site, kind: Kind, task: str, tmp_path: Path
) -> None:
    image = site.picture(1000, 800) if task == "summary" else site.picture(500, 900)
    project = site.project(kind, task, candidate(kind, task, fields(kind, task, image, HOSTILE)))
    site.open(project)
    assert site.offenders() == []
    site.tab.photograph(tmp_path / f"{task}.png", whole=False)
    key = {"confusion": "9", "translation": "1", "relevance_text": "a"}.get(kind, "0")
    pressed = site.pressed
    site.key("c")
    site.tab.wait("document.querySelector('.mq-reasons .lsf-choices').checkVisibility()")
    assert [found for size in ((WIDTH, HEIGHT), *SMALL) for found in site.offenders(*size)] == []
    assert not site.tab.run("document.querySelector('input[name=why]')?.checkVisibility()")
    site.key(key)
    site.submit()
    assert site.pressed - pressed == 3
    expected = Answer(int(key), "", "") if key.isdigit() else Answer(None, "ambiguous", "")
    assert list(site.answers(project).values()) == [expected]
    assert site.tab.run("typeof window.hacked") == "undefined"


STRIP = """(() => {
  const box = document.querySelector('.mq-left .mq-image').getBoundingClientRect();
  return [...document.querySelectorAll('.mq-left .mq-more img')].map(e => {
    const r = e.getBoundingClientRect();
    return [e.naturalWidth, r.width / box.width, r.height / box.height] }) })()"""
"""Pixels across of each further image, 0 when it did not load, and its shares of its box across and down."""


def test_every_image_of_a_query_in_sight(site: Site, tmp_path: Path) -> None:
    kind, task = LAYOUTS[0]
    sizes = ((900, 700), (500, 900), (1200, 300), (640, 640))
    names = " ".join(site.picture(*size) for size in sizes)
    several = {**fields(kind, task, ""), "query_image": names}
    second = {**several, "document_title": "Second"}
    project = site.project(
        kind, task, candidate(kind, task, several), candidate(kind, task, second, sensitive=True)
    )
    site.open(project)
    tab = site.tab
    tab.wait("[...document.querySelectorAll('.mq-more img')].every(e => e.naturalWidth)")
    assert [found for size in ((WIDTH, HEIGHT), *SMALL) for found in site.offenders(*size)] == []
    site.offenders()
    tab.photograph(tmp_path / "several.png", whole=False)
    shown = tab.run(STRIP)
    assert [row[0] for row in shown] == [500, 1200, 640] and all(0.2 < row[2] < 0.4 for row in shown)
    assert {f"Image {place} of 4 of the query" for place in (1, 2, 3, 4)} <= {
        name for _, name in site.names()
    }
    tab.click(".mq-left .mq-more:nth-child(2) summary")
    tab.wait(f"{STRIP}[1][1] > 0.9 && {STRIP}[1][2] > 0.9")
    tab.photograph(tmp_path / "large.png", whole=False)
    tab.click(".mq-left .mq-more[open] summary")
    tab.wait(f"{STRIP}[1][2] < 0.4")
    site.key("2")
    site.submit()
    site.await_task(project.candidates[1])
    strip = "getComputedStyle(document.querySelector('.mq-left .mq-strip')).filter"
    tab.wait(f"{strip}.startsWith('blur') && {FILTER}.startsWith('blur')")
    tab.photograph(tmp_path / "veiled.png", whole=False)
    tab.click(".mq-left .mq-veil summary")
    tab.wait(f"{strip} == 'none' && {FILTER} == 'none'")
    site.key("0")
    site.submit()
    assert [one.grade for one in site.answers(project).values()] == [2, 0]


def test_a_queue_of_figures(site: Site, tmp_path: Path) -> None:
    """Three items in a row by keyboard: a hostile caption, and two sensitive images."""
    kind, task = LAYOUTS[0]
    image = site.picture(900, 700)
    plain = fields(kind, task, image, HOSTILE)
    second = {**fields(kind, task, image), "document_title": "Second"}
    third = {**second, "document_title": "Third"}
    project = site.project(
        kind,
        task,
        candidate(kind, task, plain),
        candidate(kind, task, second, sensitive=True),
        candidate(kind, task, third, sensitive=True),
    )
    site.open(project)
    tab = site.tab
    assert site.offenders() == []
    assert CAPTION + HOSTILE in tab.run("document.querySelector('.mq-left .mq-text').textContent")
    assert tab.run(FILTER) == "none" and not tab.run(
        "!!document.querySelector('.mq-right .mq-image img[src^=http]')"
    )
    question = "Does the passage speak about this figure?"
    wanted = {("RootWebArea", f"Task 1 of 3: {question}"), ("image", "Image of the query")}
    wanted |= {("radiogroup", "Grade"), ("textbox", "Comment")}
    assert wanted <= site.names()
    pressed = site.pressed
    site.key("m")
    tab.write("2 lesions")
    tab.press("2", 98)  # on a numeric keypad
    tab.press("Escape", 27)
    assert not tab.run(GRADED)
    site.key("2")
    site.key("p")  # a stray letter takes no grade back
    assert tab.run("document.querySelector('.mq input:checked').name") == "2"
    site.submit()
    assert site.pressed - pressed == 4

    site.await_task(project.candidates[1])
    tab.wait(f"document.title == 'Task 2 of 3: {question}'")
    assert "blur" in tab.run(FILTER) and site.offenders() == []
    tab.photograph(tmp_path / "blurred.png", whole=False)
    tab.click(".mq-veil summary")
    tab.wait(f"{FILTER} == 'none'")
    zoom = "document.querySelector('.mq-left .lsf-image img').style.transform"
    before = tab.run(zoom)
    tab.click(".mq-left button[aria-label=zoom-in]")
    tab.wait(f"{zoom} != {json.dumps(before)}")
    assert site.offenders() == []
    tab.photograph(tmp_path / "zoomed.png", whole=False)
    tab.run("document.querySelector('.mq-veil summary').focus()")
    for key, code in (("Enter", 13), (" ", 32)):
        tab.press(key, code)
        tab.wait(f"{FILTER} {'!' if key == 'Enter' else '='}= 'none'")
    pressed = site.pressed
    site.key("1")  # the veil still has the focus
    site.submit()
    assert site.pressed - pressed == 2

    site.await_task(project.candidates[2])
    assert "blur" in tab.run(FILTER)
    site.key("v")
    tab.wait(f"{FILTER} == 'none'")
    pressed = site.pressed
    site.key("o")  # the reason alone: "cannot judge" comes with it
    tab.wait("document.activeElement.name == 'why'")
    assert [found for size in ((WIDTH, HEIGHT), *SMALL) for found in site.offenders(*size)] == []
    assert {("radiogroup", "Reason"), ("textbox", "Reason in words")} <= site.names()
    tab.photograph(tmp_path / "reason.png", whole=False)
    tab.write("A name is seen.")
    site.submit()
    assert site.pressed - pressed == 2
    tab.wait("document.title == 'Done, thank you'")
    assert [site.answers(project)[one.id] for one in project.candidates] == [
        Answer(2, "", "2 lesions"),
        Answer(1, "", ""),
        Answer(None, "other", "A name is seen."),
    ]
    assert tab.run("typeof window.hacked") == "undefined"


def test_nothing_is_graded_behind_a_dialog(site: Site) -> None:
    kind, task = LAYOUTS[0]
    project = site.project(kind, task, candidate(kind, task, fields(kind, task, site.picture(700, 500))))
    site.begin(project)
    tab = site.tab
    tab.wait(f"document.activeElement.matches('.lsf-modal-ls__body') && {LOADED}")
    assert ("dialog", "Labeling Instructions") in site.names()
    site.key("2")
    tab.press("Enter", 13, CONTROL)
    until = time.monotonic() + 60
    while not tab.run(SCROLLED) and time.monotonic() < until:  # a busy browser may not take the first
        tab.press("PageDown", 34)
        time.sleep(0.2)
    assert tab.run(SCROLLED)
    tab.press("Escape", 27)
    tab.wait("!document.querySelector('.mq-guide')")
    assert not tab.run(GRADED)
    tab.press("Enter", 13, CONTROL)  # without a grade
    tab.wait("document.querySelector('.ant-modal-wrap')?.contains(document.activeElement)")
    site.key("2")
    tab.press("Enter", 13)
    tab.wait("!document.querySelector('.ant-modal-wrap')?.checkVisibility()")
    assert not tab.run(GRADED)
    site.key("2")
    site.key("m")
    tab.write("seen")
    tab.press("Enter", 13)  # finishes the comment
    site.key("m")
    tab.wait("document.activeElement.name.startsWith('comment')")
    tab.write(" twice")
    site.submit()
    assert list(site.answers(project).values()) == [Answer(2, "", "seen twice")]


def test_lists_and_guidelines(site: Site, tmp_path: Path) -> None:
    """The list of tasks gives no unblurred picture; the instructions are readable."""
    kind, task = LAYOUTS[0]
    texts = fields(kind, task, site.picture(700, 500))
    project = site.project(kind, task, candidate(kind, task, texts, sensitive=True))
    site.tab.visit(f"{site.server.url}/projects/{project.id}/data")
    site.tab.wait("document.querySelector('.lsf-table')?.textContent.includes('cand:') ?? false")
    assert site.tab.run("document.querySelectorAll('.lsf-table img[src*=local-files]').length") == 0
    assert "mq-text" not in site.tab.run("document.querySelector('.lsf-table').textContent")
    site.begin(project)
    said = site.tab.run("document.querySelector('.mq-guide').innerText")
    assert said.startswith("Figure and passage") and "Privacy" in said
    assert site.tab.run("getComputedStyle(document.querySelector('.mq-guide ul')).listStyleType") == "disc"
    site.tab.photograph(tmp_path / "guidelines.png", whole=False)
    site.tab.size(*PHONE)
    site.tab.wait("document.querySelector('.mq-guide').getBoundingClientRect().right <= innerWidth", 10)


def test_adjudicator_sees_everything_too(site: Site, tmp_path: Path) -> None:
    kind, task = LAYOUTS[0]
    texts = fields(kind, task, site.picture(1000, 800), HOSTILE)
    one = candidate(kind, task, texts)
    made = layout(kind, TASKS.get(task))
    said = [f"grade {grade}: {HOSTILE}" for grade in (0, 2, 1)]
    tasks = [{"data": with_readers(task_data(one, site.image_url), said)}]
    project = site.filled(
        Project(0, kind, task, (one,)), for_adjudicator(made.config), made.guidelines, tasks
    )
    site.open(project)
    assert [found for size in ((WIDTH, HEIGHT), *SMALL, (1024, 768)) for found in site.offenders(*size)] == []
    site.tab.photograph(tmp_path / "adjudicator.png", whole=False)
    site.tab.size(*PHONE)
    site.tab.wait(f"!({OUTSIDE}).length", 5)
    assert said[0] in site.tab.run("document.querySelector('.mq-readers').textContent")
    assert site.tab.run("typeof window.hacked") == "undefined"
