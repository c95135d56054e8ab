// Command extract writes facts.txt, the table that the fake of TikTok's Business API reads, from TikTok's own descriptions:
//
//	go run ./tests/harness/tiktokfake/extract <folder with crud.json and yml/> > tests/harness/tiktokfake/facts.txt
//
// crud.json holds the tables of the SDK's documents for calls without a description, yml/ the descriptions. Closed lists of words are in the
// descriptions only, and are taken by the name of their parameter.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

const header = `# What a driver of TikTok's Business API may send: method, path, parameter, type, required, members of closed lists.
# Source: tiktok/tiktok-business-api-sdk, python_sdk/docs and yml_files, commit f809c396520df2d7b201a9ccc5378d822b728ed3 (2026-02-28), API v1.3.
# Written by extract; do not edit. What these descriptions leave open is in documented.txt.
`

// operations are the calls of crud.json that a driver needs.
var operations = []string{
	"ad_create", "ad_get", "ad_image_upload", "ad_status_update", "ad_update", "ad_video_info", "ad_video_upload", "adgroup_create", "adgroup_get",
	"adgroup_status_update", "adgroup_update", "advertiser_info", "campaign_create", "campaign_get", "campaign_status_update", "campaign_update",
	"identity_get", "oauth2_access_token", "oauth2_advertiser_get", "tool_action_category", "tool_interest_category", "tool_language",
}

// described are the files of calls that a driver needs.
var described = []string{
	"bc_asset_get", "bc_get", "dmp_custom_audience_create", "dmp_custom_audience_delete", "dmp_custom_audience_file_upload", "dmp_custom_audience_get",
	"dmp_custom_audience_list", "dmp_custom_audience_lookalike_create", "dmp_custom_audience_rule_create", "dmp_custom_audience_update", "pixel_list",
	"report_integrated_get", "tool_targeting_search",
}

// listed are the parameters of crud.json that are closed lists, and the description that has their members.
var listed = map[string]string{
	"objective_type": "smart_plus_campaign_create", "budget_mode": "smart_plus_adgroup_create", "special_industries": "smart_plus_campaign_create",
	"app_promotion_type": "smart_plus_campaign_create", "billing_event": "smart_plus_adgroup_create", "bid_type": "smart_plus_adgroup_create",
	"deep_bid_type": "smart_plus_adgroup_create", "optimization_goal": "smart_plus_adgroup_create", "optimization_event": "smart_plus_adgroup_create",
	"promotion_type": "smart_plus_adgroup_create", "promotion_target_type": "smart_plus_adgroup_create", "placement_type": "smart_plus_adgroup_create",
	"placements": "smart_plus_adgroup_create", "schedule_type": "smart_plus_adgroup_create", "age_groups": "smart_plus_adgroup_create",
	"gender": "smart_plus_adgroup_create", "spending_power": "smart_plus_adgroup_create", "action_scene": "smart_plus_adgroup_create",
	"video_user_actions": "smart_plus_adgroup_create", "identity_type": "smart_plus_ad_create", "call_to_action": "smart_plus_ad_create",
}

type field struct {
	Name, Type string
	Required   bool
}

// crud is crud.json.
type crud struct {
	Operations map[string]struct {
		Method, Path string
		Params       []field
	}
	Types map[string][]field
}

type table struct {
	out   *bufio.Writer
	crud  crud
	enums map[string][]string
	nodes map[string][]field
}

func main() {
	log.SetFlags(0)
	folder := os.Args[1]
	t := &table{out: bufio.NewWriter(os.Stdout), enums: map[string][]string{}, nodes: map[string][]field{}}
	text, err := os.ReadFile(filepath.Join(folder, "crud.json"))
	if err == nil {
		err = json.Unmarshal(text, &t.crud)
	}
	if err != nil {
		log.Fatal(err)
	}
	fmt.Fprint(t.out, header)
	for name, file := range listed {
		if t.enums[name] = members(load(folder, file), name); t.enums[name] == nil {
			log.Fatalf("%s lists no %s", file, name)
		}
	}
	for _, name := range operations {
		t.operation(name)
	}
	for _, file := range described {
		t.describe(load(folder, file))
	}
	for _, name := range slices.Sorted(maps.Keys(t.nodes)) {
		fmt.Fprintln(t.out, "node\t"+name)
		t.fields("field", t.nodes[name])
	}
	for _, name := range slices.Sorted(maps.Keys(t.enums)) {
		fmt.Fprintln(t.out, "enum\t"+name+"\t"+strings.Join(t.enums[name], " "))
	}
	if err := t.out.Flush(); err != nil {
		log.Fatal(err)
	}
}

func load(folder, file string) any {
	text, err := os.ReadFile(filepath.Join(folder, "yml", file+".yml"))
	var doc any
	if err == nil {
		err = yaml.Unmarshal(text, &doc)
	}
	if err != nil {
		log.Fatal(err)
	}
	return doc
}

