"""Calibration: a judge counts only once it has been shown to agree with people.

    labels        a file of items that people have scored, and in which column
    judging       a judge asked about each of them, as a run that is paced, durable and can be gone on with
    measuring     how far the two agree
    probes        weaknesses that judges are known for
    verdict       PASS, FAIL, or how many more labels it takes to tell
    findings      all that as values; `words` says them, `certifying` writes them down

The statistics are those of `paceline.statistics`; the certificate is read by judges
(`paceline.evaluators.judges.certificate`).
"""
