// Command extract writes facts.txt, the table that the fake of Zernio's API reads, from Zernio's own description:
//
//	go run ./tests/harness/zerniofake/extract <openapi.yaml> > tests/harness/zerniofake/facts.txt
//
// Of the calls below it keeps every parameter and every property of bodies and answers, by their whole names. A property inside another one has a dot
// before it, and [] stands for the items of a list. What is one of several shapes is all of them at once, and nothing of that is required. What the
// driver has no use for is left out whole, see left.
package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"log"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

const header = `# What a driver of Zernio's API may send and read: method, path, status of success; parameters and properties with type, whether they are
# required, the least and the largest number, the most characters or items, the values.
# Source: Zernio API, openapi.yaml (OpenAPI 3.1), version %s, MIT. Written by extract; do not edit.
`

// calls are the calls a driver needs.
var calls = []string{
	"GET /v1/profiles", "POST /v1/profiles", "GET /v1/accounts", "GET /v1/connect/{platform}", "GET /v1/connect/{platform}/ads",
	"GET /v1/posts",
	"GET /v1/ads", "GET /v1/ads/tree", "GET /v1/ads/accounts", "GET /v1/ads/business-centers", "GET /v1/ads/dsa-recommendations",
	"GET /v1/ads/targeting/search", "POST /v1/ads/targeting/reach-estimate",
	"POST /v1/ads/create", "POST /v1/ads/boost",
	"PUT /v1/ads/campaigns/{campaignId}/status", "PUT /v1/ads/campaigns/{campaignId}", "DELETE /v1/ads/campaigns/{campaignId}",
	"PUT /v1/ads/ad-sets/{adSetId}/status", "PUT /v1/ads/ad-sets/{adSetId}",
	"PUT /v1/ads/{adId}/status", "PUT /v1/ads/{adId}", "DELETE /v1/ads/{adId}",
	"GET /v1/ads/audiences", "POST /v1/ads/audiences", "DELETE /v1/ads/audiences/{audienceId}",
	"GET /v1/accounts/{accountId}/conversion-destinations",
}

// left are properties that are left out with all that is in them, so that the fake refuses them.
var left = []string{
	"translations", "placementAssets", "dynamicCreative", "attributionSpec", "tracking", "brandIdentity", "conversation", "spotlight", "follower",
	"jobs", "textAd", "event", "thoughtLeader", "document", "recycling", "customMedia", "userId", "metadata", "engagementBreakdown", "funnel",
	"matchRules", "companies", "rawTargeting", "spec.customLocations", "platforms[].platformSpecificData", "creativeFeatures",
}

type object = map[string]any

// document is an OpenAPI description, as far as it is read.
type document struct{ root object }

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: extract <openapi.yaml>")
	}
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	var d document
	if err := yaml.Unmarshal(text, &d.root); err != nil {
		log.Fatal(err)
	}
	w := bufio.NewWriter(os.Stdout)
	d.write(w)
	if err := w.Flush(); err != nil {
		log.Fatal(err)
	}
}

func (d *document) write(w io.Writer) {
	_, _ = fmt.Fprintf(w, header, in(d.root, "info", "version"))
	for _, call := range calls {
		method, path, _ := strings.Cut(call, " ")
		op := in(d.root, "paths", path, strings.ToLower(method)).(object)
		status, answer := d.success(op)
		_, _ = fmt.Fprintf(w, "call\t%s\t%s\t%s\n", method, path, status)
		parameters, _ := op["parameters"].([]any)
		for _, p := range parameters {
			p := d.follow(p.(object))
			d.line(w, fmt.Sprint(p["in"]), fmt.Sprint(p["name"]), d.follow(p["schema"].(object)), p["required"] == true)
		}
		if body, _ := op["requestBody"].(object); body != nil {
			d.properties(w, "body", "", in(body, "content", "application/json", "schema").(object), true)
		}
		d.properties(w, "answer", "", answer, true)
	}
}

// success returns the status and the schema of the answer that says that something was done.
func (d *document) success(op object) (string, object) {
	for _, status := range []string{"201", "200"} {
		response, ok := op["responses"].(object)[status].(object)
		if !ok {
			continue
		}
		schema, _ := in(d.follow(response), "content", "application/json", "schema").(object)
		return status, schema
	}
	return "", nil
}

