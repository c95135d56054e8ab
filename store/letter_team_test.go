package store

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/person"
	"github.com/tillwright/tillwright/store/report"
	"github.com/tillwright/tillwright/store/tenant"
)

// joins makes somebody a member whose address is confirmed.
func (s *shop) joins(t *testing.T, email string, role person.Role) *person.Person {
	t.Helper()
	p, err := s.Person.CreatePerson(t.Context(), person.NewPerson{Email: email})
	require.NoError(t, err)
	require.NoError(t, s.Person.ConfirmEmail(t.Context(), p.ID))
	require.NoError(t, s.Person.AddMember(t.Context(), s.account, p.ID, role))
	return p
}

// staffed gives the shop an owner, an admin and a supporter, and a time zone in which it is noon. It returns the owner, and what time it is.
func (s *shop) staffed(t *testing.T) (*person.Person, time.Time) {
	t.Helper()
	owner := s.joins(t, "ada@example.com", person.RoleOwner)
	s.joins(t, "admin@example.com", person.RoleAdmin)
	s.joins(t, "help@example.com", person.RoleSupport)
	now := time.Now().UTC()
	_, err := s.Tenant.UpdateAccount(t.Context(), s.account, func(a *tenant.AccountChange) { a.Timezone = fmt.Sprintf("Etc/GMT%+d", now.Hour()-12) })
	require.NoError(t, err)
	s.switches(t, tenant.LetterWeek, false) // tomorrow may be a Monday
	s.at(now)
	return owner, now
}

// switches switches a kind of letters.
func (s *shop) switches(t *testing.T, kind tenant.LetterKind, isOn bool) {
	t.Helper()
	_, err := s.Tenant.UpdateAccount(t.Context(), s.account, func(a *tenant.AccountChange) { a.SwitchLetters(map[string]bool{string(kind): isOn}) })
	require.NoError(t, err)
}

// tellsTeams does what the workers of several replicas do.
func (s *shop) tellsTeams(t *testing.T) {
	t.Helper()
	days, err := s.DueTeams(t.Context(), 10)
	require.NoError(t, err)
	sales, err := s.AccountsWithSales(t.Context(), 10)
	require.NoError(t, err)
	var group sync.WaitGroup
	for range 3 {
		group.Go(func() {
			for _, account := range days {
				assert.NoError(t, s.TellOfDay(t.Context(), account))
			}
			for _, account := range sales {
				_, err := s.TellOfSales(t.Context(), account)
				assert.NoError(t, err)
			}
		})
	}
	group.Wait()
}

// teamLetters counts the letters to teams of a kind, and the people to whom they go.
func (s *shop) teamLetters(t *testing.T, kind tenant.LetterKind) (letters, people int) {
	t.Helper()
	return s.count(t, `SELECT COUNT(*) FROM team_letters WHERE kind = ?`, kind), s.count(t, `SELECT COUNT(*) FROM people_letters WHERE kind = ?`, kind)
}

// lastDetail returns what the newest letter of a kind tells of.
func (s *shop) lastDetail(t *testing.T, kind tenant.LetterKind) person.LetterDetail {
	t.Helper()
	var detail core.JSON[person.LetterDetail]
	require.NoError(t, s.db.Write.DB.Get(&detail, s.db.Rebind(`SELECT detail FROM people_letters WHERE kind = ? ORDER BY id DESC LIMIT 1`), kind))
	return detail.V
}

