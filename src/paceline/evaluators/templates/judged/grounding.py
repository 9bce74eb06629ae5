"""Judged templates about sources: is the output supported by its context, and was the context any good?"""

from __future__ import annotations

from typing import Final

from paceline.evaluators.templates.judged import judged

TEMPLATES: Final = (
    judged(
        "groundedness",
        "Pass/Fail",
        "output context input?",
        "Everything that the output claims is supported by the context.",
        """
        - Go through the output claim by claim. A claim is supported if the context says it, in whatever
          words, or if it follows from what the context says without anything else having to be known.
        - One claim that the context does not support, or contradicts, fails the output, even if it is
          true.
        - What claims nothing needs no support: greetings, questions, and saying that the context does not
          tell.
        - The input, where it is shown, only says what the output answers. It supports nothing.
        """,
    ),
    judged(
        "detect_hallucination",
        "Pass/Fail",
        "output context input?",
        "The output makes nothing up: no name, number, event or source that the context does not have.",
        """
        - Look for particulars that were invented, changed or joined wrongly, and for sources that are not
          there.
        - Leaving something out is no invention. Neither is an opinion that is marked as one.
        - What everybody knows (that Paris is a city) is no invention if the answer does not rest on it.
        - The input, where it is shown, only says what the output answers. It supports nothing.
        """,
    ),
    judged(
        "factual_accuracy",
        "Score",
        "output context input?",
        "How much of what the output states as fact is right, going by the context.",
        """
        - 1: every statement of fact is right. 0.5: about half of them are, or the main one is right and
          others around it are wrong. 0: the main statement is wrong.
        - Go by the context before anything else you know. What it does not speak of counts neither way.
        - Weigh statements by how much the answer rests on them.
        - The input, where it is shown, only says what the output answers. It supports nothing.
        """,
    ),
    judged(
        "is_factually_consistent",
        "Pass/Fail",
        "output context input?",
        "Nothing in the output contradicts the context.",
        """
        - A contradiction is a statement that cannot be true if the context is: another number, date,
          name, cause or order of events, or a denial.
        - What the context does not speak of contradicts nothing.
        - Rounding is no contradiction where it is said or plain.
        - The input, where it is shown, only says what the output answers. It supports nothing.
        """,
    ),
    judged(
        "context_adherence",
        "Score",
        "output context",
        "How far the output keeps to the context and adds nothing of its own.",
        """
        - 1: all of it comes from the context. 0.5: the main part does, and a good part does not. 0: it
          has nothing to do with the context.
        - What was added counts against it even if it is true.
        """,
    ),
    judged(
        "chunk_attribution",
        "Pass/Fail",
        "output context",
        "The output uses the context: at least one thing in it comes from there.",
        """
        - It need not use all of the context, and need not say that it does.
        - Words in common are not use. What is used is something the context tells.
        - An output that says the context does not hold the answer has used it, if that is so.
        """,
    ),
    judged(
        "chunk_utilization",
        "Score",
        "output context",
        "How much of what is useful in the context the output uses.",
        """
        - Decide first which parts of the context matter to what the output is about.
        - 1: it uses all of these. 0.5: about half of them. 0: none.
        - Parts that do not matter here need not be used.
        """,
    ),
    judged(
        "context_relevance",
        "Score",
        "input context",
        "How well the context serves to answer the input.",
        """
        - 1: everything needed is there, and little else. 0.5: part of what is needed, or all of it among
          much that is beside the point. 0: nothing that helps.
        - Judge what is there, not whether it is true.
        """,
    ),
    judged(
        "eval_ranking",
        "Score",
        "input context",
        "How well the passages of the context are ordered: the most useful ones for the input first.",
        """
        - 1: no passage stands before one that is plainly more useful. 0.5: the most useful ones are in
          the upper half, in no good order. 0: the most useful ones come last.
        - A single passage is in order if it is useful.
        """,
    ),
    judged(
        "ground_truth_match",
        "Pass/Fail",
        "generated_value expected_value",
        "The generated value says the same as the expected value.",
        """
        - Wording, order and form may differ: 1,000 and one thousand, Paris and the city of Paris.
        - Where the generated value leaves out something that the expected one has, or says something
          beside it that contradicts it, it is not the same. What it adds without contradicting does not
          count.
        """,
    ),
)
