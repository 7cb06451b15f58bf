# Every target installs what it needs first; `make help` lists them.

.DEFAULT_GOAL := help
SHELL := /bin/bash
PRESET ?= dev
FUZZ_SECONDS ?= 600

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: setup
setup: ## install the Debian packages that are missing
	@tools/setup

# Configures and builds one preset: $(call build,preset,targets)
define build
	@tools/setup $(if $(filter asan tsan fuzz,$(1)),--lint)
	@[ -f build/$(1)/build.ninja ] || cmake --preset $(1)
	@cmake --build --preset $(1) $(if $(2),--target $(2))
endef

.PHONY: build
build: ## build the release binary, build/release/berth
	$(call build,release,berth)

.PHONY: run
run: ## build and start berth on its embedded control plane
	$(call build,release,berth)
	@tools/run

.PHONY: test
test: ## build and run all tests
	$(call build,$(PRESET))
	@tools/test $(PRESET)

.PHONY: conformance
conformance: ## compare with cases recorded from kube-scheduler; FILES=... for others than the project's own
	$(call build,dev,berth)
	@build/dev/berth conformance $(or $(FILES),test/conformance/*.jsonl.gz)

.PHONY: bench
bench: ## measure, beside the Go code where Go is installed
	$(call build,release,berth berth_benchmarks)
	@tools/bench $(BENCH)

.PHONY: bench-upstream
bench-upstream: ## run the workloads of Kubernetes' scheduler_perf (needs Go); FLAGS=... as berth bench takes them
	$(call build,release,berth)
	@tools/bench-upstream $(FLAGS)

.PHONY: e2e
e2e: ## run the scenarios on a real Kubernetes control plane (needs Go)
	$(call build,release,berth)
	@tools/e2e $(SCENARIO)

.PHONY: format
format: ## format the sources in place
	@tools/setup --lint
	@git ls-files '*.h' '*.cpp' | xargs -r clang-format-19 -i

.PHONY: lint
lint: ## check format and run clang-tidy
	@tools/setup --lint
	@tools/lint

.PHONY: asan
asan: ## run the tests under the address and undefined behaviour sanitizers
	$(call build,asan)
	@tools/test asan

.PHONY: tsan
tsan: ## run the tests under the thread sanitizer
	$(call build,tsan)
	@tools/test tsan

.PHONY: fuzz
fuzz: ## fuzz each decoder for FUZZ_SECONDS seconds (FUZZ=name for one)
	$(call build,fuzz,berth_fuzzers)
	@tools/fuzz $(FUZZ_SECONDS) $(FUZZ)

.PHONY: soak
soak: ## simulate for MINUTES minutes (10) with ever new seeds
	$(call build,release,berth)
	@build/release/berth simulate --minutes $(or $(MINUTES),10)

.PHONY: clean
clean: ## remove what was built
	@rm -rf build
