package store

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/grant"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/tenant"
)

// Each turn writes a part of the letters. One whose progress is lost is written again, and changes nothing.
func TestTellOfFile_WritesOneLetterForEachCustomer(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		const many = 450
		first, second := s.onSale(t, fixedPrice(1900)).ProductID, s.onSale(t, fixedPrice(900)).ProductID
		file, err := s.Grant.CreateFile(t.Context(), s.account, grant.NewFile{Name: "Guide.pdf", NewVersion: grant.NewVersion{Size: 1}})
		require.NoError(t, err)
		grants, notices := db.ColumnsOf[grant.Grant]("grants"), db.ColumnsOf[grant.Notice]("file_notices")
		notice := &grant.Notice{AccountID: s.account, ID: core.NewID(core.KindFileVersion), FileID: file.ID, Version: 2}
		give := func(ctx context.Context, u *db.Unit, customer, product string, status grant.Status) {
			g := &grant.Grant{AccountID: s.account, ID: core.NewID(core.KindGrant), CustomerID: customer, ProductID: product, Quantity: 1, SourceType: grant.SourceTypeManual, ItemID: "1", Status: status}
			if g.SourceID = g.ID; status == grant.StatusSuspended {
				g.SuspendedAt, g.Reason = new(s.Now()), new(grant.ReasonPastDue)
			}
			require.NoError(t, u.Insert(ctx, grants, g))
		}
		s.during(t, func(ctx context.Context, u *db.Unit) {
			for _, product := range []string{first, second} {
				_, err := u.Exec(ctx, `INSERT INTO product_deliverables (account_id, id, product_id, position, type, ref) VALUES (?, ?, ?, 0, 'file', ?)`, s.account, core.NewULID(), product, file.ID)
				require.NoError(t, err)
			}
			give(ctx, u, "cus_0", first, grant.StatusActive)
			require.NoError(t, u.Insert(ctx, notices, notice))
		})
		s.copies(t, "grants", grants.SelectSQL, many, map[string]string{"id": "'grant_00000' || n", "customer_id": "'cus_' || n", "source_id": "'order_' || n"})
		s.during(t, func(ctx context.Context, u *db.Unit) {
			give(ctx, u, "cus_1", second, grant.StatusActive) // who has it twice
			give(ctx, u, "cus_suspended", second, grant.StatusSuspended)
		})
		told := func() int { return s.count(t, `SELECT COUNT(*) FROM letters WHERE kind = 'file_updated'`) }
		for turns := 1; ; turns++ {
			due, err := s.Grant.DueNotices(t.Context(), 10)
			require.NoError(t, err)
			if len(due) == 0 {
				break
			}
			require.Equal(t, core.Due{AccountID: s.account, ID: notice.ID}, due[0])
			before := told()
			went, err := s.TellOfFile(t.Context(), s.account, notice.ID)
			require.NoError(t, err)
			require.True(t, went)
			require.LessOrEqual(t, told()-before, 200)
			if turns == 3 {
				s.during(t, func(ctx context.Context, u *db.Unit) {
					_, err := u.Exec(ctx, `UPDATE file_notices SET product_id = '', grant_id = '' WHERE account_id = ?`, s.account)
					require.NoError(t, err)
				})
			}
			require.Less(t, turns, 20)
		}
		require.Equal(t, many+1, told())
		require.Equal(t, many+1, s.count(t, `SELECT COUNT(DISTINCT customer_id) FROM letters`))
	})
}

