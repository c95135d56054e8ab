package server

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/tillwright/tillwright/server/caller"
	"github.com/tillwright/tillwright/store/core"
)

// expandScopes holds which scopes a name in the expand parameter needs, besides the scope of the operation. Who may only read
// orders may not read customers through them.
type expandScopes map[string][]string

// readExpandScopes reads x-scopes of the operation's expand parameter.
func (o *Operation) readExpandScopes() expandScopes {
	scopes := expandScopes{}
	for i := range o.parameters {
		names, _ := o.parameters[i].Extensions["x-scopes"].(map[string]any)
		for name, needed := range names {
			needed, _ := needed.([]any)
			for _, scope := range needed {
				scopes[name] = append(scopes[name], fmt.Sprint(scope))
			}
		}
	}
	return scopes
}

// check refuses a name that the caller's key may not expand. It comes before the handler: a charge could not be undone because
// its answer may not be shown.
func (s expandScopes) check(ctx context.Context, query url.Values) error {
	if len(s) == 0 || len(query["expand"]) == 0 {
		return nil
	}
	for name := range strings.SplitSeq(query["expand"][0], ",") {
		for _, scope := range s[name] {
			if !caller.Of(ctx).May(scope) {
				return &core.Error{Code: core.CodeForbidden, Param: scope, Message: "To expand " + name + " an API key needs the scope " + scope + ", which this one lacks."}
			}
		}
	}
	return nil
}
