package metafake

import (
	"cmp"
	_ "embed"
	"fmt"
	"strings"
	"sync"
)

//go:embed facts.txt
var facts string

//go:embed documented.txt
var documented string

// table holds what exists in the API: calls with their parameters, nodes with their fields, and enumerations.
type table struct {
	calls  map[string]*call             // "AdAccount POST campaigns", "Campaign GET ." for the node itself
	common map[string]map[string]string // method -> parameter -> type
	nodes  map[string]map[string]string // node -> field -> type
	enums  map[string]map[string]bool
}

// call is one method of a node or of one of its edges.
type call struct {
	returns string
	params  map[string]param
}

type param struct {
	kind     string
	required bool
}

// loaded returns the table, which is read from two files: what Meta describes, and what it only documents.
var loaded = sync.OnceValue(func() *table {
	t := &table{map[string]*call{}, map[string]map[string]string{}, map[string]map[string]string{}, map[string]map[string]bool{}}
	t.read(facts)
	t.read(documented)
	return t
})

// read adds what a file says to the table. It panics at a line without a meaning, which is a mistake in the file.
func (t *table) read(text string) {
	var c *call
	var node map[string]string
	refined := map[string]string{}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		w := strings.Split(line, "\t")
		switch {
		case line == "" || line[0] == '#':
		case w[0] == "call":
			c = t.callOf(w)
		case w[0] == "param":
			c.params[w[1]] = param{kind: w[2], required: len(w) > 3}
		case w[0] == "node":
			node = map[string]string{}
			t.nodes[w[1]] = node
		case w[0] == "field":
			node[w[1]] = w[2]
		case w[0] == "enum":
			t.enums[w[1]] = setOf(strings.Fields(w[2]))
		case w[0] == "common":
			t.addCommon(w[1], w[2], w[3])
		case w[0] == "refine":
			refined[w[1]] = w[2]
		default:
			panic(fmt.Sprintf("metafake: line %q of the table", line))
		}
	}
	t.refine(refined)
}

// callOf returns the call that a line names, whose parameters follow. A call that exists already gets more parameters.
func (t *table) callOf(w []string) *call {
	key := strings.Join(w[1:4], " ")
	if t.calls[key] == nil {
		t.calls[key] = &call{returns: w[4], params: map[string]param{}}
	}
	return t.calls[key]
}

func (t *table) addCommon(method, name, kind string) {
	if t.common[method] == nil {
		t.common[method] = map[string]string{}
	}
	t.common[method][name] = kind
}

// refine changes parameters that are described as Object, map or string: their type becomes the node whose keys they have. One of a single
// edge is named with it, "edge.param".
func (t *table) refine(kinds map[string]string) {
	for key, c := range t.calls {
		for name, p := range c.params {
			if kind := cmp.Or(kinds[strings.Fields(key)[2]+"."+name], kinds[name]); kind != "" {
				c.params[name] = param{kind: kind, required: p.required}
			}
		}
	}
}

func setOf(values []string) map[string]bool {
	set := map[string]bool{}
	for _, v := range values {
		set[v] = true
	}
	return set
}
