"""Reports: one HTML file each, self-contained, and the same bytes for the same input."""

from swarmrs.experiments._report._comparison import write_report
from swarmrs.experiments._report._drawing import check_report
from swarmrs.experiments._report._selection import write_selection_report

__all__ = ["check_report", "write_report", "write_selection_report"]
