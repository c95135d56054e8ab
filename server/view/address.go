package view

import (
	"github.com/oapi-codegen/nullable"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/store/core"
)

// address renders an address, nil for none. It has the same fields in the store and on the wire, so one converts to the other.
func address(a *core.Address) *api.Address { return (*api.Address)(a) }

// setAddress replaces the whole address, as a PATCH of a nested object does.
func setAddress(field *core.JSON[*core.Address], a nullable.Nullable[api.Address]) {
	if a.IsSpecified() {
		field.V = (*core.Address)(sent(a))
	}
}
