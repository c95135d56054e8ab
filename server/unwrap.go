package server

import (
	"bytes"
	"encoding/json"
)

// unwrap returns the object inside {"<name>": {...}}, and any other body as it is. The contract shows webhook endpoints both
// ways.
func unwrap(data []byte, name string) []byte {
	var wrapper map[string]json.RawMessage
	if json.Unmarshal(data, &wrapper) != nil || len(wrapper) != 1 {
		return data
	}
	inner := bytes.TrimSpace(wrapper[name])
	if len(inner) == 0 || inner[0] != '{' {
		return data
	}
	return inner
}
