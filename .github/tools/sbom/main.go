// Command sbom writes what a Go program was built from, as a CycloneDX bill of materials.
//
//	GOWORK=off go run . program > program.cdx.json
//
// It reads what the Go tool wrote into the program: the modules that are linked, not all that go.mod names. The same program has the same
// bill.
package main

import (
	"debug/buildinfo"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

func main() {
	if len(os.Args) != 2 {
		fail("sbom program")
	}
	if err := write(os.Stdout, os.Args[1]); err != nil {
		fail(err.Error())
	}
}

func fail(message string) {
	fmt.Fprintln(os.Stderr, message)
	os.Exit(1)
}

// write writes the bill of a program.
func write(to io.Writer, program string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return fmt.Errorf("read %s: %w", program, err)
	}
	return cdx.NewBOMEncoder(to, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bill(filepath.Base(program), info))
}

// bill lists the modules of a program, the standard library among them.
func bill(name string, info *debug.BuildInfo) *cdx.BOM {
	main := component(cdx.ComponentTypeApplication, info.Main)
	main.Description = name
	parts := []cdx.Component{component(cdx.ComponentTypeLibrary, debug.Module{Path: "std", Version: strings.TrimPrefix(info.GoVersion, "go")})}
	refs := []string{parts[0].BOMRef}
	for _, module := range info.Deps {
		if module.Replace != nil {
			module = module.Replace
		}
		part := component(cdx.ComponentTypeLibrary, *module)
		parts, refs = append(parts, part), append(refs, part.BOMRef)
	}
	b := cdx.NewBOM()
	b.Metadata = &cdx.Metadata{Timestamp: setting(info, "vcs.time"), Component: &main}
	b.Components = &parts
	b.Dependencies = &[]cdx.Dependency{{Ref: main.BOMRef, Dependencies: &refs}}
	return b
}

func component(kind cdx.ComponentType, module debug.Module) cdx.Component {
	url := "pkg:golang/" + module.Path + "@" + module.Version
	return cdx.Component{Type: kind, Name: module.Path, Version: module.Version, PackageURL: url, BOMRef: url}
}

// setting returns how a program was built, "" where that is not known.
func setting(info *debug.BuildInfo, key string) string {
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}
