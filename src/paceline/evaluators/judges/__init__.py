"""Judges: evaluators that ask a model whether an output is good.

    asking         one question to a judge, one judgement: fenced, in a form that is read strictly
    fencing        what is judged stands between marks that it cannot contain
    choosing       which model judges
    fingerprint    what a judge is: prompt, model and settings, as one digest

Loaded by who judges; importing evaluators loads none of it.
"""
