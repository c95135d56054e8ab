// Package spec holds the API's document as `make gen` bundles it: the one that is served, and the part of it that every
// request is validated against.
package spec

import _ "embed"

//go:embed openapi.yaml
var YAML []byte

//go:embed openapi.json
var JSON []byte

// Requests has every operation with its parameters and bodies, and no responses.
//
//go:embed requests.json
var Requests []byte
