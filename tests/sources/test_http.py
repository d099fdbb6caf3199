"""The polite client against a real loopback server that misbehaves in every way we could think of."""

from __future__ import annotations

import contextlib
import datetime
import email.utils
import hashlib
import random
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from flows.engine.hosts import PmcSettings
from schemas.errors import FetchError, InputError, UsageError
from sources.http import PoliteClient, safe_url
from sources.http.deadline import _Watchdog
from sources.http.rate_limit import RateLimit
from sources.sample.loopback import LoopbackServer, Reply, Request
from sources.sample.server import Fault
from tests.sources.fakes.files import FileServer

Client = Callable[..., PoliteClient]
KEY = "PMC1.1/PMC1.1.xml"


class Clock:
    """A clock that moves only by sleeping."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def failing(fault: Fault, times: int) -> Callable[[str, str, int], Fault | None]:
    return lambda method, key, n: fault if n <= times else None


@pytest.mark.parametrize(
    "fault",
    [
        Fault("status", status=503),
        Fault("status", status=500),
        Fault("status", status=502),
        Fault("status", status=504),
        Fault("status", status=429, retry_after="0"),
        Fault("reset"),
        Fault("truncate"),
    ],
    ids=lambda fault: f"{fault.kind}-{fault.status}",
)
def test_passing_faults_are_retried(bucket: Any, make_site: Any, fault: Fault) -> None:
    bucket.add()
    site = make_site(faults=failing(fault, 3))
    answer = site.context.client.get(site.server.endpoint + KEY, max_bytes=10_000)
    assert answer.body == (bucket.root / KEY).read_bytes()
    assert len([item for item in site.server.served if item.key == KEY]) == 4


@pytest.mark.parametrize("kind", ["status", "reset", "truncate"])
def test_lasting_faults_end_in_an_error(bucket: Any, make_site: Any, kind: Any) -> None:
    bucket.add()
    site = make_site(faults=failing(Fault(kind), 99))
    with pytest.raises(FetchError, match="after 4 attempts"):
        site.context.client.get(site.server.endpoint + KEY, max_bytes=10_000)


@pytest.mark.parametrize("kind", ["drip", "drip_headers"])
def test_a_dripping_server_cannot_hang_it(bucket: Any, make_site: Any, kind: Any) -> None:
    bucket.add()
    limits = {"deadline_seconds": 0.4, "max_attempts": 2}
    site = make_site(client=limits, faults=failing(Fault(kind, seconds=0.02), 99))
    started = time.monotonic()
    with pytest.raises(FetchError, match="deadline"):
        site.context.client.get(site.server.endpoint + KEY, max_bytes=10_000)
    assert 0.7 < time.monotonic() - started < 4


@pytest.mark.parametrize("status", [403, 404, 410])
def test_absent_is_none_at_once(bucket: Any, make_site: Any, status: int) -> None:
    bucket.add()
    site = make_site(faults=failing(Fault("status", status=status), 99))
    assert site.context.client.get(site.server.endpoint + KEY, max_bytes=10_000) is None
    assert len(site.server.served) == 1


def test_missing_key_is_none_with_and_without_list_right(bucket: Any, make_site: Any) -> None:
    bucket.add()
    for allow_list, status in ((True, 404), (False, 403)):
        site = make_site(allow_list=allow_list, workspace=f"w{status}")
        assert site.context.client.get(site.server.endpoint + "PMC9.1/x.xml", max_bytes=10) is None
        assert site.server.served[-1].status == status


def test_size_cap_with_and_without_announced_length(bucket: Any, make_site: Any, make_client: Client) -> None:
    bucket.add(media={"big.bin": bytes(200_000)})
    site = make_site()
    with pytest.raises(InputError) as caught:
        site.context.client.get(site.server.endpoint + "PMC1.1/big.bin", max_bytes=199_999)
    assert caught.value.reason == "too_large"
    assert len(site.server.served) == 1
    answer = site.context.client.get(site.server.endpoint + "PMC1.1/big.bin", max_bytes=200_000)
    assert len(answer.body) == 200_000


def test_etag_that_holds_sends_nothing(bucket: Any, make_site: Any) -> None:
    bucket.add()
    site = make_site()
    first = site.context.client.get(site.server.endpoint + KEY, max_bytes=10_000)
    again = site.context.client.get(site.server.endpoint + KEY, max_bytes=10_000, etag=first.headers["etag"])
    assert (again.status, again.body) == (304, b"")


def test_redirects_stay_on_allowed_hosts(bucket: Any, make_site: Any) -> None:
    bucket.add()
    target = {"location": "http://localhost:1/secret"}
    site = make_site(
        faults=lambda m, key, n: Fault("redirect", location=target["location"]) if key == "moved" else None
    )
    with pytest.raises(FetchError, match="not an allowed host"):
        site.context.client.get(site.server.endpoint + "moved", max_bytes=10_000)
    target["location"] = KEY
    assert site.context.client.get(site.server.endpoint + "moved", max_bytes=10_000).status == 200
    target["location"] = "moved"
    with pytest.raises(FetchError, match="redirects"):
        site.context.client.get(site.server.endpoint + "moved", max_bytes=10_000)


@pytest.mark.parametrize(
    "location",
    [
        "http://169.254.169.254/latest/meta-data/",
        "//169.254.169.254/latest/meta-data/",
        "http://[::ffff:169.254.169.254]/",
        "http://0251.0376.0251.0376/",
        "http://2852039166/",
        "http://127.0.0.1@169.254.169.254/",
        "http://127.0.0.1.example.org/",
        "http://10.0.0.1:8080/",
        "http://0.0.0.0/",
    ],
)
def test_a_redirect_into_the_inner_network_is_refused_before_anybody_is_asked(
    make_client: Client, location: str
) -> None:
    class Leading(LoopbackServer):
        def answer(self, request: Request) -> Reply:
            asked.append(request.path)
            return Reply(302, headers={"location": location})

    asked: list[str] = []
    with Leading() as server, pytest.raises(FetchError, match="not an allowed host") as caught:
        make_client().get(f"{server.root}/article", max_bytes=10_000)
    assert asked == ["/article"] and "allowed" in str(caught.value) and caught.value.hint


def test_a_name_that_leads_elsewhere_is_refused_by_its_certificate(
    make_client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name server answers with an address inside the network, where somebody speaks TLS."""
    asked: list[bytes] = []
    with tls_server(tmp_path, "elsewhere.example.org", asked) as port:
        lookup = socket.getaddrinfo
        monkeypatch.setattr(
            socket, "getaddrinfo", lambda host, *given, **named: lookup("127.0.0.1", *given, **named)
        )
        client = make_client(allowed_hosts=("articles.example.org",), max_attempts=1)
        with pytest.raises(FetchError, match="SSLError"):
            client.get(f"https://articles.example.org:{port}/article", max_bytes=10_000)
    assert not asked


