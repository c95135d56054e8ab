package sdktest

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tillwright/tillwright/sdk/wire"
)

// describe says in the real server's words what a schema takes.
func describe(s *schema) string {
	text := describeType(s)
	if example, err := json.Marshal(s.Example); s.Example != nil && err == nil {
		text += ", e.g. " + string(example)
	}
	if d := strings.TrimSuffix(s.Description, "."); d != "" {
		if len(d) < 2 || d[1] < 'A' || d[1] > 'Z' { // no name such as ISO 3166
			d = strings.ToLower(d[:1]) + d[1:]
		}
		text += ": " + d
	}
	return text
}

func describeType(s *schema) string {
	switch {
	case len(s.OneOf) > 0:
		var texts []string
		for _, alternative := range s.OneOf {
			texts = append(texts, describeType(alternative))
		}
		return strings.Join(texts, " or ")
	case s.Type == "array" && s.Items != nil && len(s.Items.Enum) > 0:
		return "a list of: " + listed(s.Items.Enum)
	case len(s.Enum) > 0:
		return "one of: " + listed(s.Enum)
	case s.Type == "integer":
		return "an integer" + s.bounds()
	case s.Type == "boolean":
		return "true or false"
	case s.Type == "array":
		return "an array"
	case s.Type == "object":
		return "an object"
	}
	return s.describeText()
}

func (s *schema) describeText() string {
	switch {
	case s.Format == "date-time":
		return "an RFC 3339 timestamp such as 2026-01-31T12:00:00Z"
	case s.Format == "date":
		return "a date, YYYY-MM-DD"
	case s.Pattern != "":
		return wire.PatternWords(s.Pattern)
	case s.MinLength > 0 && s.MaxLength != nil:
		return fmt.Sprintf("text of %d to %s", s.MinLength, countTo(s.MaxLength, "character"))
	case s.MaxLength != nil:
		return "text of at most " + countTo(s.MaxLength, "character")
	}
	return "text"
}

func (s *schema) bounds() string {
	switch {
	case s.Minimum != nil && s.Maximum != nil:
		return fmt.Sprintf(" from %d to %d", *s.Minimum, *s.Maximum)
	case s.Minimum != nil:
		return fmt.Sprintf(" of at least %d", *s.Minimum)
	case s.Maximum != nil:
		return fmt.Sprintf(" of at most %d", *s.Maximum)
	}
	return ""
}

func listed(values []any) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = fmt.Sprint(v)
	}
	return strings.Join(texts, ", ")
}
