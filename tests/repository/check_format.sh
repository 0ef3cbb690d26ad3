#!/usr/bin/env bash
# Fails when a C++ file is not formatted as .clang-format says. `make format` repairs it.
set -euo pipefail
exec "$(dirname "${BASH_SOURCE[0]}")/../../scripts/format.sh" --check
