package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// source is a small specification that breaks no rule. Tests break it by replacing a part.
const source = `
paths:
  /things:
    post:
      operationId: createThing
      tags: [Products]
      summary: Create a thing
      description: Makes a thing.
      x-approval: allow
      x-scope: things:write
      x-sdk: Create
      x-expand: [owner]
      parameters: [{name: shelf, in: query, schema: {type: string, minLength: 1}}]
      requestBody:
        required: true
        content:
          application/json:
            schema: {$ref: '#/components/schemas/ThingUpdate'}
            example: {name: a}
      responses:
        '201':
          description: The thing.
          content: {application/json: {schema: {$ref: '#/components/schemas/Thing'}}}
  /things/{id}:
    parameters: [{name: id, in: path, required: true, schema: {type: string}}]
    get:
      operationId: getThing
      tags: [Products]
      summary: Get a thing
      description: Returns a thing.
      x-approval: allow
      x-scope: things:read
      x-sdk: Get
      responses:
        '200':
          description: The thing.
          content: {application/json: {schema: {$ref: '#/components/schemas/Thing'}}}
components:
  schemas:
    ThingList: {x-list: Thing}
    Thing:
      description: A thing.
      type: object
      properties:
        object: {type: string}
        owner: {x-expandable: Thing, nullable: true, description: Whose it is.}
    Shelf: {description: A place., type: string}
    ThingUpdate:
      description: A change.
      x-no-object: true
      type: object
      properties:
        name: {type: string, nullable: true}
`

// bundled loads the conventions with source, changed by replacing old with new, as the one resource file.
func bundled(t *testing.T, old, new string) (*yaml.Node, error) {
	t.Helper()
	require.Contains(t, source, old)
	dir := t.TempDir()
	conventions, err := os.ReadFile("../openapi.yaml")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "openapi.yaml"), conventions, 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "resources"), 0o700))
	resource := strings.Replace(source, old, new, 1)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "resources", "thing.yaml"), []byte(resource), 0o600))
	doc, err := load(dir)
	if err == nil {
		complete(doc)
	}
	return doc, err
}

func TestLint_RefusesEveryBreakOfTheRules(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ old, new, want string }{
		{"operationId: createThing", "operationId: create_thing", "operationId must be verb and noun"},
		{"operationId: createThing", "operationId: getThing", "operationId getThing is also that of"},
		{"tags: [Products]", "tags: []", "exactly one tag"},
		{"tags: [Products]", "tags: [Things]", "exactly one tag, which stands in openapi.yaml"},
		{"summary: Create a thing", "summary: ''", "needs summary"},
		{"description: Makes a thing.", "description: ''", "needs description"},
		{"x-approval: allow", "x-approval: maybe", "x-approval must be"},
		{"x-scope: things:write", "x-scope: things", "needs x-scope"},
		{"x-sdk: Create", "x-sdk: ''", "needs x-sdk"},
		{"example: {name: a}", "x-example: {}", "its body needs an example"},
		{"'201':", "'404':", "comes from x-errors"},
		{"x-expand: [owner]", "x-errors: [Teapot]", "x-errors names no response: Teapot"},
		{"x-expand: [owner]", "x-public: true", "x-public goes with a path under /public/"},
		{"x-expand: [owner]", "x-development: true", "x-development goes with a path under /test_helpers/"},
		{"  /things:", "  /test_helpers/things:", "x-development goes with a path under /test_helpers/"},
		{"x-expand: [owner]", "deprecated: true", "needs x-deprecated-at"},
		{"x-expand: [owner]", "deprecated: true\n      x-deprecated-at: 2026-01-01\n      x-sunset-at: 2026-07-02\n      x-deprecation-link: https://x.example", "at least 183 days"},
		{"x-expand: [owner]", "deprecated: true\n      x-deprecated-at: 2026-01-01\n      x-sunset-at: 2026-07-03", "needs x-deprecation-link"},
		{"  /things:", "  /allThings:", "must be snake_case"},
		{"minLength: 1", "maxLength: 1", "query parameter shelf needs minLength"},
		{"{type: string, minLength: 1}", "{$ref: '#/components/schemas/Shelf'}", "query parameter shelf needs minLength"},
		{"name: id", "name: thingId", "parameter thingId must be snake_case"},
		{"name: {type: string", "firstName: {type: string", "property firstName must be snake_case"},
		{"description: Whose it is.", "title: Whose it is.", "property owner needs a description"},
		{"description: A thing.", "title: A thing.", "needs a description"},
		{"object: {type: string}", "kind: {type: string}", "needs a property object"},
		{"name: {type: string, nullable: true}", "name: {nullable: true, oneOf: [{type: string}]}", "it belongs beside a type"},
		{"name: {type: string, nullable: true}", "name: {nullable: true, allOf: [{type: string}]}", "it belongs beside a type"},
		{"name: {type: string, nullable: true}", "name: {type: string, nullable: true, enum: [a]}", "add null to its enum"},
		{"description: A place., type: string", "description: A place., type: string, nullable: true", "schema Shelf must not be nullable"},
	} {
		t.Run(c.want, func(t *testing.T) {
			t.Parallel()
			doc, err := bundled(t, c.old, c.new)
			require.NoError(t, err)
			assert.ErrorContains(t, errors.Join(lint(doc)...), c.want)
		})
	}
}