// members returns the members of the closed list of a parameter, wherever in a description that stands.
func members(at any, name string) []string {
	switch at := at.(type) {
	case map[string]any:
		if found := enumOf(at[name]); found != nil {
			return found
		}
		for _, key := range slices.Sorted(maps.Keys(at)) {
			if found := members(at[key], name); found != nil {
				return found
			}
		}
	case []any:
		for _, one := range at {
			if found := members(one, name); found != nil {
				return found
			}
		}
	}
	return nil
}

// enumOf returns the members of a schema's closed list, nil if it has none. A list of them counts as one.
func enumOf(schema any) []string {
	s, _ := schema.(map[string]any)
	if items, ok := s["items"]; ok {
		s, _ = items.(map[string]any)
	}
	open, _ := s["x-open-enum"].(map[string]any)
	enums, _ := open["enums"].([]any)
	var keys []string
	for _, one := range enums {
		keys = append(keys, fmt.Sprint(one.(map[string]any)["key"]))
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

func (t *table) fields(word string, all []field) {
	slices.SortFunc(all, func(a, b field) int { return strings.Compare(a.Name, b.Name) })
	for _, f := range all {
		line := word + "\t" + f.Name + "\t" + f.Type
		if f.Required {
			line += "\trequired"
		}
		fmt.Fprintln(t.out, line)
	}
}

func (t *table) call(method, path string, params []field) {
	fmt.Fprintln(t.out, "call\t"+method+"\t"+strings.Trim(strings.TrimPrefix(path, "/open_api/v1.3"), "/"))
	t.fields("param", params)
}

// operation writes a call of crud.json. Those of its types that it uses become nodes.
func (t *table) operation(name string) {
	op, ok := t.crud.Operations[name]
	if !ok {
		log.Fatal("crud.json has no " + name)
	}
	var params []field
	for _, p := range op.Params {
		switch {
		case p.Name == "access_token":
		case p.Name == "body":
			params = append(params, t.typed(t.crud.Types[p.Type])...)
		default:
			params = append(params, t.typed([]field{p})...)
		}
	}
	t.call(op.Method, op.Path, params)
}

func (t *table) typed(all []field) []field {
	var typed []field
	for _, f := range all {
		list := strings.HasPrefix(f.Type, "list[")
		kind := strings.TrimSuffix(strings.TrimPrefix(f.Type, "list["), "]")
		if t.enums[f.Name] != nil {
			kind = f.Name
		} else if inner, is := t.crud.Types[kind]; is && t.nodes[kind] == nil {
			t.nodes[kind] = []field{}
			t.nodes[kind] = t.typed(inner)
		}
		if list {
			kind = "list<" + kind + ">"
		}
		typed = append(typed, field{f.Name, kind, f.Required})
	}
	return typed
}

// describe writes the call of a description.
func (t *table) describe(doc any) {
	for path, methods := range doc.(map[string]any)["paths"].(map[string]any) {
		for method, op := range methods.(map[string]any) {
			op := op.(map[string]any)
			name := strings.Trim(strings.TrimPrefix(path, "/open_api/v1.3"), "/")
			var params []field
			for _, p := range op["parameters"].([]any) {
				p := p.(map[string]any)
				if p["name"] == "Access-Token" {
					continue
				}
				schema := p["schema"]
				if content, ok := p["content"].(map[string]any); ok {
					for _, one := range content {
						schema = one.(map[string]any)["schema"]
					}
				}
				params = append(params, field{fmt.Sprint(p["name"]), t.kind(name, fmt.Sprint(p["name"]), schema), p["required"] == true})
			}
			if body, ok := op["requestBody"].(map[string]any); ok {
				for _, one := range body["content"].(map[string]any) {
					params = append(params, t.properties(name, one.(map[string]any)["schema"].(map[string]any))...)
				}
			}
			t.call(strings.ToUpper(method), path, params)
		}
	}
}

func (t *table) properties(name string, schema map[string]any) []field {
	required, _ := schema["required"].([]any)
	properties, _ := schema["properties"].(map[string]any)
	var all []field
	for _, key := range slices.Sorted(maps.Keys(properties)) {
		all = append(all, field{key, t.kind(name, key, properties[key]), slices.Contains(required, any(key))})
	}
	return all
}

// kind returns the type of a schema. Objects become nodes, closed lists enumerations, both by the path to them.
func (t *table) kind(at, name string, schema any) string {
	s, _ := schema.(map[string]any)
	if s["type"] == "array" {
		return "list<" + t.kind(at, name, s["items"]) + ">"
	}
	if keys := enumOf(s); keys != nil {
		t.enums[at+"."+name] = keys
		return at + "." + name
	}
	switch s["type"] {
	case "string":
		return "str"
	case "integer":
		return "int"
	case "number":
		return "float"
	case "boolean":
		return "bool"
	}
	if s["properties"] == nil {
		return "any"
	}
	t.nodes[at+"."+name] = t.properties(at+"."+name, s)
	return at + "." + name
}
