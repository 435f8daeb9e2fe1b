"""What a search returns: its selection, its front, its progress; imports `plotting` and below."""
