package contract

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
	"github.com/tillwright/tillwright/tests/harness/reads"
)

// mayReadMore are statements, by a piece of their text, that read more than the rows they return, each with its reason.
//
// The filters of lists are among the statements only as far as the journey gives lists a filter. To hold them here too, let journey send the query
// parameters of each list. store/filter_test.go has each of them.
var mayReadMore = []struct{ piece, reason string }{
	{"SELECT count(*) FROM webhook_endpoints WHERE account_id = ?", "an account has 50 at most, which is what is asked for"},
	{"SELECT 1 AS one FROM api_keys WHERE account_id = ? LIMIT", "an account has 1,000 at most, which is what is asked for"},
	{"SELECT count(*) FROM social_accounts WHERE account_id = ?", "an account has few, which is what is asked for"},
	{"DELETE FROM ad_conversions WHERE account_id = ? AND due_at IS NOT NULL AND user_data LIKE", "reads all that the account's networks are yet to be told, which they are within seconds"},
	{"SELECT count(*) FROM ad_conversion_destinations WHERE account_id = ?", "an account has 50 at most, which is what is asked for"},
	{"SELECT account_id, id, channel_id FROM ( SELECT account_id, id, channel_id, due, ROW_NUMBER()", "looks once into an index for each active destination of all accounts, however much waits"},
	{"CAST(SUM(m.net_revenue) AS bigint)", "adds up the quarters of an hour of the days that are asked for, by 365 days of which there are 35,040 rows"},
	{"SELECT CAST(COALESCE(SUM(daily_amount / 1000000), 0)", "a sum of all that is being spent"},
	{"SELECT id FROM accounts WHERE clock_offset > 0", "accounts with a clock of their own, which a development server alone looks for"},
	{"(due_at) AS at FROM subscriptions WHERE account_id = ? AND due_at > ?", "where a test clock stops next, once for each time that somebody moves it"},
	{"SELECT account_id, id FROM checkouts WHERE status = 'open' AND expires_at <= ? AND account_id = ?", "may go through the open checkouts of the account, which last a day"},
	{"FROM webhook_deliveries WHERE account_id = ? AND state = 'pending' AND endpoint_id >= ?", "the log of deliveries has an index for each state, and SQLite may go along the ids instead"},
	{"WITH due AS MATERIALIZED (", "the turns of all ad accounts that are due"},
	{turnsOfDomains, "the turns of all domains that are due"},
	{"status || '' <> 'void' AND (created_at >= ? OR EXISTS (", "asks of each order of one customer, where a look before has found that there are 1,000 at most"},
	{"SELECT id FROM requests WHERE account_id = ? ORDER BY id DESC LIMIT ? OFFSET ?", "goes past the requests that are kept, once for every 5,000 that are written"},
	{"FROM webhook_claims WHERE lease_until <", "goes through what all servers are sending now, of which each sends 512 at most"},
	{"SELECT ad_group_id, ends_at FROM ads WHERE account_id = ? AND platform = ?", mirror},
	{"SELECT platform_id, campaign_id, ends_at FROM ad_groups WHERE account_id = ? AND platform = ?", mirror},
	{"SELECT platform_id, ends_at FROM ad_campaigns WHERE account_id = ? AND platform = ?", mirror},
	{"FROM ad_campaigns AS t WHERE t.account_id = ?", mirror},
	{"FROM ad_groups AS t", mirror},
	{"FROM ad_campaigns WHERE account_id = ? AND channel_id", mirror},
	{"FROM ads WHERE account_id = ? AND channel_id", mirror},
	{"INSERT INTO ads AS t", mirror},
	{"UPDATE ad_campaigns AS t", mirror},
	{"UPDATE ad_groups AS t", mirror},
	{"UPDATE ads AS t", mirror},
}

// turnsOfDomains is asked by a worker when eight domains are due at a time, which a journey does not always come to.
const turnsOfDomains = "row_number() OVER (PARTITION BY account_id ORDER BY domain_due_at) AS place FROM ai_sites"

