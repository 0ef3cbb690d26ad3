#!/usr/bin/env bash
# Formats the C++ sources in place, or with --check reports those that are not formatted.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

case "${1:-}" in
  "") mode=(-i) ;;
  --check) mode=(--dry-run -Werror) ;;
  *)
    echo "usage: scripts/format.sh [--check]" >&2
    exit 2
    ;;
esac

# Files that are not yet added count too; files that are deleted but not yet committed do not.
git ls-files -z --cached --others --exclude-standard -- '*.h' '*.cpp' '*.cu' '*.cuh' \
  | while IFS= read -r -d '' file; do
    [[ -e "${file}" ]] && printf '%s\0' "${file}"
  done \
  | xargs -0 --no-run-if-empty clang-format-19 "${mode[@]}"