func TestLint_AcceptsWhatFollowsTheRules(t *testing.T) {
	t.Parallel()
	for _, new := range []string{"x-expand: [owner]", "deprecated: true\n      x-deprecated-at: 2026-01-01\n      x-sunset-at: 2026-07-03\n      x-deprecation-link: https://x.example"} {
		doc, err := bundled(t, "x-expand: [owner]", new)
		require.NoError(t, err)
		assert.Empty(t, lint(doc))
	}
}

func TestLoad_RefusesTwoDefinitionsOfOneName(t *testing.T) {
	t.Parallel()
	_, err := bundled(t, "    ThingList: {x-list: Thing}", "    Address: {type: string}")
	require.ErrorContains(t, err, "schemas Address is defined twice")
}

func TestFlatten_OwnKeysWinOverMergedOnes(t *testing.T) {
	t.Parallel()
	doc := flatten(parse("base: &b {x: 1, y: 2}\nderived:\n  <<: *b\n  y: 3"))
	assert.Equal(t, "1", scalarAt(doc, "derived", "x"))
	assert.Equal(t, "3", scalarAt(doc, "derived", "y"))
	assert.Equal(t, "2", scalarAt(doc, "base", "y"))
}

func TestPublish_AddsWhatAllOperationsShare(t *testing.T) {
	t.Parallel()
	doc, err := bundled(t, "x-expand: [owner]", "x-expand: [owner]")
	require.NoError(t, err)
	publish(doc)

	create, read := get(doc, "paths", "/things", "post"), get(doc, "paths", "/things/{id}", "get")
	assert.ElementsMatch(t, []string{"201", "400", "401", "403", "409", "413", "415", "422", "429", "500", "503"}, keys(get(create, "responses")))
	assert.ElementsMatch(t, []string{"200", "400", "401", "403", "404", "429", "500", "503"}, keys(get(read, "responses")))
	expand := get(create, "parameters").Content[1]
	assert.Equal(t, "expand", scalarAt(expand, "name"))
	assert.Equal(t, "true", scalarAt(expand, "allowEmptyValue"), "an empty one names none")
	assert.Nil(t, get(expand, "schema", "minItems"))
	assert.Equal(t, "#/components/parameters/IdempotencyKey", scalarAt(get(create, "parameters").Content[2], "$ref"))
	assert.Nil(t, get(read, "parameters"), "a read has no Idempotency-Key")
	assert.Contains(t, keys(get(create, "responses", "201", "headers")), "Idempotent-Replayed")
	assert.Contains(t, keys(get(doc, "components", "responses", "TooManyRequests", "headers")), "Retry-After")
	assert.Equal(t, "false", scalarAt(doc, "components", "schemas", "ThingUpdate", "additionalProperties"), "what is sent to us is closed")
	assert.Nil(t, get(doc, "components", "schemas", "Thing", "additionalProperties"), "what we send may grow")
	walk(doc, func(n *yaml.Node) {
		assert.Empty(t, scalarAt(n, "x-go-type"), "Go is not the public document's business")
	})
}

func TestPublish_DocumentsWhatABodyMayMeetOnlyWhereThereIsOne(t *testing.T) {
	t.Parallel()
	doc, err := bundled(t, "    get:\n      operationId: getThing", "    delete:\n      operationId: deleteThing")
	require.NoError(t, err)
	publish(doc)
	assert.ElementsMatch(t, []string{"200", "400", "401", "403", "404", "409", "422", "429", "500", "503"}, keys(get(doc, "paths", "/things/{id}", "delete", "responses")))
}

