"""Results of the review commands as text for people."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from annotation.candidates import ENDINGS
from annotation.sync.answers import QUARANTINE
from annotation.sync.diff import CONFLICTS
from schemas.wording import counted

_WORDS = {
    "create": "sent",
    "refresh": "brought up to date",
    "supersede": "superseded",
    "withdraw": "withdrawn",
    "duplicates": "duplicates removed",
}
_PLANNED = {
    "create": "to send",
    "refresh": "to bring up to date",
    "supersede": "to supersede",
    "withdraw": "to withdraw",
    "duplicates": "duplicates to remove",
}


def to_stderr(text: str) -> None:
    """One line of progress, apart from results."""
    print(text, file=sys.stderr, flush=True)


def started(made: Mapping[str, Any]) -> str:
    """Where the server is and how to log in; the password only the first time."""
    lines = [f"Label Studio runs at {made['url']}", f"  login: {made['login']}"]
    if "password" in made:
        lines.append(f"  password: {made['password']} (shown only this once)")
    lines.append(f"  password file: {made['password_file']}")
    lines.append("next: medqrels review push RELEASE/TASK; medqrels review stop stops the server")
    return "\n".join(lines)


def pushed(made: Sequence[Mapping[str, Any]], dry_run: bool) -> str:
    """What was sent, per person, and what stands in the way."""
    lines = []
    for item in made:
        lines.append(f"review {item['review']}")
        if "candidates" in item:
            lines += _drawn(item)
        if dry_run and not item["queues"]:
            lines += [f"  {name}: {count:,} to send" for name, count in item["allotted"].items()]
        for queue in item["queues"]:
            lines += _queue(queue, _PLANNED if dry_run else _WORDS)
    return "\n".join(lines)


def _drawn(item: Mapping[str, Any]) -> list[str]:
    """What the review now asks about, what it asks about no more and why, and how to draw more."""
    held = sum(item["held_back"].values())
    lines = [
        f"  {counted(item['candidates'], 'item')}, {item['new']:,} new, {held:,} held back, "
        f"{item['short']:,} with too few annotators"
    ]
    lines += [
        f"  {counted(count, 'item')} given to nobody any more: {ENDINGS[ending]}"
        for ending, count in item["ended"].items()
    ]
    if item["undrawn"]:
        more = f"--sample with more than {item['drawn']:,} draws more"
        lines.append(f"  {counted(item['undrawn'], 'pair')} of the release not drawn; {more}")
    return lines


def _queue(queue: Mapping[str, Any], words: Mapping[str, str]) -> list[str]:
    told = [f"{queue[key]:,} {word}" for key, word in words.items() if queue[key]]
    told.append(f"{queue['skip']:,} there already")
    role = " (adjudicator)" if queue["role"] == "adjudicator" else ""
    lines = [f"  {queue['annotator']}{role}: {', '.join(told)}"]
    if queue["address"]:
        lines.append(f"    {queue['address']}")
    kinds = Counter(item["kind"] for item in queue["conflicts"])
    lines += [f"    {count:,} {kind}: {CONFLICTS[kind]}" for kind, count in sorted(kinds.items())]
    return lines


def pulled(made: Sequence[Mapping[str, Any]], dry_run: bool) -> str:
    """What came back, per person."""
    lines = []
    for found in made:
        lines.append(f"review {found['review']}")
        if dry_run:
            lines.append("  would fetch new answers from the server")
        for item in found["people"]:
            if item["project"] is None:
                lines.append(f"  {item['annotator']}: no project on the server; next: medqrels review push")
                continue
            lines.append(f"  {item['annotator']}: {item['answers']:,} answers count, {item['new']:,} new")
            if item["conflicts"]:
                lines.append(
                    f"    {item['conflicts']:,} conflicts: answers were changed or deleted after they were "
                    "fetched; pull --accept lets the server's last answer count"
                )
            lines += _set_aside(item)
        lines += _reports(found)
    return "\n".join(lines)


def _set_aside(person: Mapping[str, Any]) -> list[str]:
    """What is not taken from one person's project, by reason, each with its task."""
    lines = []
    for reason, count in person["set_aside"].items():
        lines.append(f"    {count:,} set aside, {reason}: {QUARANTINE[reason]}")
        lines += [f"      {_aside(item)}" for item in person["aside"] if item["reason"] == reason]
    return lines


