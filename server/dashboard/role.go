package dashboard

import (
	"slices"

	"github.com/tillwright/tillwright/store/person"
)

// reads are the scopes that every member has.
var reads = []string{
	"products:read", "checkouts:read", "orders:read", "customers:read", "invoices:read", "subscriptions:read", "discounts:read", "refunds:read", "leads:read",
	"content:read", "sites:read", "files:read", "licenses:read", "webhooks:read", "ads:read", "account:read", "keys:read", "metrics:read",
}

// scopesOf returns what a role may do, by the scopes of the API: none means everything.
func scopesOf(role person.Role) []string {
	switch role {
	case person.RoleOwner, person.RoleAdmin:
		return nil
	case person.RoleDeveloper:
		return slices.Concat(reads, []string{"webhooks:write", "keys:write"})
	case person.RoleSupport:
		return slices.Concat(reads, []string{"orders:write", "customers:write", "subscriptions:write", "refunds:write", "licenses:write"})
	}
	return reads
}

// nameOf returns what people call a role, and what it is for.
func nameOf(role person.Role) (name, hint string) {
	switch role {
	case person.RoleOwner:
		return "Owner", "may do everything, and says who else is one"
	case person.RoleAdmin:
		return "Admin", "may do everything but change owners"
	case person.RoleDeveloper:
		return "Developer", "tokens and webhooks; sees the rest"
	case person.RoleSupport:
		return "Support", "orders, customers, subscriptions, refunds and licence keys; sees the rest"
	}
	return "Read only", "sees everything, changes nothing"
}
