# The commands that matter are `make run` and `make test`. Both install what is missing first.
SWIFT ?= swift
EMULATOR = .build/release/apns-emulator
RELEASE = SWIFT="$(SWIFT)" .ci/swift build -c release -debug-info-format none

.PHONY: help run cluster test check mutants bench format dashboard pictures fuzz sanitize build build-bench lint conformance drills api crash hostile torture soak dist dist-test clean

help: ## this list
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1\t\2/p' Makefile | expand -t 20

run: build ## build and start the emulator; more flags with ARGS="--history 100"
	@exec $(EMULATOR) serve $(ARGS)

cluster: build ## three nodes on a NATS server, as one emulator, until Ctrl-C
	@.ci/install cluster
	@exec .ci/cluster

test: ## style, build without warnings, our tests, other people's clients
	@.ci/install test
	@.ci/test

check: ## builds what has changed and runs the tests without sockets; ONLY=Broker for the tests of one module, NAMES=Slot for some of them
	@.ci/install run
	@.ci/check "$(ONLY)" "$(NAMES)"

mutants: ## twenty small faults, drawn by a seed: do the tests find them? ARGS="--list", "--seed 2 --full"
	@.ci/install run
	@python3 Tests/Mutants/mutants.py $(ARGS)

bench: build-bench ## load generators, each beside the limit of what the machine can do
	@.ci/install bench
	@exec $(EMULATOR)-bench $(ARGS)

format: ## lay out all sources as .swift-format says
	@SWIFT="$(SWIFT)" .ci/swift format --in-place --recursive --parallel Sources Tests Package.swift

dashboard: ## take the files of Sources/Dashboard/Web over into the Swift source that the binary has them from
	@.ci/embed

pictures: build ## draw the pictures of Documentation anew; PICTURES="tokens faults" for some
	@.ci/install test
	@Tests/Conformance/run --binary $(EMULATOR) --python pictures.py $(PICTURES)

fuzz: ## a minute of bad input for each decoder, under the address sanitizer; FUZZ_SECONDS=600 for more
	@.ci/install run
	@.ci/fuzz

sanitize: ## our own tests under the address and the thread sanitizer; SANITIZERS=thread for one
	@.ci/install run
	@.ci/sanitize $(SANITIZERS)

build: ## a release build
	@.ci/install run
	@$(RELEASE) --product apns-emulator

build-bench: build
	@$(RELEASE) --product apns-emulator-bench

lint: ## the style check alone
	@SWIFT="$(SWIFT)" .ci/swift format lint --strict --recursive --parallel Sources Tests Package.swift

conformance: build-bench ## other people's clients against the release build; PYTEST="-k php" for some, WORKERS=2 for two at a time
	@.ci/install test
	@Tests/Conformance/run --binary $(EMULATOR) --workers $${WORKERS:-1} -- $(PYTEST)

drills: build ## other people's libraries when something goes wrong, into Documentation/libraries.md; ARGS="aioapns pushjack" for some
	@.ci/install drills
	@Tests/Conformance/run --binary $(EMULATOR) --python ../Drills/run.py $(ARGS)

api: build ## the console's API against its description, at length; API_EXAMPLES=500 for more random requests, API_SEED=2 for others
	@.ci/install test
	@API_EXAMPLES=$${API_EXAMPLES:-100} Tests/Conformance/run --binary $(EMULATOR) -- Tests/Conformance/test_api.py

crash: build ## two hundred rounds of kill -9; CRASH_ROUNDS=1000 for more
	@.ci/install test
	@CRASH_ROUNDS=$${CRASH_ROUNDS:-200} Tests/Conformance/run --binary $(EMULATOR) -- -k crash -s

hostile: build ## every known attack beside a healthy peer, as a table; ARGS="--seconds 20 HPACK" for longer ones or some
	@.ci/install test
	@Tests/Conformance/run --binary $(EMULATOR) --python hostile/table.py $(ARGS)

torture: build ## calls of the system, OpenSSL and malloc that fail, one at a time; ARGS="--samples 200 SSL_read" for more or some
	@.ci/install test
	@Tests/Conformance/run --binary $(EMULATOR) --python torture/torture.py $(ARGS)

soak: build ## five minutes of all kinds of traffic, memory and descriptors watched; ARGS="--seconds 3600" for longer
	@.ci/install test
	@Tests/Conformance/run --binary $(EMULATOR) --python soak/soak.py $(ARGS)

dist: ## what others install, from the commit that is checked out, under .build/dist
	@.ci/install run
	@.ci/install dist
	@.packaging/dist

dist-test: ## each of them in an empty Debian, with the first push of the README; AGAIN=1 builds all a second time and compares
	@.ci/install dist-test
	@.packaging/test/run
	@[ -z "$(AGAIN)" ] || .packaging/test/reproducible

clean: ## forget all builds and the Python environment
	@rm -rf .build .venv