// ofOneEngine are the same of one database alone.
var ofOneEngine = map[string][]string{
	"sqlite": {
		"UPDATE idempotency_keys SET lease_until = 0 WHERE", // once, when a server starts
		"filter_has(?, ", // a function of the program, which a meter does not have; store/filter_plan_test.go has it
	},
	"postgres": {"DELETE FROM rate_windows WHERE subject = ANY("}, // once a minute, who asked within the last few
}

// needStatistics are those that PostgreSQL takes to concern a third of all rows until it has statistics of what there is now. A server makes these
// when it starts and when tables grow. With them they are held like all others.
var needStatistics = []string{
	"SELECT account_id || '' AS account_id, MIN(due_at) AS since FROM subscriptions WHERE due_at <= ?",
	// Without any it takes these rows, which are large, for small ones, and so for many more than there are.
	"SELECT id, octet_length(body) AS size FROM events WHERE account_id = ? AND id > ? AND id < ? ORDER BY id DESC LIMIT",
	"SELECT account_id, object_id, version, '' AS title, '' AS body, '' AS body_html, made_by, created_at FROM content_texts WHERE made_by < ?",
}

// whileSmall are those with a range that PostgreSQL takes for as narrow as a single value. It then goes through the range to find a few rows in it.
// It does so while its statistics are of a table with a single row, or with nothing but what is being sent. If that row was due, it takes all for due
// and reads them all. A server has a table analysed within a second of its growth.
var whileSmall = []string{
	"SELECT id FROM license_activations WHERE account_id = ? AND license_key_id = ? AND id > ? AND id < ? ORDER BY id DESC LIMIT 1 OFFSET",
	"DELETE FROM request_gaps WHERE ctid = ANY(",
	"DELETE FROM throttles WHERE ctid = ANY(",
	"FROM ai_sites WHERE domain_due_at IS NOT NULL AND domain_due_at <= ?",
}

// mirror is why statements about what stands at an ad network may read more.
const mirror = "may go through all that the account has at that network, which is done when its mirror is renewed"

// TestEveryStatement_ReadsInProportion lets the program do all that it can for one account. It has that grow to reads.Many rows in each table, beside
// 200 small ones, and runs every statement again. None may read much more than the rows that it returns or changes. This holds if the database knows
// what is in its tables, or nothing, or only what was in them while each had a single row. On PostgreSQL it holds in whichever way the program has
// the statement planned.
func TestEveryStatement_ReadsInProportion(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		var log reads.Log
		var account string
		t.Run("journey", func(t *testing.T) {
			s := boot(t, url, harness.Traced(log.Note), harness.WithoutStatistics())
			if db := harness.OpenDatabase(t, url); db.Engine == "postgres" { // that has statistics of whatever the tables held when it came by
				for _, table := range db.Tables(t) {
					db.Must(t, `ALTER TABLE `+table+` SET (autovacuum_enabled = false)`)
				}
			}
			account = journey(t, s, &log)
			log.Close() // what doctor reads of all accounts comes after every test
		})
		if t.Failed() {
			return
		}
		for _, text := range log.Statements() {
			if changesOfAll(text) && !strings.Contains(text, " LIMIT ") {
				t.Errorf("%s\nchanges any number of rows of all accounts: give it a LIMIT, as db.Unit.ExecBatch does", text)
			}
		}
		db := harness.OpenDatabase(t, url)
		if db.Engine == "postgres" {
			if err := reads.AnalyzeSmall(t.Context(), db.DB, db.Tables(t)); err != nil {
				t.Fatal(err)
			}
		}
		sizes, err := reads.Grow(t.Context(), db.DB, db.Engine, account, db.Tables(t))
		if err != nil {
			t.Fatal(err)
		}
		for table, rows := range sizes {
			if rows > 0 && rows < reads.Many[db.Engine] && table != "ad_limits" && table != "file_usage" && table != "picture_usage" { // an account has one
				t.Errorf("%s has %d rows: its copies are in each other's way", table, rows)
			}
		}
		all := meters(t, url, db)
		if db.Engine == "postgres" {
			for name, m := range all {
				walk(t, db, name+", with statistics of small tables", m, &log, slices.Concat(whileSmall, needStatistics)...)
			}
			if err := reads.Forget(t.Context(), db.DB); err != nil {
				t.Fatal(err)
			}
		}
		for name, m := range all {
			walk(t, db, name+", without statistics", m, &log, needStatistics...)
		}
		db.Must(t, `ANALYZE`)
		for name, m := range all {
			walk(t, db, name+", with statistics", m, &log)
		}
		if db.Engine == "postgres" && !log.Has(strings.TrimSpace(core.PlannedAnew)) {
			t.Error("no statement is planned anew")
		}
		for _, may := range mayReadMore {
			if !log.Has(may.piece) && may.piece != turnsOfDomains {
				t.Errorf("no statement is like %s: take it from the list", may.piece)
			}
		}

		for _, index := range []string{"line_items_checkout", "line_items_checkout_product"} {
			db.Must(t, `DROP INDEX `+index)
		}
		for name, m := range all {
			if strings.HasPrefix(name, "planned anew") {
				continue // the program plans another way there
			}
			seen := func(text string) bool {
				return strings.Contains(text, "FROM line_items WHERE account_id = ? AND checkout_id = ?") && excessive(t, db.Engine, m, &log, text) != nil
			}
			if !slices.ContainsFunc(log.Statements(), seen) {
				t.Errorf("%s: nobody sees that the lines of a checkout are looked for among all lines", name)
			}
		}
	})
}

