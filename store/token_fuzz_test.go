package store

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/internal/dbtest"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// changed replaces a stretch of a text by another one. A fuzz target changes a good token with it, because it would not guess one: most
// are random, and each process of a run has its own.
func changed(text string, at, length uint8, by string) string {
	from := min(int(at), len(text))
	to := min(from+int(length), len(text))
	return text[:from] + by + text[to:]
}

// addChanges gives a target the changes that somebody would try first.
func addChanges(f *testing.F) {
	f.Add(uint8(0), uint8(0), "")
	f.Add(uint8(0), uint8(255), "")
	f.Add(uint8(0), uint8(255), "\x00")
	f.Add(uint8(0), uint8(255), "____")
	f.Add(uint8(0), uint8(1), "P")
	f.Add(uint8(0), uint8(255), "order_01k0000000000000000000000a_01k0000000000000000000000a_0_0_00000000000000000000000000")
	f.Add(uint8(0), uint8(255), "psess_01k0000000000000000000000a_01k0000000000000000000000a_0000000000000000000000000000000000000000000000000000")
	f.Add(uint8(60), uint8(1), "1")
	f.Add(uint8(80), uint8(255), "")
	f.Add(uint8(255), uint8(0), "_")
	f.Add(uint8(255), uint8(0), "0")
	f.Add(uint8(255), uint8(0), "\n")
}

// sealed is a store that can do no more than make and read tokens: it has no database. Its clock stands, at a whole second.
func sealed(f *testing.F) *Store {
	f.Helper()
	sealer, err := core.NewSealer(make([]byte, 32))
	require.NoError(f, err)
	now := func() time.Time { return time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC) }
	return &Store{db: &db.DB{Options: db.Options{Sealer: sealer, Now: now}}}
}

// FuzzPageToken: the address of a page opens it, and the page with its name, version and end; an address that is changed in any way opens
// nothing.
func FuzzPageToken(f *testing.F) {
	addChanges(f)
	s := sealed(f)
	account, id, end := core.NewID(core.KindAccount), core.NewID(core.KindOrder), time.Date(2027, 6, 1, 0, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, at, length uint8, by string) {
		version := int64(length)
		made := pageToken(s.db.Options.Sealer, account, id, version, end)
		link, err := s.readPage(core.KindOrder, made)
		require.NoError(t, err)
		require.Equal(t, &pageLink{account: account, id: id, version: version, end: core.TimeOf(end)}, link)
		_, err = s.readPage(core.KindInvoice, made)
		dbtest.RequireCode(t, err, core.CodeMissing)
		if other := changed(made, at, length, by); other != made {
			_, err = s.readPage(core.KindOrder, other)
			dbtest.RequireCode(t, err, core.CodeMissing)
		}
	})
}

// FuzzPageTokenSigned: what stands behind a good signature is read without a panic, and is an order of an account or nothing.
func FuzzPageTokenSigned(f *testing.F) {
	const names = "order_01k0000000000000000000000a_01k0000000000000000000000a"
	for _, named := range []string{"", "_", "order", names, names + "_0_0", names + "_0", names + "_-1_zzzzzz", names + "_7fffffffffffffff_1", "inv" + names[5:]} {
		f.Add(named)
	}
	s := sealed(f)
	f.Fuzz(func(t *testing.T, named string) {
		link, err := s.readPage(core.KindOrder, named+"_"+core.TokenEncoding.EncodeToString(s.db.Options.Sealer.Sign(pageContext+named)))
		if err != nil {
			dbtest.RequireCode(t, err, core.CodeMissing)
			return
		}
		id, known := core.ParseID(core.KindOrder, link.id)
		account, knownAccount := core.ParseID(core.KindAccount, link.account)
		require.True(t, known && knownAccount)
		require.Equal(t, []string{link.id, link.account}, []string{id, account})
	})
}

// FuzzFileToken: a signed URL opens the file that it was made for; one that is changed in any way opens nothing.
func FuzzFileToken(f *testing.F) {
	addChanges(f)
	s := sealed(f)
	f.Fuzz(func(t *testing.T, at, length uint8, by string) {
		signed, err := s.SignFile(File{Kind: FileKindReceipt, Account: "acct", ID: "order", LinkVersion: int64(at)})
		require.NoError(t, err)
		made := tokenOf(signed.URL)
		file, expired, err := s.OpenFile(made)
		require.NoError(t, err)
		require.False(t, expired)
		require.Equal(t, &File{Kind: FileKindReceipt, Account: "acct", ID: "order", LinkVersion: int64(at), ExpiresAt: signed.ExpiresAt}, file)
		if other := changed(made, at, length, by); other != made {
			file, _, err = s.OpenFile(other)
			dbtest.RequireCode(t, err, core.CodeMissing)
			require.Nil(t, file)
		}
	})
}

// FuzzPortalToken: the portal opens to the token of the session alone.
func FuzzPortalToken(f *testing.F) {
	addChanges(f)
	s := newShop(f, database.URL(f, core.SQLite))
	ada, err := s.CreateCustomer(f.Context(), s.account, Customer{Email: ref("ada@example.com")})
	require.NoError(f, err)
	p, err := s.Portal.CreateSession(f.Context(), s.account, ada.ID, nil)
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, at, length uint8, by string) {
		token := changed(p.Token, at, length, by)
		opened, expired, err := s.Portal.Open(t.Context(), token)
		require.False(t, expired)
		if token == p.Token {
			require.NoError(t, err)
			require.Equal(t, ada.ID, opened.CustomerID)
			return
		}
		dbtest.RequireCode(t, err, core.CodeMissing)
		require.Nil(t, opened)
	})
}

// FuzzPosition: a position in a list is an id of the list's kind, in the one form that rows have; any other text is refused with the
// name of the parameter that is wrong.
func FuzzPosition(f *testing.F) {
	id := "01k0000000000000000000000a"
	for _, c := range [][2]string{
		{"", ""}, {"cus_" + id, ""}, {"", "cust_" + id}, {"cus_" + id, "cus_" + id}, {"CUS_" + id, "\x00"}, {"cus_8" + id[1:], "cus_"}, {"prod_" + id, "' OR 1=1"},
	} {
		f.Add(c[0], c[1])
	}
	f.Fuzz(func(t *testing.T, after, before string) {
		p := core.Page{StartingAfter: after, EndingBefore: before}
		err := p.Resolve(core.KindCustomer)
		afterID, afterGood := core.ParseID(core.KindCustomer, after)
		beforeID, beforeGood := core.ParseID(core.KindCustomer, before)
		switch {
		case after != "" && !afterGood:
			dbtest.RequireCode(t, err, core.CodeBadRequest)
			require.Equal(t, "starting_after", dbtest.AsError(err).Param)
		case before != "" && !beforeGood, after != "" && before != "":
			dbtest.RequireCode(t, err, core.CodeBadRequest)
			require.Equal(t, "ending_before", dbtest.AsError(err).Param)
		default:
			require.NoError(t, err)
			require.Equal(t, core.Page{StartingAfter: afterID, EndingBefore: beforeID}, p)
			require.NotContains(t, p.StartingAfter+p.EndingBefore, "cust_")
		}
	})
}
