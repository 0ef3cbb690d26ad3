"""python -m fallow.pressure demo: five scenarios on a small device, and whether each held."""

import argparse
import json
import sys
import time

from fallow.pressure.demo_chart import draw
from fallow.pressure.demo_scenarios import SCENARIOS

EXPLANATION = """\
Plays, on a device of 64 MiB in software:

  dropped references  reference counting frees; nobody has to be asked
  true out of memory  one error, soon, with the facts; no collection at every retry
  GIL hand-off        while threads wait for the device, Python goes on
  cycles              garbage comes back although collection is disabled
  many threads        one collects for all, and nobody fails

Examples:
  python -m fallow.pressure demo
  python -m fallow.pressure demo --chart pressure.svg
  python -m fallow.pressure demo --json | jq '.scenarios[].verdict'

Exit codes: 0 when every scenario held, 1 when one did not, 2 for wrong usage."""

HEAD = f"{'scenario':<20}{'in use':>10}{'allocated':>11}{'failed':>8}{'responder runs':>16}{'gave':>10}"


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m fallow.pressure")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    demo = commands.add_parser(
        "demo",
        help="five scenarios on a small device",
        epilog=EXPLANATION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    demo.add_argument("--json", action="store_true", help="print one JSON object")
    demo.add_argument("--chart", metavar="FILE", help="write a picture, in SVG")
    return play(parser.parse_args(arguments))


def play(options):
    table = Table(enabled=not options.json)
    recorders = []
    for scenario in SCENARIOS:
        recorder = scenario(table.show)
        table.keep(recorder)
        recorders.append(recorder)
    held = all(recorder.held for recorder in recorders)
    if options.chart:
        try:
            with open(options.chart, "w", encoding="utf-8") as file:
                file.write(draw(recorders))
        except OSError as error:
            print(f"fallow.pressure demo: {error}", file=sys.stderr)
            return 1
    if options.json:
        print(json.dumps({"held": held, "scenarios": [each.as_dict() for each in recorders]}))
    else:
        print("All held." if held else "NOT ALL HELD.")
    return 0 if held else 1


class Table:
    """A line for each scenario; on a terminal the last one moves."""

    PERIOD = 0.05

    def __init__(self, enabled):
        self._enabled = enabled
        self._live = enabled and sys.stdout.isatty()
        self._next = 0.0
        if enabled:
            print(HEAD)

    def show(self, recorder):
        now = time.monotonic()
        if not self._live or now < self._next:
            return
        self._next = now + self.PERIOD
        print(f"\r{line_of(recorder)}", end="", flush=True)

    def keep(self, recorder):
        if not self._enabled:
            return
        start = "\r" if self._live else ""
        mark = "held" if recorder.held else "NOT HELD"
        print(f"{start}{line_of(recorder)}\n    {mark}: {recorder.verdict}", flush=True)


def line_of(recorder):
    used = recorder.use[-1][1] >> 20 if recorder.use else 0
    return (
        f"{recorder.title:<20}{used:>6} MiB{recorder.allocations:>11}{recorder.failures:>8}"
        f"{len(recorder.runs):>16}{recorder.freed >> 20:>6} MiB"
    )
