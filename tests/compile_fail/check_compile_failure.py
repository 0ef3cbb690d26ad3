#!/usr/bin/env python3
"""Compiles one source file and checks that it fails with the message it announces.

    check_compile_failure.py SOURCE -- COMPILER [FLAG...]

The first line of SOURCE is `// expect: REGEX`, matched against the compiler's error and note lines.
A source named *_ok.cpp must compile instead: without such files, a wrong flag here would make
every other test of this kind succeed.
"""

import pathlib
import re
import subprocess
import sys

MARKER = "// expect: "
# Only these lines carry the compiler's own words. The others quote the source, in which the
# expected text may well occur.
DIAGNOSTIC = re.compile(r"(fatal error|error|note): ")


def check(source: pathlib.Path, compiler: list[str]) -> str | None:
    """Returns what is wrong, or None."""
    result = subprocess.run(
        [*compiler, "-fsyntax-only", "-fdiagnostics-color=never", str(source)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if source.stem.endswith("_ok"):
        if result.returncode != 0:
            return f"should compile, but the compiler said:\n{result.stdout}"
        return None

    first_line = source.read_text(encoding="utf-8").partition("\n")[0]
    if not first_line.startswith(MARKER):
        return f"the first line must be `{MARKER}REGEX`"
    expected = first_line.removeprefix(MARKER).strip()
    if result.returncode == 0:
        return f"compiles, but should fail with: {expected}"
    diagnostics = [line for line in result.stdout.splitlines() if DIAGNOSTIC.search(line)]
    if any("fatal error" in line for line in diagnostics):
        return f"fails before it can be judged:\n{result.stdout}"
    if not any(re.search(expected, line) for line in diagnostics):
        return f"fails, but no message matches {expected!r}:\n{result.stdout}"
    return None


def main(arguments: list[str]) -> int:
    if len(arguments) < 3 or arguments[1] != "--":
        print(__doc__, file=sys.stderr)
        return 2
    problem = check(pathlib.Path(arguments[0]), arguments[2:])
    if problem:
        print(f"{arguments[0]}: {problem}")
    return 1 if problem else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
