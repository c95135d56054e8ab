package sdk

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// Operation is one operation of the API as the specification describes it.
type Operation struct {
	// ID is its operationId, for example "createProduct".
	ID string
	// Method is the HTTP method.
	Method string
	// Path is its path under the base URL with placeholders, for example "/products/{id}". The path of a public operation
	// is under the server's root.
	Path string
	// Approval is "allow", or "ask" if a person should agree before a program does this.
	Approval string
	// Scope is the scope that a restricted key needs, for example "products:write". It is empty if none is needed.
	Scope string
	// Locked marks an operation whose Approval must stay "ask".
	Locked bool
	// Deprecated operations stop on the day in the Sunset header of their answers.
	Deprecated bool
	// Public operations take no API key.
	Public bool
}

// writes reports whether the operation changes something and so carries an Idempotency-Key.
func (o Operation) writes() bool { return o.Method != http.MethodGet }

// fill puts ids into the placeholders of the path. It refuses an id that would turn the path into that of another operation.
func (o Operation) fill(ids []string) (string, error) {
	var path strings.Builder
	rest := o.Path
	for _, id := range ids {
		before, after, _ := strings.Cut(rest, "{")
		name, after, _ := strings.Cut(after, "}")
		if id == "" || id == "." || id == ".." {
			return "", fmt.Errorf("%s is %q: pass what the resource is addressed by", name, id)
		}
		path.WriteString(before)
		path.WriteString(url.PathEscape(id))
		rest = after
	}
	path.WriteString(rest)
	return path.String(), nil
}
