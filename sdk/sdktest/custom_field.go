package sdktest

import (
	"fmt"
	"maps"
	"slices"
)

// checkCustomFields checks the questions of a product as a whole.
func checkCustomFields(o object, p problems) {
	seen := map[string]bool{}
	for i, f := range list(o, "custom_fields") {
		field, at := f.(object), fmt.Sprintf("custom_fields.%d.", i)
		p.check(!seen[textOf(field, "key")], at+"key", "Another custom field has this key.")
		p.check((field["type"] == "select") == (len(list(field, "options")) > 0), at+"options", "A select, and nothing else, has options.")
		seen[textOf(field, "key")] = true
	}
}

// checkAnswers checks a buyer's answers against the questions of the lines' products. If complete, each required question needs one.
func (s *state) checkAnswers(answers object, lines []object, complete bool) error {
	questions := map[string][]object{} // two products may ask under one key
	for _, line := range lines {
		for _, f := range list(s.objects[textOf(line, "product")], "custom_fields") {
			key := textOf(f.(object), "key")
			questions[key] = append(questions[key], f.(object))
		}
	}
	p := problems{}
	for key := range answers {
		p.check(len(questions[key]) > 0, "custom_field_data."+key, "No product of this checkout asks for this.")
	}
	for _, key := range slices.Sorted(maps.Keys(questions)) {
		answer, given := answers[key].(string)
		for _, question := range questions[key] {
			problem := ""
			if given {
				problem = refusesAnswer(question, answer)
			}
			isEnough := answer != "" && (question["type"] != "checkbox" || answer == "true")
			if complete && isTrue(question, "required") && !isEnough {
				problem = "This is required."
			}
			p.check(problem == "", "custom_field_data."+key, problem)
		}
	}
	return p.err()
}

// refusesAnswer says in a sentence why an answer is not acceptable, and returns nothing if it is.
func refusesAnswer(question object, answer string) string {
	options := list(question, "options")
	switch {
	case question["type"] == "checkbox" && answer != "true" && answer != "false":
		return "Send true or false, as a string."
	case question["type"] == "select" && answer != "" && !slices.Contains(options, any(answer)):
		return fmt.Sprintf("Send one of %q.", options)
	}
	return ""
}
