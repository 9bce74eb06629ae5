"""The ramp: how much a provider bears, found by holding one level of concurrency after the other.

levels      which levels, and how many cases each takes
seen        what is seen while a level is held: tries, cases, how busy this process was
rows        one row of figures per level
rules       when a level has told enough, when it does harm, when a higher one is no use
verdict     how much, and what it is that stops it: a function of rows
sweep       the order of all that
"""
