// Command bundle makes one document of openapi/openapi.yaml and openapi/resources, and checks it against our own rules. It writes:
//   - gen/spec/openapi.json, which the server serves, and gen/spec/requests.json, which it checks requests against;
//   - sdk/{service,event}.gen.go, sdk/sdktest/document.gen.go and store/outbox/event_type.gen.go;
//   - bin/openapi.{server,sdk}.yaml, from which oapi-codegen makes the rest of the Go code;
//   - bin/openapi.yaml, the document to read.
//
// Run it with `make gen`.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"go.yaml.in/yaml/v3"
)

func main() {
	if err := run("openapi", "gen/spec", "store", "sdk", "bin"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run bundles the document of the folder source, and writes what is made of it below spec, store, sdk and bin.
func run(source, spec, store, sdk, bin string) error {
	public, err := load(source)
	if err != nil {
		return err
	}
	complete(public)
	golang := flatten(public)
	if err := errors.Join(lint(public)...); err != nil {
		return err
	}
	if err := writeServices(filepath.Join(sdk, "service.gen.go"), filepath.Join(source, "sdk.service.tmpl"), public); err != nil {
		return err
	}
	if err := writeEvents(store, sdk, source, public); err != nil {
		return err
	}
	types := events(public) // before what only generators read is dropped
	publish(public)
	addExamples(public)
	if err := writeFake(filepath.Join(sdk, "sdktest", "document.gen.go"), filepath.Join(source, "sdk.sdktest.tmpl"), public, types); err != nil {
		return err
	}
	requests := flatten(public)
	forRequests(requests)
	walk(public, func(n *yaml.Node) { spellNull(public, n) })
	dropUnused(public)
	forGo(golang)
	if err := writeYAML(filepath.Join(bin, "openapi.sdk.yaml"), golang); err != nil {
		return err
	}
	forServer(golang)
	if err := writeYAML(filepath.Join(bin, "openapi.server.yaml"), golang); err != nil {
		return err
	}
	if err := writeYAML(filepath.Join(bin, "openapi.yaml"), public); err != nil {
		return err
	}
	if err := writeJSON(filepath.Join(spec, "requests.json"), requests); err != nil {
		return err
	}
	return writeJSON(filepath.Join(spec, "openapi.json"), public)
}
