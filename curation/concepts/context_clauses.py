"""Where clauses begin and end around a denial or a doubt: lists as subjects, new noun phrases. English.

A denial in the place of the subject ("No fever, cough, or rash was noted") is said of its whole list, and of
nothing behind a verb that only says that it was looked for. Elsewhere an article begins what is not denied
any more ("no oedema and a small goitre").
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

Span = tuple[int, int]
_REACH = 400
"""Characters looked at, so that long sentences take linear time."""
_ALONE = ("no", "without", "absence of", "the absence of", "free of", "free from", "devoid of")
_ARTICLE = re.compile(r"\s+(?:an?|the|his|her|its|their|either)\s")
_INDEFINITE = re.compile(r" an? ")
_NEW_NOUN = re.compile(r" and an? |, and an? |, (?:and (?:the|his|her|its|their)|an?) ")
_OPENS_CLAUSE = re.compile(
    r"(?:[,;:.(]|\b(?:and|but|while|whereas|although|though|that|since|because|as|however))\s*\Z"
)
_DONE = re.compile(
    r"(?:(?:was|were|is|are|has been|have been|had been|could be|can be)(?: (?:also|further|\w+ly))*"
    r" (?:seen|found|observed|detected|noted|identified|present|evident|visible|demonstrated|apparent"
    r"|visuali[sz]ed|appreciated|elicited|recorded|encountered|palpable|reported|revealed|discovered"
    r"|heard|felt)"
    r"|recurred|occurred|happened|arose|ensued|emerged)\b"
    r"(?! (?:to|with|of|that|as|having|suggest\w*|indicat\w+|between|for)\b)"
)
"""Verbs that say of a subject that it was there, or was looked for: what follows is where, when and how."""
_NOUN = re.compile(
    r"(?:abnormal|anomal|patholog|complication|adverse|side|effect|benefit|improvement|difference|advantage|impact"
    r"|efficacy|superiority)\w*\s"
)
"""How stops begin that are a noun, which may be denied, and the preposition behind it, which ends that."""
_SINCE = re.compile(r"\b(?:since|because|while|whereas|although)\s")
_PLURAL = re.compile(r"(?:were|are|have)\b")
_AND = " and "
_LEANING = ("suggestive of ", "consistent with ", "compatible with ", "indicative of ")
_EITHER = re.compile(rf"\b(?<!not )(?:{'|'.join(map(str.strip, _LEANING))})(?= [^,;:.()]{{3,60}} or )")
_OR = " or "
_TESTS = ("test", "screen", "evaluat", "investigat", "examin", "check")
_POSITIVE_BEFORE = re.compile(r"\bpositive(?:\s+[^\s,;:.()]+){0,4}\s+\Z")
_POSITIVE_BEHIND = re.compile(
    r"\s*(?:(?:was|were|is|are|came back|returned|turned out|proved|(?:has|have) been)\s+)?"
    r"(?:(?:all|also|both|strongly|weakly|repeatedly)\s+)*positive\b"
)
_LASTS = re.compile(
    r"[^,;:.()]*?\b(?:since\b|for (?:(?:the|past|last|about|over|more than|approximately) )*"
    r"(?:\d+|one|two|three|four|five|six|several|a few|a) (?:days?|weeks?|months?)\b)"
)
_WHO = re.compile(r",\s+(?:who|whose)\b[^,;:.]*\Z")
_GOES_ON = re.compile(r",\s+(?:\w+ed|was|is|had|has|underwent|began|felt|went|came|fell)\s")

_CRITERIA = ("exclusion criteria", "inclusion criteria")
_BEFORE_LEANING = re.compile(r"(?: [^\s,;:.()]+){1,4} ")
_LEANS = (*_LEANING, "suggesting", "suspicious")
_LISTED = re.compile(r"[^;.]{0,40}?[(\s:](?:i|1|a)[).]\s")
_NUMBERED = re.compile(r";\s*(?:(?:and|or)\s+)?[(]?(?:[ivx]{1,5}|\d{1,2}|[a-k])[).]\s")
_COORDINATED = re.compile(r"(?:,|,? (?:and|or|nor))\s*\Z")
_REGARDED = ("should be considered", "must be considered")
_AND_BEFORE = re.compile(r"\band (?:(?:therefore|thus|hence|so) )?\Z")
_AS_WHAT = re.compile(
    r" (?:(?:an?|the) )?"
    r"(?!as |in |for |when|if |and |or |with |during |by |at |on |among |to |even |first |early )"
    r"(?:\w+ ){0,3}(?:diseases?|disorders?|entit(?:y|ies)|emergenc(?:y|ies)|conditions?|complications?"
    r"|treatments?|options?|alternatives?|factors?|causes?|markers?|part)\b"
)
_COMPARED = re.compile(
    r"(?: [^\s,;:.()]+){0,5}? (?:tests?|results?|stud(?:y|ies)|reports?|data|literature|guidelines?"
    r"|measurements?|experience|observations?|practice)\b"
    r"(?! (?:of|for|that|suggest\w*|indicat\w+|positiv\w+))"
)
_GOES_ON_WITH_NOUN = re.compile(
    r" (?!(?:as|in|for|when|whenever|if|with|during|by|at|on|among|to|even|first|early|carefully"
    r"|strongly|a|an|the)\b)\w"
)
_SOME_PEOPLE = re.compile(
    r"\b(?:patients?|child(?:ren)?|individuals?|subjects?|people|persons?|wom[ae]n|m[ae]n|adults?|infants?|cases?"
    r"|participants?|animals?|one|those|deaths?)\Z"
)
_PEOPLE = re.compile(
    r"\s(?:in|among|for)\s(?:[^\s,;:.()]+\s){0,5}?"
    r"(?:populations?|cohorts?|patients|children|individuals|subjects|people|persons|women|men|adults|infants"
    r"|groups?)\b"
)


def is_subject(lowered: str, start: int, hit_start: int) -> bool:
    """Whether a denial begins its clause, so that what it denies is the subject of the next verb."""
    if not lowered.startswith(("no ", "neither "), hit_start):
        return False
    before = lowered[max(start, hit_start - 20) : hit_start]
    return not before.strip() or _OPENS_CLAUSE.search(before) is not None


def says_that_found(lowered: str, verb: int) -> bool:
    """Whether the verb at an offset only says that its subject was there or was found."""
    return _DONE.match(lowered, verb) is not None


def end_of_nouns(lowered: str, start: int, begin: int, end: int) -> int:
    """Where another noun phrase begins with an article of its own: "no oedema [and a small goitre]".

    Args:
        lowered: a text in lower case.
        start: where the denial begins.
        begin: where its words end; an article there makes the next one part of a list.
        end: where its scope ends at most.
    """
    if not lowered.startswith(_ALONE, start) or _ARTICLE.match(lowered, begin):
        return end
    border = _NEW_NOUN.search(lowered, begin, min(end, begin + _REACH))
    if border is None or _INDEFINITE.search(lowered, begin, border.start()):
        return end  # "between an acute and a chronic form"
    return border.start()


def end_of_noun(lowered: str, start: int, end: int) -> int:
    """Where a stop ends a scope: before it, or behind its noun where that is denied ("no anomalies [in]")."""
    return lowered.rindex(" ", start, end) if _NOUN.match(lowered, start) else start


def begin_of_clause(lowered: str, start: int, end: int) -> int:
    """Where the last clause of a reason begins between two offsets; the first of them if there is none."""
    return max((found.end() for found in _SINCE.finditer(lowered, start, end)), default=start)


def begin_of_subject(lowered: str, start: int, end: int, trigger: int, last: int) -> int:
    """Where the subject of a backward denial begins: before all of a list that a plural verb is said of.

    Args:
        lowered: a text in lower case.
        start: where the verb before it ends.
        end: where the subject ends.
        trigger: where the denial begins, with its verb.
        last: the last joint between the verb before and the denial.
    """
    if not lowered.startswith(_AND, last) and not lowered.startswith(", and ", last):
        return last
    if _PLURAL.match(lowered, trigger) is None:
        return last
    first = lowered.rfind(_AND, start, last)
    return first if first >= 0 and "," in lowered[first:last] else last


def alternatives(lowered: str, start: int, end: int, spans: Sequence[Span]) -> Iterator[Span]:
    """Scopes of doubt where words that lean to yes leave a choice: "suggestive of [A or B]".

    Args:
        lowered: a text in lower case.
        start: where the sentence starts.
        end: where it ends.
        spans: of mentions in it; each of the two must be one of its own ("acute or chronic A" is no choice).
    """
    for found in _EITHER.finditer(lowered, start, end):
        place = lowered.find(_OR, found.end(), end)
        if any(last == place and first > found.end() for first, last in spans):
            others = [last for first, last in spans if place < first <= place + 40]
            if others:
                yield found.end(), min(others)


def leaves_choice(lowered: str) -> bool:
    """Whether a text may hold such a choice."""
    return _OR in lowered and any(words in lowered for words in _LEANING)


def is_answered(lowered: str, start: int, hit_start: int, limit: int) -> bool:
    """Whether a test has been positive: "three positive tests for X", "tests for X were positive"."""
    if not lowered.startswith(_TESTS, hit_start):
        return False
    before = lowered[max(start, hit_start - 80) : hit_start]
    return bool(_POSITIVE_BEFORE.search(before)) or _POSITIVE_BEHIND.match(lowered, limit) is not None


def lasts(lowered: str, begin: int, end: int) -> bool:
    """Whether a history is told to last: "history of vomiting since early childhood"."""
    return _LASTS.match(lowered, begin, end) is not None


def end_of_relative(lowered: str, start: int, hit_start: int, begin: int, end: int) -> int:
    """Where a sentence goes on behind a relative clause: "a girl, who had an aunt with gout, [coughed]"."""
    if _WHO.search(lowered, max(start, hit_start - 60), hit_start) is None:
        return end
    found = _GOES_ON.search(lowered, begin, min(end, begin + _REACH))
    return found.start() if found else end


def end_of_people(lowered: str, start: int, hit_start: int, begin: int, end: int) -> int:
    """Where a denial ends before those it is said of: "no fever [in asthma patients]".

    Subjects go on behind them: "no biopsy in the group showed fever", "none of those in the group had fever".

    Args:
        lowered: a text in lower case.
        start: where the sentence starts.
        hit_start: where the words of the denial begin.
        begin: where the words of the denial end; people right there are what it is about ("rather than in").
        end: where its scope ends at most.
    """
    found = _PEOPLE.search(lowered, min(begin + 1, end), min(end, begin + _REACH))
    if found is None or is_subject(lowered, start, hit_start):
        return end
    is_of_people = _SOME_PEOPLE.search(lowered, max(begin, found.start() - 20), found.start())
    return end if is_of_people or lowered.startswith("none ", hit_start) else found.start()


def compares(lowered: str, start: int, begin: int) -> bool:
    """Whether a denial says that results disagree: "not consistent with [earlier studies]".

    Args:
        lowered: a text in lower case.
        start: where its words begin.
        begin: where they end.
    """
    is_such = lowered.startswith(("not consistent with", "inconsistent with", "not in keeping with"), start)
    return is_such and _COMPARED.match(lowered, begin, begin + _REACH) is not None


def is_listed(lowered: str, start: int, begin: int, stop: int) -> bool:
    """Whether a semicolon parts items that words at an offset stand before: "criteria: (i) A; (ii) B".

    Args:
        lowered: a text in lower case.
        start: where the words begin.
        begin: where they end.
        stop: where the semicolon is.
    """
    if not lowered.startswith(";", stop):
        return False
    if lowered.startswith(_CRITERIA, start):
        return True
    return _NUMBERED.match(lowered, stop) is not None and _LISTED.match(lowered, begin - 1, stop) is not None


def is_what_suggests(lowered: str, start: int, begin: int, stop: int) -> bool:
    """Whether what is denied would have suggested what follows: "no [nodules suggestive of metastasis]".

    Args:
        lowered: a text in lower case.
        start: where the denial begins.
        begin: where its words end.
        stop: where the words begin that lean to what follows; no verb stands between.
    """
    return (
        lowered.startswith(_LEANS, stop)
        and lowered[start:begin] in _ALONE
        and _BEFORE_LEANING.fullmatch(lowered, begin, stop) is not None
    )


def shares_subject(lowered: str, begin: int, verb: int) -> bool:
    """Whether a verb is one of a list that a subject is said of: "none were ill, [showed] signs"."""
    return _COORDINATED.search(lowered, max(begin, verb - 8), verb) is not None


def says_as_what(lowered: str, start: int, hit_start: int, hit_end: int) -> bool:
    """Whether "should be considered" tells as what, and leaves no doubt: "they differ and should be".

    Args:
        lowered: a text in lower case.
        start: where the sentence starts.
        hit_start: where the words begin.
        hit_end: where they end.
    """
    if not lowered.startswith(_REGARDED, hit_start):
        return False
    before = lowered[max(start, hit_start - 20) : hit_start]
    if _AS_WHAT.match(lowered, hit_end) is not None:
        return True
    return _AND_BEFORE.search(before) is not None and _GOES_ON_WITH_NOUN.match(lowered, hit_end) is not None
