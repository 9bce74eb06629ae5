"""Pages: what people see of runs in a browser, put together from plain modules and style sheets.

    script/     ES modules, one idea each; `parts` and `plots` know nothing of reports
    style/      style sheets
    assembly    the modules that a page needs, in one script; the page around it and its content policy
    writing     a page and its data as one file
    packing     columns and texts, packed for the page to read

There is no build step and nothing from elsewhere: a page is one document. What it shows is data, packed
beside the script; what a model said is never markup. Knows nothing of journals: `report.html` and `view`
feed it.
"""
