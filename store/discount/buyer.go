package discount

import (
	"github.com/tillwright/tillwright/store/customer"
)

// RedeemerFor returns the customer as somebody who uses a discount. An address that they do not own is left out.
func RedeemerFor(c *customer.Customer) Redeemer {
	by := Redeemer{CustomerID: &c.ID, ExternalID: c.ExternalID}
	if c.EmailKey != nil {
		by.Email = c.Email
	}
	return by
}
