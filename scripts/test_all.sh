#!/usr/bin/env bash
# Builds and tests everything, section by section, and ends with "N passed, M failed".
#
#   scripts/test_all.sh          every build and every check
#   scripts/test_all.sh quick    the release build's tests and the fast checks
#
# Stops at the first section that fails, or goes through all of them with KEEP_GOING=1.
#
# shellcheck disable=SC2317  # section() receives the functions that it calls as arguments.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# See the Makefile: a build folder belongs to one CMake, wherever this script is started from.
export PATH="/usr/bin:/bin:${PATH}"

keep_going="${KEEP_GOING:-0}"
passed=0
failed=0

finish() {
  echo
  echo "${passed} passed, ${failed} failed"
  [[ "${failed}" -eq 0 ]]
  exit
}

# section <heading> <command...>: runs the command, times it, and stops the script if it fails.
section() {
  local heading="$1" start=${SECONDS} status=0
  shift
  printf '\n=== %s ===\n' "${heading}"
  "$@" || status=$?
  printf -- '--- %s: %s after %d s\n' \
    "${heading}" "$([[ ${status} -eq 0 ]] && echo ok || echo FAILED)" $((SECONDS - start))
  if [[ ${status} -ne 0 && "${keep_going}" != 1 ]]; then
    finish
  fi
}

# build <preset> [target...]: a step that is no test by itself counts only when it fails.
build() {
  local preset="$1"
  shift
  # CMake's warnings and errors go to the other stream.
  if ! cmake --preset "${preset}" >/dev/null ||
    ! cmake --build --preset "${preset}" ${1:+--target "$@"}; then
    failed=$((failed + 1))
    return 1
  fi
}

# run_tests <preset> [ctest options...]: runs the tests and adds them to the counts.
run_tests() {
  local preset="$1" report status=0 total failures skipped
  shift
  report="${PWD}/build/${preset}/test_report.xml"
  rm -f "${report}"
  ctest --preset "${preset}" --output-junit "${report}" "$@" || status=$?
  if [[ ! -s "${report}" ]]; then
    # CTest did not come as far as running anything.
    failed=$((failed + 1))
    return 1
  fi
  total="$(suite_attribute "${report}" tests)"
  failures="$(suite_attribute "${report}" failures)"
  skipped=$(($(suite_attribute "${report}" skipped) + $(suite_attribute "${report}" disabled)))
  passed=$((passed + total - failures - skipped))
  failed=$((failed + failures))
  if [[ ${status} -ne 0 && ${failures} -eq 0 ]]; then
    # CTest itself was not content: for example no test matched.
    failed=$((failed + 1))
  fi
  return "${status}"
}

# The attributes of the one <testsuite> element that CTest writes, each on a line or in a row.
suite_attribute() {
  sed -n '/<testsuite/,/>/p' "$1" | grep -oP -m1 "\b$2=\"\K[0-9]+" | head -n1
}

build_and_test() {
  build "$1" && run_tests "$@"
}

# The Python package, installed by pip; counted test by test.
python_package() {
  local report status=0 failures
  scripts/test_python.sh || status=$?
  for report in build/python-tests/*.xml; do
    [[ -e "${report}" ]] || continue
    failures=$(($(suite_attribute "${report}" failures) + $(suite_attribute "${report}" errors)))
    passed=$((passed + $(suite_attribute "${report}" tests) - failures -
      $(suite_attribute "${report}" skipped)))
    failed=$((failed + failures))
  done
  if [[ ${status} -ne 0 && ${failures:-0} -eq 0 ]]; then failed=$((failed + 1)); fi
  return "${status}"
}

# sanitized <preset> [ctest options...]: the library's tests but those of profiles, which take as long
# to build as all the others together.
sanitized() {
  build "$1" fallow_test_platform fallow_test_telemetry fallow_test_heap fallow_test_device &&
    run_tests "$@"
}

# Clang has compiled the other tests, warnings and all, for the sanitizers.
clang_release() {
  build clang-release fallow_test_codegen &&
    run_tests clang-release -R '^(codegen|compile_fail)\.'
}

section "release: build and all tests" build_and_test release -LE repository
section "source tree: format, includes, links" run_tests release -L repository -LE slow
if [[ "${1:-}" == quick ]]; then
  finish
fi
# The sanitized builds are checked builds too and stand in for the debug preset, which would repeat
# most of them. What they leave out (the tool, tests of memory refusal) runs unchecked only.
section "checked, clang, address and undefined-behaviour sanitizers" sanitized asan -E _NOT_BUILT
section "checked, clang, thread sanitizer" sanitized tsan
section "clang: machine code and compile failure tests" clang_release
section "Python package" python_package
section "installed package" run_tests release -R '^repository\.installed_package$'
section "clang-tidy" run_tests release -R '^repository\.clang_tidy$'
finish
