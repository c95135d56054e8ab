# Everything that people and CI run. `make help` lists it.
GO ?= go

WITH_POSTGRES = $(GO) run ./tests/harness/postgres/withpostgres
GOLANGCI      = $(GO) tool -modfile=.github/tools/go.mod golangci-lint
# The embedded database is C made into Go, which the race detector slows sixfold; the races looked for are in our code.
RACE          = -race -gcflags=modernc.org/...=-race=false

.DEFAULT_GOAL := help
.PHONY: help run build gen verify lint test bench soak

help: ## list the targets
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /\1\t/' | sort | awk -F '\t' '{ printf "  make %-8s %s\n", $$1, $$2 }'

build: ## compile bin/tillwright
	@CGO_ENABLED=0 $(GO) build -trimpath -o bin/tillwright ./server/cmd/tillwright

run: build ## serve on 127.0.0.1:8080 with a demo account in ./data
	@bin/tillwright serve --demo

gen: ## write gen/ and sdk/*.gen.go from openapi/
	@$(GO) run ./openapi/bundle
	@$(GO) tool oapi-codegen -config openapi/server.cfg.yaml bin/openapi.server.yaml
	@$(GO) tool oapi-codegen -config openapi/sdk.cfg.yaml bin/openapi.sdk.yaml

verify: ## regenerate and compare, gofmt, vet, lint the code and the specification
	@.github/verify

lint: ## lint the Go code
	@$(GOLANGCI) run --config .github/golangci.yml ./...

test: build ## every test, on SQLite and a PostgreSQL that it starts itself, with the race detector (the contract without)
	@$(WITH_POSTGRES) sh -c '$(GO) test -timeout 20m ./tests/contract && $(GO) test $(RACE) -parallel 8 -timeout 30m $$($(GO) list ./... | grep -v tests/contract)'

bench: build ## measure the server against the floor program; fails below the gates
	@$(WITH_POSTGRES) $(GO) run ./tests/bench

soak: build ## the fault tests and the random histories with their full counts (over an hour)
	@TILLWRIGHT_SOAK=1 $(WITH_POSTGRES) $(GO) test -count=1 -v -timeout 3h ./tests/fault/... ./server/billing
