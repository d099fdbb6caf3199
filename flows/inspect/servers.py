"""Servers and credentials that the work may need: where they are, whether they answer or are set."""

from __future__ import annotations

import contextlib
import email.utils
import os
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from flows import specs
from flows.cluster.hired import count_workers, reach_store, told_workers
from flows.engine.settings import Settings
from schemas.errors import MedqrelsError
from schemas.wording import without_password

Check = tuple[str, bool | None, str, str]
"""(what was checked, is it well or None for neither, what was seen, how to mend it)."""
TIMEOUT_SECONDS = 5.0
ASKS = "medqrels doctor --servers asks"
_HUB = "https://huggingface.co"


def credentials(settings: Settings) -> Iterator[Check]:
    """Whether each credential is set; never what it is."""
    home = Path(os.environ.get("HF_HOME") or Path.home() / ".cache" / "huggingface")
    stored = Path(os.environ.get("HF_TOKEN_PATH") or home / "token")
    hub = bool(os.environ.get("HF_TOKEN")) or stored.is_file()
    yield _credential("token of the Hub", hub, "publish", "hf auth login, or set HF_TOKEN")
    key = bool(os.environ.get("LABEL_STUDIO_API_KEY"))
    needed = "a team's review server (the workspace's own needs none)"
    yield _credential("token of Label Studio", key, needed, "set LABEL_STUDIO_API_KEY")
    key = bool(os.environ.get("OPENAI_API_KEY"))
    yield _credential("key of a model server", key, "answer and review judge", "set OPENAI_API_KEY")
    names = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
    stored = Path(os.environ.get("AWS_SHARED_CREDENTIALS_FILE") or Path.home() / ".aws" / "credentials")
    key = all(os.environ.get(name) for name in names) or stored.is_file()
    needed = "releases or a store in a bucket (not where the machine itself has leave)"
    yield _credential("credentials of S3", key, needed, f"set AWS_PROFILE, or {' and '.join(names)}")
    key = bool(settings.eutils.api_key.get_secret_value())
    yield _credential("key of NCBI", key, "more than 3 requests a second", "set MEDQRELS_EUTILS__API_KEY")


def _credential(name: str, is_set: bool, needed: str, fix: str) -> Check:
    return name, True if is_set else None, "set" if is_set else f"not set; needed for {needed}", fix


def server_addresses(settings: Settings) -> list[tuple[str, str, str]]:
    """(server, address or '' for none, how to mend it) of all that the work may talk to."""
    prefect = os.environ.get("PREFECT_API_URL", "")
    found = [
        (
            "prefect server",
            f"{prefect.rstrip('/')}/health" if prefect else "",
            "flows start a private one; medqrels serve, or PREFECT_API_URL=… and prefect server start",
        ),
        ("label studio", os.environ.get("LABEL_STUDIO_URL", ""), "medqrels review start"),
        ("model server", os.environ.get("OPENAI_BASE_URL", ""), "set OPENAI_BASE_URL"),
        ("hub", os.environ.get("HF_ENDPOINT") or _HUB, "check the network, and HF_ENDPOINT"),
        ("pmc", settings.pmc.endpoint, "check the network, and MEDQRELS_PMC__ENDPOINT"),
        ("e-utilities", settings.eutils.endpoint, "check the network, and MEDQRELS_EUTILS__ENDPOINT"),
        ("europe pmc", settings.europepmc.endpoint, "check the network, and MEDQRELS_EUROPEPMC__ENDPOINT"),
    ]
    known = {address for _, address, _ in found}
    found += [row for row in _of_specs(settings) if row[1] not in known]
    return [(name, without_password(address), fix) for name, address, fix in found]


def _of_specs(settings: Settings) -> list[tuple[str, str, str]]:
    """The same of every repository that a spec in data_cards/ crawls."""
    found: dict[str, tuple[str, str, str]] = {}
    for path in spec_paths():
        with contextlib.suppress(MedqrelsError):  # the check of specs tells of it
            for request in specs.read_dataset(path).requests():
                for address in request.endpoints(settings):
                    name = f"{request.source} at {urlsplit(address).hostname}"
                    fix = f"check the network, and the endpoints in MEDQRELS_{request.source.upper()}__…"
                    found.setdefault(address, (name, address, fix))
    return list(found.values())


def spec_paths() -> list[Path]:
    """The specs in data_cards/."""
    return sorted(specs.DATA_CARDS.glob("*/spec.toml"))


def cluster(settings: Settings, ask: bool) -> Iterator[Check]:
    """The scheduler and the store of work on several machines."""
    start = "dask scheduler, dask worker, and MEDQRELS_DASK with MEDQRELS_STORE (docs/scale.md)"
    for name, address, reach in (
        ("dask scheduler", settings.dask, _workers),
        ("store", settings.store, _store),
    ):
        if not address:
            is_half = bool(settings.dask or settings.store)
            detail = "none set, and the other is" if is_half else "none set: this machine makes the shards"
            yield name, False if is_half else None, detail, start
        elif not ask:
            yield name, None, f"{without_password(address)}, not asked", ASKS
        else:
            try:
                yield name, *reach(settings)
            except MedqrelsError as error:
                yield name, False, f"{without_password(address)}: {error.message}", error.hint or start


def _workers(settings: Settings) -> tuple[bool | None, str, str]:
    """A scheduler that answers: work waits while it has no worker."""
    found = count_workers(settings)
    fix = f"dask worker {without_password(settings.dask)} --nthreads 1 --nworkers N, on each machine"
    return found > 0 or None, told_workers(settings, found), fix


def _store(settings: Settings) -> tuple[bool | None, str, str]:
    return True, reach_store(settings), ""


def reached(address: str) -> tuple[bool, str, float | None]:
    """Ask a server for its address; any answer counts.

    Returns:
        Whether it answered; what, or why not; by how many seconds this clock is ahead of its own, if it told.
    """
    if urlsplit(address).scheme not in ("http", "https"):
        return False, "no http address", None
    try:
        with urllib.request.urlopen(address, timeout=TIMEOUT_SECONDS) as answer:
            return True, f"answers {answer.status}", _ahead(answer.headers.get("Date"))
    except urllib.error.HTTPError as error:
        is_up = error.code < 500
        return is_up, f"answers {error.code}", _ahead(error.headers.get("Date"))
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        return False, f"no answer ({reason})", None


def _ahead(date: str | None) -> float | None:
    try:
        return time.time() - email.utils.parsedate_to_datetime(date or "").timestamp()
    except (TypeError, ValueError):
        return None


def clock_of(differences: Sequence[float], most: float) -> Check:
    """How far this clock is from those of the servers: the least far of them counts."""
    least = min(differences, key=abs)
    told = f"{abs(least):.0f} s {'ahead of' if least > 0 else 'behind'} a server's"
    return "clock against servers", abs(least) <= most, told, "set the clock (timedatectl)"