// properties writes the properties of a schema. Those of one of several shapes are not required, because another shape may be meant.
func (d *document) properties(w io.Writer, part, prefix string, schema object, certain bool) {
	schema, one := d.flat(schema)
	certain = certain && !one
	if items, _ := schema["items"].(object); items != nil {
		d.properties(w, part, strings.TrimSuffix(prefix, ".")+"[].", items, certain)
		return
	}
	required, _ := schema["required"].([]any)
	properties, _ := schema["properties"].(object)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if slices.ContainsFunc(left, func(one string) bool { return strings.HasSuffix("."+prefix+name, "."+one) }) {
			continue
		}
		property := d.follow(properties[name].(object))
		d.line(w, part, prefix+name, property, certain && slices.Contains(required, any(name)))
		if strings.Count(prefix, ".") < 8 { // deep enough, and a schema may hold itself
			d.properties(w, part, prefix+name+".", property, certain)
		}
	}
}

// line writes a fact.
func (d *document) line(w io.Writer, part, name string, schema object, required bool) {
	flat, _ := d.flat(schema)
	needed := ""
	if required {
		needed = "required"
	}
	var values []string
	enum, _ := flat["enum"].([]any)
	for _, value := range enum {
		if value != nil {
			values = append(values, fmt.Sprint(value))
		}
	}
	fact := []string{part, name, kind(flat), needed, number(flat["minimum"]), number(flat["maximum"]), cmp.Or(number(flat["maxLength"]), number(flat["maxItems"])), strings.Join(values, ",")}
	_, _ = fmt.Fprintln(w, strings.TrimRight(strings.Join(fact, "\t"), "\t"))
}

// kind returns the types of a schema without null. One that may have other properties than are listed, or lists none, is open.
func kind(schema object) string {
	var kinds []string
	switch t := schema["type"].(type) {
	case string:
		kinds = []string{t}
	case []any:
		for _, one := range t {
			if one != "null" {
				kinds = append(kinds, fmt.Sprint(one))
			}
		}
	}
	if len(kinds) == 0 {
		return "any"
	}
	if kinds[0] == "object" && (schema["properties"] == nil || schema["additionalProperties"] != nil && schema["additionalProperties"] != false) {
		return "open"
	}
	return strings.Join(kinds, "|")
}

func number(v any) string {
	switch n := v.(type) {
	case int:
		return strconv.Itoa(n)
	case float64:
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	return ""
}

// flat returns a schema with all that it consists of in one, and whether some of that is one of several shapes.
func (d *document) flat(schema object) (object, bool) {
	schema = d.follow(schema)
	merged, one := maps.Clone(schema), false
	properties := object{}
	if own, _ := schema["properties"].(object); own != nil {
		maps.Copy(properties, own)
	}
	for _, word := range []string{"allOf", "oneOf", "anyOf"} {
		parts, _ := schema[word].([]any)
		for _, p := range parts {
			inner, several := d.flat(p.(object))
			one = one || several || word != "allOf" && len(parts) > 1
			more, _ := inner["properties"].(object)
			for name, property := range more {
				if _, has := properties[name]; !has {
					properties[name] = property
				}
			}
			for key, value := range inner {
				if _, has := merged[key]; !has && key != "properties" {
					merged[key] = value
				}
			}
			if merged["type"] != inner["type"] && inner["type"] != "null" && word != "allOf" {
				merged["type"] = "any"
			}
		}
	}
	if len(properties) > 0 {
		merged["properties"] = properties
		if merged["type"] == nil {
			merged["type"] = "object"
		}
	}
	return merged, one
}

// follow returns what a schema refers to.
func (d *document) follow(o object) object {
	for {
		ref, isRef := o["$ref"].(string)
		if !isRef {
			return o
		}
		o = in(d.root, strings.Split(strings.TrimPrefix(ref, "#/"), "/")...).(object)
	}
}

// in returns what is inside an object, nil if it is not there.
func in(o any, names ...string) any {
	for _, name := range names {
		inner, _ := o.(object)
		o = inner[name]
	}
	return o
}
