#!/usr/bin/env bash
# Installs the Python package with pip and tests it, in a virtual environment below build/python-tests/.
#
#   scripts/test_python.sh           the system's python3, and those that are named by
#       FALLOW_PYTHONS="python3.12 /opt/python3.13/bin/python3"
#       FALLOW_FT_PYTHON=/opt/python3.14t/bin/python3     a build without the GIL
#   scripts/test_python.sh --runs N  in addition, each shutdown case N times (default 3)
#
# pip fetches nanobind and scikit-build-core (to build) and pytest and numpy (to test) from PyPI or
# wherever pip's configuration says, the first time. A report of each Python is left in
# build/python-tests/*.xml.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# See the Makefile: Debian's own tools come first.
export PATH="/usr/bin:/bin:${PATH}"

runs=3
if [[ "${1:-}" == --runs && $# -eq 2 ]]; then
  runs="$2"
elif [[ $# -ne 0 ]]; then
  sed -n '2,12s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
  exit 2
fi

folder="${PWD}/build/python-tests"
mkdir -p "${folder}"
rm -f "${folder}"/*.xml

# install <environment> <python>: the package and what its tests need.
install() {
  local environment="$1"
  local pip=("${environment}/bin/python" -m pip --disable-pip-version-check)
  # Without isolation the build folder stays valid from one run to the next.
  "$2" -m venv "${environment}" \
    && "${pip[@]}" install --quiet 'nanobind>=2.4' 'scikit-build-core>=0.10' 'pytest>=7' numpy \
    && "${pip[@]}" install --quiet --no-build-isolation --no-deps --force-reinstall \
      --config-settings=build-dir="build/python/${environment##*/}" \
      --config-settings=cmake.define.FALLOW_WERROR=ON . && return
  printf '%s\n' "test_python: pip could not install the package for $2." \
    "It needs nanobind, scikit-build-core, pytest and numpy from PyPI or a configured index." >&2
  return 1
}

# test_with <python>: names its environment after the version.
test_with() {
  local tag
  tag="$("$1" -c 'import sys; print("%d.%d.%d" % sys.version_info[:3] + sys.abiflags)')"
  echo "CPython ${tag}: $1"
  # The installed package is tested: nothing of the source tree is on the path but the tests.
  install "${folder}/${tag}" "$1" \
    && "${folder}/${tag}/bin/python" -m pytest --quiet -p no:cacheprovider tests/python \
      --junit-xml="${folder}/${tag}.xml" \
    && "${folder}/${tag}/bin/python" tests/python/repeat_shutdown.py --runs "${runs}"
}

status=0
for python in python3 ${FALLOW_PYTHONS:-} ${FALLOW_FT_PYTHON:-}; do
  test_with "${python}" || status=1
done
exit "${status}"
