#!/usr/bin/env python3
"""Compares the allocation loop as gcc and as clang compile it.

    bench/compare_compilers.py [--runs 5] [--n 100000000] [--json]

Builds the presets release and clang-release, runs `fallow bench alloc` of both in turns, and prints
the nanoseconds an object of each row, the medians over the turns, with clang's relation to gcc and,
beside it, the same relation for the hand-written loop: what the compilers differ by without fallow.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PRESETS = {"gcc": "release", "clang": "clang-release"}
METRIC = "ns_per_object"
VARIANTS = ("noinit", "init")
SUBJECTS = ("roofline", "live", "local", "cursor")


def build(preset: str) -> pathlib.Path:
    print(f"building {preset} …", file=sys.stderr)
    subprocess.run(["cmake", "--preset", preset], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(
        ["cmake", "--build", "--preset", preset, "--target", "fallow_tool"],
        cwd=ROOT,
        check=True,
        stdout=sys.stderr,
    )
    return ROOT / "build" / preset / "fallow"


def measure(tool: pathlib.Path, n: int) -> dict[str, float]:
    command = [str(tool), "bench", "alloc", "--json", "--runs", "1", "--n", str(n)]
    result = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return {row["name"]: row[METRIC] for row in json.loads(result.stdout)["rows"]}


def compare(runs: int, n: int) -> list[dict]:
    tools = {compiler: build(preset) for compiler, preset in PRESETS.items()}
    seen: dict[str, list[dict[str, float]]] = {compiler: [] for compiler in tools}
    for run in range(runs):
        for compiler, tool in tools.items():
            print(f"run {run + 1} of {runs}: {compiler}", file=sys.stderr)
            seen[compiler].append(measure(tool, n))
    rows = []
    for subject in SUBJECTS:
        for variant in VARIANTS:
            name = f"{subject}/{variant}"
            median = {
                compiler: statistics.median(each[name] for each in results)
                for compiler, results in seen.items()
            }
            rows.append(
                {
                    "name": name,
                    "gcc_ns_per_object": median["gcc"],
                    "clang_ns_per_object": median["clang"],
                    "clang_over_gcc": median["clang"] / median["gcc"],
                }
            )
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=5, help="turns of both (default 5)")
    parser.add_argument("--n", type=int, default=100_000_000, help="objects (default 10^8)")
    parser.add_argument("--json", action="store_true", help="JSON instead of a table")
    arguments = parser.parse_args()
    if arguments.runs < 1 or arguments.n < 1:
        parser.error("--runs and --n are at least 1")
    rows = compare(arguments.runs, arguments.n)
    if arguments.json:
        print(json.dumps({"bench": "compare_compilers", "rows": rows}, indent=1))
        return 0
    print(f"{'row':<17}{'gcc, ns':>9}{'clang, ns':>11}{'clang/gcc':>11}")
    for row in rows:
        print(
            f"{row['name']:<17}{row['gcc_ns_per_object']:>9.3f}"
            f"{row['clang_ns_per_object']:>11.3f}{row['clang_over_gcc']:>11.2f}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
