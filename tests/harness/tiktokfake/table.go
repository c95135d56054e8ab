package tiktokfake

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"
)

//go:embed facts.txt
var facts string

//go:embed documented.txt
var documented string

// table holds what exists in the API: calls with their parameters, objects with their fields, and closed lists.
type table struct {
	calls map[string]map[string]param // "POST campaign/create" -> parameter
	nodes map[string]map[string]param
	enums map[string]map[string]bool
}

type param struct {
	kind     string
	required bool
}

// loaded returns the table, which is read from two files: what TikTok describes, and what it only documents.
var loaded = sync.OnceValue(func() *table {
	t := &table{map[string]map[string]param{}, map[string]map[string]param{}, map[string]map[string]bool{}}
	t.read(facts)
	t.read(documented)
	for key, params := range t.calls {
		if strings.HasSuffix(key, "/status/update") {
			params["operation_status"] = param{"switch", true}
		}
	}
	return t
})

// read adds what a file says to the table. It panics at a line without a meaning, which is a mistake in the file.
func (t *table) read(text string) {
	var into map[string]param
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		w := strings.Split(line, "\t")
		switch {
		case line == "" || line[0] == '#':
		case w[0] == "call":
			into = map[string]param{}
			t.calls[w[1]+" "+w[2]] = into
		case w[0] == "node":
			into = map[string]param{}
			t.nodes[w[1]] = into
		case w[0] == "param" || w[0] == "field":
			into[w[1]] = param{kind: w[2], required: len(w) > 3}
		case w[0] == "enum":
			t.enums[w[1]] = map[string]bool{}
			t.add(w[1], w[2])
		case w[0] == "also":
			t.add(w[1], w[2])
		case w[0] == "refine":
			t.refine(w[1], w[2])
		default:
			panic(fmt.Sprintf("tiktokfake: line %q of the table", line))
		}
	}
}

func (t *table) add(enum, members string) {
	for member := range strings.FieldsSeq(members) {
		t.enums[enum][member] = true
	}
}

// refine changes the type of parameters that are described as texts.
func (t *table) refine(name, kind string) {
	for _, all := range []map[string]map[string]param{t.calls, t.nodes} {
		for _, params := range all {
			if p, ok := params[name]; ok && (p.kind == "str" || p.kind == "list<str>") {
				params[name] = param{kind, p.required}
			}
		}
	}
}

// HasEnum reports whether a parameter of a call ("filtering.primary_status" in an object) is one of a closed list.
func HasEnum(operation, name string) bool {
	t := loaded()
	fields := t.calls[operation]
	for part := range strings.SplitSeq(name, ".") {
		kind := fields[part].kind
		for strings.HasPrefix(kind, "list<") {
			kind = strings.TrimSuffix(strings.TrimPrefix(kind, "list<"), ">")
		}
		if t.enums[kind] != nil {
			return true
		}
		fields = t.nodes[kind]
	}
	return false
}
