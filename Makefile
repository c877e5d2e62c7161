# `make up` runs everything on this machine; `make test` proves it on real servers.

CARGO  ?= cargo
ARGS   ?=
PREFIX ?= /usr/local
TARGET  = $(or $(CARGO_TARGET_DIR),target)
PROGRAM ?= $(TARGET)/release/hyperfleet

.PHONY: help up test check scenarios soak fleet bench build install place clean

help: ## Show this
	@awk -F ':.*## ' '/^[a-z]+:.*## /{ printf "  make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

up: ## Build, start everything in one process, and watch a first cluster become Ready (ARGS=… for flags)
	@dev/install postgresql || true
	$(CARGO) build --profile up -p hyperfleet
	@$(TARGET)/up/hyperfleet up --demo $(ARGS)

test: ## Run every test; installs and starts the servers it needs
	@dev/test

check: ## Formatting, lints and docs
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --features hyperfleet/all-brokers,hyperfleet/profiling,hyperfleet/heap-profiling --quiet -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --features hyperfleet/all-brokers --no-deps --quiet
	$(CARGO) run --quiet -p hyperfleet --features all-brokers -- reference markdown | diff -u docs/cli.md -

scenarios: ## Everything the whole system promises, with parts killed on real servers, and a check of the history
	$(CARGO) build -p hyperfleet
	HYPERFLEET_ALL_SCENARIOS=1 $(CARGO) test -p e2e --test scenarios

soak: ## Random work and random faults on real servers for MINUTES (10), then a check of the history
	$(CARGO) build -p hyperfleet
	HYPERFLEET_SOAK_MINUTES=$${MINUTES:-10} $(CARGO) test -p e2e --test soak

fleet: ## CLUSTERS (200) at once on real servers: how long they take, what the processes weigh
	$(CARGO) build -p hyperfleet
	HYPERFLEET_FLEET=$${CLUSTERS:-200} $(CARGO) test -p e2e --test soak

bench: ## Measure, and print the figures with their method
	$(CARGO) bench --workspace --benches
	@dev/bench-compare
	$(CARGO) build --release -p hyperfleet -p hyperfleet-bench
	@$(TARGET)/release/hyperfleet-bench api --start $(TARGET)/release \
	  --clusters 2000 --report-clusters 500 --duration 2s

build: ## The release binary: target/release/hyperfleet, with every broker
	$(CARGO) build --release -p hyperfleet --features all-brokers,profiling

install: build place ## The program, its man pages and shell completions, below PREFIX (/usr/local) and DESTDIR

# What is installed, from a PROGRAM that is built already.
SHARE = $(DESTDIR)$(PREFIX)/share
place:
	install -D $(PROGRAM) $(DESTDIR)$(PREFIX)/bin/hyperfleet
	install -d $(SHARE)/man/man1 $(SHARE)/bash-completion/completions $(SHARE)/zsh/site-functions \
	  $(SHARE)/fish/vendor_completions.d
	$(PROGRAM) reference man $(SHARE)/man/man1
	$(PROGRAM) completion bash > $(SHARE)/bash-completion/completions/hyperfleet
	$(PROGRAM) completion zsh > $(SHARE)/zsh/site-functions/_hyperfleet
	$(PROGRAM) completion fish > $(SHARE)/fish/vendor_completions.d/hyperfleet.fish

clean: ## Remove what was built and the local data directory
	$(CARGO) clean
	rm -rf .hyperfleet
