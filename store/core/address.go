package core

// Address is a postal address. Country is an ISO 3166-1 code of two letters.
type Address struct {
	Company    *string `json:"company"`
	Line1      *string `json:"line1"`
	Line2      *string `json:"line2"`
	City       *string `json:"city"`
	State      *string `json:"state"`
	PostalCode *string `json:"postal_code"`
	Country    *string `json:"country"`
}