func TestPublish_SaysWhatADryRunAnswers(t *testing.T) {
	t.Parallel()
	doc, err := bundled(t, "      x-expand: [owner]", "      x-dry-run: true\n      x-errors: [NotActivated]")
	require.NoError(t, err)
	publish(doc)
	create := get(doc, "paths", "/things", "post")
	assert.Equal(t, "#/components/parameters/DryRun", scalarAt(get(create, "parameters").Content[1], "$ref"))
	assert.Equal(t, "#/components/schemas/AdPlan", scalarAt(create, "responses", "200", "content", "application/json", "schema", "$ref"))
	assert.Equal(t, "#/components/schemas/Thing", scalarAt(create, "responses", "201", "content", "application/json", "schema", "$ref"))
	assert.Equal(t, "#/components/responses/NotActivated", scalarAt(create, "responses", "409", "$ref"), "in the place of the shared one")
	assert.Contains(t, keys(get(create, "responses", "200", "headers")), "x-request-id")

	doc, err = bundled(t, "x-expand: [owner]", "x-dry-run: true")
	require.NoError(t, err)
	created := get(doc, "paths", "/things", "post", "responses")
	set(created, "200", get(created, "201"))
	drop(created, "201")
	publish(doc)
	var either []string
	for _, schema := range nodes(get(created, "200", "content", "application/json", "schema", "oneOf")) {
		either = append(either, scalarAt(schema, "$ref"))
	}
	assert.Equal(t, []string{"#/components/schemas/Thing", "#/components/schemas/AdPlan"}, either)
}

func TestPublish_WritesOutWhatABodyNeeds(t *testing.T) {
	t.Parallel()
	doc, err := bundled(t, "description: A change.", "description: A change.\n      x-expects: name\n      x-required-unless: {owner: [name, shelf]}")
	require.NoError(t, err)
	publish(doc)
	change := get(doc, "components", "schemas", "ThingUpdate")
	assert.Equal(t, "1", scalarAt(change, "minProperties"))
	assert.Equal(t, "name", scalarAt(change, "x-expects"), "the server names it")
	assert.Equal(t, []string{"name", "shelf"}, items(get(get(change, "anyOf").Content[0], "required")))
	assert.Equal(t, []string{"owner"}, items(get(get(change, "anyOf").Content[1], "required")))
}

// TestPublish_SpellsFieldsOfAnyNameAsTrue is of null, which the server's validator refuses of a schema that says nothing.
func TestPublish_SpellsFieldsOfAnyNameAsTrue(t *testing.T) {
	t.Parallel()
	doc, err := bundled(t, "description: A change.", "description: A change.\n      additionalProperties: {x-go-type: json.RawMessage}")
	require.NoError(t, err)
	golang := flatten(doc)
	publish(doc)
	assert.Equal(t, "true", scalarAt(doc, "components", "schemas", "ThingUpdate", "additionalProperties"))
	assert.Equal(t, "json.RawMessage", scalarAt(golang, "components", "schemas", "ThingUpdate", "additionalProperties", "x-go-type"))
}

func TestSpellNull_PutsNullBesideTheSchemaOrItsType(t *testing.T) {
	t.Parallel()
	doc, err := bundled(t, "name: {type: string, nullable: true}", "shelf: {allOf: [{$ref: '#/components/schemas/Shelf'}], nullable: true, description: Where it is.}\n"+
		"        thing: {allOf: [{$ref: '#/components/schemas/Thing'}], nullable: true, description: What it is.}")
	require.NoError(t, err)
	require.Empty(t, lint(doc))
	publish(doc)
	properties := get(doc, "components", "schemas", "ThingUpdate", "properties")
	assert.Equal(t, "object", scalarAt(properties, "thing", "type"), "the server's messages name the type")
	walk(doc, func(n *yaml.Node) { spellNull(doc, n) })
	assert.Equal(t, []string{"nullable", "description", "type"}, keys(get(properties, "shelf")), "a plain value is written out")
	assert.Equal(t, "Where it is.", scalarAt(properties, "shelf", "description"), "with its own description")
	assert.Equal(t, []string{"description", "oneOf"}, keys(get(properties, "thing")))
	either := get(properties, "thing", "oneOf").Content
	assert.Equal(t, "#/components/schemas/Thing", scalarAt(either[0], "$ref"))
	assert.True(t, hasNull(get(either[1], "enum")))
}

func TestForRequests_KeepsWhatRequestsAreHeldAgainst(t *testing.T) {
	t.Parallel()
	doc, err := bundled(t, "x-expand: [owner]", "x-expand: [owner]")
	require.NoError(t, err)
	publish(doc)
	forRequests(doc)
	create := get(doc, "paths", "/things", "post")
	assert.Equal(t, "things:write", scalarAt(create, "x-scope"))
	assert.Equal(t, "#/components/schemas/ThingUpdate", scalarAt(create, "requestBody", "content", "application/json", "schema", "$ref"))
	assert.Equal(t, "expand", scalarAt(get(create, "parameters").Content[1], "name"))
	assert.Equal(t, []string{"200"}, keys(get(create, "responses")))
	assert.Equal(t, []string{"ThingUpdate"}, keys(get(doc, "components", "schemas")), "answers are for readers")
	walk(get(doc, "paths"), func(n *yaml.Node) {
		assert.True(t, scalarAt(n, "in") == "" || scalarAt(n, "description") == "", "a parameter's description is for readers")
		assert.True(t, get(n, "schema") == nil || get(n, "example") == nil, "a body's example is for readers")
	})
}

