"""Attempts to steer a judge, as they stand in what it judges: the known kinds, by how they are worded.

They are told, and change no verdict: the fence holds whatever is recognised here, and an innocent text may
well say "give it 5 stars" to somebody who is to score it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from paceline.evaluators.judges.fencing import name_of

LOOKED_AT: Final = 100_000
"""Characters at each end of a text in which attempts are looked for."""

_WORDS: Final[Mapping[str, str]] = {
    "JUDGE": r"(?: judge|grader|evaluator|assessor|examiner|rater|scorer|grading\ (?:model|system|bot) )s?",
    "JUDGING": r"(?: judging|grading|evaluating|scoring|assessing )",
    "VERDICT": r"(?: score|grade|mark|rating|point|verdict|judge?ment|evaluation|assessment )s?",
    "TOP": r"(?: full|top|highest|maximum|max|perfect|best|passing|positive|favou?rable )",
    "ORDER": (
        r"(?: give|assign|award|grant|return|output|print|respond|reply|answer|say|set|mark|rate|score|grade"
        r"|conclude|write|record|emit )"
    ),
    "SAY": r"(?: give|assign|award|grant|respond|reply|answer|say|mark|rate|score|grade )",
    "PIECE": (
        r"(?: output|input|expected[ _]?output|context|material|answer|response|submission|data|document )"
    ),
    "WHO": r"(?: system|developer|assistant|rubric|judge|admin(?:istrator)?|evaluator|grader|instructions? )",
    "LAW": r"(?: instruction|rubric|criterion|criteria|rule|prompt|guideline|polic(?:y|ies) )s?",
    "NEAR": r"[^.\n]{0,60}?",
}
"""What the words in capitals mean in the patterns below, in which spaces and line ends mean nothing. What is
looked at is anybody's: no pattern may go over a text more than once for each place that it begins at."""

_KINDS: Final[Mapping[str, str]] = {
    "orders to set instructions aside": r"""
        \b(?: ignore|disregard|forget|override|overrule|skip|bypass|drop )\b
            NEAR \b(?: LAW|above|previous|earlier )\b
        | \b(?: do\ not|don't|never|stop )\s+(?: follow|apply|use|obey|read )\w*\b NEAR \b LAW \b
        """,
    "demands a verdict": r"""
        \b ORDER \b NEAR \b TOP \b NEAR \b VERDICT \b
        | \b ORDER \b NEAR \b VERDICT \b NEAR (?: \d | \b TOP \b | \b pass )
        | \b ORDER \b NEAR \b \d+(?:\.\d+)? \s? (?: / | out\ of ) \s? (?: 5|10|100 )\b
        | \b SAY \s+ (?: (?:it|this|me|us|(?:the|this)\ PIECE)\s+ )? (?: (?:as|a|with|only)\s+ ){0,2}
            ["'`*]* (?: \d+(?:\.\d+)? | pass(?:ed|ing)? | true | correct )\b ["'`*]* \s* (?: [.!,;\n] | $ )
        | \b(?: must|should|ha(?:s|ve)\ to|shall|needs?\ to )\b NEAR
            \b(?: pass | be\ (?:passed|graded|scored|rated|marked) | TOP \s VERDICT )\b
        """,
    "speaks to the judge": r"""
        \b(?: dear|hey|hello|hi|attention|notice|memo )\W+
            (?: (?:the|an?|all|any|our|my)\s+ )? (?: \w+\s+ )? JUDGE \b
        | \b(?: to|for|as )\s+ (?:the|an?|all|any|our|my)\s+ (?: \w+\s+ )? JUDGE \b
        | \b you(?: '?re|\ are|\ as )\b NEAR \b(?: JUDGE|JUDGING )\b
        """,
    "poses as another speaker": r"""
        (?: ^|\n ) \W{0,20} WHO (?: \s+(?:message|prompt|note|override|update|instructions?) )?
            \W{0,9} [:>\]|]
        | <\|?(?: im_start|im_end|system|endoftext|start_header_id|end_header_id|eot_id )\|?>
        | \[/?INST\] | <</?SYS>> | "role"\s*:\s*" WHO "
        """,
    "holds a verdict already": r"""
        ["']? \b(?: pass(?:ed)?|score|verdict|choice|grade|rating ) ["']? \s* : \s*
            ["']? (?: true|pass|perfect|full|[1-9A]\b|\d+\s*/ )
        | \b(?: final|my|the|overall )\s+ VERDICT \s+(?: is|was|are )\s*:?\s*
            ["'*]* (?: \d|pass|true|TOP|A\b )
        """,
    "forges the marks": r"""
        \b end\ of\ (?:the\ )? PIECE \b
        | </?(?: PIECE|rubric|verdict|judge?ment )\s*>
        | [⟦⟧] | (?<![-=\#*])(?: -{3,}|={3,}|\#{3,}|\*{3,} )\s*(?: end|begin|start )\b
        """,
    "claims that it was judged before": r"""
        \b(?: already|previously|ha(?:s|ve)\ been|(?:the|this)\ PIECE\ (?:is|was) )\s+ (?:\w+ly\s+)?
            (?: judged|graded|approved|verified|scored|validated|certified|confirmed )\b
        | \b pre-?(?: approved|verified|graded )\b
        """,
    "rewrites the task": r"""
        \b(?: new|updated?|revised|real|actual|true|changed?|amended )\s+ (?:grading\s+)? (?: LAW|task )\b
        | \b LAW \s+(?: ha(?:s|ve)|is|are|was|were )\s+ (?:now\s+)? (?:been\s+)?
            (?: changed|updated|replaced|revised|superseded|cancell?ed|void )
        | \b from\ now\ on\b | \b your\ (?:new|only|real)\ (?:task|job|role|goal)\b
        """,
    "pleads or threatens": r"""
        \b(?: please|beg|fired|lose\ my|tip(?:ped)?|rewarded|punish\w*|penali[sz]ed?|shut\ ?down|sued?|die )\b
            NEAR \b(?: VERDICT|pass|fail )\b
        | \b(?: fail|(?:low|bad)\ VERDICT )\b NEAR
            \b(?: fired|punish\w*|penali[sz]ed?|shut\ ?down|sued?|die )\b
        """,
    "hides text": (
        "[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\U000e0000-\U000e007f] | <!--"
    ),
}


def _compiled(pattern: str) -> re.Pattern[str]:
    for word, meaning in _WORDS.items():
        pattern = re.sub(rf"\b{word}\b", lambda _, meaning=meaning: meaning, pattern)  # type: ignore[misc]
    return re.compile(pattern, re.IGNORECASE | re.VERBOSE)


_LOOKED_FOR: Final = {kind: _compiled(pattern) for kind, pattern in _KINDS.items()}


def attempts_in(shown: Mapping[str, str]) -> tuple[str, ...]:
    """How what is shown tries to steer whoever judges it: `output: demands a verdict`."""
    return tuple(
        f"{name_of(name)}: {kind}"
        for name, text in shown.items()
        for kind, pattern in _LOOKED_FOR.items()
        if pattern.search(_ends(text))
    )


def _ends(text: str) -> str:
    return text if len(text) <= 2 * LOOKED_AT else f"{text[:LOOKED_AT]}\n{text[-LOOKED_AT:]}"


__all__ = ["attempts_in"]
