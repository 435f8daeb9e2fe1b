"""``python -m swarmrs`` is the command ``swarmrs``."""

from swarmrs.cli import main

# Processes that are spawned import this file; they are not to run the command again.
if __name__ == "__main__":
    main()