// changesOfAll reports whether a statement changes rows that nothing names: neither their account nor anything else that they have to equal. A server that
// has its database for itself ends all leases when it starts.
func changesOfAll(text string) bool {
	change, condition, _ := strings.Cut(strings.Join(strings.Fields(text), " "), " WHERE ")
	isChange := strings.HasPrefix(change, "DELETE ") || strings.HasPrefix(change, "UPDATE ")
	isNamed := strings.Contains(condition, "account_id") || strings.Contains(condition, "= ?")
	return isChange && !isNamed && !strings.HasSuffix(change, "SET lease_until = 0")
}

// journey lets the program say all that it has to say to its database, about one account.
func journey(t *testing.T, s *harness.Server, said *reads.Log) (account string) {
	t.Helper()
	owner := s.Account(t)
	another := func(op *harness.Operation) *world {
		w := worldOf(s, owner.As(s.Key(t, owner.Account)))
		w.settle(t)
		if op == nil || isOfAds(op) {
			w.advertise(t)
		}
		return w
	}
	client := func() *sdk.Client { return owner.As(s.Key(t, owner.Account)).SDK() }
	stock(t, client())
	crowd(t, client(), client(), client())
	var ofSales, withAds *world // for the next write, until one does not find what it needs
	for _, op := range harness.Operations() {
		if !op.IsWrite() {
			continue
		}
		used := &ofSales
		if isOfAds(op) {
			used = &withAds
		}
		if w := *used; w != nil {
			if answer := w.send(t, op, "Idempotency-Key", unique()); answer.Status < http.StatusMultipleChoices {
				continue
			}
			w.Do(t, http.MethodDelete, "/v1/webhook_endpoints/"+w.IDs["we"], nil) // an account has only so many
		}
		*used = another(op)
		(*used).send(t, op, "Idempotency-Key", unique())
	}
	w := another(nil)
	for _, op := range harness.Operations() {
		if !op.IsWrite() {
			w.with(s.Key(t, owner.Account)).send(t, op)
		}
	}
	w.Must(t, http.MethodPost, "/v1/license_keys/activate", map[string]any{
		"key": w.License, "product": w.IDs["prod"], "fingerprint": "another device", "name": "The same device by another name",
	})
	w.knock(t, s)
	w.look(t, s)
	tryOut(t, w.SDK())
	picture(t, s, owner)
	leave(t, s, owner.SDK())
	team(t, s, owner)
	s.Housekeep(t)
	s.DeleteOldDeliveries(t)
	s.Clock.SetAhead(time.Minute) // each domain is due
	assert.True(t, comes(func() bool { return said.Has("UPDATE ai_sites SET domain_due_at = ?") }), "a domain is looked at")
	return owner.Account
}

