# Everything that people and CI run. `make help` lists it.
GO ?= go

WITH_POSTGRES = $(GO) run ./tests/harness/postgres/withpostgres
# Tools are modules of their own, outside of the workspace of go.work. What they look at is inside.
GOLANGCI      = $$(GOWORK=off $(GO) tool -n -modfile=.github/tools/go.mod golangci-lint)
GOVULNCHECK   = $$(GOWORK=off $(GO) tool -n -modfile=.github/tools/govulncheck.mod govulncheck)
# The embedded database is C made into Go, which the race detector slows sixfold; the races looked for are in our code.
RACE          = -race -gcflags=modernc.org/...=-race=false $(LEAN)
# Without tables for a debugger, which are an eighth of compiling, and without symbols, which are a quarter of linking; go build without make writes
# them. Traces and races name files and lines all the same.
LEAN          = -gcflags=github.com/tillwright/tillwright/...=-dwarf=false -ldflags=-s

# What has no race detector runs while the others are compiled with it. All else runs at once after it: tests wait for linkers, for clocks and for each
# other, and what is left of one step fills the processors. In each the longest come first, so that none is left for the end. What failed
# is run again after all of them, and is red if it fails again (.github/tools/testrun): STRICT=1 runs nothing again.
TEST    = $(GO) test -vet=off -parallel 8 -timeout 30m
LONGEST = ./webhooks ./server
# In one process the race detector costs most where SQLite is. So these have it on PostgreSQL, where requests run beside each other, and are tested
# on SQLite without, at the same time. A test must not open both databases by itself: it would be skipped on each. Longest first.
SPLIT   = ./server/billing ./store ./ads ./server/picture
# Whole packages without the race detector. The contract comes first, since it takes longest, and conformance second, since it waits for the next
# minute of a quota. The next four run the program in processes of its own, which have none anyway: it would watch the clients and the fakes alone.
# The last hold little that requests share, or run nothing beside anything: make race has them and conformance with it, every night.
PLAIN   = ./tests/contract ./tests/conformance ./tests/fault ./tests/e2e ./tests/newcomer ./tests/guide $(SHOWN)
SHOWN   = ./server/pages ./server/dashboard ./server/reference ./server/cmd/tillwright ./server/invoicepdf ./store/core ./store/content/markdown ./webhooks/chat ./openapi/bundle ./server/export ./server/handlers ./server/locale ./server/payments ./server/transfer ./server/ui ./server/view ./store/pricing ./tests ./tests/bench ./tests/harness/axe ./tests/harness/database ./tests/harness/postgres ./tests/harness/metafake ./tests/harness/pinterestfake ./tests/harness/tiktokfake ./tests/harness/zerniofake ./ads/pinterest ./ads/tiktok ./ads/zernio
# Long tests of what one goroutine does alone: the race detector would find nothing, and slow them tenfold. Their packages are those of the
# step alone: a test of another package that has such a name would be run nowhere.
ALONE = ^(TestHistories_(KeepEvery|FindWhat)|TestInvoices_KeepEveryPromise|TestMetrics_AreWhat|TestEveryPage_Fits|TestWrite_(Takes|Shapes)|TestPages_(UseAll|AreLight|LinkTo|HaveEvery)|TestTour_Fails|TestDriver_EveryName|TestRefusing_Costs|TestLists_(AreLed|Of)|TestListOrders_IsAPlain|TestDueSubscriptions_AreFound|TestCheck_SeesEvery|TestMigrations_AreTwins|TestMigrate_(GivesOrders|CountsThe|WritesThe)|TestCheckSchema_|TestMake_|TestOrientation_|TestFrameOf_|FuzzMake|TestDocument_(NamesIts|OfProduction|IsOther|IsSent|IsRead)|TestAs31_|TestEvery(Name_OnTheWire|Call_IsFine|Word_OfAn))

