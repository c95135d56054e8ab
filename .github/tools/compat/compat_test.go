package main

import (
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// paths are the ones that the tests change: comparing all of them takes a second each time.
var paths = []string{"/account", "/invoices", "/orders", "/orders/{id}/void", "/products", "/products/{id}"}

// released is the document that clients know, with those paths.
func released(t *testing.T) map[string]any {
	t.Helper()
	text, err := os.ReadFile("../../../openapi/released/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	for path := range at(doc, "paths") {
		if !slices.Contains(paths, path) {
			delete(at(doc, "paths"), path)
		}
	}
	return doc
}

// at walks down a document.
func at(node any, path ...string) map[string]any {
	for _, key := range path {
		node = node.(map[string]any)[key]
	}
	return node.(map[string]any)
}

func compared(t *testing.T, change func(doc map[string]any), allowed string) ([]string, error) {
	t.Helper()
	old, now := released(t), released(t)
	return comparedWith(t, old, now, change, allowed)
}

func comparedWith(t *testing.T, old, now map[string]any, change func(doc map[string]any), allowed string) ([]string, error) {
	t.Helper()
	change(now)
	before, err := json.Marshal(old)
	if err != nil {
		t.Fatal(err)
	}
	after, err := json.Marshal(now)
	if err != nil {
		t.Fatal(err)
	}
	return compare(before, after, []byte(allowed))
}

func schema(doc map[string]any, name string) map[string]any {
	return at(doc, "components", "schemas", name)
}

// orNull is a reference that may be null, as strict validators understand it.
func orNull(ref, kind string) map[string]any {
	return map[string]any{"oneOf": []any{map[string]any{"$ref": ref}, map[string]any{"type": kind, "nullable": true, "enum": []any{nil}}}}
}

// breaks are planted, each with a part of what is said about it.
var breaks = map[string]struct {
	plant func(doc map[string]any)
	says  string
}{
	"a removed operation":  {func(d map[string]any) { delete(at(d, "paths", "/products/{id}"), "get") }, "GET /products/{id}: api removed without deprecation"},
	"a removed path":       {func(d map[string]any) { delete(at(d, "paths"), "/orders/{id}/void") }, "removed without deprecation"},
	"a removed property":   {func(d map[string]any) { delete(at(schema(d, "Order"), "properties"), "receipt_url") }, "receipt_url"},
	"a property of a body": {func(d map[string]any) { delete(at(schema(d, "ProductCreate"), "properties"), "slug") }, "removed the request property `slug`"},
	"a new required field": {func(d map[string]any) {
		s := schema(d, "ProductCreate")
		s["required"] = append(s["required"].([]any), "slug")
	}, "`slug`"},
	"a narrowed enum": {func(d map[string]any) { s := schema(d, "CollectionMethod"); s["enum"] = s["enum"].([]any)[:1] }, "enum"},
	"a narrower text": {func(d map[string]any) { at(schema(d, "ProductCreate"), "properties", "name")["maxLength"] = 10 }, "maxLength"},
	"a null that was not": {func(d map[string]any) {
		at(schema(d, "Order"), "properties")["status"] = orNull("#/components/schemas/OrderStatus", "string")
	}, "`status` became nullable"},
	"another type":   {func(d map[string]any) { at(schema(d, "Order"), "properties", "number")["type"] = "string" }, "`number`"},
	"another scope":  {func(d map[string]any) { at(d, "paths", "/products", "get")["x-scope"] = "orders:read" }, "GET /products: it needs the scope orders:read now"},
	"one more scope": {func(d map[string]any) { at(d, "paths", "/products", "get")["x-more-scopes"] = []any{"orders:read"} }, "it needs the scope orders:read now"},
	"a removed query filter": {func(d map[string]any) {
		op := at(d, "paths", "/orders", "get")
		op["parameters"] = op["parameters"].([]any)[1:]
	}, "GET /orders: deleted the `query` request parameter"},
}

func TestCompare_FindsEveryBreakThatIsPlanted(t *testing.T) {
	t.Parallel()
	for name, b := range breaks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, err := compared(t, b.plant, "[]")
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(strings.Join(found, "\n"), b.says) {
				t.Errorf("%q is not in %q", b.says, found)
			}
		})
	}
}