// Owners and admins are told once of a day with sales, the next morning where the shop is, however many replicas look.
func TestTellOfDay_TellsOfSalesOnce(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		owner, now := s.staffed(t)
		s.tellsTeams(t) // plans the next morning
		product := s.onSale(t, fixedPrice(1900))
		s.confirm(t, s.checkout(t, product))
		s.confirm(t, s.checkout(t, product))
		s.tellsTeams(t)
		require.Zero(t, s.count(t, `SELECT COUNT(*) FROM team_letters`), "the day is not over")

		s.at(now.Add(21 * time.Hour)) // after 8 in the morning
		s.tellsTeams(t)
		letters, people := s.teamLetters(t, tenant.LetterSalesDaily)
		require.Equal(t, []int{1, 2}, []int{letters, people})
		detail := s.lastDetail(t, tenant.LetterSalesDaily)
		require.Equal(t, []person.Sum{{Currency: "usd", Count: 2, Amount: 3800}}, detail.Sums)
		require.Len(t, detail.Orders, 2)
		require.Equal(t, now.Add(-time.Duration(now.Hour()-12)*time.Hour).Format(time.DateOnly), detail.Day)
		s.tellsTeams(t)
		letters, _ = s.teamLetters(t, tenant.LetterSalesDaily)
		require.Equal(t, 1, letters)

		ids, err := s.Person.DueLetters(t.Context(), 10)
		require.NoError(t, err)
		require.Len(t, ids, 2)
		s.joins(t, "grace@example.com", person.RoleOwner)
		require.NoError(t, s.Person.RemoveMember(t.Context(), s.account, owner.ID))
		sent := 0
		for _, id := range ids {
			l, err := s.Person.ClaimLetter(t.Context(), id)
			require.NoError(t, err)
			if l != nil {
				require.Equal(t, "admin@example.com", l.Email)
				require.NoError(t, s.Person.EndLetter(t.Context(), l, true))
				sent++
			}
		}
		require.Equal(t, 1, sent, "who has left is told nothing")
		told, err := s.Person.ListTeamLetters(t.Context(), s.account, 10)
		require.NoError(t, err)
		require.Len(t, told, 1)
		require.Equal(t, []int64{2, 1, 1}, []int64{told[0].People, told[0].Sent, told[0].Dropped})

		s.at(now.Add(45 * time.Hour))
		s.tellsTeams(t)
		letters, _ = s.teamLetters(t, tenant.LetterSalesDaily)
		require.Equal(t, 1, letters, "there were no sales")
		s.at(now.Add(91 * 24 * time.Hour))
		_, err = s.Person.DeleteOver(t.Context(), 10)
		require.NoError(t, err)
		require.Zero(t, s.count(t, `SELECT COUNT(*) FROM team_letters`), "it is long ago")
	})
}

// Nobody is told of a day by an account that is disabled, or has switched that off, or whose team gets no letters.
func TestTellOfDay_TellsNobodyWhoWantsNothing(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		_, now := s.staffed(t)
		s.tellsTeams(t)
		s.confirm(t, s.checkout(t, s.onSale(t, fixedPrice(1900))))
		plan := s.count(t, `SELECT team_due_at FROM accounts WHERE id = ?`, s.account)
		again := func() {
			_, err := s.db.Write.DB.Exec(s.db.Rebind(`UPDATE accounts SET team_due_at = ? WHERE id = ?`), plan, s.account)
			require.NoError(t, err)
			s.tellsTeams(t)
		}
		s.at(now.Add(21 * time.Hour))
		_, _, err := s.Tenant.DisableAccount(t.Context(), s.account)
		require.NoError(t, err)
		again()
		require.NoError(t, s.TellOfDay(t.Context(), s.account), "it was disabled meanwhile")
		require.Zero(t, s.count(t, `SELECT COUNT(*) FROM team_letters`))
		_, _, err = s.Tenant.EnableAccount(t.Context(), s.account)
		require.NoError(t, err)
		s.switches(t, tenant.LetterSalesDaily, false)
		again()
		require.Zero(t, s.count(t, `SELECT COUNT(*) FROM team_letters`))
		s.switches(t, tenant.LetterSalesDaily, true)
		_, err = s.db.Write.DB.Exec(`UPDATE people SET email_confirmed_at = NULL`)
		require.NoError(t, err)
		again()
		require.Zero(t, s.count(t, `SELECT COUNT(*) FROM team_letters`))
	})
}

