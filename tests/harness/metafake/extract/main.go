// Command extract writes facts.txt, the table that the fake of Meta's Graph API reads, from Meta's own descriptions:
//
//	go run ./tests/harness/metafake/extract <folder with AdAccount.json, ... enum_types.json> > tests/harness/metafake/facts.txt
//
// Of the calls below it keeps every parameter, of the nodes every field, and of the enumerations those that are named.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const header = `# What a driver of Meta's Graph API may send and ask for: method, edge, parameter, type, required, enum members, fields.
# Source: facebook/facebook-business-sdk-codegen, api_specs/specs, commit ad2b0b6fdfbe4d73ed0754cb4562ef20b72b40d4.
# Written by extract; do not edit. What these descriptions leave open is in documented.txt.
`

// calls are the calls a driver needs: node, method and edge, "." for the node itself.
var calls = []string{
	"AdAccount GET .",
	"AdAccount GET campaigns", "AdAccount POST campaigns",
	"AdAccount GET adsets", "AdAccount POST adsets",
	"AdAccount GET ads", "AdAccount POST ads",
	"AdAccount POST adcreatives", "AdAccount POST advideos",
	"AdAccount GET insights", "AdAccount GET dsa_recommendations", "AdAccount GET reachestimate",
	"AdAccount GET customaudiences", "AdAccount POST customaudiences",
	"AdAccount GET adspixels", "AdsPixel POST events",
	"AdAccount GET generatepreviews", "Ad GET previews",
	"Campaign GET .", "Campaign POST .", "Campaign DELETE .", "Campaign GET adsets", "Campaign GET ads",
	"AdSet GET .", "AdSet POST .", "AdSet GET ads",
	"Ad GET .", "Ad POST .", "Ad DELETE .",
	"AdCreative DELETE .",
	"AdVideo GET .",
	"CustomAudience GET .", "CustomAudience DELETE .", "CustomAudience POST users", "CustomAudience DELETE users",
}

// nodes are the nodes whose fields a driver reads.
var nodes = []string{"AdAccount", "Business", "Campaign", "AdSet", "Ad", "AdCreative", "AdVideo", "AdsInsights", "CustomAudience", "AdAccountDsaRecommendations", "AdAccountReachEstimate",
	"AdsPixel", "AdPreview"}

// enums are the enumerations that only documented.txt names.
var enums = []string{"AdCreativeLinkDataCallToAction_type", "AdPromotedObject_custom_event_type"}

type param struct {
	Name     string
	Type     string
	Required bool
}

type api struct {
	Name, Method, Endpoint, Return string
	Params                         []param
}

type description struct {
	APIs   []api
	Fields []param
}

type enumType struct {
	Name   string
	Values []string
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: extract <folder>")
	}
	w := bufio.NewWriter(os.Stdout)
	if err := extract(w, os.Args[1]); err != nil {
		log.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		log.Fatal(err)
	}
}

// extract writes the table from the descriptions in a folder.
func extract(w io.Writer, folder string) error {
	var types []enumType
	if err := read(folder, "enum_types", &types); err != nil {
		return err
	}
	fmt.Fprintf(w, "%s", header)
	named := map[string]bool{}
	for _, e := range enums {
		named[e] = true
	}
	for _, c := range calls {
		if err := writeCall(w, folder, strings.Fields(c), named); err != nil {
			return err
		}
	}
	for _, n := range nodes {
		if err := writeNode(w, folder, n, named); err != nil {
			return err
		}
	}
	return writeEnums(w, types, named)
}

func read(folder, name string, into any) error {
	text, err := os.ReadFile(filepath.Join(folder, name+".json"))
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// edge returns the edge as it is written in calls.
func (a api) edge() string {
	if a.Endpoint == "" {
		return "."
	}
	return a.Endpoint
}

// writeCall writes one call with its parameters, and notes which enumerations they name.
func writeCall(w io.Writer, folder string, call []string, named map[string]bool) error {
	var d description
	if err := read(folder, call[0], &d); err != nil {
		return err
	}
	i := slices.IndexFunc(d.APIs, func(a api) bool { return a.Method == call[1] && a.edge() == call[2] })
	if i < 0 {
		return fmt.Errorf("%s is not described", strings.Join(call, " "))
	}
	fmt.Fprintf(w, "call\t%s\t%s\t%s\t%s\n", call[0], call[1], call[2], d.APIs[i].Return)
	for _, p := range d.APIs[i].Params {
		writeTyped(w, "param", p, named)
	}
	return nil
}

func writeNode(w io.Writer, folder, node string, named map[string]bool) error {
	var d description
	if err := read(folder, node, &d); err != nil {
		return err
	}
	fmt.Fprintf(w, "node\t%s\n", node)
	for _, f := range d.Fields {
		writeTyped(w, "field", f, named)
	}
	return nil
}

var typeName = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)

func writeTyped(w io.Writer, kind string, p param, named map[string]bool) {
	for _, n := range typeName.FindAllString(p.Type, -1) {
		named[n] = true
	}
	fmt.Fprintf(w, "%s\t%s\t%s", kind, p.Name, p.Type)
	if p.Required {
		fmt.Fprintf(w, "\trequired")
	}
	fmt.Fprintln(w)
}

func writeEnums(w io.Writer, types []enumType, named map[string]bool) error {
	values := map[string][]string{}
	for _, e := range types {
		if named[e.Name] {
			values[e.Name] = e.Values
		}
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if _, err := fmt.Fprintf(w, "enum\t%s\t%s\n", name, strings.Join(values[name], " ")); err != nil {
			return err
		}
	}
	return nil
}
