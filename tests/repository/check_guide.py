#!/usr/bin/env python3
"""Compiles every block of C++ in a document.

usage: check_guide.py DOCUMENT -- COMPILER [OPTION...]

Each block fenced with ```cpp must be a translation unit of its own. Exit code 1 names the first
block that does not compile; 2 when the document has no block at all.
"""

import pathlib
import re
import subprocess
import sys


def main() -> int:
    split = sys.argv.index("--")
    document, compiler = pathlib.Path(sys.argv[1]), sys.argv[split + 1 :]
    text = document.read_text(encoding="utf-8")
    blocks = list(re.finditer(r"^```cpp\n(.*?)^```", text, re.DOTALL | re.MULTILINE))
    if not blocks:
        print(f"{document}: no block of C++ found")
        return 2
    for block in blocks:
        line = text.count("\n", 0, block.start()) + 2
        source = f'#line {line} "{document}"\n{block.group(1)}'
        result = subprocess.run(
            [*compiler, "-fsyntax-only", "-x", "c++", "-"], input=source, text=True, check=False
        )
        if result.returncode != 0:
            print(f"{document}:{line}: this block does not compile")
            return 1
    print(f"{document}: {len(blocks)} blocks compile")
    return 0


if __name__ == "__main__":
    sys.exit(main())
