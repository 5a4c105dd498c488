# A thin face for Meson and Ninja. `make` builds everything into build/, `make test` runs what CI
# runs, `make demo` trains a small language model on eight virtual devices.
BUILD ?= build
ROOT := $(CURDIR)
PYTHON := $(ROOT)/.venv/bin/python
SETUP_ARGS = --prefix=$(ROOT)/$@ --libdir=lib --bindir=bin
RELEASE := -Ddebug=false -Doptimization=2 -Db_ndebug=true
# Warnings are errors here and in CI, not where others build with a compiler of theirs; and not in
# instrumented code, which makes gcc warn of what is not there.
STRICT := -Dwerror=true
SANITIZE := -Dbuildtype=debugoptimized -Db_lundef=false
# Where `make install` puts things; as usual, DESTDIR=/somewhere goes in front.
PREFIX ?= /usr/local

.PHONY: all setup build configured lib install dist deb clang asan ubsan tsan msan musl test test-all demo bench format check clean help
all: build

help:
	@echo "make            programs in build/bin, libraries in build/lib, Python in .venv"
	@echo "make lib        what is installed, into build-lib; no packages needed but a compiler's and Meson"
	@echo "make install    the same, into PREFIX (/usr/local) below DESTDIR"
	@echo "make deb        Debian packages of the same, in build-deb"
	@echo "make dist       a tarball of the sources, in build-lib/meson-dist"
	@echo "make test       what CI runs; test-all adds the slow ones"
	@echo "make demo       trains a small language model in JAX on eight virtual devices"
	@echo "make bench      speed beside XLA:CPU, as a table and a page; BENCH=--quick: two minutes"
	@echo "make asan|ubsan|tsan|msan|clang|musl   another build, in build-asan and so on, and its unit tests"
	@echo "make aarch64    the same for aarch64 under qemu-user, with lit and corpus"
	@echo "make format     clang-format over the tree;  make check  include table, sizes"

setup:
	@tools/setup

build: setup
	@test -f $(BUILD)/build.ninja || meson setup $(BUILD) --prefix=$(ROOT)/$(BUILD) --libdir=lib \
	  --bindir=bin $(RELEASE) $(STRICT)
	@ninja -C $(BUILD)
	@test -L $(BUILD)/lib/libterrazzo.so || rm -f $(BUILD)/lib/libterrazzo.so
	@meson install -C $(BUILD) --no-rebuild --quiet

# Without tests, so smaller; for these neither Debian's packages nor Python's are installed.
configured:
	@test -f build-lib/build.ninja || meson setup build-lib --prefix=$(PREFIX) $(RELEASE) -Dtests=false
	@test "$$(meson introspect build-lib --buildoptions | tr '{' '\n' | sed -n \
	  's/.*"name": "prefix", "value": "\([^"]*\)".*/\1/p')" = "$(PREFIX)" || \
	  meson configure build-lib --prefix=$(PREFIX)

lib: configured
	@ninja -C build-lib

install: lib
	@meson install -C build-lib --no-rebuild --strip --quiet $(if $(DESTDIR),--destdir=$(DESTDIR))

dist: configured
	@meson dist -C build-lib --no-tests --allow-dirty

# Needs debhelper, besides.
deb:
	@rm -rf build-deb && mkdir -p build-deb/terrazzo
	@{ git ls-files -co --exclude-standard; } | tar -c -T - | tar -x -C build-deb/terrazzo
	@cd build-deb/terrazzo && dpkg-buildpackage -us -uc -b
	@ls build-deb/*.deb

# Other configurations: build-asan, build-clang, ... each with its own programs under bin/.
build-clang build-release build-asan build-ubsan build-tsan build-msan build-musl build-aarch64: setup
	@test -f $@/build.ninja || $(CONFIGURE_$@) meson setup $@ $(SETUP_ARGS) $(OPTIONS_$@)
	@ninja -C $@
	@test -L $@/lib/libterrazzo.so || rm -f $@/lib/libterrazzo.so
	@meson install -C $@ --no-rebuild --quiet
.PHONY: build-clang build-release build-asan build-ubsan build-tsan build-msan build-musl build-aarch64
CONFIGURE_build-clang := CC=clang
OPTIONS_build-clang := $(RELEASE) $(STRICT)
# Debian's musl-tools.
CONFIGURE_build-musl := CC=musl-gcc
OPTIONS_build-musl := $(RELEASE)
OPTIONS_build-release := --buildtype=release $(STRICT)
OPTIONS_build-asan := $(SANITIZE) -Db_sanitize=address,undefined
OPTIONS_build-ubsan := $(SANITIZE) -Db_sanitize=undefined
OPTIONS_build-tsan := $(SANITIZE) -Db_sanitize=thread
# Memory that is read before it is written; only clang has it.
CONFIGURE_build-msan := CC=clang
OPTIONS_build-msan := $(SANITIZE) -Db_sanitize=memory -Dc_args=-fsanitize-memory-track-origins

# For another machine: built by Debian's gcc-aarch64-linux-gnu, run by qemu-user.
EMULATOR := qemu-aarch64 -L /usr/aarch64-linux-gnu
OPTIONS_build-aarch64 := $(RELEASE) --cross-file packaging/aarch64.ini
aarch64: build-aarch64
	@TERRAZZO_TEST_LIMIT=3600 $(PYTHON) tests/run --build build-aarch64 --under "$(EMULATOR)" \
	  unit lit corpus
.PHONY: aarch64

clang asan ubsan tsan msan musl: %: build-%
	@$(PYTHON) tests/run --build build-$* unit
asan: asan-inputs
asan-inputs: build-asan
	@TERRAZZO_TEST_LIMIT=3600 $(PYTHON) tests/run --build build-asan lit inputs
.PHONY: asan-inputs

test: build build-clang
	@$(PYTHON) tests/run --build $(BUILD)

test-all: build build-clang build-asan build-tsan
	@tools/setup libraries
	@$(PYTHON) tests/run --build $(BUILD) --all

demo: build
	@$(PYTHON) examples/train_lm/demo.py

bench: build
	@ninja -C $(BUILD) noop.so
	@$(PYTHON) bench/bench.py $(BENCH)

format:
	@git ls-files '*.c' '*.h' | xargs clang-format -i

check check-includes:
	@tools/check-includes

clean:
	rm -rf build build-lib build-deb build-clang build-release build-asan build-ubsan build-tsan build-msan build-musl build-aarch64
