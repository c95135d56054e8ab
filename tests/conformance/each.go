package conformance

import "encoding/json"

// acceptedOf returns the body of a request without the items that its answer says have failed. Of an operation with x-each, these alone need not
// match the document. If none is left it returns the document's example.
func (o *Operation) acceptedOf(sent []byte, status int, received []byte) []byte {
	field, isBulk := o.route.Operation.Extensions["x-each"].(string)
	if !isBulk || status >= 300 {
		return sent
	}
	var body map[string]json.RawMessage
	var items []json.RawMessage
	var answer struct{ Results []struct{ Status string } }
	if json.Unmarshal(sent, &body) != nil || json.Unmarshal(body[field], &items) != nil || json.Unmarshal(received, &answer) != nil || len(answer.Results) != len(items) {
		return sent
	}
	var accepted []json.RawMessage
	for i, item := range items {
		if answer.Results[i].Status != "failed" {
			accepted = append(accepted, item)
		}
	}
	var rest any = o.route.Operation.RequestBody.Value.Content["application/json"].Example
	if len(accepted) > 0 {
		list, err := json.Marshal(accepted)
		if err != nil {
			return sent
		}
		body[field], rest = list, body
	}
	text, err := json.Marshal(rest)
	if err != nil {
		return sent
	}
	return text
}