// A team that wants to be told of each sale has so many letters an hour, of which the next tells of all that waited.
func TestTellOfSales_TellsOfEachFewTimes(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		_, now := s.staffed(t)
		product := s.onSale(t, fixedPrice(1900))
		s.confirm(t, s.checkout(t, product))
		require.Zero(t, s.count(t, `SELECT COUNT(*) FROM sale_notices`), "nobody asked for it")
		s.switches(t, tenant.LetterSale, true)
		for n := range saleLetters {
			s.confirm(t, s.checkout(t, product))
			s.tellsTeams(t)
			letters, people := s.teamLetters(t, tenant.LetterSale)
			require.Equal(t, []int{n + 1, 2*n + 2}, []int{letters, people})
		}
		for range 12 {
			s.confirm(t, s.checkout(t, product))
		}
		s.tellsTeams(t)
		waiting, err := s.AccountsWithSales(t.Context(), 10)
		require.NoError(t, err)
		require.Empty(t, waiting, "nobody looks at them before, so that others have their turn")
		s.at(now.Add(59 * time.Minute))
		s.tellsTeams(t)
		letters, _ := s.teamLetters(t, tenant.LetterSale)
		require.Equal(t, saleLetters, letters)
		require.Equal(t, 12, s.count(t, `SELECT COUNT(*) FROM sale_notices`))
		s.at(now.Add(61 * time.Minute))
		s.tellsTeams(t)
		letters, _ = s.teamLetters(t, tenant.LetterSale)
		require.Equal(t, saleLetters+1, letters)
		require.Zero(t, s.count(t, `SELECT COUNT(*) FROM sale_notices`))
		detail := s.lastDetail(t, tenant.LetterSale)
		require.Equal(t, []person.Sum{{Currency: "usd", Count: 12, Amount: 22800}}, detail.Sums)
		require.Len(t, detail.Orders, salesOfLetter)

		s.confirm(t, s.checkout(t, product))
		s.switches(t, tenant.LetterSale, false)
		did, err := s.TellOfSales(t.Context(), s.account)
		require.NoError(t, err)
		require.True(t, did)
		did, err = s.TellOfSales(t.Context(), s.account)
		require.NoError(t, err)
		require.False(t, did, "who has nothing to tell of does not look again at once")
		letters, _ = s.teamLetters(t, tenant.LetterSale)
		require.Equal(t, saleLetters+1, letters, "it was switched off meanwhile")
		require.Zero(t, s.count(t, `SELECT COUNT(*) FROM sale_notices`))
	})
}

// Sales that an error was met at wait for a minute, so that other accounts have their turn. Those of others do not wait.
func TestTellOfSales_WaitsAfterAnError(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		_, now := s.staffed(t)
		s.switches(t, tenant.LetterSale, true)
		for range 3 {
			s.confirm(t, s.checkout(t, s.onSale(t, fixedPrice(1900))))
		}
		_, err := s.db.Write.DB.Exec(`INSERT INTO sale_notices (account_id, order_id, currency, amount, due_at) VALUES ('acc_other', 'ord_other', 'usd', 1, 1)`)
		require.NoError(t, err)
		require.NoError(t, s.postponeSales(t.Context(), s.account, time.Minute))
		accounts, err := s.AccountsWithSales(t.Context(), 10)
		require.NoError(t, err)
		require.Equal(t, []string{"acc_other"}, accounts)
		did, err := s.TellOfSales(t.Context(), s.account)
		require.NoError(t, err)
		require.False(t, did)
		s.at(now.Add(time.Minute + time.Second))
		did, err = s.TellOfSales(t.Context(), s.account)
		require.NoError(t, err)
		require.True(t, did)
		require.Equal(t, 1, s.count(t, `SELECT COUNT(*) FROM sale_notices`))
	})
}

