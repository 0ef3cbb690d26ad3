#!/usr/bin/env bash
# Installs the Debian packages that fallow needs. Does nothing when they are all there.
#
#   scripts/install_dependencies.sh demo    what building and running the tool needs
#   scripts/install_dependencies.sh test    that, and what the whole test suite needs (default)
#
# FALLOW_SKIP_DEPENDENCIES=1 makes it succeed without looking, for a machine whose dependencies were
# installed in another way.
set -euo pipefail

demo_packages=(
  g++ cmake ninja-build pkg-config libcli11-dev libfmt-dev nlohmann-json3-dev
  libdw-dev libelf-dev libxxhash-dev libzstd-dev zlib1g-dev
)
test_packages=(
  clang-19 clang-format-19 clang-tidy-19 libclang-rt-19-dev libgtest-dev librapidcheck-dev
  valgrind python3 python3-dev python3-venv binutils libmimalloc-dev libgc-dev git
)

fail() {
  printf 'install_dependencies: %s\n' "$@" >&2
  exit 1
}

if [[ "${FALLOW_SKIP_DEPENDENCIES:-0}" == 1 ]]; then
  exit 0
fi

case "${1:-test}" in
  demo) packages=("${demo_packages[@]}") ;;
  test) packages=("${demo_packages[@]}" "${test_packages[@]}") ;;
  *) fail "unknown set '$1': say demo or test" ;;
esac

if ! command -v dpkg-query >/dev/null; then
  fail "this is not a Debian system. Install the equivalents of these packages:" \
    "  ${packages[*]}" "and set FALLOW_SKIP_DEPENDENCIES=1."
fi

# That dpkg-query exits with 1 when it does not know a package is an answer and not an error.
installed="$(dpkg-query --show --showformat='${Package} ${db:Status-Status}\n' "${packages[@]}" \
  2>/dev/null || true)"
missing=()
for package in "${packages[@]}"; do
  if ! grep -qxF "${package} installed" <<<"${installed}"; then
    missing+=("${package}")
  fi
done
if [[ ${#missing[@]} -eq 0 ]]; then
  exit 0
fi
echo "Missing packages: ${missing[*]}"

# A subshell, because os-release sets many variables of its own.
# shellcheck source=/dev/null
system="$(. /etc/os-release && echo "${ID:-unknown} ${VERSION_ID:-}")"
case "${system}" in
  "debian 12" | "debian 13") ;;
  *)
    fail "this script knows Debian 12 and 13, and this is '${system}'. Install the packages above" \
      "and set FALLOW_SKIP_DEPENDENCIES=1."
    ;;
esac

as_root=()
if [[ "$(id -u)" -ne 0 ]]; then
  command -v sudo >/dev/null \
    || fail "installing packages needs root, and there is no sudo. As root, run:" \
      "  apt-get install ${missing[*]}"
  as_root=(sudo)
fi

install_missing() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install --yes --no-install-recommends "${missing[@]}"
}

echo "Installing with apt-get: ${missing[*]}"
# Package lists that are absent or out of date show as a failed installation. Only then are they
# fetched, since that takes longer than anything else here.
if ! install_missing; then
  echo "Refreshing the package lists and trying again"
  "${as_root[@]}" apt-get update
  install_missing
fi
