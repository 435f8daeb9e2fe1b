"""What a command shows and writes: results as text, progress, code; imports `_signals`."""