@contextlib.contextmanager
def tls_server(folder: Path, name: str, asked: list[bytes]) -> Iterator[int]:
    """A server on loopback with a certificate of its own making; keeps what is sent once TLS stands."""
    key = ec.generate_private_key(ec.SECP256R1())
    named = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now, day = datetime.datetime.now(datetime.UTC), datetime.timedelta(days=1)
    certificate = (
        x509.CertificateBuilder(named, named, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - day)
        .not_valid_after(now + day)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (folder / "both.pem").write_bytes(private + certificate.public_bytes(Encoding.PEM))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "both.pem")
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    plain, _ = listener.accept()
                    with contextlib.suppress(OSError), context.wrap_socket(plain, server_side=True) as talk:
                        asked.append(talk.recv(100))

        threading.Thread(target=serve, daemon=True).start()
        yield listener.getsockname()[1]


def test_another_machine_is_never_asked_over_plain_http(make_client: Client) -> None:
    with pytest.raises(FetchError, match="plain http"):
        make_client(allowed_hosts=("articles.example.org",)).get("http://articles.example.org/x", max_bytes=1)
    for bad in ("http://articles.example.org/", "ftp://127.0.0.1/", "https:///x", "articles.example.org"):
        with pytest.raises(ValueError, match="http:// is for servers on this machine"):
            PmcSettings(endpoint=bad)
    for good in ("https://articles.example.org/", "http://127.0.0.1:9000/", "http://localhost/"):
        assert PmcSettings(endpoint=good).endpoint == good


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/x",
        "ftp://127.0.0.1/x",
        "file:///etc/passwd",
        "http://u:pw@127.0.0.1/x",
        "http://[::/x",
        "",
    ],
)
def test_other_addresses_are_refused(make_client: Client, url: str) -> None:
    with pytest.raises(FetchError) as caught:
        make_client().get(url, max_bytes=1)
    assert "pw" not in str(caught.value)


