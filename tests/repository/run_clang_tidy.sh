#!/usr/bin/env bash
# Runs clang-tidy over the library and the tool, as the given build folder compiles them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

build_dir="${1:?usage: run_clang_tidy.sh <build folder>}"

# run-clang-tidy prints the full command line of every file; only findings are worth reading.
output="$(mktemp)"
trap 'rm -f "${output}"' EXIT
if ! run-clang-tidy-19 -quiet -j 2 -p "${build_dir}" "^${PWD}/(src|tools)/.*\.cpp$" \
  >"${output}" 2>&1; then
  grep -vE '^(\[[ 0-9/]+\].*|clang-tidy-19 .*|[0-9]+ warnings? generated.*)$' "${output}" || true
  exit 1
fi
