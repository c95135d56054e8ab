package core

// Repaired counts the rows that a repair set right.
type Repaired struct {
	Orders    int `json:"orders"`    // what they took off a balance, or who can give back what was paid for them
	Balances  int `json:"balances"`  // of a customer in a currency
	Addresses int `json:"addresses"` // their keys
	Products  int `json:"products"`  // how many things of each kind they deliver
	Pictures  int `json:"pictures"`  // their rows, files and counts
	News      int `json:"news"`      // what became of its letters
}
