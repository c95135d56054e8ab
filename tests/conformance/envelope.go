package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// Fault is the error envelope of a failed response, decoded.
type Fault struct {
	Type    string              `json:"type"`
	Code    string              `json:"code"`
	Message string              `json:"message"`
	Param   string              `json:"param"`
	Errors  map[string][]string `json:"errors"`
}

// ParseFault decodes an error envelope strictly: a field that the contract does not name is an error.
func ParseFault(body []byte) (*Fault, error) {
	var envelope struct {
		Error *Fault `json:"error"`
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&envelope); err != nil {
		return nil, fmt.Errorf("the error envelope: %w", err)
	}
	f := envelope.Error
	switch {
	case f == nil:
		return nil, fmt.Errorf("there is no error envelope")
	case !slices.Contains([]string{"invalid_request_error", "validation_error", "api_error"}, f.Type):
		return nil, fmt.Errorf("the error type is %q", f.Type)
	case f.Code == "" || f.Message == "":
		return nil, fmt.Errorf("code or message is empty")
	case f.Type == "validation_error" && (len(f.Errors) == 0 || f.Param == ""):
		return nil, fmt.Errorf("a validation error has no errors or no param")
	}
	return f, nil
}

func checkEnvelope(body []byte) error {
	_, err := ParseFault(body)
	return err
}
