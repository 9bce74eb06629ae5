"""The ramp: how much a provider bears, found by holding one level of concurrency after the other.

What is decided, on values:

levels      which levels, and how many cases each takes
seen        what is seen while a level is held: tries, cases, how busy this process was
rows        one row of figures per level
rules       when a level has told enough, when it does harm, when a higher one is no use
verdict     how much, and what it is that stops it: a function of rows
bounds      what bound each level, in one word
sweep       the order of all that
cost        what it will take, in money and in time

What is done:

stage       holds a level with real cases of a suite, on the engine
sightings   sees each try at the desk, and each case on its way to the journal
machine     how busy this process is
opening     the desk of a sweep, and the doors to it
front       from a job to a report
learning    what other runs may know of it

What is shown: words, chart, svg, view, and report, which has it all.
"""
