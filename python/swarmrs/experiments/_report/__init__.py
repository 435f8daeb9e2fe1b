"""Reports: one HTML file each, self-contained, and the same bytes for the same input."""

from swarmrs.experiments._report._comparison import write_report
from swarmrs.experiments._report._selection import write_selection_report
from swarmrs.plotting._figures import check_plot

__all__ = ["check_plot", "write_report", "write_selection_report"]
