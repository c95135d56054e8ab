package main

import (
	"database/sql/driver"
	"encoding/json"

	"modernc.org/sqlite"

	"github.com/tillwright/tillwright/store/core"
)

// filterWords gives SQLite the function that the triggers of the tables call, as the server does.
func filterWords() error {
	return sqlite.RegisterDeterministicScalarFunction("filter_words", -1, func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
		found := []string{}
		for _, arg := range args {
			if text, ok := arg.(string); ok {
				found = append(found, core.Words(text)...)
			}
		}
		encoded, err := json.Marshal(found)
		return string(encoded), err
	})
}
