// Package spec holds the API's document as `make gen` bundles it, which is served. Beside it is the part that every request is validated against.
package spec

import _ "embed"

//go:embed openapi.json
var JSON []byte

// Requests has every operation with its parameters and bodies, and no responses, and writes a nullable reference as the server's
// validator understands it best. It is read whenever a server starts, in a quarter of the time that JSON would take.
//
//go:embed requests.json
var Requests []byte
