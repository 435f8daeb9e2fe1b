"""The commands. Each imports heavy modules when it runs, so that help is quick."""
