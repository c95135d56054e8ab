package view

import (
	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/store"
)

// Access renders whether something is open to a customer.
func Access(a store.Access) api.Access {
	out := api.Access{Object: "access", HasAccess: a.Via != "", Via: nil, Grant: nil}
	if out.HasAccess {
		out.Via = new(api.AccessVia(a.Via))
	}
	if a.Grant != nil {
		out.Grant = &a.Grant.ID
	}
	return out
}
