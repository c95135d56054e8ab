package lead

import (
	"context"
	"net/netip"
	"slices"
	"strings"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/internal/db"
)

// Status says what became of a lead.
type Status string

// The states of a lead. Only an order that the address pays makes it converted, and nothing follows unsubscribed.
const (
	StatusNew          Status = "new"
	StatusQualified    Status = "qualified"
	StatusConverted    Status = "converted"
	StatusUnsubscribed Status = "unsubscribed"
)

// lifecycle is what a seller may do. That an order converts a lead is the system's: see Convert.
var lifecycle = core.Lifecycle[Status]{
	StatusNew:       {StatusQualified, StatusUnsubscribed},
	StatusQualified: {StatusNew, StatusUnsubscribed},
	StatusConverted: {StatusUnsubscribed},
}

// Source says how a lead came.
type Source string

// The sources of leads.
const (
	SourceForm              Source = "form"
	SourceCheckoutAbandoned Source = "checkout_abandoned"
	SourceAISite            Source = "ai_site"
	SourceLinkInBio         Source = "link_in_bio"
	SourceImport            Source = "import"
	SourceAPI               Source = "api"
)

// Lead is somebody who left their address, for a product or for none. An address, in any case, has one lead for each product and one
// for none. Its customer owns the address, unless the lead is of a checkout of a customer whom the seller knows by an id of their own.
type Lead struct {
	AccountID        string                       `db:"account_id"`
	ID               string                       `db:"id"`
	Email            string                       `db:"email"`
	EmailKey         string                       `db:"email_key"` // the email as core.EmailKey has it
	Name             *string                      `db:"name"`
	Phone            *string                      `db:"phone"`
	ProductID        *string                      `db:"product_id"`
	Source           Source                       `db:"source"`
	AISiteID         *string                      `db:"ai_site_id"`
	CheckoutID       *string                      `db:"checkout_id"` // that was abandoned
	Referrer         *string                      `db:"referrer"`
	UTM              core.JSON[*UTM]              `db:"utm"`
	Status           Status                       `db:"status"`
	CustomerID       string                       `db:"customer_id"`
	ConvertedAt      *core.Time                   `db:"converted_at"`
	ConvertedOrderID *string                      `db:"converted_order_id"`
	Consent          core.JSON[Consent]           `db:"consent"`
	AdsConsent       bool                         `db:"ads_consent"` // the visitor agreed that ad networks are told of the lead
	Locale           *string                      `db:"locale"`      // in which they were asked whether they may be written to, nil if it is not known
	CustomFieldData  core.JSON[map[string]string] `db:"custom_field_data"`
	Tags             core.JSON[[]string]          `db:"tags"`
	Metadata         core.Metadata                `db:"metadata"`
	LetterDueAt      *core.Time                   `db:"letter_due_at"` // of the letter that asks them to confirm; nil: none waits
	LetterAttempts   int64                        `db:"letter_attempts"`
	CreatedAt        core.Time                    `db:"created_at"`
	UpdatedAt        core.Time                    `db:"updated_at"`
}

// UTM is what the address of a page says of a campaign.
type UTM struct {
	Source   *string `json:"source"`
	Medium   *string `json:"medium"`
	Campaign *string `json:"campaign"`
	Term     *string `json:"term"`
	Content  *string `json:"content"`
}

// Consent is what a lead agreed to, with what proves it.
type Consent struct {
	Marketing   bool       `json:"marketing"`
	At          *core.Time `json:"at"`
	IP          *string    `json:"ip"`
	ConfirmedAt *core.Time `json:"confirmed_at"` // by the reader of a letter to the address
}

// Detail is the data of lead.created.
type Detail struct {
	Customer *customer.Customer
	Lead     *Lead
}

var columns = db.ColumnsOf[Lead]("leads")

