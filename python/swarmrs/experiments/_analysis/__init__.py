"""From stored cells to runs, descriptive statistics and tests; imports `_execution` and below."""
