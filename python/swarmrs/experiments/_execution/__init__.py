"""Running cells: workers or a cluster, the store, the estimate; imports `_design`."""