@pytest.mark.parametrize(
    ("header", "wait"),
    [("7", 7.0), ("9999", 60.0), (email.utils.formatdate(1_000_012, usegmt=True), 12.0), ("soon", None)],
)
def test_retry_after(bucket: Any, make_site: Any, header: str, wait: float | None) -> None:
    bucket.add()
    clock = Clock()
    tools = {"sleep": clock.sleep, "clock": clock, "wall_clock": lambda: 1_000_000.0, "rng": random.Random(1)}
    site = make_site(
        client={**tools, "retry_after_cap_seconds": 60.0, "backoff_seconds": 0.5},
        faults=failing(Fault("status", status=429, retry_after=header), 1),
    )
    site.context.client.get(site.server.endpoint + KEY, max_bytes=10_000)
    assert len(clock.slept) == 1
    assert clock.slept[0] == pytest.approx(wait) if wait is not None else 0.25 <= clock.slept[0] <= 0.5


def test_backoff_doubles_with_jitter_up_to_the_cap(bucket: Any, make_site: Any) -> None:
    bucket.add()
    clock = Clock()
    tools = {"sleep": clock.sleep, "clock": clock, "rng": random.Random(3)}
    site = make_site(
        client={**tools, "backoff_seconds": 1.0, "backoff_cap_seconds": 6.0, "max_attempts": 6},
        faults=failing(Fault("status"), 5),
    )
    site.context.client.get(site.server.endpoint + KEY, max_bytes=10_000)
    for slept, full in zip(clock.slept, (1, 2, 4, 6, 6), strict=True):
        assert full / 2 <= slept <= full
    assert (
        len({round(slept / full, 6) for slept, full in zip(clock.slept, (1, 2, 4, 6, 6), strict=True)}) == 5
    )