// A team is told on Monday of the week before and the one before that, also if the server was off on Monday, and once.
func TestTellOfDay_TellsOfTheWeek(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		_, now := s.staffed(t)
		s.switches(t, tenant.LetterWeek, true)
		s.tellsTeams(t)
		s.confirm(t, s.checkout(t, s.onSale(t, fixedPrice(1900))))
		seller, err := s.Tenant.GetAccount(t.Context(), s.account)
		require.NoError(t, err)
		morning := func(day time.Time) time.Time { return day.Add(21 * time.Hour) } // of the day after, past 8 where the shop is
		isMonday := func(day time.Time) bool { return seller.Local(core.TimeOf(morning(day))).Weekday() == time.Monday }
		day := now
		for ; !isMonday(day); day = day.Add(core.Day) {
			s.at(morning(day))
			s.tellsTeams(t)
		}
		letters, _ := s.teamLetters(t, tenant.LetterWeek)
		require.Zero(t, letters, "the week is not over")
		s.at(morning(day.Add(2 * core.Day))) // on Wednesday
		s.tellsTeams(t)
		letters, people := s.teamLetters(t, tenant.LetterWeek)
		require.Equal(t, []int{1, 2}, []int{letters, people})
		detail := s.lastDetail(t, tenant.LetterWeek)
		require.Equal(t, []person.Sum{{Currency: "usd", Count: 1, Amount: 1900}}, detail.Week.Sales)
		require.EqualValues(t, 1, detail.Week.Customers)
		require.Empty(t, detail.WeekBefore.Sales)
		s.at(morning(day.Add(3 * core.Day)))
		s.tellsTeams(t)
		letters, _ = s.teamLetters(t, tenant.LetterWeek)
		require.Equal(t, 1, letters)

		s.at(morning(day.Add(7 * core.Day)))
		s.tellsTeams(t)
		letters, _ = s.teamLetters(t, tenant.LetterWeek)
		require.Equal(t, 2, letters)
		require.Equal(t, detail.Week.Sales, s.lastDetail(t, tenant.LetterWeek).WeekBefore.Sales)
		s.at(morning(day.Add(14 * core.Day)))
		s.tellsTeams(t)
		letters, _ = s.teamLetters(t, tenant.LetterWeek)
		require.Equal(t, 2, letters, "nothing was sold in either week")
	})
}

// A sale that its team is told of waits for no change of the account. SQLite has no rows that wait.
func TestNoteSale_WaitsForNoChangeOfTheAccount(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		s.switches(t, tenant.LetterSale, true)
		bought := s.checkout(t, s.onSale(t, fixedPrice(1900)))
		if s.db.Engine != core.SQLite {
			other, err := s.db.Write.DB.Begin()
			require.NoError(t, err)
			defer func() { assert.NoError(t, other.Rollback()) }()
			_, err = other.Exec(`SELECT 1 FROM accounts WHERE id = '` + s.account + `' FOR UPDATE`)
			require.NoError(t, err)
		}
		s.confirm(t, bought)
		require.Equal(t, 1, s.count(t, `SELECT COUNT(*) FROM sale_notices`))
	})
}

// A team that is told of what failed on a day is told, too, that there was more than was looked at.
func TestFailuresOf_SayIfThereAreMore(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		product := s.onSale(t, fixedPrice(1900))
		s.confirm(t, s.checkout(t, product))
		s.confirm(t, s.checkout(t, product))
		now := s.Now()
		failed := func(most int) *person.LetterDetail {
			detail, err := s.failuresOf(t.Context(), s.account, report.Span{Start: now, Until: now.Add(time.Second)}, most)
			require.NoError(t, err)
			require.NotNil(t, detail)
			require.EqualValues(t, most, detail.Sums[0].Count)
			return detail
		}
		for _, failing := range []string{
			`UPDATE invoices SET status = 'past_due', subscription_id = 'sub_1', amount_paid = 0, past_due_at = ?`,
			`UPDATE payments SET status = 'failed', created_at = ?, invoice_id = (SELECT id FROM invoices WHERE order_id = payments.order_id)`,
		} {
			_, err := s.db.Write.DB.Exec(s.db.Rebind(failing), now)
			require.NoError(t, err)
			require.True(t, failed(1).HasMore, failing)
			require.False(t, failed(2).HasMore, failing)
			_, err = s.db.Write.DB.Exec(`UPDATE invoices SET past_due_at = NULL`)
			require.NoError(t, err)
		}
	})
}