func isOfAds(op *harness.Operation) bool { return strings.HasPrefix(op.Scope, "ads:") }

// stock makes so many of what worlds have few of that a list looks where its page ends before it reads the page.
func stock(t *testing.T, c *sdk.Client) {
	t.Helper()
	for i := range 210 {
		p := ok[*sdk.Product](t)(c.Products.Create(background, &sdk.ProductCreate{
			Name: "Stocked", Status: new(sdk.ProductStatusActive), PriceVariants: []sdk.ProductPriceVariant{{Amount: new(int64(900)), Currency: new("usd")}},
		}))
		if i%3 == 0 {
			continue
		}
		ok[*sdk.CheckoutLink](t)(c.CheckoutLinks.Create(background, &sdk.CheckoutLinkCreate{PriceVariants: []string{p.PriceVariants[0].ID}}))
		ok[*sdk.Discount](t)(c.Discounts.Create(background, &sdk.DiscountCreate{Name: new("Stocked"), Type: sdk.DiscountTypePercent, PercentBps: new(int64(1000))}))
	}
}

// crowd makes as many of those who buy, and of what they have. Each client has a quota of its own.
func crowd(t *testing.T, first, second, third *sdk.Client) {
	t.Helper()
	club := variantOnSale(t, first, sdk.ProductPriceVariant{
		Type: new(sdk.PriceVariantTypeRecurring), Interval: new(sdk.PriceVariantIntervalMonth), Amount: new(int64(900)), Currency: new("usd"),
	})
	who := member(t, first).ID
	shown := sdk.ExperienceContent{URL: new("https://club.example.com")}
	for range 210 {
		ok[*sdk.Subscription](t)(first.Subscriptions.Create(background, &sdk.SubscriptionCreate{Customer: who, PriceVariant: club.ID, PaymentMethod: new("pm_card_visa")}))
		ok[*sdk.Customer](t)(second.Customers.Create(background, &sdk.CustomerCreate{Email: unique() + "@example.com", Name: new("Stocked")}))
		ok[*sdk.Lead](t)(second.Leads.Create(background, &sdk.LeadCreate{Email: unique() + "@example.com", Name: new("Stocked")}))
		ok[*sdk.Experience](t)(third.Experiences.Create(background, &sdk.ExperienceCreate{Name: "Stocked", Type: sdk.ExperienceTypeLink, Content: &shown}))
		ok[*sdk.File](t)(third.Files.Create(background, &sdk.FileCreate{Name: "stocked.txt", Size: 1}))
	}
}

// picture has the account's pictures fetched, of which one is missing, another one replaces one, and one is looked at.
func picture(t *testing.T, s *harness.Server, owner *harness.Client) {
	t.Helper()
	c := owner.SDK()
	p := ok[*sdk.Product](t)(c.Products.Create(background, &sdk.ProductCreate{Name: "Pictured", CoverURL: new("https://shop.example/a.png")}))
	ok[*sdk.Product](t)(c.Products.Create(background, &sdk.ProductCreate{Name: "Not pictured", CoverURL: new("https://shop.example/missing")}))
	s.FetchPictures(t)
	ok[*sdk.Product](t)(c.Products.Update(background, p.ID, &sdk.ProductUpdate{CoverURL: sdk.Set("https://shop.example/b.png")}))
	s.FetchPictures(t)
	ok[*sdk.Product](t)(c.Products.Create(background, &sdk.ProductCreate{Name: "To be pictured", CoverURL: new("https://shop.example/c.png")})) // and many more like it
	name := ""
	if err := s.DB.QueryRowContext(t.Context(), `SELECT name FROM pictures WHERE owner_id = '`+p.ID+`'`).Scan(&name); err != nil {
		t.Fatal(err)
	}
	if answer := owner.Do(t, http.MethodGet, "/media/"+owner.Account+"/"+name+"-2.jpg", nil); answer.Status != http.StatusOK {
		t.Fatalf("a picture that is there: %d", answer.Status)
	}
}