def _aside(item: Mapping[str, Any]) -> str:
    """One answer that is not taken: which task, whose project, where; of a foreign one, what and by whom."""
    place = f", place {item['place']}" if item["place"] else ""
    role = " as adjudicator" if item["role"] == "adjudicator" else ""
    told = f"{item['candidate_id'] or 'a task by hand'}{place}, in the project of {item['project_of']}{role}"
    if "answer" in item:
        said = f"grade {item['grade']}" if item["grade"] is not None else item["cannot_judge"]
        told += f", by {item['given_by']}: {said or 'unreadable'}"
        told += f", after {item['project_of']} had answered" if item["after_owner"] else ""
    elif item["detail"]:
        told += f": {item['detail']}"
    return " ".join([told, *filter(None, [item["link"]])])


def foreign(made: Sequence[Mapping[str, Any]]) -> str:
    """Answers in another person's project, and what was decided."""
    lines = []
    for found in made:
        what = counted(len(found["standing"]), "answer")
        lines.append(f"review {found['review']}: {what} in another person's project")
        for item in found["standing"]:
            lines.append(f"  {item['answer']}: {_aside(item)}")
            lines += [f"    “{item['comment']}”"] if item["comment"] else []
        lines += [f"  {decision(row)}" for row in found["decisions"]]
    if any(found["standing"] for found in made):
        lines.append(
            "next: medqrels review foreign --assign ANSWER --by NAME --why TEXT lets it count as an answer "
            "of who gave it; --ask-again ANSWER ignores it. The project's own person is asked in any case."
        )
    return "\n".join(lines)


def decision(row: Mapping[str, Any]) -> str:
    """One decision about an answer in another person's project."""
    answer = row["answer"]
    what = f"assigned to {answer['given_by']}" if row["decision"] == "assigned" else "asked again"
    return f"{answer['id']} ({answer['candidate_id']}): {what} by {row['by']}: {row['why']}"


def standing(made: Mapping[str, Any]) -> str:
    """Where each person is, as a table."""
    server = made["server"]
    lines = [f"server: {server}" if server else "server: none running here"]
    for found in made["reviews"]:
        lines.append(f"review {found['review']}")
        lines.append("  annotator  assigned     done  cannot judge  conflicts  set aside")
        for item in found["people"]:
            name = item["annotator"] + (" (adj.)" if item["role"] == "adjudicator" else "")
            lines.append(
                f"  {name:<12} {item['given']:>6,} {item['done']:>8,} {item['cannot_judge']:>13,} "
                f"{item['conflicts']:>10,} {item['set_aside']:>10,}"
            )
        lines += [*_reports(found), *_foreign(found)]
    return "\n".join(lines)


def _foreign(found: Mapping[str, Any]) -> list[str]:
    """That people answered in other people's projects, if they did."""
    count = sum(item["foreign"] for item in found["people"])
    what = counted(count, "answer") + " in another person's project"
    return [f"  {what}; next: medqrels review foreign {found['review']}"] if count else []


def _reports(found: Mapping[str, Any]) -> list[str]:
    """That readers reported items, if they did: nobody should have to look for it."""
    if not found["reports"]:
        return []
    what = counted(found["reports"], "item") + " reported by annotators"
    return [f"  {what}: withheld from the next release; next: medqrels review reports {found['review']}"]


def reports(made: Sequence[Mapping[str, Any]]) -> str:
    """Items that readers reported, and what was decided."""
    lines = []
    for found in made:
        lines.append(f"review {found['review']}: {counted(len(found['standing']), 'report')}")
        for item in found["standing"]:
            lines.append(
                f"  {item['candidate_id']}: {', '.join(item['reasons'])}, by {', '.join(item['annotators'])}"
            )
            lines.append(f"    query {item['query_id']}, document {item['corpus_id'] or 'none'}")
            lines += [f"    “{comment}”" for comment in item["comments"]]
            lines += [f"    {link}" for link in item["links"]]
        lines += [f"  {row['candidate_id']}: lifted by {row['by']}: {row['why']}" for row in found["lifted"]]
    if any(found["standing"] for found in made):
        lines.append(
            "withheld from the next release until: medqrels review reports --lift ID --by NAME --why TEXT"
        )
    return "\n".join(lines)
