// Package store is commerce and its SQL: types, rules, use cases, and the transactions around them. It opens the rooms beside it,
// such as store/tenant, and all share its transactions. An exported method is atomic; inside Request it joins the request's
// transaction, elsewhere it commits by itself.
package store

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/tillwright/tillwright/store/activity"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/audit"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/content"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/discount"
	"github.com/tillwright/tillwright/store/grant"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/invoice"
	"github.com/tillwright/tillwright/store/lead"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/mailbox"
	"github.com/tillwright/tillwright/store/offer"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/outbox"
	"github.com/tillwright/tillwright/store/payment"
	"github.com/tillwright/tillwright/store/person"
	"github.com/tillwright/tillwright/store/picture"
	"github.com/tillwright/tillwright/store/portal"
	"github.com/tillwright/tillwright/store/report"
	"github.com/tillwright/tillwright/store/request"
	"github.com/tillwright/tillwright/store/seal"
	"github.com/tillwright/tillwright/store/signed"
	"github.com/tillwright/tillwright/store/subscription"
	"github.com/tillwright/tillwright/store/team"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/store/testbank"
	"github.com/tillwright/tillwright/store/throttle"
)

// Options are what Open needs. URL and Sealer are required.
type Options struct {
	URL         string           // sqlite:///path/file.db | postgres://...
	Pooler      string           // core.PoolerNone (default) | core.PoolerTransaction
	Sealer      *core.Sealer     // for secrets and stored answers
	Render      outbox.Render    // the `data` of an event; required to emit one
	PublicURL   string           // where buyers reach this server; checkout pages are below it
	SitesHost   string           // below it each site has a name that a domain may point at; "" = the host of PublicURL
	Now         func() time.Time // nil = time.Now
	TestClock   bool             // for development: each account has a clock of its own, which AdvanceClock moves
	MaxConns    int              // PostgreSQL, default 12
	Synchronous string           // SQLite: "full" (default) | "normal"
	Exclusive   bool             // SQLite: this process serves the file; a second one that asks is refused
	Patient     bool             // PostgreSQL: statements take as long as they need, which no server wants
	CloseTime   time.Duration    // how long Close takes at most; 0 = 5 s

	Trace func(ctx context.Context, statement string, args []any) // called with each statement before it runs, by many goroutines; nil = nobody is. See core.PlannedAnew

	// Waited is called with the account of whoever had to wait for a connection, once they have one, by many goroutines. The number turns is how many
	// were let in meanwhile. It may be nil.
	Waited func(ctx context.Context, account string, turns int)

	// Whose returns the account for which a context does something, core.Strangers for a request that needs none, and "" for a worker. Accounts have fair
	// shares of the connections. It may be nil.
	Whose func(context.Context) string

	// Waits is called when something waits for another transaction, for a connection, for the disk or for PostgreSQL. What it returns is called when
	// that is over, with true by whoever holds what other accounts need. It may be nil.
	Waits func(context.Context) (over func(holds bool))

	Files grant.Limits // of an account

	Pictures picture.Bounds // of an account; none are the usual ones

	LivePayments bool // new accounts are paid through Stripe, and none may choose the test provider
}

