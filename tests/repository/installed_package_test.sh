#!/usr/bin/env bash
# Installs the given build into an empty prefix, then builds and runs examples/hello against it in
# both ways that the documentation offers: CMake's find_package and pkg-config.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

build_dir="${1:?usage: installed_package_test.sh <build folder>}"
work="$(mktemp -d)"
trap 'rm -rf "${work}"' EXIT
prefix="${work}/prefix"

cmake --install "${build_dir}" --prefix "${prefix}" >/dev/null

echo "find_package:"
cmake -S examples/hello -B "${work}/hello" -G Ninja -DCMAKE_PREFIX_PATH="${prefix}" \
  -DCMAKE_BUILD_TYPE=Release --log-level=WARNING
cmake --build "${work}/hello"
"${work}/hello/hello"

echo "pkg-config:"
pkgconfig_dir="$(dirname "$(find "${prefix}" -name fallow.pc)")"
read -ra flags <<<"$(PKG_CONFIG_PATH="${pkgconfig_dir}" pkg-config --cflags --libs fallow)"
"${CXX:-c++}" -std=c++20 examples/hello/hello.cpp "${flags[@]}" -o "${work}/hello_pkg_config"
"${work}/hello_pkg_config"