// check returns CodeInvalid with the fields that are not acceptable, but for the address, which never changes.
func (l *Lead) check() error {
	var p core.Problems
	p.Check(l.Name == nil || strings.TrimSpace(*l.Name) != "", "name", "A name is not only white space. Send null for none.")
	p.Check(core.HasAtMost(l.Name, 255), "name", "A name has at most 255 characters.")
	p.Check(core.HasAtMost(l.Phone, 40), "phone", "A phone number has at most 40 characters.")
	p.Check(core.HasAtMost(l.Referrer, 2048), "referrer", "A referrer has at most 2048 characters.")
	p.Check(core.HasAtMost(l.Consent.V.IP, 45), "consent.ip", "A network address has at most 45 characters.")
	if u := l.UTM.V; u != nil {
		for field, value := range map[string]*string{"source": u.Source, "medium": u.Medium, "campaign": u.Campaign, "term": u.Term, "content": u.Content} {
			p.Check(core.HasAtMost(value, 255), "utm."+field, "This has at most 255 characters.")
		}
	}
	p.Check(l.Status != StatusUnsubscribed || !l.Consent.V.Marketing, "consent.marketing", "Whoever is unsubscribed agrees to nothing.")
	p.Check(len(l.Tags.V) <= customer.MaxTags, "tags", "A lead has at most 50 tags.")
	for _, tag := range l.Tags.V {
		p.Check(tag != "" && core.HasAtMost(&tag, 40), "tags", "A tag has 1 to 40 characters.")
	}
	checkFields(&p, l.CustomFieldData.V)
	l.Metadata.Check(&p)
	return p.Err()
}

// checkFields adds to p what is too long in the answers of a form, or too many.
func checkFields(p *core.Problems, answers map[string]string) {
	p.Check(len(answers) <= 100, "custom_field_data", "Send at most 100 answers.")
	for _, answer := range answers {
		p.Check(core.HasAtMost(&answer, 1000), "custom_field_data", "An answer has at most 1000 characters.")
	}
}

// move makes a lead have another status, as a seller may: see lifecycle. Whoever is unsubscribed has agreed to nothing.
func (l *Lead) move(to Status) error {
	if to == StatusConverted && l.Status != to {
		return core.Invalid("status", "Only an order that the address pays makes a lead converted.")
	}
	if err := lifecycle.Check("lead", l.Status, to); err != nil {
		return err
	}
	if to == StatusUnsubscribed && l.Status != to {
		l.Consent.V.Marketing = false
	}
	l.Status = to
	return nil
}

// List holds the filters of a list of leads. An empty one does not filter.
type List struct {
	core.Page
	core.ListFilter
	Email    string
	Status   Status
	Source   Source
	Product  string // id or slug
	Customer string
	Tag      string
}

// Get returns a lead, or CodeMissing.
func (s *Store) Get(ctx context.Context, account, ref string) (*Lead, error) {
	return find(ctx, s.db, account, ref)
}

// List returns a page of leads, newest first, and whether there are more. A product or customer that does not exist is CodeMissing.
func (s *Store) List(ctx context.Context, account string, in List) ([]Lead, bool, error) {
	var f db.Filter
	f.FewIfSet("email_key", core.EmailKey(in.Email))
	f.OrderedIfSet("status", string(in.Status))
	f.OrderedIfSet("source", string(in.Source))
	f.OrderedIfSet("product_id", db.IDNamed(ctx, s.db, &f, s.rooms.Catalog.ProductNamed, account, in.Product, "product"))
	f.OrderedIfSet("customer_id", db.IDNamed(ctx, s.db, &f, s.rooms.Customer.Named, account, in.Customer, "customer"))
	if in.Tag != "" {
		f.Entry("leads", "tag", in.Tag)
	}
	f.List(s.db, "leads", core.KindLead, in.ListFilter, "email", "name")
	return db.Page(ctx, s.db, columns, core.KindLead, account, in.Page, &f)
}

// Update locks the leads of the address, applies change and stores it. What change makes of its status is held to lifecycle: CodeInvalid on
// status. If the lead is unsubscribed by it, its customer and all other leads of its address are too.
func (s *Store) Update(ctx context.Context, account, ref string, change func(*Lead)) (*Lead, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Lead, error) {
		found, err := find(ctx, u, account, ref)
		if err != nil {
			return nil, err
		}
		customer, err := s.rooms.Customer.LockOwner(ctx, u, account, found.CustomerID, "leads", found.ID)
		if err != nil {
			return nil, err
		}
		theirs, err := s.ofAddress(ctx, u.Locked(), account, found.EmailKey)
		if err != nil {
			return nil, err
		}
		at := slices.IndexFunc(theirs, func(l Lead) bool { return l.ID == found.ID })
		if at < 0 { // it was deleted meanwhile
			return nil, core.Missing("lead", "", ref)
		}
		l := &theirs[at]
		now, err := db.BusinessNow(ctx, u, account)
		if err != nil {
			return nil, err
		}
		before := *l
		change(l)
		to := l.Status
		l.Status = before.Status
		if err := l.move(to); err != nil {
			return nil, err
		}
		l.Consent.V.complete(now)
		if !core.SameJSON(before.Consent, l.Consent) {
			if err := s.checkConsent(ctx, u, &before, l, now); err != nil {
				return nil, err
			}
		}
		if err := l.check(); err != nil || core.SameJSON(before, *l) {
			return l, err
		}
		l.UpdatedAt = now
		if err := u.Update(ctx, columns, l); err != nil || l.Status != StatusUnsubscribed || before.Status == l.Status {
			return l, err
		}
		return l, s.unsubscribe(ctx, u, customer, l, now)
	})
}

