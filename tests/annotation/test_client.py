"""The client against a server that is busy, broken, lying or not the right one; errors hold no secrets."""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from annotation.client import Client, Patience, UnconfirmedError, check_address
from schemas.errors import FetchError, MedqrelsError, UsageError
from sources.sample.loopback import LoopbackServer, Request
from sources.sample.loopback import Reply as Sent

TOKEN = "0123456789abcdef0123456789abcdef01234567"
QUICK = Patience(attempts=4, first_wait=0.001, longest_wait=0.01, read_timeout=2.0)
Reply = tuple[int, Any, dict[str, str]]
ME: Reply = (200, {"id": 1, "email": "a@example.org"}, {})


def web_token(kind: str, number: int = 0) -> str:
    told = {"token_type": kind, "exp": 4_000_000_000 + number}
    claims = base64.urlsafe_b64encode(json.dumps(told).encode()).decode().rstrip("=")
    return f"eyJhbGciOiJIUzI1NiJ9.{claims}.c2lnbmF0dXJlLW9mLXRoaXMtdG9rZW4"


class Fake(LoopbackServer):
    """A server that gives the replies it is told, then the last one for ever."""

    def __init__(self) -> None:
        self.replies: list[Reply] = []
        self.seen: list[tuple[str, str, str]] = []
        self.decide: Callable[[str, str, str], Reply] | None = None

    def answer(self, request: Request) -> Sent:
        asked = (request.method, request.target, request.headers.get("Authorization", ""))
        self.seen.append(asked)
        if self.decide is not None:
            code, body, headers = self.decide(*asked)
        else:
            code, body, headers = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        return Sent(code, body if isinstance(body, bytes) else json.dumps(body).encode(), headers)


@pytest.fixture
def fake() -> Iterator[tuple[Fake, str]]:
    with Fake() as state:
        yield state, state.root


HTML: Reply = (200, b"<html>Please log in</html>", {})


@pytest.mark.parametrize(
    "trouble",
    [
        (503, b"busy", {}),
        (429, {"detail": "slow down"}, {"Retry-After": "0"}),
        (502, b"<html>Bad gateway</html>", {}),
        HTML,
        (200, {"unexpected": 1}, {}),
        (0, b"", {}),
    ],
)
def test_trouble_that_passes_is_waited_out(fake: tuple[Fake, str], trouble: Reply) -> None:
    state, url = fake
    state.replies = [trouble, trouble, ME]
    assert Client(url, TOKEN, patience=QUICK).account() == (1, "a@example.org")
    assert len(state.seen) == 3 and {auth for *_, auth in state.seen} == {f"Token {TOKEN}"}


def test_trouble_that_stays_ends_after_bounded_tries(fake: tuple[Fake, str]) -> None:
    state, url = fake
    state.replies = [HTML]
    with pytest.raises(FetchError, match="something else than Label Studio"):
        Client(url, TOKEN, patience=QUICK).account()
    assert len(state.seen) == QUICK.attempts


class Drip(LoopbackServer):
    """A server that sends a byte at a time, in less than any wait for one."""

    def __init__(self) -> None:
        self.asked = 0

    def answer(self, request: Request) -> Sent:
        self.asked += 1
        return Sent(200, b" " * 600, {"Content-Type": "application/json"}, drip=0.05)


def test_a_dripping_or_endless_reply_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annotation.client.bounded.SLOWEST", 1000)
    with Drip() as state:
        client = Client(state.root, TOKEN, patience=Patience(attempts=2, first_wait=0.0, read_timeout=0.2))
        with pytest.raises(FetchError, match="ReadTimeout"):
            client.account()
        assert state.asked == 2
        monkeypatch.setattr("annotation.client.bounded.MOST_BYTES", 2)
        with pytest.raises(FetchError, match="ReadError"):
            client.account()


def test_an_import_without_a_usable_reply_is_not_sent_again(fake: tuple[Fake, str]) -> None:
    state, url = fake
    troubles: list[Reply] = [(0, b"", {}), (504, b"", {}), HTML, (201, {"task_ids": [1]}, {})]
    for trouble in troubles:
        state.replies, state.seen[:] = [trouble], []
        with pytest.raises(UnconfirmedError):
            Client(url, TOKEN, patience=QUICK).import_tasks(1, [{"data": {}}, {"data": {}}])
        assert len(state.seen) == 1
    state.replies = [(429, {}, {}), (503, {}, {}), (201, {"task_ids": [4, 5]}, {})]  # these say: not done
    assert Client(url, TOKEN, patience=QUICK).import_tasks(1, [{"data": {}}, {"data": {}}]) == [4, 5]


def test_refusals_hold_no_secret(fake: tuple[Fake, str]) -> None:
    state, url = fake
    cookie = {"Set-Cookie": "sessionid=verysecret", "Location": f"{url}/login?token={TOKEN}"}
    for code in (400, 401, 403, 404, 302, 500):
        state.replies = [(code, {"detail": f"no {TOKEN}", "exc_info": "trace"}, cookie)]
        with pytest.raises(MedqrelsError) as caught:
            Client(url, TOKEN, patience=QUICK).account()
        said = json.dumps(caught.value.attrs()) + repr(caught.value) + str(caught.value.__cause__)
        assert TOKEN not in said and "verysecret" not in said and "trace" not in said
        assert caught.value.exit_code == (3 if code == 500 else 2)