# One set of flags for all that has no race detector: what verify compiles, the program and the contract tests need not compile again.
# The compiler is told which code is hot (make profile), as go build is without make: tests and program take a twentieth less of the processor.
PROFILE = server/cmd/tillwright/default.pgo
export CGO_ENABLED := 0
export GOFLAGS     := $(filter-out -trimpath -pgo=% $(LEAN),$(shell $(GO) env GOFLAGS)) -trimpath -pgo=$(CURDIR)/$(PROFILE) $(LEAN)

# Half of compiling is collecting garbage, and a sixth of testing, for which there is memory enough: a process of the tests begins to save at two
# gigabytes. make verify vets, so that the tests need not.
verify race: export GOGC := $(or $(GOGC),400)
quick test: export GOGC := $(or $(GOGC),1600)
quick test: export GOMEMLIMIT := $(or $(GOMEMLIMIT),2GiB)

# The tests that run the program as a process run this one.
unexport TILLWRIGHT_TEST_BUILT
test soak: export TILLWRIGHT_TEST_BUILT := $(CURDIR)/bin/test/tillwright

# make quick and the steps of SPLIT alone say so: whatever else is run is run on both engines.
unexport TILLWRIGHT_TEST_ENGINES

.DEFAULT_GOAL := help
.PHONY: help run build gen verify tidy lint quick test check times bench soak fuzz race vulncheck readers profile screenshots cross

help: ## list the targets
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /\1\t/' | sort | awk -F '\t' '{ printf "  make %-11s %s\n", $$1, $$2 }'

build: ## compile bin/tillwright
	@$(GO) build -o bin/tillwright ./server/cmd/tillwright

run: build ## serve on 127.0.0.1:8080 with a demo account in ./data
	@bin/tillwright serve --demo

gen: ## write gen/, sdk/*.gen.go and store/outbox/event_type.gen.go from openapi/
	@$(GO) run ./openapi/bundle
	@$(GO) tool oapi-codegen -config openapi/server.cfg.yaml bin/openapi.server.yaml
	@$(GO) tool oapi-codegen -config openapi/sdk.cfg.yaml bin/openapi.sdk.yaml

verify: ## regenerate and compare, gofmt, vet, lint the code and the specification
	@.github/verify

tidy: ## have go.mod and go.sum of both modules list what is imported
	@.github/tidy

lint: ## lint the Go code
	@linter="$(GOLANGCI)" && PATH="$$($(GO) env GOROOT)/bin:$$PATH" "$$linter" run --allow-parallel-runners --config .github/golangci.yml ./... ./sdk/...

quick: ## compile, vet and test what your change touches, on SQLite alone: for while you work
	@GOWORK=off $(GO) build -C .github/tools/quick -o $(CURDIR)/bin/quick .
	@TILLWRIGHT_TEST_ENGINES=sqlite bin/quick $(if $(BASE),-base $(BASE)) -gen "make -s gen" $(TEST) -skip "$(ALONE)|^TestEach_RunsOnBothEngines$$"

test: ## every test, on SQLite and a PostgreSQL that it starts itself, with the race detector (but for the contract, the pages, what runs the program as a process, what runs nothing beside anything, and store, billing, ads and pictures on SQLite)
	@$(GO) build -o $(TILLWRIGHT_TEST_BUILT) ./server/cmd/tillwright
	@GOWORK=off $(GO) build -C .github/tools/testrun -o $(CURDIR)/bin/testrun .
	@packages=$$($(GO) list work) && libraries=$$($(GO) list -f '{{if and .GoFiles (ne .Name "main")}}{{.ImportPath}}{{end}}' work) && $(WITH_POSTGRES) -schema bin/testrun $(if $(STRICT),-strict) -took "$(TOOK)" -table .github/times.tsv \
		beside:build CGO_ENABLED=1 nice $(GO) build $(RACE) $$libraries \
		step:plain "CONTRACT_COVERAGE=$(CURDIR)/bin/test/coverage.json" $(TEST) -- $(PLAIN) \
		step:postgres CGO_ENABLED=1 TILLWRIGHT_TEST_ENGINES=postgres $(TEST) $(RACE) -skip "$(ALONE)" -- $(SPLIT) \
		with:sqlite TILLWRIGHT_TEST_ENGINES=sqlite $(TEST) -skip "$(ALONE)" -- $(SPLIT) \
		with:alone $(TEST) -p 1 -run "$(ALONE)" -- ./store ./server ./server/billing ./server/picture ./ads/meta \
		with:rest CGO_ENABLED=1 $(TEST) $(RACE) -skip "$(ALONE)" -- $(LONGEST) $$(echo "$$packages" | grep -vE '(/tests|/store|/ads|tests/(contract|conformance|fault|e2e|newcomer|guide|bench|harness/(axe|database|postgres|[a-z]+fake))|server/(billing|picture|pages|dashboard|reference|cmd/tillwright|invoicepdf|export|handlers|locale|payments|transfer|ui|view)|store/(core|pricing|content/markdown)|openapi/bundle|webhooks/chat|ads/(pinterest|tiktok|zernio))$$')

