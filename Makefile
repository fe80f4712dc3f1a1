# The front door. A target says what it needs and calls a script; the scripts are short, read them.
# V=1 shows every command. BOOTSTRAP=true leaves packages alone.

PREFIX       ?= /usr/local
FUZZ_SECONDS ?= 60
WERROR       ?= true
BOOTSTRAP    ?= scripts/bootstrap
export V PREFIX DESTDIR FUZZ_SECONDS WERROR

.PHONY: build demo test bench torture lint fuzz coverage promises install clean help
.NOTPARALLEL:

build:     ## the program, build/inferom; what plain `make` does (WERROR=false for other compilers)
	@$(BOOTSTRAP) build
	@scripts/build build

demo: build ## record a program that knows its answer; files in ./demo
	@scripts/demo

test:      ## every test, with and without sanitizers; ends with the totals
	@$(BOOTSTRAP) test
	@scripts/test

bench:     ## what we promise about our own cost
	@$(BOOTSTRAP) bench
	@scripts/build build-release
	@python3 tests/bench/run.py build-release

torture:   ## what a recorder meets on a bad day, in full; about half an hour
	@$(BOOTSTRAP) torture
	@scripts/build build
	@scripts/torture

lint:      ## gcc, clang, clang-tidy, cppcheck and shellcheck; all clean
	@$(BOOTSTRAP) lint
	@scripts/lint

fuzz:      ## hunt for bad inputs, FUZZ_SECONDS=60 for each reader
	@$(BOOTSTRAP) fuzz
	@scripts/fuzz

coverage:  ## which lines and branches the tests reach
	@$(BOOTSTRAP) coverage
	@scripts/coverage src/base src/model src/formats

promises:  ## which promises the last `make test` proved
	@python3 tests/promises.py

install:   ## an optimised build into PREFIX=/usr/local, below DESTDIR when set
	@$(BOOTSTRAP) build
	@scripts/build build-release
	@meson install -C build-release --no-rebuild

clean:     ## everything that was built or made by the demo
	@rm -rf build build-* demo

help:      ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' Makefile
