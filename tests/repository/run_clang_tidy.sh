#!/usr/bin/env bash
# Runs clang-tidy over the library and the tool, as the given build folder compiles them. What writes
# and reads recordings, and the commands on them, are left out: not all of it satisfies the checks yet.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

build_dir="${1:?usage: run_clang_tidy.sh <build folder>}"
recordings="(diff|export|leaks|one_file|pauses|quantity|record|site_names|survival|top|view)"

# run-clang-tidy prints the full command line of every file; only findings are worth reading.
output="$(mktemp)"
trap 'rm -f "${output}"' EXIT
if ! run-clang-tidy-19 -quiet -j 2 -p "${build_dir}" "^${PWD}/(src/(?!profile/)|tools/fallow/(?!${recordings})).*\.cpp$" \
  >"${output}" 2>&1; then
  grep -vE '^(\[[ 0-9/]+\].*|clang-tidy-19 .*|[0-9]+ warnings? generated.*)$' "${output}" || true
  exit 1
fi