// Store gives access to one database: by its own methods to commerce, by its fields to the rooms beside it. It is safe for concurrent use.
type Store struct {
	Tenant       *tenant.Store       // accounts, API keys, who asked how often
	Catalog      *catalog.Store      // products, price variants
	Outbox       *outbox.Store       // events, webhook endpoints, deliveries
	Advert       *advert.Store       // channels, campaigns, ads, audiences
	Grant        *grant.Store        // what customers have, licence keys, files
	Subscription *subscription.Store // what is billed period after period
	Payment      *payment.Store      // what buyers pay with, how far they have come, and who has to wait
	Customer     *customer.Store     // who buys
	Lead         *lead.Store         // who left their address
	Discount     *discount.Store     // discounts, and the uses of them
	Lines        *lineitem.Store     // the lines of checkouts, orders and invoices
	Offer        *offer.Store        // what can be bought, for lines to be made of
	Checkout     *checkout.Store     // purchases under way, and the links that open them
	Order        *order.Store        // what was bought
	Invoice      *invoice.Store      // what is asked to be paid
	Report       *report.Store       // figures by time
	Activity     *activity.Store     // who changed what
	Content      *content.Store      // posts, legal pages, experiences, sites
	TestBank     *testbank.Store     // the books of the test provider
	Person       *person.Store       // who signs in to the dashboard
	Team         *team.Store         // who signs up, and who may change an account's members
	Requests     *request.Store      // what programs asked for
	Throttle     *throttle.Store     // how often something was done
	Mailbox      *mailbox.Store      // how many letters are written
	Portal       *portal.Store       // how customers are let in to what is theirs
	Pictures     *picture.Store      // what pages show of sellers and products
	Signed       *signed.Store       // addresses that open something to whoever has them
	Seal         *seal.Store         // whether the secret keys open what is sealed
	Audit        *audit.Store        // whether the rows keep what was promised of them

	db        *db.DB
	closeTime time.Duration // how long Close takes at most
}

