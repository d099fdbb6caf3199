"""`medqrels sweep`: asks the sources what became of every crawled article, and acts on what they say.

PMC is asked by its inventory where it has one, else article by article; Europe PMC for the notices that
journals published. What nobody could answer is counted as unanswered and taken for nothing.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from flows.crawl.pmc_sync import NoInventory, repoll, sync
from flows.crawl.repositories.base import polite_client
from flows.engine.manifest import Manifest
from flows.engine.progress import Reporter
from flows.engine.register import add_to_register, read_register
from flows.engine.runner import shards_of
from flows.engine.session import Session, read_session, write_session
from flows.engine.workspace import Workspace
from flows.takedown.cascade import crawled
from flows.takedown.takedown import planned, settle
from schemas import licences
from schemas.errors import FetchError, InputError
from schemas.licences import Profile
from schemas.spec import DatasetSpec
from schemas.withdrawal import WithdrawalReason, Withdrawn
from schemas.wording import counted
from sources import pmc
from sources.europepmc.api import EuropePmcContext
from sources.europepmc.notices import BATCH, NoticeKind, notices_of
from sources.ledger import Ledger
from sources.pmc.poll import is_absent, metadata_now
from sources.stage import CRAWL
from sources.store import RawStore

Kind = Literal["retraction", "vanished", "licence_change", "concern", "correction", "changed"]
Act = Literal["remove", "flag", "refetch"]
REASON: Mapping[Kind, WithdrawalReason] = {
    "retraction": "retracted",
    "vanished": "vanished",
    "licence_change": "licence_changed",
    "concern": "concern",
}
_RANK: tuple[Kind, ...] = ("retraction", "vanished", "licence_change", "concern", "correction", "changed")


@dataclass(frozen=True, slots=True)
class Finding:
    """What a source says of one article, and what is done about it."""

    id: str
    locator: str
    kind: Kind
    act: Act
    origin: str
    detail: str


@dataclass
class Swept:
    """What a sweep found.

    Attributes:
        asked: articles that are in the crawl.
        findings: one for each article and kind, by article.
        unanswered: locators of which some source said nothing usable.
        silent: sources that said nothing of any article.
        withdrawn: ids that were put on the list.
        stale: crawl shards that the next crawl makes anew.
    """

    asked: int = 0
    findings: list[Finding] = field(default_factory=list)
    unanswered: list[str] = field(default_factory=list)
    silent: list[str] = field(default_factory=list)
    withdrawn: list[str] = field(default_factory=list)
    stale: list[str] = field(default_factory=list)

    def shown(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "asked": self.asked,
            "findings": [asdict(row) for row in self.findings],
            "unanswered": self.unanswered,
            "silent": self.silent,
            "withdrawn": self.withdrawn,
            "stale": self.stale,
        }


@dataclass(frozen=True, slots=True)
class Sweeper:
    """Asks the sources about the articles of one workspace.

    Attributes:
        workspace: held for writing, unless it is only looked at.
        bucket: how to reach PMC's; None when it is not asked.
        europepmc: how to reach Europe PMC; None when it is not asked.
        concern: what an expression of concern leads to.
        reporter: where progress goes.
        connections: articles asked about at the same time.
        as_of: last day of an inventory that is looked at (ISO), '' for any.
    """

    workspace: Workspace
    bucket: pmc.PmcContext | None
    europepmc: EuropePmcContext | None
    concern: Literal["remove", "flag"]
    reporter: Reporter
    connections: int = 16
    as_of: str = ""

    def sweep(self, *, dry_run: bool = False) -> Swept:
        """Ask, and unless it is a dry run put on the list what must go and mark what must be fetched anew.

        Raises:
            WorkspaceError: a record of the workspace is damaged.
        """
        held = list(crawled(self.workspace))
        found = Swept(asked=len(held))
        ids = {locator: id for _, id, locator in held}
        rows: list[Finding] = []
        if self.bucket is not None:
            mine = {locator: id for selection, id, locator in held if selection.source == pmc.SOURCE}
            rows += self._changed(self.bucket, mine, found, records=not dry_run)
        if self.europepmc is not None:
            rows += self._notices(self.europepmc, ids, found)
        found.findings = _one_each(rows)
        found.unanswered = sorted(set(found.unanswered))
        if not dry_run:
            found.withdrawn = self._withdraw(found.findings, {id: one.source for one, id, _ in held})
        return found

    def _withdraw(self, findings: Sequence[Finding], sources: Mapping[str, str]) -> list[str]:
        """Put on the list what must go, each article for the gravest thing said of it."""
        added = []
        named = {row.id for row in read_register(self.workspace)}
        for row in findings:
            if row.act == "remove" and row.id not in named:
                gone = Withdrawn(
                    id=row.id,
                    unit="article",
                    reason=REASON[row.kind],
                    notice=row.detail,
                    source=sources[row.id],
                    locator=row.locator,
                )
                if add_to_register(self.workspace, planned(self.workspace, gone).rows):
                    added.append(row.id)
                named.add(row.id)
        settle(self.workspace)
        return added

    def _changed(
        self, context: pmc.PmcContext, ids: Mapping[str, str], found: Swept, *, records: bool
    ) -> Iterator[Finding]:
        """What changed in the bucket, each change looked at; a key is gone only if every answer says so."""
        try:
            report = sync(self.workspace, context, records=records, until=self.as_of)
        except NoInventory:
            report = repoll(self.workspace, context, self.connections, records=records)
        except FetchError:
            found.unanswered += ids
            found.silent += ["PMC"] if ids else []
            return
        found.stale += report.stale
        found.unanswered += report.unreachable
        found.silent += ["PMC"] if ids and set(ids) <= set(report.unreachable) else []
        changed = [one for one in (*report.changed, *report.vanished) if one in ids]
        profiles = _profiles(self.workspace)
        with self.reporter.stage("sweep PMC", len(changed), "changed articles") as steps:
            for pmcid in changed:
                try:
                    yield from self._of_article(context, pmcid, ids[pmcid], profiles.get(pmcid, "open"))
                except (FetchError, InputError):
                    found.unanswered.append(pmcid)
                steps.advance(note=pmcid)

    def _of_article(
        self, context: pmc.PmcContext, pmcid: str, id: str, profile: Profile
    ) -> Iterator[Finding]:
        def told(kind: Kind, detail: str) -> Finding:
            return Finding(id, pmcid, kind, self._act(kind), "PMC", detail)

        version = int(id.rpartition(".")[2])
        if is_absent(pmcid, version, context):
            yield told("vanished", "no longer in PMC's open data")
            return
        now = metadata_now(pmcid, context)
        if now is None:
            raise FetchError("the bucket lists a version and has no metadata of it", record=pmcid)
        spdx = licences.from_code(now.license_code)
        if now.is_retracted:
            yield told("retraction", "PMC marks it as retracted")
        elif not now.is_open_access or (spdx is not None and not licences.is_allowed(spdx, profile)):
            yield told("licence_change", f"PMC states the licence {now.license_code or 'none'} now")
        else:
            yield told("changed", f"version {now.version} differs from what was fetched")

    def _notices(self, context: EuropePmcContext, ids: Mapping[str, str], found: Swept) -> Iterator[Finding]:
        keys = sorted(key for key in ids if key.startswith("PMC") or key.isdigit())
        is_silent = bool(keys)
        with self.reporter.stage("sweep Europe PMC", len(keys), "articles") as steps:
            for start in range(0, len(keys), BATCH):
                part = keys[start : start + BATCH]
                try:
                    answers = notices_of(part, context)
                except FetchError:
                    found.unanswered += part
                    answers = {}
                else:
                    is_silent = False
                for key, notices in sorted(answers.items()):
                    for one in notices:
                        act = self._act(one.kind)
                        yield Finding(ids[key], key, one.kind, act, "Europe PMC", one.detail)
                steps.advance(len(part))
        found.silent += ["Europe PMC"] if is_silent else []

    def _act(self, kind: Kind | NoticeKind) -> Act:
        """The policy."""
        if kind == "concern":
            return self.concern
        return "remove" if kind in REASON else "refetch"


def sweep(
    spec: DatasetSpec | None, *, dry_run: bool = False, workspace: str | None = None, as_of: str = ""
) -> dict[str, Any]:
    """Sweep a workspace with the addresses of the settings; what was found, as plain values.

    Args:
        spec: says what an expression of concern leads to; without one it is flagged.
        dry_run: ask, and change nothing.
        workspace: folder of the workspace.
        as_of: last day of an inventory that is looked at (ISO), '' for any.

    Raises:
        UsageError: no contact address for a real server.
    """
    with _session(workspace, dry_run) as session:
        settings = session.settings
        with Ledger(session.workspace.ledger) as ledger:
            store = RawStore(session.workspace.raw, ledger)
            own, other = settings.pmc, settings.europepmc
            bucket = pmc.PmcContext(
                client=polite_client(
                    settings,
                    [own.endpoint],
                    per_second=own.requests_per_second,
                    connections=own.connections,
                ),
                store=store,
                endpoint=own.endpoint,
            )
            europepmc = EuropePmcContext(
                client=polite_client(settings, [other.endpoint], per_second=other.requests_per_second),
                store=store,
                endpoint=other.endpoint,
            )
            concern = spec.withdrawals.concern if spec else "flag"
            work = Sweeper(
                session.workspace, bucket, europepmc, concern, session.reporter, own.connections, as_of
            )
            return work.sweep(dry_run=dry_run).shown()


@contextlib.contextmanager
def _session(workspace: str | None, dry_run: bool) -> Iterator[Session]:
    """A session that holds the workspace unless it only reads."""
    if dry_run:
        yield read_session(workspace)
    else:
        with write_session(workspace, flow="sweep") as session:
            yield session


def _one_each(rows: Sequence[Finding]) -> list[Finding]:
    """The first finding of each article and kind, the gravest kind of an article first."""
    first: dict[tuple[str, int], Finding] = {}
    for row in rows:
        first.setdefault((row.id, _RANK.index(row.kind)), row)
    return [first[key] for key in sorted(first)]


def _profiles(workspace: Workspace) -> dict[str, Profile]:
    """The licence profile each article was crawled with, by locator."""
    finished: Mapping[str, Manifest] = shards_of(workspace, CRAWL)
    found: dict[str, Profile] = {}
    for selection, _, locator in crawled(workspace):
        found[locator] = finished[selection.shard].params.get("profile", "open")
    return found


def check_answered(done: Mapping[str, Any]) -> None:
    """Refuse to call a sweep done of which a source said nothing; what others said is acted on already.

    Raises:
        FetchError: a source said nothing of any article.
    """
    if done["silent"]:
        raise FetchError(
            f"{' and '.join(done['silent'])} answered for none of {counted(done['asked'], 'article')}",
            hint="medqrels doctor --servers says whether it can be reached; then sweep again",
        )


def describe(done: Mapping[str, Any], *, is_plan: bool) -> str:
    """The same for people."""
    lines = [f"{counted(done['asked'], 'article')} asked about"]
    lines += [
        f"  {row['act']} {row['id']}: {row['kind']} ({row['origin']}: {row['detail']})"
        for row in done["findings"]
    ]
    if done["unanswered"]:
        silent = counted(len(done["unanswered"]), "article")
        lines.append(f"  {silent} without an answer, kept as they are: sweep again later")
    if is_plan:
        return "\n".join([*lines, "nothing was changed"])
    stale = counted(len(done["stale"]), "shard")
    lines.append(f"  {len(done['withdrawn'])} withdrawn, {stale} to crawl again")
    if done["withdrawn"] or done["stale"]:
        lines.append("next: medqrels run --spec …, then review push and publish as before")
    return "\n".join(lines)
