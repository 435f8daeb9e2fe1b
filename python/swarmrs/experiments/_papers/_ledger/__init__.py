"""The ledger: every run behind the figures of all studies, kept in one file and compared."""
