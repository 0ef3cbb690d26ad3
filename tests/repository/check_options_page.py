#!/usr/bin/env python3
"""Checks that docs/options.md is what the tool prints.  usage: check_options_page.py TOOL PAGE"""

import pathlib
import subprocess
import sys


def main() -> int:
    tool, page = sys.argv[1:]
    printed = subprocess.run([tool, "options"], capture_output=True, text=True, check=True).stdout
    if printed.strip() and printed.strip() in pathlib.Path(page).read_text(encoding="utf-8"):
        return 0
    print(f"{page} is out of date: put the output of '{tool} options' into it")
    return 1


if __name__ == "__main__":
    sys.exit(main())
