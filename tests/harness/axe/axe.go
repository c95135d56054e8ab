// Package axe looks for what keeps people from using a page, with axe-core 4.14.1 as its makers publish it (https://github.com/dequelabs/axe-core).
package axe

import (
	_ "embed" // for axe-core
	"encoding/json"
	"testing"

	"github.com/tillwright/tillwright/tests/harness/browser"
)

//go:embed axe.min.js
var script string

// violation is a rule that elements of a page break.
type violation struct {
	ID, Impact, Help string
	Nodes            []struct {
		Target  []any
		Summary string `json:"failureSummary"`
	}
}

// Check fails the test for each serious or critical problem of the page that is open.
func Check(t testing.TB, page *browser.Page, name string) {
	t.Helper()
	check(t, page, name, `{resultTypes: ["violations"], preload: false}`)
}

// CheckColours does what Check does, of what may be otherwise in another scheme of colours.
func CheckColours(t testing.TB, page *browser.Page, name string) {
	t.Helper()
	check(t, page, name, `{resultTypes: ["violations"], preload: false, runOnly: {type: "rule", values: ["color-contrast", "link-in-text-block"]}}`)
}

func check(t testing.TB, page *browser.Page, name, options string) {
	t.Helper()
	page.Wait("document.getAnimations().length === 0") // colours on their way to others
	if page.Value("typeof axe") != "object" {
		page.Value(script + "; 0")
	}
	page.Value(`axe.run(document, ` + options + `).then(
		found => { window.axeFound = JSON.stringify(found.violations) }, failed => { window.axeFound = String(failed) }); 0`)
	page.Wait("window.axeFound")
	var found []violation
	if err := json.Unmarshal([]byte(page.Value("window.axeFound")), &found); err != nil {
		t.Fatalf("%s: axe-core: %s", name, page.Value("window.axeFound"))
	}
	page.Value("delete window.axeFound")
	for _, v := range found {
		if v.Impact != "serious" && v.Impact != "critical" {
			continue
		}
		for i, node := range v.Nodes {
			if i == 5 {
				break
			}
			t.Errorf("%s: %s (%s): %v: %s", name, v.Help, v.ID, node.Target, node.Summary)
		}
	}
}
