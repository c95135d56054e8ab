package core

import "slices"

// Distinct returns the texts without repetitions, in the order in which each first occurs; nil stays nil.
func Distinct(texts []string) []string {
	var once []string
	for _, text := range texts {
		if !slices.Contains(once, text) {
			once = append(once, text)
		}
	}
	if once == nil {
		return texts
	}
	return once
}