def test_rate_limit_holds_over_threads() -> None:
    clock = Clock()
    waits: list[float] = []
    limit = RateLimit(10.0, 5, lambda: clock.now, waits.append)
    threads = [threading.Thread(target=limit.take) for _ in range(25)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # 5 go out at once, the other 20 at one each tenth of a second.
    assert sorted(waits) == pytest.approx([number / 10 for number in range(1, 21)])


@pytest.fixture
def sent(monkeypatch: Any) -> list[dict[str, str]]:
    """Headers of every request that is sent from now on."""
    seen: list[dict[str, str]] = []
    send = requests.adapters.HTTPAdapter.send

    def spy(self: Any, request: Any, **options: Any) -> Any:
        seen.append(dict(request.headers))
        return send(self, request, **options)

    monkeypatch.setattr(requests.adapters.HTTPAdapter, "send", spy)
    return seen


def test_user_agent_names_project_and_contact(make_client: Client, sent: list[dict[str, str]]) -> None:
    with pytest.raises(FetchError):
        make_client(max_attempts=1, version="1.2").get("http://127.0.0.1:1/x", max_bytes=1)
    assert sent[0]["User-Agent"] == "medqrels/1.2 (mailto:test@example.org)"
    assert "Authorization" not in sent[0]
    with pytest.raises(UsageError):
        make_client(contact="nobody")


def test_messages_show_no_secrets(make_client: Client) -> None:
    url = "http://127.0.0.1:1/x?prefix=PMC1.&X-Amz-Signature=topsecret&token=hidden"
    with pytest.raises(FetchError) as caught:
        make_client(max_attempts=1).get(url, max_bytes=1)
    assert "topsecret" not in str(caught.value) and "hidden" not in str(caught.value)
    assert safe_url("https://user:pw@h.org:8/p?api_key=k") == "https://h.org:8/p?api_key=…"


def test_hosts_have_rates_of_their_own(bucket: Any, make_site: Any) -> None:
    bucket.add()
    clock = Clock()
    tools = {"sleep": clock.sleep, "clock": clock, "allowed_hosts": ("127.0.0.1", "localhost")}
    site = make_site(client={**tools, "rates": {"localhost": 4.0}})
    other = site.server.endpoint.replace("127.0.0.1", "localhost")
    for _ in range(5):
        assert site.context.client.get(site.server.endpoint + KEY, max_bytes=10_000).status == 200
    assert clock.slept == []
    for _ in range(5):
        assert site.context.client.get(other + KEY, max_bytes=10_000).status == 200
    # Spaced evenly from the first, without a burst.
    assert clock.slept == pytest.approx([0.25] * 4)


def test_proxies_of_the_environment_are_used_but_not_for_loopback(
    bucket: Any, make_site: Any, make_client: Client, monkeypatch: Any
) -> None:
    bucket.add()
    site = make_site()
    host = site.server.endpoint.split("/")[2]
    monkeypatch.setenv("https_proxy", f"http://{host}")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    client = make_client(allowed_hosts=("repository.invalid", "127.0.0.1"), max_attempts=1)
    with pytest.raises(FetchError, match="ProxyError"):  # the bucket is none: it knows no CONNECT
        client.get("https://repository.invalid/x", max_bytes=10)
    direct = client.get(site.server.endpoint + KEY, max_bytes=10_000)
    assert direct is not None and direct.status == 200


def test_credentials_of_the_environment_are_not_sent(
    bucket: Any, make_site: Any, monkeypatch: Any, tmp_path: Any, sent: list[dict[str, str]]
) -> None:
    bucket.add()
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password secret\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    site = make_site()
    assert site.context.client.get(site.server.endpoint + KEY, max_bytes=10_000).status == 200
    assert len(sent) == 1 and not {"Authorization", "Cookie"} & set(sent[0])


def test_connections_are_used_again(bucket: Any, make_site: Any, monkeypatch: Any) -> None:
    bucket.add()
    opened: list[Any] = []
    connect = socket.socket.connect

    def spy(self: Any, address: Any) -> None:
        opened.append(address)
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", spy)
    site = make_site(faults=failing(Fault("status", status=429, retry_after="0"), 1))
    client, url = site.context.client, site.server.endpoint + KEY
    etag = f'"{hashlib.md5((bucket.root / KEY).read_bytes()).hexdigest()}"'
    for _ in range(3):
        assert client.get(url, max_bytes=10_000).status == 200
        assert client.get(url, max_bytes=10_000, etag=etag).status == 304
        assert client.get(url + "x", max_bytes=10_000) is None
    assert len(opened) == 1


def test_an_endless_error_page_does_not_hold_it(make_client: Client) -> None:
    with FileServer(bytes(40_000_000), status=404) as site:
        site.body = site.content
        started = time.monotonic()
        assert make_client().get(site.url, max_bytes=10) is None
        assert time.monotonic() - started < 5


def test_of_a_redirect_only_little_is_read(make_client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: requests.Response) -> bytes:
        raise AssertionError("read whole")

    monkeypatch.setattr(requests.Response, "content", property(refuse))
    with FileServer(bytes(40_000_000), status=302) as site:
        site.body, site.headers = site.content, {"Location": site.url}
        with pytest.raises(FetchError, match="redirects"):
            make_client().get(site.url, max_bytes=10)


def test_cookies_are_not_kept(make_client: Client, sent: list[dict[str, str]]) -> None:
    with FileServer(b"page", headers={"Set-Cookie": "session=1; Path=/"}) as site:
        client = make_client()
        for _ in range(2):
            assert client.get(site.url, max_bytes=10) is not None
    assert len(sent) == 2 and not any("Cookie" in headers for headers in sent)


def test_each_wait_ends_at_its_own_deadline() -> None:
    watchdog = _Watchdog()
    ends: dict[float, float] = {}

    def wait(seconds: float) -> None:
        near, far = socket.socketpair()
        started = time.monotonic()
        with near, far, watchdog.over(near, seconds):
            assert near.recv(1) == b""
        ends[seconds] = time.monotonic() - started

    allowed = [0.9, 0.3, 0.6, 0.1]
    threads = [threading.Thread(target=wait, args=(seconds,)) for seconds in allowed]
    for thread in threads:
        thread.start()
    near, far = socket.socketpair()
    with near, far:
        with watchdog.over(near, 0.2):
            pass
        for thread in threads:
            thread.join(5)
        far.sendall(b"x")  # a wait that ended in time leaves its socket alone
        assert near.recv(1) == b"x"
    assert sorted(ends) == sorted(allowed)
    assert all(seconds <= taken < seconds + 2 for seconds, taken in ends.items())
