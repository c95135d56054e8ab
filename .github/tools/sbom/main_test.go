package main

import (
	"bytes"
	"os"
	"runtime"
	"strings"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// The test itself is a program with a dependency.
func TestWrite_ListsTheLibrariesOfAProgram(t *testing.T) {
	t.Parallel()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var text, again bytes.Buffer
	for _, to := range []*bytes.Buffer{&text, &again} {
		if err := write(to, program); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(text.Bytes(), again.Bytes()) {
		t.Error("the same program has two bills")
	}
	var read cdx.BOM
	if err := cdx.NewBOMDecoder(&text, cdx.BOMFileFormatJSON).Decode(&read); err != nil {
		t.Fatal(err)
	}
	versions := map[string]string{}
	for _, c := range *read.Components {
		versions[c.Name] = c.Version
		if c.PackageURL != "pkg:golang/"+c.Name+"@"+c.Version {
			t.Errorf("%s has the package URL %s", c.Name, c.PackageURL)
		}
	}
	if !strings.HasPrefix(versions["github.com/CycloneDX/cyclonedx-go"], "v") {
		t.Errorf("the library that the test is linked with is not there: %v", versions)
	}
	if "go"+versions["std"] != runtime.Version() {
		t.Errorf("the standard library is %q", versions["std"])
	}
	if read.Metadata.Component.Name != "github.com/tillwright/tillwright/.github/tools/sbom" {
		t.Errorf("it is the bill of %q", read.Metadata.Component.Name)
	}
}

func TestWrite_RefusesWhatIsNoProgram(t *testing.T) {
	t.Parallel()
	if err := write(&bytes.Buffer{}, "main_test.go"); err == nil || !strings.Contains(err.Error(), "main_test.go") {
		t.Errorf("it says %v", err)
	}
}