// Open returns a store, and does not migrate: Migrate does. PostgreSQL is connected to when it is first used. The file of an embedded database is
// opened at once, and made if it is missing. If this process serves it exclusively, what a process that died was doing can be taken over from then
// on.
func Open(ctx context.Context, o Options) (*Store, error) {
	opened, err := db.Open(ctx, db.Options{
		URL: o.URL, Pooler: o.Pooler, Sealer: o.Sealer, PublicURL: o.PublicURL, SitesHost: o.SitesHost, Now: o.Now, TestClock: o.TestClock, MaxConns: o.MaxConns,
		Synchronous: o.Synchronous, Exclusive: o.Exclusive, Patient: o.Patient, Trace: o.Trace, Waited: o.Waited, Whose: o.Whose, Waits: o.Waits,
	})
	if err != nil {
		return nil, err
	}
	events := outbox.New(opened, o.Render)
	s := &Store{
		Tenant: tenant.New(opened, o.LivePayments), Catalog: catalog.New(opened, events), Outbox: events, Advert: advert.New(opened), Grant: grant.New(opened, o.Files),
		Activity: activity.New(opened), Content: content.New(opened), TestBank: testbank.New(opened), Person: person.New(opened),
		Requests: request.New(opened), Throttle: throttle.New(opened), Portal: portal.New(opened), Pictures: picture.New(opened, o.Pictures), Signed: signed.New(opened), Seal: seal.New(opened),
		db: opened, closeTime: cmp.Or(o.CloseTime, 5*time.Second),
	}
	s.Report = report.New(opened, report.Rooms{Tenant: s.Tenant})
	s.Mailbox = mailbox.New(s.Throttle)
	s.Customer = customer.New(opened)
	s.Payment = payment.New(opened, payment.Rooms{Customer: s.Customer})
	s.Lead = lead.New(opened, lead.Rooms{
		Activity: s.Activity, Advert: s.Advert, Catalog: s.Catalog, Content: s.Content, Customer: s.Customer, Mailbox: s.Mailbox, Outbox: s.Outbox, Tenant: s.Tenant,
	})
	s.Discount = discount.New(opened, s.Catalog)
	s.Lines = lineitem.New(opened, s.Grant)
	s.Offer = offer.New(offer.Rooms{Catalog: s.Catalog})
	s.Subscription = subscription.New(opened, subscription.Rooms{
		Catalog: s.Catalog, Customer: s.Customer, Discount: s.Discount, Grant: s.Grant, Payment: s.Payment, Report: s.Report, Tenant: s.Tenant,
	})
	s.Checkout = checkout.New(opened, checkout.Rooms{
		Catalog: s.Catalog, Content: s.Content, Customer: s.Customer, Discount: s.Discount, Lead: s.Lead, Lines: s.Lines, Mailbox: s.Mailbox, Offer: s.Offer,
		Outbox: s.Outbox, Payment: s.Payment, Report: s.Report, Tenant: s.Tenant, Throttle: s.Throttle,
	})
	s.Order = order.New(opened, order.Rooms{
		Catalog: s.Catalog, Checkout: s.Checkout, Customer: s.Customer, Discount: s.Discount, Lines: s.Lines, Signed: s.Signed, Subscription: s.Subscription,
	})
	s.Invoice = invoice.New(opened, invoice.Rooms{
		Catalog: s.Catalog, Customer: s.Customer, Discount: s.Discount, Lines: s.Lines, Order: s.Order, Outbox: s.Outbox, Payment: s.Payment,
		Signed: s.Signed, Subscription: s.Subscription, Tenant: s.Tenant,
	})
	s.Audit = audit.New(opened, s.Tenant)
	s.Team = team.New(opened, s.Tenant, s.Person, s.Activity)
	s.Grant.OnKey = func(ctx context.Context, u *db.Unit, g *grant.Grant) error { return s.writeKey(ctx, u, g) }
	s.Tenant.OnAPIKey = func(ctx context.Context, k *tenant.APIKey) error {
		return s.Person.TellOwners(ctx, k.AccountID, person.LetterTokenMade, person.LetterDetail{Token: k.Name})
	}
	if opened.Engine == core.SQLite && o.Exclusive {
		if err := s.endLeases(ctx); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return s, nil
}

// RegisterFunctions lets others in this process write to an embedded database behind the store's back: its triggers call functions of
// ours. Open does it too.
func RegisterFunctions() error { return db.RegisterFunctions() }

// endLeases ends all leases, so that what a process that died was doing can be taken over at once. These are the leases of requests with an
// Idempotency-Key, deliveries, payments, refunds, writes at ad networks, and uploads. Only the one process that serves an embedded database may call
// it. Tables that do not exist yet are skipped, because it runs before the migrations.
func (s *Store) endLeases(ctx context.Context) error {
	for table, underWay := range map[string]string{
		"idempotency_keys": "status = 0", "webhook_claims": "TRUE", "ad_actions": "state IN ('begun', 'unknown')",
		"payments": "status IN ('pending', 'requires_action')", "refunds": "status = 'pending'", "uploads": "lease_until > 0",
	} {
		tables, err := db.Get[int](ctx, s.db, `SELECT count(*) FROM sqlite_master WHERE name = ?`, table)
		if err != nil {
			return err
		}
		if *tables == 0 {
			continue
		}
		if _, err = db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
			return u.Exec(ctx, `UPDATE `+table+` SET lease_until = 0 WHERE `+underWay)
		}); err != nil {
			return err
		}
	}
	return nil
}

// Engine returns core.SQLite or core.PostgreSQL.
func (s *Store) Engine() string { return s.db.Engine }

// PublicURL returns the address under which buyers and sellers reach this server, without a slash at the end.
func (s *Store) PublicURL() string { return s.db.Options.PublicURL }

// PublicHost returns the name, without a port, under which buyers and sellers reach this server.
func (s *Store) PublicHost() string {
	u, err := url.Parse(s.db.Options.PublicURL)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}

// Writers returns how many transactions a background job should run at a time.
func (s *Store) Writers() int { return s.db.Writers() }

// Ping reports whether the database answers.
func (s *Store) Ping(ctx context.Context) error { return s.db.Ping(ctx) }

// Close writes what is batched and closes the database. A database that does not answer within Options.CloseTime is left, which
// is an error.
func (s *Store) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), s.closeTime)
	defer cancel()
	closed := make(chan error, 1)
	go func() { closed <- s.close(ctx) }() // no context ends a statement that is under way
	select {
	case err := <-closed:
		return err
	case <-ctx.Done():
		return errors.New("store: the database did not answer within " + s.closeTime.String() + " when it was closed")
	}
}

