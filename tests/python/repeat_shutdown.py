#!/usr/bin/env python3
"""Plays the shutdown cases again and again, since what goes wrong there is a race.

    repeat_shutdown.py                 each case 1000 times
    repeat_shutdown.py --runs 20       each 20 times

A run that does not end within the watchdog's time, ends with another code than 0, or reports a fatal
error is a failure. Exit code: 0 when there was none, 1 otherwise.
"""

import argparse
import concurrent.futures
import subprocess
import sys
import time

from conftest import SCENARIOS, WATCHDOG_SECONDS
from test_lifecycle import SHUTDOWNS


def run(case):
    """Why the run failed, or None."""
    command = [sys.executable, str(SCENARIOS), *case]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=WATCHDOG_SECONDS)
    except subprocess.TimeoutExpired:
        return "hangs"
    if done.returncode != 0:
        return f"exit code {done.returncode}: {done.stderr[-500:]}"
    for sign in ("Fatal Python error", "terminate called", "exception not rethrown"):
        if sign in done.stderr:
            return done.stderr[-500:]
    return None


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=1000, help="of each case (1000)")
    parser.add_argument("--jobs", type=int, default=2, help="at a time (2)")
    arguments = parser.parse_args()
    failures = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for case in SHUTDOWNS:
            began = time.monotonic()
            outcomes = [each for each in pool.map(run, [case] * arguments.runs) if each]
            failures += len(outcomes)
            print(
                f"{' '.join(case)}: {arguments.runs} runs, {len(outcomes)} failures, "
                f"{time.monotonic() - began:.0f} s",
                flush=True,
            )
            for outcome in outcomes[:3]:
                print("   ", outcome, flush=True)
    print(f"{sys.implementation.name} {sys.version.split()[0]}: {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
