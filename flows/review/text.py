"""Results of the review commands as text for people."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from annotation.candidates import ENDINGS
from annotation.report.words import reason_of_ungraded
from annotation.sync.answers import QUARANTINE
from curation.tasks.registry import REVIEW_STAGES
from flows.review.calibration import about_judge
from flows.review.conflicts import CHANGED, KINDS
from schemas.wording import counted, visible

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
    print(visible(text), file=sys.stderr, flush=True)


def started(made: Mapping[str, Any]) -> str:
    """Where the server is and how to log in; the password only the first time."""
    lines = [f"Label Studio runs at {made['url']}", f"  login: {made['login']}"]
    if "password" in made:
        lines.append(f"  password: {made['password']} (shown only this once)")
    lines.append(f"  password file: {made['password_file']}")
    lines.append(f"  annotators' logins and passwords, once a push made them: {made['accounts_file']}")
    lines.append("next: medqrels review push RELEASE/TASK; medqrels review stop stops the server")
    return "\n".join(lines)


def pushed(made: Sequence[Mapping[str, Any]], *, dry_run: bool = False, draw_only: bool = False) -> str:
    """What was drawn and sent, per person, who logs in how, and what stands in the way."""
    lines = []
    is_planned = dry_run or draw_only
    for item in made:
        lines.append(f"review {item['review']}")
        if "candidates" in item:
            lines += _drawn(item)
        if not item["queues"]:
            lines += [f"  {name}: {count:,} to send" for name, count in item.get("allotted", {}).items()]
        for queue in item["queues"]:
            lines += _queue(queue, _PLANNED if is_planned else _WORDS)
        if item.get("passwords"):
            lines.append(f"  passwords of these logins: {item['passwords']}")
    name = made[0]["review"] if len(made) == 1 else made[0]["review"].partition("/")[0]
    if dry_run:
        lines.append("next: the same command without --dry-run")
    elif draw_only and all(item["review"].rpartition("/")[2] in REVIEW_STAGES for item in made):
        lines.append(f"next: medqrels review push {name}")
    elif draw_only:
        lines.append(f"next: medqrels review judge {name} --model NAME, or medqrels review push {name}")
    else:
        lines.append(
            f"next: medqrels review pull {name}, any time, fetches what was answered; medqrels review status"
        )
    return "\n".join(lines)


def _drawn(item: Mapping[str, Any]) -> list[str]:
    """What the review now asks about, what it asks about no more and why, and how to draw more."""
    lines = [f"  {counted(item['candidates'], 'item')}, {item['new']:,} of them new"]
    lines += [
        f"  {counted(count, 'item')} held back: {kind}; held_back.parquet of the review says where"
        for kind, count in item["held_back"].items()
    ]
    if item["calibration"]:
        drawn = ", ".join(f"{count:,} {name}" for name, count in item["calibration"].items())
        lines.append(f"  {counted(sum(item['calibration'].values()), 'pair')} to measure the judge: {drawn}")
    if item["short"]:
        few = f"{counted(item['short'], 'item')} with too few annotators"
        lines.append(f"  {few}: more people have to read these languages")
    lines += [
        f"  {counted(count, 'item')} given to nobody any more: {ENDINGS[ending]}; answers stay"
        for ending, count in item["ended"].items()
    ]
    if item["undrawn"]:
        more = f"--sample N with N above {item['sample']:,} draws more"
        lines.append(f"  {counted(item['undrawn'], 'pair')} of the release not drawn: {more}")
    return lines


def _queue(queue: Mapping[str, Any], words: Mapping[str, str]) -> list[str]:
    told = [f"{queue[key]:,} {word}" for key, word in words.items() if queue[key]]
    if queue["skip"] or not told:
        told.append(f"{queue['skip']:,} there already")
    role = " (adjudicator)" if queue["role"] == "adjudicator" else ""
    lines = [f"  {queue['annotator']}{role}: {', '.join(told)}"]
    if queue["address"]:
        lines.append(f"    {queue['address']}")
    if queue.get("login"):
        lines.append(f"    login: {queue['login']}")
    return lines + _conflicts(queue["conflicts"], queue["address"])


def _conflicts(found: Sequence[Mapping[str, Any]], address: str = "") -> list[str]:
    """Conflicts by kind, each with its item, where it is, and what counted and stands there now."""
    lines = []
    for kind in KINDS:
        items = [item for item in found if item["kind"] == kind]
        if not items:
            continue
        lines.append(f"    {counted(len(items), 'conflict')}: {KINDS[kind]}")
        for item in items:
            pair = f"query {item['query_id']}, document {item['corpus_id'] or 'none'}"
            what = f"{item['candidate_id']} ({pair})" if item["candidate_id"] else f"task {item['task_id']}"
            where = item["link"] or address
            lines.append(f"      {what}: {where}" if where else f"      {what}")
            if kind == CHANGED:
                now = " and ".join(map(_answered, item["there"])) or "no answer"
                lines.append(f"        counted before: {_answered(item['counted'])}; there now: {now}")
    return lines


def _answered(answer: Mapping[str, Any] | None) -> str:
    if answer is None:
        return "no answer"
    if answer["grade"] is None:
        return f"cannot judge ({reason_of_ungraded(answer['reason'])})"
    return f"grade {answer['grade']}"


def pulled(made: Sequence[Mapping[str, Any]], dry_run: bool) -> str:
    """What came back, per person, and what to do next."""
    lines = []
    for found in made:
        lines.append(f"review {found['review']}")
        if dry_run:
            lines.append("  would fetch new answers from the server")
        for item in found["people"]:
            if item["project"] is None:
                lines.append(f"  {item['annotator']}: no project on the server")
                continue
            does = "counts" if item["answers"] == 1 else "count"
            lines.append(
                f"  {item['annotator']}: {counted(item['answers'], 'answer')} {does}, {item['new']:,} new"
            )
            if item["in_conflict"]:
                lines += _conflicts(item["in_conflict"])
                accept = f"medqrels review pull {found['review']} --accept"
                lines.append(f"    none of these answers counts; {accept} lets the server's last one count")
            lines += _set_aside(item)
        lines += [*_reports(found), *_next(found)]
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
    """Where each review and person is: what was drawn, is on the server, is answered."""
    server = made["server"]
    lines = [f"server: {server}" if server else "server: none is running here; medqrels review start"]
    for found in made["reviews"]:
        gold = f" ({counted(found['gold'], 'gold item')} among them)" if found["gold"] else ""
        drawn = f"{counted(found['drawn'], 'item')} drawn{gold}"
        ended = f", {found['ended']:,} given to nobody any more" if found["ended"] else ""
        lines += [
            f"review {found['review']}",
            f"  {drawn}{ended}; {counted(found['verdicts'], 'verdict')}",
            "  annotator      assigned  on the server  answered  cannot judge  conflicts  set aside",
        ]
        for item in found["people"]:
            name = item["annotator"] + (" (adj.)" if item["role"] == "adjudicator" else "")
            lines.append(
                f"  {name:<14} {item['given']:>8,} {item['pushed']:>14,} {item['done']:>9,} "
                f"{item['cannot_judge']:>13,} {item['conflicts']:>10,} {item['set_aside']:>10,}"
            )
        for item in found["people"]:
            if item["in_conflict"]:
                lines += [f"  {item['annotator']}", *_conflicts(item["in_conflict"])]
        if found["judge"]:
            lines.append(f"  {about_judge(found['judge'])}")
        lines += [*_reports(found), *_foreign(found), *_next(found)]
    return "\n".join(lines)


def _next(found: Mapping[str, Any]) -> list[str]:
    return [f"  next: {found['next']}"] if found.get("next") else []


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


def changed_labels(made: Mapping[str, Any]) -> list[str]:
    """What people changed of a released task's labels, as lines; none of one that nobody judged."""
    rows = made["judged_by_people"]
    if not rows:
        return []
    changed = [row for row in rows if not row["is_same"]]
    pairs = sum(row["pairs"] for row in rows)
    new = sum(row["pairs"] for row in changed if row["rule_grade"] is None)
    others = sum(row["pairs"] for row in changed) - new
    same = pairs - others - new
    lines = [
        f"  people judged {counted(pairs, 'pair')}: {same:,} keep the grade of a rule, {others:,} have "
        f"another one now or none, {new:,} had no label"
    ]
    for row in changed:
        by_rule = "no label" if row["rule_grade"] is None else f"grade {row['rule_grade']}"
        why = made["exclusions"].get(row["excluded"], row["excluded"]).rstrip(".")
        by_people = f"excluded: {why}" if row["grade"] is None else f"grade {row['grade']}"
        lines.append(f"    {by_rule} → {by_people}: {counted(row['pairs'], 'pair')}")
    if changed:
        lines.append(f"    which: rule_grade of {made['path']}/annotations beside score of qrels")
    return lines
