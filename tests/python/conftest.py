"""Shared by the tests of the Python package. They run against whatever `import fallow` finds."""

import pathlib
import subprocess
import sys

import pytest

SCENARIOS = pathlib.Path(__file__).with_name("scenarios.py")
# What a hang is. Generous: the machine may be busy, and all of these end within a second or two.
WATCHDOG_SECONDS = 90


def run_scenario(name, *arguments):
    """Runs one of scenarios.py in a process of its own, and returns what it printed."""
    command = [sys.executable, "-X", "faulthandler", str(SCENARIOS), name, *map(str, arguments)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=WATCHDOG_SECONDS)
    except subprocess.TimeoutExpired as expired:
        pytest.fail(f"{name} hangs; it had printed {expired.stdout!r} and {expired.stderr!r}")
    assert done.returncode == 0, f"{name} ended with {done.returncode}:\n{done.stdout}{done.stderr}"
    assert "Fatal Python error" not in done.stderr and "terminate called" not in done.stderr
    return done


@pytest.fixture
def scenario():
    return run_scenario
