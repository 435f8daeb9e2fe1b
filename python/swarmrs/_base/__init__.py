"""Arguments, messages, hints, files, threads, seeds; imports the exceptions and the engine."""
