#!/usr/bin/env python3
"""Checks the rules about source files that no compiler checks.

  * A folder includes only from folders it may depend on (ALLOWED below, and the public headers).
  * A public header that a layer implements is not included from the layers below that one.
  * Preprocessor conditionals stay in src/platform, so that everything else is one program.
  * Every header starts its code with #pragma once.
  * No source file is longer than MAX_LINES.

    check_include_ladder.py              checks this repository
    check_include_ladder.py --self-test  checks that every rule finds what violates it
"""

import os
import pathlib
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
MAX_LINES = 500

# The layers in src/, from the bottom up. Those in one row do not know of each other.
LADDER = [["platform"], ["telemetry"], ["heap", "profile", "device"]]
LAYERS = [layer for row in LADDER for layer in row]

# What each unit may include besides itself and the public headers. Folders that are missing here
# (tests, fuzz) may include anything.
ALLOWED = {
    "public": set(),
    "platform": set(),
    "telemetry": {"platform"},
    "heap": {"platform", "telemetry"},
    "profile": {"platform", "telemetry"},
    "device": {"platform", "telemetry"},
    "bench": set(LAYERS),
    "tools": {*LAYERS, "bench"},
    "python": set(LAYERS),
    "torch": set(LAYERS),
    "examples": set(),
}

# Layers that use another one of their row, through its public headers alone: the recorder attaches
# itself to heaps.
MAY_USE = {"profile": {"heap"}}

FOLDERS = ["include", "src", "bench", "tools", "python", "torch", "examples", "tests", "fuzz"]
LINE_LIMIT_FOLDERS = [*FOLDERS, "scripts", "cmake"]
HEADERS = {".h", ".cuh"}
CXX = HEADERS | {".cpp", ".cu"}
TEXT = CXX | {".py", ".sh", ".cmake"}

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')
CONDITIONAL = re.compile(r"^\s*#\s*(?:if|ifdef|ifndef|elif|elifdef|elifndef)\b(.*)")
# The benchmarks leave out an allocator that is not installed: its header is not there to include.
PEER_CONDITION = re.compile(r"^\s*(?:!?\s*defined\s*\(?\s*)?FALLOW_BENCH_HAVE_[A-Z]+\s*\)?\s*$")


class Tree:
    """The source files below a root, and the rules they are held to."""

    def __init__(self, root: pathlib.Path):
        self.root = root

    def files(self, folders: list[str], suffixes: set[str]):
        for folder in folders:
            for directory, subfolders, names in os.walk(self.root / folder):
                # Build folders of the Python packages, and caches, hold no sources of ours.
                subfolders[:] = sorted(
                    name for name in subfolders if name not in {"build", "__pycache__"}
                )
                for name in sorted(names):
                    if pathlib.PurePath(name).suffix in suffixes:
                        yield pathlib.Path(directory) / name

    def unit(self, file: pathlib.Path) -> str:
        """The layer or top folder that a file belongs to."""
        parts = file.relative_to(self.root).parts
        if parts[0] == "include":
            return "public"
        return parts[1] if parts[0] == "src" else parts[0]

    def resolve(self, includer: pathlib.Path, text: str) -> pathlib.Path | None:
        """The file of this repository that an #include names, or None."""
        for base in (includer.parent, self.root / "include", self.root / "src", self.root):
            candidate = pathlib.Path(os.path.normpath(base / text))
            if candidate.is_file() and candidate.is_relative_to(self.root):
                return candidate
        return None

    def owner(self, header: pathlib.Path) -> str | None:
        """The lowest layer with a file named like a public header: the one that implements it."""
        for layer in LAYERS:
            if any((self.root / "src" / layer).rglob(f"{header.stem}.cpp")):
                return layer
        return None

    def include_problem(self, includer: pathlib.Path, text: str) -> str | None:
        unit = self.unit(includer)
        target = self.resolve(includer, text)
        if unit not in ALLOWED or target is None:
            return None
        target_unit = self.unit(target)
        if target_unit == "public":
            if unit == "examples" and "detail" in target.parts:
                return f"an example includes the private header {text}"
            owner = self.owner(target)
            if unit in LAYERS and owner not in {
                None, unit, *ALLOWED[unit], *MAY_USE.get(unit, set())
            }:
                return f"{unit} includes {text}, which {owner} implements"
            return None
        if target_unit != unit and target_unit not in ALLOWED[unit]:
            return f"{unit} must not include from {target_unit}: {text}"
        return None

    def conditional_problem(self, file: pathlib.Path, condition: str) -> str | None:
        unit = self.unit(file)
        if unit == "platform" or (unit == "bench" and PEER_CONDITION.match(condition)):
            return None
        return "preprocessor conditional outside src/platform"

    def problems(self):
        for file in self.files(FOLDERS, CXX):
            name = file.relative_to(self.root)
            lines = file.read_text(encoding="utf-8").splitlines()
            for number, line in enumerate(lines, start=1):
                problem = None
                if match := INCLUDE.match(line):
                    problem = self.include_problem(file, match[1])
                elif match := CONDITIONAL.match(line):
                    problem = self.conditional_problem(file, match[1])
                if problem:
                    yield f"{name}:{number}: {problem}"
            if file.suffix in HEADERS and "#pragma once" not in lines:
                yield f"{name}: a header without #pragma once"
        for file in self.files(LINE_LIMIT_FOLDERS, TEXT):
            length = len(file.read_text(encoding="utf-8").splitlines())
            if length > MAX_LINES:
                yield f"{file.relative_to(self.root)}: {length} lines, more than {MAX_LINES}"


