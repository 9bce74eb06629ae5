"""Requirements: an answer is checked against several, each by a call of its own, all of them together.

    given       what a requirement is, and how a list of them is read
    calling     how a scorer of the user's is called, and what it says is read
    hearing     one call, under a deadline that stands still while the call waits for a limit
    together    calls side by side, until each has ended or was left behind
    checking    all of them: at once, within a limit, each verdict on record by itself
    judging     the built-in judge, a model
    choosing    which of them is asked, from the arguments
    results     what came of it: verdict by verdict, and together
    alone       `score_requirements`, for any program
    evaluator   `Requirements`, for runs

Promises: as many calls as a loop over the requirements makes, and the results in the order of the
requirements. A call that fails is one requirement that is not fulfilled, and its error is told; the others
never notice. A verdict that is on record is not asked for again, and an error is never on record.

Knows requirements. Knows nothing of journals, runs and providers.
"""
