package catalog

import (
	"fmt"
	"slices"
)

// CustomField is a question that a buyer answers at checkout.
type CustomField struct {
	Key      string   `json:"key"`
	Label    string   `json:"label"`
	Type     string   `json:"type"` // text, checkbox or select
	Required bool     `json:"required"`
	Options  []string `json:"options,omitempty"` // of a select
}

// AnsweredBy reports whether an answer is enough where the question is required: it is not empty, and a checkbox is ticked.
func (f CustomField) AnsweredBy(answer string) bool {
	return answer != "" && (f.Type != "checkbox" || answer == "true")
}

// Refuses says in a sentence why an answer is not acceptable, and returns nothing if it is.
func (f CustomField) Refuses(answer string) string {
	switch f.Type {
	case "checkbox":
		if answer != "true" && answer != "false" {
			return "Send true or false, as a string."
		}
	case "select":
		if answer != "" && !slices.Contains(f.Options, answer) {
			return fmt.Sprintf("Send one of %q.", f.Options)
		}
	}
	return ""
}