func TestCompare_LetsPassWhatBreaksNothing(t *testing.T) {
	t.Parallel()
	found, err := compared(t, func(d map[string]any) {
		at(schema(d, "Order"), "properties")["new_property"] = map[string]any{"type": "string"}
		at(schema(d, "ProductCreate"), "properties")["new_property"] = map[string]any{"type": "string"}
		at(d, "paths")["/news"] = map[string]any{"get": map[string]any{"operationId": "listNews", "responses": map[string]any{"200": map[string]any{"description": "News."}}}}
		status := schema(d, "OrderStatus")
		status["enum"] = append(status["enum"].([]any), "new_status")
		delete(at(d, "paths", "/products", "get"), "x-scope")
	}, "[]")
	if err != nil || len(found) > 0 {
		t.Errorf("%v, %q", err, found)
	}
}

func TestCompare_TakesEitherFormOfANullableReference(t *testing.T) {
	t.Parallel()
	const ref = "#/components/schemas/Address"
	old, now := released(t), released(t)
	at(schema(old, "Account"), "properties")["business_address"] = map[string]any{"type": "object", "nullable": true, "allOf": []any{map[string]any{"$ref": ref}}}
	found, err := comparedWith(t, old, now, func(d map[string]any) {
		at(schema(d, "Account"), "properties")["business_address"] = orNull(ref, "object")
	}, "[]")
	if err != nil || len(found) > 0 {
		t.Errorf("%v, %q", err, found)
	}
}

// deprecated marks an operation, whose last day is so many days from now.
func deprecated(doc map[string]any, days int) map[string]any {
	op := at(doc, "paths", "/products/{id}", "get")
	op["deprecated"], op["x-sunset-at"] = true, time.Now().AddDate(0, 0, days).Format(time.DateOnly)
	return doc
}

func TestCompare_AnOperationGoesAfterItsSunsetOnly(t *testing.T) {
	t.Parallel()
	remove := func(d map[string]any) { delete(at(d, "paths", "/products/{id}"), "get") }
	for days, wants := range map[int]int{-1: 0, 10: 1} {
		found, err := comparedWith(t, deprecated(released(t), days), released(t), remove, "[]")
		if err != nil || len(found) != wants {
			t.Errorf("with a sunset in %d days: %v, %q", days, err, found)
		}
	}
}

func TestCompare_ADeprecationHasItsNotice(t *testing.T) {
	t.Parallel()
	for days, wants := range map[int]int{100: 1, 190: 0} {
		found, err := compared(t, func(d map[string]any) { deprecated(d, days) }, "[]")
		if err != nil || len(found) != wants {
			t.Errorf("with a notice of %d days: %v, %q", days, err, found)
		}
	}
}

func TestCompare_WhatIsAllowedIsNeeded(t *testing.T) {
	t.Parallel()
	scope := breaks["another scope"].plant
	const allowance = "- {breaks: 'GET /products: it needs the scope .*', reason: Because., since: 2026-11-22}"
	if found, err := compared(t, scope, allowance); err != nil || len(found) > 0 {
		t.Errorf("%v, %q", err, found)
	}
	if _, err := compared(t, func(map[string]any) {}, allowance); err == nil {
		t.Error("nothing needs it")
	}
	if _, err := compared(t, scope, strings.Replace(allowance, "reason: Because., ", "", 1)); err == nil {
		t.Error("it has no reason")
	}
}

func TestLines_BreaksTheFirstLevelsAlone(t *testing.T) {
	t.Parallel()
	text, err := lines(map[string]any{"b": map[string]any{"c": map[string]any{"d": 1}, "<": []any{2}}, "a": map[string]any{}}, 2)
	if want := "{\n\"a\":{},\n\"b\":{\n\"<\":[2],\n\"c\":{\"d\":1}\n}\n}"; err != nil || string(text) != want {
		t.Errorf("%s, %v; want %s", text, err, want)
	}
}

// What is written is read back as it was: JSON knows fewer escapes than Go.
func TestLines_WritesJSON(t *testing.T) {
	t.Parallel()
	const odd = "\a\x00\U000e0001 \u2028 \"<&>\\"
	doc := map[string]any{odd: map[string]any{odd: odd}}
	for levels := range 3 {
		text, err := lines(doc, levels)
		var back map[string]any
		if err == nil {
			err = json.Unmarshal(text, &back)
		}
		if err != nil || !reflect.DeepEqual(back, doc) || !strings.Contains(string(text), "<&>") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