// A notice that cannot be told waits, so that it neither stops the others nor is tried without end. Each account has one turn, however many it has.
func TestDueNotices_ComeInTurnByAccount(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		began := time.Now()
		s.at(began)
		notices := db.ColumnsOf[grant.Notice]("file_notices")
		s.during(t, func(ctx context.Context, u *db.Unit) {
			for i, id := range []string{"fver_1", "fver_2", "fver_3"} {
				require.NoError(t, u.Insert(ctx, notices, &grant.Notice{AccountID: s.account, ID: id, FileID: "file_1", Version: 2, TurnAt: s.Now() - core.Time(3-i)}))
			}
			require.NoError(t, u.Insert(ctx, notices, &grant.Notice{AccountID: "acct_gone", ID: "fver_4", FileID: "file_2", Version: 2, TurnAt: s.Now()}))
		})
		requireDue := func(want ...core.Due) {
			t.Helper()
			due, err := s.Grant.DueNotices(t.Context(), 10)
			require.NoError(t, err)
			require.Equal(t, want, due)
		}
		gone := core.Due{AccountID: "acct_gone", ID: "fver_4"}
		requireDue(core.Due{AccountID: s.account, ID: "fver_1"}, gone)
		went, err := s.TellOfFile(t.Context(), gone.AccountID, gone.ID)
		require.ErrorContains(t, err, "tell of version fver_4")
		require.False(t, went)
		if s.db.Engine == core.PostgreSQL { // SQLite has one writer
			s.during(t, func(ctx context.Context, u *db.Unit) {
				_, err := s.Grant.LockNotice(ctx, u, s.account, "fver_1")
				require.NoError(t, err)
				went, err := s.TellOfFile(t.Context(), s.account, "fver_1")
				require.NoError(t, err)
				require.False(t, went, "another replica is at it")
			})
		}
		went, err = s.TellOfFile(t.Context(), s.account, "fver_1")
		require.NoError(t, err)
		require.True(t, went)
		requireDue(core.Due{AccountID: s.account, ID: "fver_2"})
		s.at(began.Add(time.Minute))
		requireDue(core.Due{AccountID: s.account, ID: "fver_2"}, gone)
		require.NoError(t, s.Grant.PauseNotice(t.Context(), s.account, "fver_2"))
		s.at(began.Add(2 * time.Minute))
		requireDue(gone, core.Due{AccountID: s.account, ID: "fver_3"})
	})
}

// Of a million letters that would wait, most are not written yet. Those that wait are postponed a part at a time.
func TestTellOfFile_WritesNoMoreWhileManyWait(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		began := time.Now()
		s.at(began)
		notice := &grant.Notice{AccountID: s.account, ID: "fver_1", FileID: "file_1", Version: 2}
		first := Letter{AccountID: s.account, Kind: tenant.LetterFileUpdated, CustomerID: "cus_1", ObjectID: "file_1", Period: "0"}
		s.during(t, func(ctx context.Context, u *db.Unit) {
			require.NoError(t, u.Insert(ctx, db.ColumnsOf[grant.Notice]("file_notices"), notice))
			require.NoError(t, s.writeDated(ctx, u, first, s.Now(), s.Now()))
		})
		s.copies(t, "letters", letterColumns.SelectSQL, mostFileLetters+50, map[string]string{"id": "'letter_' || n", "period": "CAST(n AS TEXT)"})
		went, err := s.TellOfFile(t.Context(), s.account, notice.ID)
		require.NoError(t, err)
		require.False(t, went)
		due, err := s.Grant.DueNotices(t.Context(), 10)
		require.NoError(t, err)
		require.Empty(t, due, "it waits")

		l := s.claim(t, s.letter(t, tenant.LetterFileUpdated).ID)
		require.NoError(t, s.EndLetter(t.Context(), l, LetterOutcome{Wait: time.Hour, Error: "too many"}))
		require.Equal(t, postponedAtOnce+1, s.count(t, `SELECT COUNT(*) FROM letters WHERE last_error = 'too many'`))
		more, err := s.LettersToSend(t.Context(), s.account, 100)
		require.NoError(t, err)
		require.Len(t, more, 50)

		_, err = s.db.Write.DB.ExecContext(t.Context(), `UPDATE letters SET status = 'sent', next_attempt_at = NULL WHERE last_error IS NULL`)
		require.NoError(t, err)
		_, err = s.db.Write.DB.ExecContext(t.Context(), `UPDATE letters SET status = 'sent', next_attempt_at = NULL WHERE id IN (SELECT id FROM letters WHERE last_error IS NOT NULL LIMIT 2)`)
		require.NoError(t, err)
		went, err = s.TellOfFile(t.Context(), s.account, notice.ID)
		require.NoError(t, err)
		require.True(t, went)
	})
}

