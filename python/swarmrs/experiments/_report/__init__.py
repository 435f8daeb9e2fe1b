"""Reports: one HTML file each, self-contained, and the same bytes for the same input."""

from swarmrs.experiments._report._of_comparison import write_report

__all__ = ["write_report"]