// close does what Close does, but may wait for the database longer than ctx lasts.
func (s *Store) close(ctx context.Context) error {
	return errors.Join(s.Tenant.Close(ctx), s.db.Close(ctx))
}

// Now returns the store's time.
func (s *Store) Now() core.Time { return s.db.Now() }

// Migrate brings the schema up to date. If several replicas call it together, one does it and the others wait. A schema that is
// newer than this program is left as it is, and is a *SchemaError.
func (s *Store) Migrate(ctx context.Context) error { return s.db.Migrate(ctx) }

// StaleTables returns the tables that PostgreSQL would have to look at again to plan statements well. SQLite has none.
func (s *Store) StaleTables(ctx context.Context) ([]core.StaleTable, error) {
	return s.db.StaleTables(ctx)
}

// InvalidIndexes returns the names of the indexes that PostgreSQL does not use, since what built them was interrupted. Migrate builds
// them anew. SQLite has none.
func (s *Store) InvalidIndexes(ctx context.Context) ([]string, error) {
	return s.db.InvalidIndexes(ctx)
}

// Analyze has PostgreSQL look at tables that have grown since it last did. It is cheap if there are none. Denied are those that
// this role may not analyse, each time that they have grown.
func (s *Store) Analyze(ctx context.Context) (analyzed, denied []core.StaleTable, err error) {
	return s.db.Analyze(ctx)
}

// Repair sets right what a server of an older version leaves behind that goes on running beside this one. See db.DB.Repair for what that is. It may
// be repeated at any time.
func (s *Store) Repair(ctx context.Context) (core.Repaired, error) { return s.db.Repair(ctx) }

// WrongKeys returns how many keys of addresses Repair would write.
func (s *Store) WrongKeys(ctx context.Context) (int, error) { return s.db.WrongKeys(ctx) }

// CheckSchema returns nil if the schema is the one of this program, else a *SchemaError.
func (s *Store) CheckSchema(ctx context.Context) error { return s.db.CheckSchema(ctx) }

// CheckReady returns nil if requests can be served: the database answers, has the schema of this program, takes writes, and has
// room for more data. Otherwise the error says what is missing.
func (s *Store) CheckReady(ctx context.Context) error { return s.db.CheckReady(ctx) }

// Request runs one write request. All use cases that fn calls join one transaction, which commits together with the answer. If
// a request with the same key was answered before, that answer is returned again, and replayed is true. See db.DB.Request for what is stored, what is
// undone, and which errors there are.
func (s *Store) Request(ctx context.Context, key *core.Key, fn func(context.Context) (*core.Answer, error), turns ...func() (end func(), err error)) (answer *core.Answer, replayed bool, err error) {
	return s.db.Request(ctx, key, fn, turns...)
}

// Leave ends the transaction of a request that is about to ask something outside, and commits the claim of its key. That is for
// questions alone: before a request changes something outside, a step has to commit the intent.
func (s *Store) Leave(ctx context.Context) error { return s.db.Leave(ctx) }

// DeleteExpiredKeys deletes at most limit Idempotency-Keys that are past their lifetime and returns how many.
func (s *Store) DeleteExpiredKeys(ctx context.Context, limit int) (int64, error) {
	return s.db.DeleteExpiredKeys(ctx, limit)
}

// GiveSpaceBack gives at most limit unused pages of an embedded database's file back to the disk, and returns how many.
func (s *Store) GiveSpaceBack(ctx context.Context, limit int) (int64, error) {
	return s.db.GiveSpaceBack(ctx, limit)
}

// InTx reports whether a transaction is open. Then nothing outside may be called.
func InTx(ctx context.Context) bool { return db.InTx(ctx) }

// Detached returns a context that belongs to no request, so that what runs under it commits by itself. The request must have
// ended its transaction before: that would hold its rows, and all of an embedded database, against what runs here.
func Detached(ctx context.Context) context.Context { return db.Detached(ctx) }
