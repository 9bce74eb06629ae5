"""Gates: rules that a run has to keep, each with the figure, how sure one can be of it, a verdict and why.

    verdict = check(report, min={"pass_rate": 0.9}, max={"p95": "30s"}, no_regression="baseline.json")
    verdict.green, verdict.exit_code, verdict.findings

A gate fails closed: what is not known keeps no rule. A run without cases or without scores, one that is not
whole, a figure that is unknown, a cost that could not be seen: none of them is green, whatever the rules say.
A rule that names no figure is wrong usage, and is told before anything is decided.

    rules        what is asked: names, bounds, options
    figures      the figures of a report by name, with their bounds at any confidence
    baseline     how the keys of an earlier run ended
    regression   the run held against that, key by key
    checking     rules and a report, to a verdict
    verdict      what was found, as text, Markdown and plain data

Knows reports. Knows nothing of suites, of how runs are made, or of terminals.
"""

from paceline.gates.baseline import Baseline, write_baseline
from paceline.gates.checking import check, judged
from paceline.gates.rules import Rules, rules_from
from paceline.gates.verdict import Finding, Verdict

__all__ = ["Baseline", "Finding", "Rules", "Verdict", "check", "judged", "rules_from", "write_baseline"]
