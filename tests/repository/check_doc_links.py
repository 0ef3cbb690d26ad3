#!/usr/bin/env python3
"""Fails when a Markdown file links to a file in this repository that does not exist."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
CODE_BLOCK = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
SKIPPED_FOLDERS = {"build", ".git", ".venv"}


def broken_links(root: pathlib.Path):
    for document in sorted(root.rglob("*.md")):
        if SKIPPED_FOLDERS.intersection(document.relative_to(root).parts):
            continue
        text = CODE_BLOCK.sub("", document.read_text(encoding="utf-8"))
        for target in LINK.findall(text):
            if re.match(r"[a-z]+:", target) or target.startswith("#"):
                continue
            if not (document.parent / target.split("#")[0]).exists():
                yield f"{document.relative_to(root)}: no such file: {target}"


def main() -> int:
    problems = list(broken_links(ROOT))
    print("\n".join(problems) or "Every link between the documents leads somewhere.")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
