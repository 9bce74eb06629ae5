"""The report as one HTML file: every case in it, nothing outside of it.

    sheet     columns of all cases, for the table of the page
    fields    what cases say in their metadata, as columns
    bodies    one case in full, as the page shows it when it is opened
    cases     both, for one row after the other
    facts     what the page is told of the run as a whole
    page      the file

`view` serves the same parts while a run goes on.
"""

from paceline.report.html.cases import Cases
from paceline.report.html.facts import facts_of
from paceline.report.html.page import write_html

__all__ = ["Cases", "facts_of", "write_html"]
