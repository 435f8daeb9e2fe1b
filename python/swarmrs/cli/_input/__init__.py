"""What a command is given: options, files, settings from a file or the environment."""
