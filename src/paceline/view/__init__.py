"""The view: the runs of a folder in a browser, while they go on and afterwards.

    listing     which runs there are, and how each of them stands
    following   one run, followed as its journal grows
    server      both over HTTP, on this machine, for reading only

It uses files only: nothing has to run but the runs themselves, and nobody is asked to report to anyone.
Knows journals and reports. What a page does with what it is told is `pages`' business.
"""