// tryOut has a customer try a product for which the account gives each one trial: it is begun, given up, had, and not had again.
func tryOut(t *testing.T, c *sdk.Client) {
	t.Helper()
	tryable(t, c)
	v := variantOnSale(t, c, sdk.ProductPriceVariant{
		Type: new(sdk.PriceVariantTypeRecurring), Interval: new(sdk.PriceVariantIntervalMonth), Amount: new(int64(900)), Currency: new("usd"), TrialDays: new(int64(14)),
		SetupFeeAmount: new(int64(100)), // which can be declined
	})
	open := checkout(t, c, "tries@example.com", v)
	_, err := c.Checkouts.Confirm(background, open.ID, by("pm_card_chargeDeclined"))
	refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "payment_method")
	ok[*sdk.Checkout](t)(c.Checkouts.Confirm(background, open.ID, by("pm_card_visa")))
	who := member(t, c).ID
	for range 2 {
		ok[*sdk.Subscription](t)(c.Subscriptions.Create(background, &sdk.SubscriptionCreate{Customer: who, PriceVariant: v.ID, PaymentMethod: new("pm_card_visa")}))
	}
	ok[*sdk.Account](t)(c.Account.Update(background, &sdk.AccountUpdate{TrialOncePerCustomer: new(false)}))
	typed := untold(t, c, "typed@example.com", v)
	typed = ok[*sdk.Checkout](t)(c.Checkouts.Confirm(background, typed.ID, by("pm_card_visa")))
	ok[*sdk.Order](t)(c.Orders.Update(background, typed.Order.ID, &sdk.OrderUpdate{CustomerVerified: new(true)}))
}

// meters returns what measures statements: on PostgreSQL one for each way in which the program has them planned.
func meters(t *testing.T, url string, db *harness.Database) map[string]reads.Meter {
	t.Helper()
	if db.Engine == "sqlite" {
		m, err := reads.NewSQLite(url)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = m.Close() })
		return map[string]reads.Meter{"sqlite": m}
	}
	all := map[string]reads.Meter{}
	for _, way := range reads.Ways {
		m, err := reads.NewPostgres(t.Context(), db.DB, way)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = m.Close() })
		all[way.Name] = m
	}
	return all
}

// walk runs every statement again but some, and fails for those that read out of proportion.
func walk(t *testing.T, db *harness.Database, how string, m reads.Meter, log *reads.Log, besides ...string) {
	t.Helper()
	besides = append(besides, ofOneEngine[db.Engine]...)
	for _, may := range mayReadMore {
		besides = append(besides, may.piece)
	}
	for _, text := range log.Statements() {
		if slices.ContainsFunc(besides, func(piece string) bool { return reads.IsLike(text, piece) }) {
			continue
		}
		cost := excessive(t, db.Engine, m, log, text)
		if cost != nil && db.Engine == "postgres" {
			if err := reads.Clean(t.Context(), db.DB, db.Tables(t), text); err != nil {
				t.Fatal(err)
			}
			cost = excessive(t, db.Engine, m, log, text)
		}
		if cost != nil {
			t.Errorf("EXCESSIVE %s\n%s\n%s", how, text, cost)
		}
	}
}

// excessive runs a statement as it ran before, and returns the first run that reads out of proportion, nil if there is none.
func excessive(t *testing.T, engine string, m reads.Meter, log *reads.Log, text string) *reads.Cost {
	t.Helper()
	if !m.Runs(text) {
		return nil
	}
	cost, err := m.Measure(reads.Again(text), log.Calls(text))
	if err != nil {
		t.Errorf("%s: %v", text, err)
	} else if cost.Excessive(engine) {
		return &cost
	}
	return nil
}