// However many versions come one after the other, each customer has one letter that waits: about the newest. Two who were merged have one too.
func TestTellOfFile_TellsOfTheNewestVersionAlone(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		product := s.onSale(t, fixedPrice(1900)).ProductID
		file := s.fileOf(t, product)
		ada, bob := s.customer(t, "ada@example.com", nil), s.customer(t, "bob@example.com", nil)
		for _, c := range []string{ada.ID, bob.ID} {
			_, err := s.CreateGrant(t.Context(), s.account, NewGrant{Customer: c, Product: product})
			require.NoError(t, err)
		}
		s.newVersion(t, file)
		s.tellAll(t)
		s.newVersion(t, file)
		s.newVersion(t, file)
		require.Equal(t, 1, s.count(t, `SELECT COUNT(*) FROM file_notices`), "the older notice is given up")
		told, err := s.ReadLetter(t.Context(), s.letter(t, tenant.LetterFileUpdated))
		require.NoError(t, err)
		require.Equal(t, newerVersion, told.Void, "of which they will have a letter")
		s.tellAll(t)
		require.Equal(t, 2, s.count(t, `SELECT COUNT(*) FROM letters WHERE kind = 'file_updated' AND status = 'queued'`))
		require.Equal(t, 2, s.count(t, `SELECT COUNT(*) FROM letters WHERE kind = 'file_updated' AND status = 'skipped' AND last_error = ?`, newerVersion))

		_, err = s.MergeCustomer(t.Context(), s.account, ada.ID, bob.ID)
		require.NoError(t, err)
		letters, _, err := s.ListLetters(t.Context(), s.account, ListLetters{Page: core.Page{Limit: 10}, Kind: tenant.LetterFileUpdated, Status: LetterStatusQueued})
		require.NoError(t, err)
		require.Len(t, letters, 2)
		second, told := s.claimed(t, letters[0].ID)
		require.Equal(t, "Another letter tells the customer of this version.", told.Void)
		require.Equal(t, ada.ID, second.CustomerID)
		_, told = s.claimed(t, letters[1].ID)
		require.Empty(t, told.Void)
	})
}

// fileOf is a file with its first version, which a product delivers.
func (s *shop) fileOf(t *testing.T, products ...string) string {
	t.Helper()
	file, err := s.Grant.CreateFile(t.Context(), s.account, grant.NewFile{Name: "Guide.pdf", NewVersion: grant.NewVersion{Size: 1}})
	require.NoError(t, err)
	s.complete(t, file.ID)
	for _, product := range products {
		_, err := s.db.Write.DB.ExecContext(t.Context(), s.db.Rebind(`INSERT INTO product_deliverables (account_id, id, product_id, position, type, ref) VALUES (?, ?, ?, 0, 'file', ?)`), s.account, core.NewULID(), product, file.ID)
		require.NoError(t, err)
	}
	return file.ID
}

// newVersion makes a version of a file of which buyers are to be told.
func (s *shop) newVersion(t *testing.T, file string) {
	t.Helper()
	_, err := s.Grant.CreateFileVersion(t.Context(), s.account, file, grant.NewVersion{Size: 1, TellBuyers: true})
	require.NoError(t, err)
	s.complete(t, file)
}

// complete makes what of a file is being uploaded ready.
func (s *shop) complete(t *testing.T, file string) {
	t.Helper()
	_, err := s.db.Write.DB.ExecContext(t.Context(), `UPDATE uploads SET received = size`)
	require.NoError(t, err)
	_, v, upload, err := s.Grant.ClaimComplete(t.Context(), s.account, file)
	require.NoError(t, err)
	_, err = s.Grant.FinishComplete(t.Context(), v, upload, "00", "application/pdf")
	require.NoError(t, err)
}

// tellAll writes the letters about all versions of which buyers are to be told.
func (s *shop) tellAll(t *testing.T) {
	t.Helper()
	for went := true; went; {
		due, err := s.Grant.DueNotices(t.Context(), 10)
		require.NoError(t, err)
		went = false
		for _, d := range due {
			went, err = s.TellOfFile(t.Context(), d.AccountID, d.ID)
			require.NoError(t, err)
		}
	}
}

