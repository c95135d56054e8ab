package core

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseID(t *testing.T) {
	t.Parallel()
	customer := NewID(KindCustomer)
	alias := "cust_" + customer[len("cus_"):]
	for s, want := range map[string]string{
		customer: customer, alias: customer,
		"":                               "",
		"cus_":                           "",
		"prod_" + customer[4:]:           "",
		customer + "0":                   "",
		customer[:len(customer)-1] + "U": "",
		customer[:len(customer)-1] + "u": "", // not in Crockford's alphabet
		"cus_8" + customer[5:]:           "", // above 128 bits
		"1":                              "",
	} {
		id, ok := ParseID(KindCustomer, s)
		require.Equal(t, want, id, s)
		require.Equal(t, want != "", ok, s)
	}
	_, ok := ParseID(KindProduct, alias)
	require.False(t, ok)
}

func TestNewID_Ascends(t *testing.T) {
	t.Parallel()
	last := ""
	for range 10_000 {
		id := NewID(KindProduct)
		require.Greater(t, id, last)
		last = id
	}
}
