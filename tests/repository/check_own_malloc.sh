#!/usr/bin/env bash
# Fails when the tool's malloc comes from a library that is linked only to be compared with: every
# benchmark would then measure that library.
set -euo pipefail

tool="${1:?usage: check_own_malloc.sh <path of the tool>}"

bindings="$(LD_BIND_NOW=1 LD_DEBUG=bindings "${tool}" --version 2>&1 >/dev/null \
  | grep -E 'symbol .(malloc|free|_Znwm|_ZdlPv)'\' || true)"
if ! grep -q 'malloc' <<<"${bindings}"; then
  echo "The dynamic linker reported no binding of malloc: this check no longer works" >&2
  exit 1
fi
if grep -E 'to [^ ]*libmimalloc' <<<"${bindings}"; then
  echo "The allocator above replaces the C library's in ${tool}" >&2
  exit 1
fi
