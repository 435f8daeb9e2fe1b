"""``python -m swarmrs`` is the command ``swarmrs``."""

from swarmrs.cli import main

main()
