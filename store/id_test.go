package store

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

func TestSealer(t *testing.T) {
	t.Parallel()
	old, next := make([]byte, 32), append(make([]byte, 31), 1)
	before, err := NewSealer(old)
	require.NoError(t, err)
	sealed := before.Seal([]byte("whsec_"), "we_1")
	require.NotContains(t, string(sealed), "whsec_")
	require.NotEqual(t, sealed, before.Seal([]byte("whsec_"), "we_1"))

	after, err := NewSealer(next, old)
	require.NoError(t, err)
	text, err := after.Open(sealed, "we_1")
	require.NoError(t, err)
	require.Equal(t, "whsec_", string(text))
	_, err = after.Open(sealed, "we_2")
	require.ErrorIs(t, err, ErrSealed)
	_, err = before.Open(after.Seal([]byte("x"), ""), "")
	require.ErrorIs(t, err, ErrSealed)
	sealed[len(sealed)-1] ^= 1
	_, err = after.Open(sealed, "we_1")
	require.ErrorIs(t, err, ErrSealed)
	_, err = before.Open([]byte("short"), "")
	require.ErrorIs(t, err, ErrSealed)
	_, err = NewSealer([]byte("too short"))
	require.Error(t, err)
}