# Each case: the files of a small tree, and a text that some reported problem must contain, or None
# where the tree is in order.
HEADER = "#pragma once\n"
SELF_TEST = [
    (
        {
            "include/fallow/heap.h": HEADER,
            "src/platform/pages.h": HEADER + "#if defined(__linux__)\n#endif\n",
            "src/telemetry/log.h": HEADER + '#include "platform/pages.h"\n',
            "src/heap/heap.cpp": '#include "fallow/heap.h"\n#include "telemetry/log.h"\n',
            "bench/churn.cpp": "#ifdef FALLOW_BENCH_HAVE_BOEHM\n#endif\n",
            "bench/churn.h": HEADER,
            "tools/fallow/main.cpp": '#include "bench/churn.h"\n#include <fallow/heap.h>\n',
        },
        None,
    ),
    (
        {"src/platform/a.h": HEADER + '#include "heap/b.h"\n', "src/heap/b.h": HEADER},
        "platform must not include from heap",
    ),
    (
        {"src/heap/a.h": HEADER + '#include "profile/b.h"\n', "src/profile/b.h": HEADER},
        "heap must not include from profile",
    ),
    (
        {"src/device/a.h": HEADER + '#include "../heap/b.h"\n', "src/heap/b.h": HEADER},
        "device must not include from heap",
    ),
    (
        {"src/heap/a.h": HEADER + '#  include <src/device/b.h>\n', "src/device/b.h": HEADER},
        "heap must not include from device",
    ),
    (
        {"include/fallow/a.h": HEADER + '#include "heap/b.h"\n', "src/heap/b.h": HEADER},
        "public must not include from heap",
    ),
    (
        {"bench/a.cpp": '#include "tools/fallow/b.h"\n', "tools/fallow/b.h": HEADER},
        "bench must not include from tools",
    ),
    (
        {
            "include/fallow/heap.h": HEADER,
            "src/heap/heap.cpp": "",
            "src/telemetry/a.cpp": "#include <fallow/heap.h>\n",
        },
        "telemetry includes fallow/heap.h, which heap implements",
    ),
    (
        {
            "include/fallow/detail/a.h": HEADER,
            "examples/hello/hello.cpp": "#include <fallow/detail/a.h>\n",
        },
        "an example includes the private header",
    ),
    ({"src/heap/a.cpp": "#ifdef DEBUG\n#endif\n"}, "src/heap/a.cpp:1: preprocessor conditional"),
    ({"include/fallow/a.h": HEADER + " # if 1\n"}, "preprocessor conditional"),
    ({"bench/a.cpp": "#if defined(NDEBUG)\n#endif\n"}, "preprocessor conditional"),
    ({"tests/heap/a_test.cpp": "#if 0\n#endif\n"}, "preprocessor conditional"),
    ({"src/heap/a.h": "int a();\n"}, "without #pragma once"),
    ({"scripts/a.sh": "\n" * (MAX_LINES + 1)}, "501 lines"),
]


def self_test() -> int:
    failures = 0
    for files, expected in SELF_TEST:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder).resolve()
            for name, text in files.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text, encoding="utf-8")
            found = list(Tree(root).problems())
        wrong = found if expected is None else not any(expected in problem for problem in found)
        if wrong:
            failures += 1
            print(f"in a tree of {sorted(files)}\n  expected: {expected}\n  found: {found}")
    print(f"{len(SELF_TEST) - failures} of {len(SELF_TEST)} cases as expected")
    return 1 if failures else 0


def main(arguments: list[str]) -> int:
    if arguments == ["--self-test"]:
        return self_test()
    problems = list(Tree(ROOT).problems())
    print("\n".join(problems) or "Every source file keeps the rules.")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