def test_personal_access_token_is_exchanged_and_renewed(fake: tuple[Fake, str]) -> None:
    state, url = fake
    refresh, valid = web_token("refresh"), [web_token("access")]

    def decide(method: str, path: str, auth: str) -> Reply:
        if path == "/api/token/refresh/":
            assert auth == ""
            return 200, {"access": valid[0]}, {}
        return ME if auth == f"Bearer {valid[0]}" else (401, {"detail": "expired"}, {})

    state.decide = decide
    client = Client(url, refresh, patience=QUICK)
    assert client.account()[0] == client.account()[0] == 1
    valid[0] = web_token("access", 1)
    assert client.account()[0] == 1
    assert [path for _, path, _ in state.seen].count("/api/token/refresh/") == 2
    state.decide = lambda *_: (401, {"detail": refresh}, {})
    with pytest.raises(UsageError, match="refuses the token") as caught:
        Client(url, refresh, patience=QUICK).account()
    assert refresh not in str(caught.value)


def test_without_the_sdk_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "label_studio_sdk", None)
    with pytest.raises(UsageError, match="label-studio-sdk") as caught:
        Client("http://127.0.0.1:1", TOKEN)
    assert "EXTRAS=review" in str(caught.value.hint)


@pytest.mark.parametrize(
    ("name", "value"), [("ALL_PROXY", "nonsense://p:1"), ("REQUESTS_CA_BUNDLE", "/no/such/file")]
)
def test_an_environment_that_cannot_be_used_is_told(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(UsageError, match="the environment names") as caught:
        Client("https://label.example.org", TOKEN)
    assert name in str(caught.value.hint)


def test_an_address_that_leads_nowhere_is_told() -> None:
    for url in ("http://127.0.0.1:1", "http://127.0.0.1:99999"):
        with pytest.raises(FetchError, match="cannot be reached"):
            Client(url, TOKEN, patience=QUICK).account()


def test_a_server_of_this_machine_that_is_down_is_told_in_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr("time.sleep", waits.append)
    with pytest.raises(FetchError, match="cannot be reached") as caught:
        Client("http://localhost:1", TOKEN).account()
    assert sum(waits) < 5 and "medqrels review start" in str(caught.value.hint)
    waits.clear()
    with pytest.raises(FetchError) as caught:  # by its address another machine, which may be starting again
        Client("http://127.0.0.2:1", TOKEN, allow_plain_http=True).account()
    assert sum(waits) > 60 and "review start" not in str(caught.value.hint)


def test_the_sdk_itself_tries_once(fake: tuple[Fake, str]) -> None:
    state, url = fake
    state.replies = [(500, {}, {})]
    with pytest.raises(UnconfirmedError, match="answers 500"):
        Client(url, TOKEN, patience=QUICK).import_tasks(1, [{"data": {}}])
    assert len(state.seen) == 1


@pytest.mark.parametrize(
    "url",
    ["http://label.example.org", "ftp://x", "label.example.org", "https://u:p@x.org", "https://x.org/?t=1"],
)
def test_a_token_goes_nowhere_it_should_not(url: str) -> None:
    with pytest.raises(UsageError) as caught:
        Client(url, TOKEN)
    assert TOKEN not in str(caught.value) and ":p@" not in str(caught.value)
    check_address("http://label.example.org", True)
    with pytest.raises(UsageError, match="no token"):
        Client("https://label.example.org", " ")


def test_proxies_and_netrc_do_not_come_between(
    fake: tuple[Fake, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    state, url = fake
    state.replies = [ME]
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login x password y\n")
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    assert Client(url, TOKEN, patience=QUICK).account()[0] == 1
    assert state.seen[0][2] == f"Token {TOKEN}"


def test_listings_get_smaller_the_larger_tasks_are(
    fake: tuple[Fake, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    state, url = fake
    monkeypatch.setattr("annotation.client.server.PAGE_CHARACTERS", 1000)
    asked: list[int] = []

    def decide(method: str, path: str, auth: str) -> Reply:
        query = parse_qs(urlsplit(path).query)
        filters = json.loads(query["query"][0])["filters"]["items"]
        if query["include"] == ["id"]:  # which tasks have drafts
            return 200, {"tasks": []}, {}
        asked.append(int(query["page_size"][0]))
        last = max(item["value"] for item in filters)
        size = 10 if last < 100 else 1  # characters, ten times as many from the 101st task on
        rows = [
            {"id": number, "data": {"text": "x" * (100 // size)}, "meta": {}}
            for number in range(last + 1, min(230, last + asked[-1]) + 1)
        ]
        return 200, {"tasks": rows}, {}

    state.decide = decide
    found = [task.id for task in Client(url, TOKEN, patience=QUICK).tasks(7)]
    assert found == list(range(1, 231))
    assert asked == [100, 100, 10, 10, 10, 10]
