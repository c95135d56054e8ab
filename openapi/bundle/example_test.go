package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

func TestAddExamples_MakesThemOfProperties(t *testing.T) {
	t.Parallel()
	thing := "    Thing:\n      description: A thing.\n      type: object\n"
	doc, err := bundled(t, thing, thing+"      x-example: {shelf: top, size: {width: 3}}\n      required: [id, object, owner, maker, shelf, count, tags, kind, due_at, expires_at, note, size, open, parts]\n")
	require.NoError(t, err)
	each(parse(`
id: {type: string, example: th_1}
object: {type: string, enum: [thing]}
maker: {allOf: [{$ref: '#/components/schemas/Shelf'}], nullable: true}
shelf: {$ref: '#/components/schemas/Shelf'}
count: {type: integer, minimum: 1}
tags: {type: array, items: {type: string}}
kind: {type: string, default: b, enum: [a, b]}
due_at: {type: string, format: date-time}
expires_at: {type: string, format: date-time}
note: {type: string}
extra: {type: string}
open: {type: boolean}
parts: {type: array, items: {type: object, properties: {weight: {type: number, example: 1.5}}}}
size: {type: object, properties: {width: {type: integer}, height: {type: integer, example: 7}}}
`), func(name string, property *yaml.Node) {
		set(get(doc, "components", "schemas", "Thing", "properties"), name, property)
	})
	create := get(doc, "paths", "/things", "post")
	set(create, "x-example", parse("{note: made, parts: []}"))
	publish(doc)
	addExamples(doc)
	made := func(op *yaml.Node, status string) string {
		var example map[string]any
		require.NoError(t, get(op, "responses", status, "content", "application/json", "example").Decode(&example))
		text, err := json.Marshal(example)
		require.NoError(t, err)
		return string(text)
	}
	const shown = `"object":"thing","id":"th_1","owner":null,"maker":null,"shelf":"top","count":1,"tags":[],"kind":"a","due_at":"2026-11-22T09:30:00.000Z",` +
		`"expires_at":"2026-12-22T09:30:00.000Z","size":{"width":3,"height":7},"open":false,`
	assert.JSONEq(t, `{`+shown+`"note":"note","parts":[{"weight":1.5}]}`, made(get(doc, "paths", "/things/{id}", "get"), "200"))
	assert.JSONEq(t, `{`+shown+`"note":"made","parts":[]}`, made(create, "201"))
	walk(doc, func(n *yaml.Node) { assert.Nil(t, get(n, "x-example")) })
}
