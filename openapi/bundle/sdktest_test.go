package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const faked = `
paths:
  /products:
    post:
      operationId: createProduct
      tags: [Products]
      parameters: [{$ref: '#/components/parameters/Key'}]
      requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/ProductCreate'}}}}
      responses:
        '201': {content: {application/json: {schema: {$ref: '#/components/schemas/Product'}}}}
        '400': {content: {application/json: {schema: {$ref: '#/components/schemas/Error'}}}}
  /products/export: {get: {operationId: exportProducts, tags: [Products], responses: {'200': {content: {application/json: {schema: {$ref: '#/components/schemas/Error'}}}}}}}
  /ads: {get: {operationId: listAds, tags: [Ads], responses: {'200': {content: {application/json: {schema: {$ref: '#/components/schemas/Error'}}}}}}}
components:
  parameters: {Key: {name: key, in: header, description: Of the document.}, Other: {name: other, in: query}}
  schemas:
    Error: {type: object}
    LineItem: {type: object}
    Payment: {type: object}
    Deleted: {type: object}
    ProductCreate: {type: object, properties: {name: {type: string, description: A name.}}}
    Product: {type: object, properties: {type: {type: string, description: A type.}, description: {type: string}, owner: {oneOf: [{type: string}, {$ref: '#/components/schemas/Error'}, {$ref: '#/components/schemas/Deleted'}]}}}
`

func TestWriteFake_KeepsWhatAFakeServerNeeds(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "document.gen.go")
	require.NoError(t, writeFake(file, "../sdk.sdktest.tmpl", parse(faked), []event{{Type: "order.paid"}}))
	code, err := os.ReadFile(file)
	require.NoError(t, err)
	text := string(code)
	assert.Contains(t, text, "\"createProduct\": `"+`{"parameters":[{"$ref":"#/components/parameters/Key"}],"body":{"$ref":"#/components/schemas/ProductCreate"},"bodyRequired":true,"status":201,"answer":"Product"}`)
	assert.Contains(t, text, `"name":{"type":"string","description":"A name."}`, "a refusal quotes it")
	assert.Contains(t, text, `"properties":{"type":{"type":"string"},"description":{"type":"string"},"owner":{"type":"string"}}`)
	assert.Contains(t, text, `"order.paid"`)
	for _, absent := range []string{"exportProducts", "listAds", `"Error"`, `"Other"`, `"other"`} {
		assert.NotContains(t, text, absent)
	}
}
