"""What is run: tables, methods and protocols make cells; imports `search` and below."""