// One payment does not let an account send any number of letters.
func TestReadLetter_CountsAllLettersAboutFiles(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		s.at(time.Now())
		price := s.onSale(t, fixedPrice(1900))
		file := s.fileOf(t, price.ProductID)
		s.confirm(t, s.checkout(t, price))
		s.newVersion(t, file)
		s.tellAll(t)
		l, told := s.claimed(t, s.letter(t, tenant.LetterFileUpdated).ID)
		require.Empty(t, told.Void)
		require.Zero(t, told.Wait)
		require.Positive(t, told.Order.PaidAmount)
		require.NoError(t, s.EndLetter(t.Context(), l, LetterOutcome{Status: LetterStatusSent}))
		require.Equal(t, 1, s.count(t, `SELECT counted FROM throttles WHERE subject = 'file_letters'`))
		_, err := s.db.Write.DB.ExecContext(t.Context(), `UPDATE throttles SET counted = 1000 WHERE subject = 'file_letters'`)
		require.NoError(t, err)
		s.newVersion(t, file)
		s.tellAll(t)
		_, told = s.claimed(t, s.letter(t, tenant.LetterFileUpdated).ID)
		require.Positive(t, told.Wait)
		require.False(t, told.WaitsOne, "the account's others wait too")
	})
}

// Of all products by which a customer has a file the one with its newest version counts, however many grants they were given since.
func TestReadLetter_TellsWhoHasTheNewVersionByAnyGrant(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		updated, frozen, other := s.onSale(t, fixedPrice(1900)).ProductID, s.onSale(t, fixedPrice(900)).ProductID, s.onSale(t, fixedPrice(500)).ProductID
		_, err := s.db.Write.DB.ExecContext(t.Context(), s.db.Rebind(`UPDATE products SET delivery_updates = 'new_buyers' WHERE id = ?`), frozen)
		require.NoError(t, err)
		file := s.fileOf(t, updated, frozen)
		ada := s.customer(t, "ada@example.com", nil)
		var given []string
		for _, product := range []string{updated, other, frozen} {
			g, err := s.CreateGrant(t.Context(), s.account, NewGrant{Customer: ada.ID, Product: product})
			require.NoError(t, err)
			given = append(given, g.ID)
		}
		later := map[string]string{"id": "'" + given[2] + "' || n", "source_id": "'order_' || n", "product_id": "'" + frozen + "'", "customer_id": "'" + ada.ID + "'"}
		s.copies(t, "grants", db.ColumnsOf[grant.Grant]("grants").SelectSQL, 120, later)
		s.newVersion(t, file)
		s.tellAll(t)
		l, told := s.claimed(t, s.letter(t, tenant.LetterFileUpdated).ID)
		require.Empty(t, told.Void)
		require.Equal(t, given[0], told.Grant.ID)
		require.EqualValues(t, 2, *told.Deliveries[0].Version)
		_, err = s.Grant.RevokeGrant(t.Context(), s.account, given[0])
		require.NoError(t, err)
		told, err = s.ReadLetter(t.Context(), l)
		require.NoError(t, err)
		require.Equal(t, "The customer keeps the version that they bought.", told.Void)
	})
}

// Whoever has many free products given to addresses that nobody has confirmed has no letters wait, or an account could tell nobody else.
func TestReadLetter_HasNoneOfAVersionWaitForAnUnconfirmedAddress(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		product := s.onSale(t, fixedPrice(1900)).ProductID
		file := s.fileOf(t, product)
		_, err := s.CreateGrant(t.Context(), s.account, NewGrant{Customer: s.customer(t, "ada@example.com", nil).ID, Product: product})
		require.NoError(t, err)
		s.newVersion(t, file)
		s.tellAll(t)
		l, told := s.claimed(t, s.letter(t, tenant.LetterFileUpdated).ID)
		require.Empty(t, told.Void)
		require.NoError(t, s.EndLetter(t.Context(), l, LetterOutcome{Status: LetterStatusSent}))
		_, err = s.db.Write.DB.ExecContext(t.Context(), `UPDATE throttles SET counted = 1000 WHERE subject <> 'file_letters'`)
		require.NoError(t, err)
		s.newVersion(t, file)
		s.tellAll(t)
		_, told = s.claimed(t, s.letter(t, tenant.LetterFileUpdated).ID)
		require.Zero(t, told.Wait)
		require.Equal(t, "Too many letters were sent within an hour to this address, which nobody has confirmed.", told.Void)
	})
}
