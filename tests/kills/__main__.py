"""Kill unveil at random moments and see whether anything is lost: ``python -m kills --kills 1000 --seed 1``.

Every trial runs a command in a process that was forked from one with everything loaded, and kills it: at a random call
during delivery, or at a random time. Then the files are checked, what was interrupted is finished as the next run does,
and the files are checked again. State is kept between trials, so that later runs meet what earlier ones left.

For every trial, processes that book answers in a ledger are killed as well; see :mod:`.ledger_trials`.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from kills.ledger_trials import LedgerTrials
from kills.places import may_mount, places
from kills.trials import Trials

__all__ = ["main"]


def main() -> int:
    parser = argparse.ArgumentParser(prog="kills", description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    _enter_own_mounts()
    with tempfile.TemporaryDirectory(prefix="unveil-kills-") as folder:
        root = Path(folder)
        mounting = "KILLS_OWN_MOUNTS" in os.environ and may_mount(root)
        with places(root, mounting) as where:
            trials = Trials(root, where, random.Random(given.seed))
            for _ in range(given.kills):
                trials.run_one()
            trials.finish()
            ledgers = LedgerTrials(root, where, random.Random(given.seed))
            for _ in range(given.kills):
                ledgers.run_one()
            ledger_summary = ledgers.summary()
    found = {"may_mount": mounting, "seed": given.seed, **trials.summary(), "ledgers": ledger_summary}
    print(json.dumps(found, indent=1))
    return 1 if trials.faults or ledgers.faults else 0


def _enter_own_mounts() -> None:
    """Start again where nobody else sees what is mounted, if that is possible."""
    if "KILLS_OWN_MOUNTS" in os.environ or shutil.which("unshare") is None:
        return
    for options in ("--mount", "--mount --map-root-user"):
        command = ["unshare", *options.split()]
        if subprocess.run([*command, "true"], capture_output=True, check=False).returncode == 0:
            os.environ["KILLS_OWN_MOUNTS"] = "1"
            os.execvp("unshare", [*command, sys.executable, "-m", "kills", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
