package lead

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/outbox"
)

// atOnce is how many leads, or customers, are stored with one statement.
const atOnce = 200

// leadBatch stores leads together with their customers.
type leadBatch struct {
	*db.Unit
	s         *Store
	account   string
	now       core.Time
	vouched   bool                          // the seller says who they are: their customers learn their names
	customers map[string]*customer.Customer // by the address that they own
	leads     map[string]*Lead              // by address and product
	ended     map[string]bool               // mailboxes, as core.MailboxKey has them, whose readers want no news any more

	newCustomers []*customer.Customer
	unsubscribed []string // ids of customers
	endings      []string // addresses whose readers want no news from now on
	silent       []string // ids of leads that are unsubscribed now
	stored       []*Lead  // in the order in which they came, each once
	created      []Detail
}

// key returns what there is one lead of.
func (l *Lead) key() string { return l.EmailKey + "\n" + core.Deref(l.ProductID) }

// read locks the customers who own the addresses of leads, in the order of their ids. Then it locks the leads of these addresses that there are,
// as inOrder says.
func (b *leadBatch) read(ctx context.Context, sent []Saved) error {
	b.customers, b.leads = map[string]*customer.Customer{}, map[string]*Lead{}
	var keys []string
	for i := range sent {
		if sent[i].Err == nil && !slices.Contains(keys, sent[i].Lead.EmailKey) {
			keys = append(keys, sent[i].Lead.EmailKey)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	condition, arg := b.s.db.In("email_key", keys)
	customers, err := db.Select[customer.Customer](ctx, b, customer.Columns.SelectSQL+` WHERE account_id = ? AND `+condition+` ORDER BY id || ''`+b.Lock(), b.account, arg)
	if err != nil {
		return fmt.Errorf("lock the customers of leads: %w", err)
	}
	leads, err := db.Select[Lead](ctx, b, columns.SelectSQL+` WHERE account_id = ? AND `+condition+` ORDER BY `+inOrder+b.Lock(), b.account, arg)
	if err != nil {
		return fmt.Errorf("lock leads: %w", err)
	}
	ended, err := b.s.rooms.Customer.EndedNews(ctx, b.Unit, b.account, keys)
	if err != nil {
		return err
	}
	b.ended = map[string]bool{}
	for key := range ended {
		b.ended[core.MailboxKey(key)] = true
	}
	for i := range customers {
		c := &customers[i]
		b.customers[*c.EmailKey] = c
		if c.IsUnsubscribed() {
			b.ended[core.MailboxKey(*c.EmailKey)] = true
		}
	}
	for i := range leads {
		b.leads[leads[i].key()] = &leads[i]
		if leads[i].Status == StatusUnsubscribed {
			b.ended[core.MailboxKey(leads[i].EmailKey)] = true
		}
	}
	return nil
}

// save decides what becomes of one lead that was sent.
func (b *leadBatch) save(s *Saved, in *NewLead, upsert bool) error {
	if s.Err != nil {
		s.Outcome, s.Lead = OutcomeFailed, nil
		return nil
	}
	s.ConsentRefused = in.Consent != nil && in.Consent.Marketing && b.hasEnded(s.Lead)
	there := b.leads[s.Lead.key()]
	if there == nil {
		b.create(s.Lead)
		s.Outcome = OutcomeCreated
		return nil
	}
	if !upsert {
		return s.fail(core.Invalid("email", "This address has a lead for this product already. Change that one, or send upsert: true."))
	}
	changed := *there
	err := in.addTo(&changed, b.now)
	if b.hasEnded(there) && changed.Consent.V.Marketing { // they said otherwise
		changed.Consent = there.Consent
	}
	if err == nil {
		err = changed.check()
	}
	if err != nil {
		return s.fail(err)
	}
	if core.SameJSON(*there, changed) {
		s.Outcome, s.Lead = OutcomeUnchanged, there
		return nil
	}
	if changed.Status == StatusUnsubscribed && there.Status != changed.Status {
		b.unsubscribed, b.silent = append(b.unsubscribed, there.CustomerID), append(b.silent, there.ID)
		b.end(there.Email)
	}
	changed.UpdatedAt = b.now
	*there = changed
	s.Outcome, s.Lead = OutcomeUpdated, there
	b.keep(there)
	return nil
}

// fail notes why a lead was not taken. An error that is no fault of whoever sent it comes back.
func (s *Saved) fail(err error) error {
	s.Outcome, s.Lead, s.ConsentRefused = OutcomeFailed, nil, false
	if !errors.As(err, &s.Err) {
		return err
	}
	return nil
}

// end keeps that the reader of an address wants no news any more.
func (b *leadBatch) end(email string) {
	b.ended[core.MailboxKey(email)] = true
	b.endings = append(b.endings, email)
}

// hasEnded reports whether the reader of the address of a lead wants no news any more.
func (b *leadBatch) hasEnded(l *Lead) bool { return b.ended[core.MailboxKey(l.EmailKey)] }

// settle has all leads of an address that was unsubscribed by one that was sent be unsubscribed, whichever of them came first. Of another spelling of its
// mailbox those that were sent agree to nothing.
func (b *leadBatch) settle(sent []Saved, in []NewLead) error {
	addresses, mailboxes := map[string]bool{}, map[string]bool{}
	for _, email := range b.endings {
		addresses[core.EmailKey(email)], mailboxes[core.MailboxKey(email)] = true, true
	}
	changed := map[*Lead]bool{}
	for _, key := range slices.Sorted(maps.Keys(b.leads)) {
		l := b.leads[key]
		if !addresses[l.EmailKey] || l.Status == StatusUnsubscribed {
			continue
		}
		if err := l.move(StatusUnsubscribed); err != nil {
			return err
		}
		l.LetterDueAt, l.UpdatedAt, changed[l] = nil, b.now, true
		b.silent = append(b.silent, l.ID)
		b.keep(l)
	}
	for i := range sent {
		s := &sent[i]
		if s.Err != nil || !mailboxes[core.MailboxKey(s.Lead.EmailKey)] {
			continue
		}
		s.ConsentRefused = s.ConsentRefused || in[i].Consent != nil && in[i].Consent.Marketing
		if s.Lead.Consent.V.Marketing {
			s.Lead.Consent.V, s.Lead.UpdatedAt, changed[s.Lead] = Consent{}, b.now, true
			b.keep(s.Lead)
		}
		if changed[s.Lead] && s.Outcome == OutcomeUnchanged {
			s.Outcome = OutcomeUpdated
		}
	}
	return nil
}

// create makes a lead, with a customer if nobody owns its address. Whoever wants no news agrees to none by it.
func (b *leadBatch) create(l *Lead) {
	if b.hasEnded(l) {
		l.Consent.V = Consent{}
	}
	c := b.customers[l.EmailKey]
	if c == nil {
		c = b.customer(l.Email)
		if b.vouched {
			c.Name, c.Phone = l.Name, l.Phone
		}
		b.customers[l.EmailKey] = c
	}
	b.add(l, c)
}

// customer makes a customer who owns an address.
func (b *leadBatch) customer(email string) *customer.Customer {
	c := &customer.Customer{AccountID: b.account, ID: core.NewID(core.KindCustomer), Type: customer.TypeLead, CreatedAt: b.now, UpdatedAt: b.now}
	c.SetEmail(email)
	b.newCustomers = append(b.newCustomers, c)
	return c
}

// add makes a lead of a customer.
func (b *leadBatch) add(l *Lead, c *customer.Customer) {
	l.CustomerID = c.ID
	if l.Status == StatusUnsubscribed {
		c.MarketingConsent.V = leftBy(b.now)
		b.unsubscribed = append(b.unsubscribed, c.ID)
		b.end(l.Email)
	}
	b.leads[l.key()] = l
	b.keep(l)
	b.created = append(b.created, Detail{Customer: c, Lead: l})
}

// keep has a lead stored.
func (b *leadBatch) keep(l *Lead) {
	if !slices.Contains(b.stored, l) {
		b.stored = append(b.stored, l)
	}
}

// store stores all that was decided, customers before their leads, and emits lead.created for each lead that is new.
func (b *leadBatch) store(ctx context.Context) error {
	for customers := range slices.Chunk(b.newCustomers, atOnce) {
		if err := db.InsertAll(ctx, b.Unit, customer.Columns, values(customers)); err != nil {
			return err
		}
	}
	if err := b.s.rooms.Customer.Unsubscribe(ctx, b.Unit, b.account, b.unsubscribed, leftByLead, b.now); err != nil {
		return err
	}
	if len(b.silent) > 0 {
		if err := b.s.rooms.Advert.ForgetLeads(ctx, b.Unit, b.account, b.silent...); err != nil {
			return err
		}
	}
	for leads := range slices.Chunk(b.stored, atOnce) {
		if err := db.PutAll(ctx, b.Unit, columns, values(leads)); err != nil {
			return err
		}
	}
	if err := b.s.rooms.Customer.EndNews(ctx, b.Unit, b.account, b.now, b.endings...); err != nil {
		return err
	}
	for i := range b.created {
		d := &b.created[i]
		if err := b.s.rooms.Outbox.Emit(ctx, b.Unit, outbox.NewEvent{Kind: outbox.EventLeadCreated, Account: b.account, Key: d.Lead.ID, Seq: 1, Data: d}); err != nil {
			return err
		}
	}
	return nil
}

// values returns what rows point at.
func values[T any](rows []*T) []T {
	all := make([]T, len(rows))
	for i, row := range rows {
		all[i] = *row
	}
	return all
}
