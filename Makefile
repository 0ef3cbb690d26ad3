# Debian's own tools come first, so that a wrapper installed by pip or a version manager earlier on
# PATH does not decide which CMake and Ninja a build folder belongs to.
export PATH := /usr/bin:/bin:$(PATH)

.DEFAULT_GOAL := help
.PHONY: help deps deps-demo build demo test test-quick bench format docs clean

help:  ## List these targets
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

deps:  ## Install every Debian package that building and testing need
	@scripts/install_dependencies.sh test

deps-demo:
	@scripts/install_dependencies.sh demo

build:  ## Build the command line tool as build/release/fallow
	@cmake --preset release >/dev/null
	@cmake --build --preset release --target fallow_tool

demo: deps-demo build  ## Install what is missing, build, and run the demonstration
	@build/release/fallow demo

test: deps  ## Run every test in every build, and every check of the source tree
	@scripts/test_all.sh

test-quick: deps  ## Run the release build's tests and the fast checks of the source tree
	@scripts/test_all.sh quick

bench: build  ## Run the benchmarks
	@for name in $$(build/release/fallow bench --list | sed -nE 's/^  ([a-z-]+) .*/\1/p'); do \
	  build/release/fallow bench $$name --output build || exit 1; done

format:  ## Rewrite the C++ sources in the project's format
	@scripts/format.sh

docs:  ## Check that links between the documents lead somewhere
	@python3 tests/repository/check_doc_links.py

clean:  ## Remove everything that was built
	@rm -rf build