func TestEncode_WritesAnOperationAndASchemaALine(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	doc := parse("openapi: 3.0.3\npaths: {/things: {get: {summary: 'a < b', deprecated: true, at: 2026-01-01}, post: {}}}\ntags: [{name: 1, of: [null, 0.5]}]\nempty: {}")
	require.NoError(t, encode(&b, doc, 0))
	assert.Equal(t, `{
 "openapi":"3.0.3",
 "paths":{
  "/things":{
   "get":{"summary":"a < b","deprecated":true,"at":"2026-01-01"},
   "post":{}
  }
 },
 "tags":[
  {
   "name":1,
   "of":[null,0.5]
  }
 ],
 "empty":{}
}`, b.String())
}

func TestComplete_MakesListsThatACursorWalks(t *testing.T) {
	t.Parallel()
	doc, err := bundled(t, "ThingList: {x-list: Thing}", "ThingList: {x-cursor-list: Thing}")
	require.NoError(t, err)
	list := get(doc, "components", "schemas", "ThingList")
	assert.Equal(t, "wire.CursorList[Thing]", scalarAt(list, "x-go-type"))
	assert.Contains(t, items(get(list, "required")), "next_cursor", "null at the end, never absent")
	assert.Equal(t, "true", scalarAt(list, "properties", "next_cursor", "nullable"))
}

func TestComplete_NamesTheScopesOfReferences(t *testing.T) {
	t.Parallel()
	// An owner is a Person, who is read with people:read, and whose parcels are read by nobody alone.
	people := `
  /people/{id}:
    parameters: [{name: id, in: path, required: true, schema: {type: string}}]
    get:
      operationId: getPerson
      x-scope: people:read
      responses:
        '200':
          content: {application/json: {schema: {$ref: '#/components/schemas/Person'}}}
components:
  schemas:
    Person:
      properties:
        home: {x-expandable: Thing}
        parcels: {type: array, items: {x-expandable: Parcel}}
        purse: {x-expandable: Parcel, x-read-scope: 'purses:read'}
    Parcel:
      properties:
        sender: {x-expandable: Person}
`
	for names, want := range map[string]map[string][]string{
		"owner":                        {"owner": {"people:read"}},
		"owner, owner.home":            {"owner": {"people:read"}, "owner.home": {"people:read", "things:read"}},
		"owner.parcels.sender":         {"owner.parcels.sender": {"people:read"}},
		"owner.purse":                  {"owner.purse": {"people:read", "purses:read"}},
		"owner, owner.parcels, status": {"owner": {"people:read"}, "owner.parcels": {"people:read"}},
	} {
		changed := strings.NewReplacer("x-expand: [owner]", "x-expand: ["+names+"]", "x-expandable: Thing, nullable", "x-expandable: Person, nullable", "components:\n  schemas:\n", people[1:]).Replace(source)
		doc, err := bundled(t, source, changed)
		require.NoError(t, err)
		expand := get(doc, "paths", "/things", "post", "parameters").Content[1]
		got := map[string][]string{}
		each(get(expand, "x-scopes"), func(name string, scopes *yaml.Node) { got[name] = items(scopes) })
		assert.Equal(t, want, got, names)
		assert.Contains(t, scalarAt(expand, "description"), "(people:read", names)
	}
}

func TestForGo_BindsTypes(t *testing.T) {
	t.Parallel()
	doc, err := bundled(t, "x-expand: [owner]", "x-expand: [owner]")
	require.NoError(t, err)
	forGo(doc)

	schemas := get(doc, "components", "schemas")
	assert.Equal(t, "wire.List[Thing]", scalarAt(schemas, "ThingList", "x-go-type"))
	assert.Equal(t, "wire.Expandable[Thing]", scalarAt(schemas, "Thing", "properties", "owner", "x-go-type"))
	assert.Equal(t, "nullable.Nullable[string]", scalarAt(schemas, "ThingUpdate", "properties", "name", "x-go-type"))
	assert.Nil(t, get(doc, "components", "responses"))
}

func keys(n *yaml.Node) []string {
	var names []string
	each(n, func(name string, _ *yaml.Node) { names = append(names, name) })
	return names
}
