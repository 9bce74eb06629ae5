"""The engine: carries out a run, and lets nothing that user code does bring it down.

    run          lanes take turns from the source until none are left
    lanes        one place in the run, and what it guards the user's code with
    keys         what happens to one key, step by step
    scoring      evaluators, asked side by side
    bookkeeping  what happens becomes lines, and, once safe, events and counts
    ports        where cases come from, where they run, where it is written down

Knows cases, attempts and outcomes. Knows nothing of files, terminals or reports.
"""
