package signed

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/internal/dbtest"
)

// sealed is a store that can do no more than make and read tokens: it has no database. Its clock stands, at a whole second.
func sealed(f *testing.F) *Store {
	f.Helper()
	sealer, err := core.NewSealer(make([]byte, 32))
	require.NoError(f, err)
	now := func() time.Time { return time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC) }
	return &Store{&db.DB{Options: db.Options{Sealer: sealer, Now: now}}}
}

// FuzzPageToken: the address of a page opens it, and the page has its name, version and end. An address that is changed in any way opens nothing.
func FuzzPageToken(f *testing.F) {
	dbtest.AddChanges(f)
	s := sealed(f)
	account, id, end := core.NewID(core.KindAccount), core.NewID(core.KindOrder), time.Date(2027, 6, 1, 0, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, at, length uint8, by string) {
		version := int64(length)
		made := pageToken(s.db.Options.Sealer, account, id, version, end)
		link, err := s.ReadPage(core.KindOrder, made)
		require.NoError(t, err)
		require.Equal(t, &Page{Account: account, ID: id, version: version, end: core.TimeOf(end)}, link)
		_, err = s.ReadPage(core.KindInvoice, made)
		dbtest.RequireCode(t, err, core.CodeMissing)
		if other := dbtest.Changed(made, at, length, by); other != made {
			_, err = s.ReadPage(core.KindOrder, other)
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
		link, err := s.ReadPage(core.KindOrder, named+"_"+core.TokenEncoding.EncodeToString(s.db.Options.Sealer.Sign(pageContext+named)))
		if err != nil {
			dbtest.RequireCode(t, err, core.CodeMissing)
			return
		}
		id, known := core.ParseID(core.KindOrder, link.ID)
		account, knownAccount := core.ParseID(core.KindAccount, link.Account)
		require.True(t, known)
		require.True(t, knownAccount)
		require.Equal(t, []string{link.ID, link.Account}, []string{id, account})
	})
}

// FuzzFileToken: a signed URL opens the file that it was made for; one that is changed in any way opens nothing.
func FuzzFileToken(f *testing.F) {
	dbtest.AddChanges(f)
	s := sealed(f)
	f.Fuzz(func(t *testing.T, at, length uint8, by string) {
		url, err := s.Sign(File{Kind: FileKindReceipt, Account: "acct", ID: "order", LinkVersion: int64(at)})
		require.NoError(t, err)
		made := url.URL[strings.LastIndexByte(url.URL, '/')+1:]
		file, expired, err := s.Open(made)
		require.NoError(t, err)
		require.False(t, expired)
		require.Equal(t, &File{Kind: FileKindReceipt, Account: "acct", ID: "order", LinkVersion: int64(at), ExpiresAt: url.ExpiresAt}, file)
		if other := dbtest.Changed(made, at, length, by); other != made {
			file, _, err = s.Open(other)
			dbtest.RequireCode(t, err, core.CodeMissing)
			require.Nil(t, file)
		}
	})
}