// check returns CodeInvalid with what cannot be true of a consent.
func (c *Consent) check(now core.Time) error {
	var p core.Problems
	if c.IP != nil {
		_, err := netip.ParseAddr(*c.IP)
		p.Check(err == nil, "consent.ip", "Send a network address, such as 203.0.113.7.")
	}
	for field, at := range map[string]*core.Time{"consent.at": c.At, "consent.confirmed_at": c.ConfirmedAt} {
		p.Check(at == nil || *at <= now.Add(db.ClockDifference), field, "Nobody has agreed in the future. Send when they did.")
	}
	return p.Err()
}

// checkConsent does what Consent.check does, and refuses a yes of somebody who ended the news.
func (s *Store) checkConsent(ctx context.Context, r db.Reader, before, l *Lead, now core.Time) error {
	if err := l.Consent.V.check(now); err != nil || !l.Consent.V.Marketing || before.Consent.V.Marketing || l.Status == StatusUnsubscribed {
		return err
	}
	ended, err := s.HasEnded(ctx, r, l.AccountID, l.Email)
	if err == nil && ended {
		err = core.Invalid("consent.marketing", "The reader of this address wants no letters any more. Send false.")
	}
	return err
}

// complete notes when somebody agreed, if nothing says when: now.
func (c *Consent) complete(now core.Time) {
	if c.Marketing && c.At == nil {
		c.At = &now
	}
}

// unsubscribe takes back the consent of a locked customer and of all leads of an address, because one of them wants no letters, for good.
func (s *Store) unsubscribe(ctx context.Context, u *db.Unit, c *customer.Customer, l *Lead, now core.Time) error {
	if err := s.rooms.Advert.ForgetLeads(ctx, u, l.AccountID, l.ID); err != nil {
		return err
	}
	if err := s.End(ctx, u, l.AccountID, now, l.Email); err != nil || c.DeletedAt != nil {
		return err
	}
	c.MarketingConsent.V, c.UpdatedAt = leftBy(now), now
	return u.Update(ctx, customer.Columns, c)
}

// leftByLead is the source of the consent of a customer who does not want to be written to, as a lead of theirs said.
const leftByLead = "lead"

// leftBy returns the consent of a customer who does not want to be written to, as a lead of theirs said.
func leftBy(now core.Time) *customer.MarketingConsent {
	return &customer.MarketingConsent{Status: customer.Unsubscribed, Source: new(leftByLead), At: &now}
}

// Delete removes a lead, what lines of activity say of it, and what waits to be told to ad networks of it. Its customer stays, and so does that it was
// unsubscribed.
func (s *Store) Delete(ctx context.Context, account, ref string) (*Lead, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Lead, error) {
		l, err := s.lock(ctx, u, account, ref)
		if err != nil {
			return nil, err
		}
		if err := s.rooms.Activity.Forget(ctx, u, account, l.ID); err != nil {
			return nil, err
		}
		if err := s.rooms.Advert.ForgetLeads(ctx, u, account, l.ID); err != nil {
			return nil, err
		}
		if _, err := u.Exec(ctx, `DELETE FROM leads WHERE account_id = ? AND id = ?`, account, l.ID); err != nil {
			return nil, err
		}
		return l, s.keepEndings(ctx, u, account, unsubscribed([]Lead{*l})...)
	})
}

// lock does what Get does, and locks the row until the transaction ends.
func (s *Store) lock(ctx context.Context, u *db.Unit, account, ref string) (*Lead, error) {
	return find(ctx, u.Locked(), account, ref)
}

// find reads a lead, or returns CodeMissing.
func find(ctx context.Context, r db.Reader, account, ref string) (*Lead, error) {
	id, ok := core.ParseID(core.KindLead, ref)
	if !ok {
		return nil, core.Missing("lead", "", ref)
	}
	l, err := db.Get[Lead](ctx, r, columns.SelectSQL+` WHERE account_id = ? AND id = ?`, account, id)
	if err == nil && l == nil {
		err = core.Missing("lead", "", ref)
	}
	return l, err
}
