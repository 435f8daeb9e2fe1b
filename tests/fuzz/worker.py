"""A process that runs cases: numbers in, outcomes out, until it receives no more."""

import json
import os
import resource
import signal
import sys
import tempfile
from pathlib import Path
from types import FrameType


class Interrupts:
    """Ctrl-C counts while a case runs, and is ignored between cases."""

    is_on = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if self.is_on:
            raise KeyboardInterrupt


def main() -> None:
    """Run the cases that stdin names, each ``target number``."""
    seed, megabytes, home = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
    answers = os.fdopen(os.dup(1), "w")
    quiet = os.open(home / "printed.txt", os.O_RDWR | os.O_CREAT | os.O_TRUNC)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    tempfile.tempdir = str(home)
    interrupts = Interrupts()
    signal.signal(signal.SIGINT, interrupts)
    from fuzz.targets import run_case

    resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # Files do not fill the disk.
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 30, 1 << 30))
    for line in sys.stdin:
        target, number = line.split()
        os.ftruncate(quiet, 0)
        os.lseek(quiet, 0, os.SEEK_SET)
        finding = None
        try:
            interrupts.is_on = True
            finding = run_case(target, seed, int(number), home / "case")
            interrupts.is_on = False
        except KeyboardInterrupt:
            pass
        interrupts.is_on = False
        spent = resource.getrusage(resource.RUSAGE_SELF)
        outcome = {
            "finding": None if finding is None else finding.as_dict(),
            "cpu": spent.ru_utime + spent.ru_stime,
        }
        answers.write(json.dumps(outcome) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
