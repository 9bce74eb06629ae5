"""Statistics: values in, values out, each figure with how sure one can be of it.

    proportions     Wilson's interval, of single observations and of such that hang together; Clopper-Pearson
    resampling      the bootstrap: what else might have been found, by drawing from what was found
    correlation     do two columns put things in the same order (Spearman, Kendall), and how sure is that
    agreement       do two columns, or several people, say the same (kappa, Krippendorff's alpha)
    confusion       yes or no against yes or no: sensitivity, specificity
    means           how sure one can be of a mean, where observations may come in clusters
    paired          two runs on the same cases: the difference, its interval, and whether it may be chance
    unpaired        two samples of different things: Fisher's test, Welch's
    several         several tests at once: Holm, Benjamini and Hochberg
    repeats         would a case pass, given k tries: pass@k and pass^k
    power           the smallest difference that a sample of this size finds
    sequential      deciding before the end, looking at every case
    planning        how many observations it takes to tell on which side of a bar a correlation lies

What SciPy has is SciPy's, loaded in the function that needs it; what it lacks is written here and held
against published values. What cannot be known is None, never 0 and never NaN. Chance is an argument.

Knows numbers. Knows nothing of cases, judges or journals. `interval`, `proportions`, `means`,
`several`, `repeats` and `planning` load neither SciPy nor NumPy: every report needs some of them.
"""