race: ## what make test runs without the race detector, with it: pages, documents, commands, drivers of ad networks, and store, billing, ads and pictures on SQLite
	@CGO_ENABLED=1 $(WITH_POSTGRES) -schema $(TEST) $(RACE) -skip "$(ALONE)" $(SPLIT) ./tests/conformance $(SHOWN)

check: ## what CI runs, on a clean clone of the last commit: run it before a push
	@.github/check

times: ## take the times of the last make check, which was green, as those to compare with
	@cp bin/check/times.tsv .github/times.tsv

bench: build ## measure the server against the floor program; fails below the gates
	@$(WITH_POSTGRES) -durable $(GO) run ./tests/bench

# What is limited in seconds, but for the fault tests; each alone.
TIMED = TestServe_(IsQuick|SaysInTime)|TestTerminate_|TestScheduledPosts_|TestExport_OfTwentyThousand|TestMetrics_OfAMillion|TestRender_(Costs|OfWhatIsHostile)

soak: ## the fault tests and the random histories with their full counts, and what may take so long (over an hour)
	@$(GO) build -o $(TILLWRIGHT_TEST_BUILT) ./server/cmd/tillwright
	@TILLWRIGHT_SOAK=1 $(WITH_POSTGRES) -durable $(GO) test -count=1 -v -p 1 -parallel 1 -timeout 30m -run '$(TIMED)' ./tests/e2e ./store ./store/content/markdown
	@TILLWRIGHT_SOAK=1 $(WITH_POSTGRES) -durable $(GO) test -count=1 -v -timeout 3h ./tests/fault/... ./server/billing

fuzz: ## every fuzz target for FUZZTIME each (default 1m)
	@.github/fuzz

vulncheck: ## look for known holes in what the code calls
	@checker="$(GOVULNCHECK)" && PATH="$$($(GO) env GOROOT)/bin:$$PATH" "$$checker" ./... ./sdk/...

readers: build ## count what generators and validators of others take of the API's document (needs Node.js)
	@.github/readers/run

profile: ## write anew which code is hot, which the compiler is told: all operations and statements, on both engines
	@mkdir -p bin/test
	@$(WITH_POSTGRES) -schema $(GO) test -count=1 -vet=off -parallel 8 -timeout 30m -run '^TestEvery(Operation|Statement|Write|List)' -o bin/test/contract.test -cpuprofile $(CURDIR)/bin/test/cpu.pgo ./tests/contract
	@cp bin/test/cpu.pgo $(PROFILE)

screenshots: ## draw every page into bin/screenshots: on a phone and on a desk, in the light and in the dark, from left to right and from right to left
	@mkdir -p bin/screenshots
	@TILLWRIGHT_SCREENSHOTS=$(CURDIR)/bin/screenshots $(GO) test -count=1 -vet=off -timeout 30m -run "Fits?ANarrowPhone|Site_CanBeUsedByEverybody|InTheirSellersColour" ./server/...

cross: ## vet everything for macOS, and compile the program for Windows, which the tests do not know
	@GOOS=darwin $(GO) vet work
	@GOOS=windows $(GO) build -o bin/ ./server/cmd/tillwright
