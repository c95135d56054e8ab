package lead

import (
	"context"
	"errors"
	"slices"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// NewLead is a lead as somebody sends it. A nil or empty field was not sent. Nothing of it was checked.
type NewLead struct {
	Email           string
	Product         string // id or slug
	AISite          string // id or subdomain
	Source          Source
	Status          Status
	Name            *string
	Phone           *string
	Referrer        *string
	UTM             *UTM
	Consent         *NewConsent
	CustomFieldData map[string]string
	Tags            []string
	Metadata        core.Metadata
}

// NewConsent is what somebody says that a lead agreed to. Moments are texts in RFC 3339.
type NewConsent struct {
	Marketing       bool
	At, ConfirmedAt *string
	IP              *string
}

// Outcome says what became of a lead that was sent.
type Outcome string

// What becomes of leads that are sent.
const (
	OutcomeCreated   Outcome = "created"
	OutcomeUpdated   Outcome = "updated"
	OutcomeUnchanged Outcome = "unchanged"
	OutcomeFailed    Outcome = "failed"
)

// Saved is what became of one lead that was sent. Err is why it failed, and there is no lead then.
type Saved struct {
	Outcome Outcome
	Lead    *Lead
	Err     *core.Error

	ConsentRefused bool // it was stored without the consent that was sent, because the reader of the address wants no news any more
}

// Create makes a lead, with a customer if nobody owns its address. lead.created follows. If the address has a lead for the product
// already it is CodeInvalid on email. With upsert that lead is changed instead, as add says, and no event follows. A product or AI
// site that does not exist is CodeMissing.
func (s *Store) Create(ctx context.Context, account string, in NewLead, upsert bool) (*Saved, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Saved, error) {
		saved, err := s.save(ctx, u, account, []NewLead{in}, upsert)
		if err != nil {
			return nil, err
		}
		if saved[0].Err != nil {
			return nil, saved[0].Err
		}
		return &saved[0], nil
	})
}

// Import does what Create does for many leads, and says what became of each, in their order. One that is wrong leaves the others as they
// are.
func (s *Store) Import(ctx context.Context, account string, in []NewLead, upsert bool) ([]Saved, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) ([]Saved, error) {
		return s.save(ctx, u, account, in, upsert)
	})
}

// save stores leads and makes their customers, in few statements for any number of them. Of two of one address and product the second
// meets the first, as if it had come later.
func (s *Store) save(ctx context.Context, u *db.Unit, account string, in []NewLead, upsert bool) ([]Saved, error) {
	now, err := db.BusinessNow(ctx, u, account)
	if err != nil {
		return nil, err
	}
	saved := make([]Saved, len(in))
	refs := newLeadRefs(s, account)
	for i := range in {
		l, err := in[i].lead(account, now)
		if err == nil {
			err = refs.resolve(ctx, u, &in[i], l)
		}
		if err != nil && !errors.As(err, &saved[i].Err) {
			return nil, err
		}
		saved[i].Lead = l
	}
	batch := &leadBatch{Unit: u, s: s, account: account, now: now, vouched: true}
	if err := batch.read(ctx, saved); err != nil {
		return nil, err
	}
	for i := range saved {
		if err := batch.save(&saved[i], &in[i], upsert); err != nil {
			return nil, err
		}
	}
	if err := batch.settle(saved, in); err != nil {
		return nil, err
	}
	return saved, batch.store(ctx)
}

// lead returns a new lead of what was sent, but for what it refers to, or CodeInvalid.
func (n *NewLead) lead(account string, now core.Time) (*Lead, error) {
	l := &Lead{
		AccountID: account, ID: core.NewID(core.KindLead), Email: n.Email, EmailKey: core.EmailKey(n.Email), Source: n.Source, Status: StatusNew,
		CreatedAt: now, UpdatedAt: now,
	}
	var p core.Problems
	p.CheckEmail("email", n.Email, "Send an e-mail address, such as ada@example.com.")
	p.Check(slices.Contains([]Status{"", StatusNew, StatusQualified, StatusConverted, StatusUnsubscribed}, n.Status),
		"status", "A status that a request may set is new, qualified or unsubscribed.")
	for field, moment := range n.moments() {
		_, err := core.ParseTime(moment)
		p.Check(err == nil, field, "Send a moment in RFC 3339, such as 2026-11-21T09:30:00Z.")
	}
	p.Check(n.Consent == nil || n.Consent.Marketing || n.Consent.ConfirmedAt == nil, "consent.confirmed_at", "Send it with marketing: true, which is what was confirmed.")
	if err := p.Err(); err != nil {
		return l, err
	}
	if c := n.Consent; c != nil {
		if err := (&Consent{At: momentOf(c.At), IP: c.IP, ConfirmedAt: momentOf(c.ConfirmedAt)}).check(now); err != nil {
			return l, err
		}
	}
	if err := n.addTo(l, now); err != nil {
		return l, err
	}
	return l, l.check()
}

// moments returns the moments that were sent, by their fields.
func (n *NewLead) moments() map[string]string {
	moments := map[string]string{}
	if c := n.Consent; c != nil {
		for field, moment := range map[string]*string{"consent.at": c.At, "consent.confirmed_at": c.ConfirmedAt} {
			if moment != nil {
				moments[field] = *moment
			}
		}
	}
	return moments
}

// addTo adds what was sent to a lead: fields replace what is there, tags, metadata and answers are joined, consent only grows. Whoever is
// unsubscribed stays so, and agrees to nothing. A status that cannot follow is CodeInvalid on status.
func (n *NewLead) addTo(l *Lead, now core.Time) error {
	if n.Status != "" && l.Status != StatusUnsubscribed {
		if err := l.move(n.Status); err != nil {
			return err
		}
	}
	l.Name, l.Phone, l.Referrer = firstOf(n.Name, l.Name), firstOf(n.Phone, l.Phone), firstOf(n.Referrer, l.Referrer)
	if n.UTM != nil {
		l.UTM = core.JSONOf(n.UTM)
	}
	if n.Consent != nil && n.Consent.Marketing && l.Status != StatusUnsubscribed {
		l.Consent.V.grow(n.Consent, now)
	}
	l.CustomFieldData = core.JSONOf(joined(l.CustomFieldData.V, n.CustomFieldData))
	for _, tag := range n.Tags {
		if !slices.Contains(l.Tags.V, tag) {
			l.Tags.V = append(slices.Clip(l.Tags.V), tag)
		}
	}
	values := map[string]*string{}
	for key, value := range n.Metadata.Map() {
		values[key] = &value
	}
	l.Metadata = l.Metadata.Merge(values)
	return nil
}

// grow adds a yes to what somebody agreed to, with what proves it. What is known already stays.
func (c *Consent) grow(n *NewConsent, now core.Time) {
	c.Marketing = true
	c.IP, c.At, c.ConfirmedAt = firstOf(c.IP, n.IP), firstOf(c.At, momentOf(n.At)), firstOf(c.ConfirmedAt, momentOf(n.ConfirmedAt))
	c.complete(now)
}

// momentOf reads a moment in RFC 3339, nil for none.
func momentOf(text *string) *core.Time {
	if text == nil {
		return nil
	}
	at, _ := core.ParseTime(*text) // it was checked
	return new(core.TimeOf(at))
}

// firstOf returns a, or b if a is nil.
func firstOf[T any](a, b *T) *T {
	if a != nil {
		return a
	}
	return b
}

// joined returns the entries of a with those of b, which win.
func joined(a, b map[string]string) map[string]string {
	all := make(map[string]string, len(a)+len(b))
	for _, entries := range []map[string]string{a, b} {
		for key, value := range entries {
			all[key] = value
		}
	}
	return all
}

// leadRefs finds what leads refer to, each name once.
type leadRefs struct {
	store   *Store
	account string
	known   map[string]namedRef // by field and name
}

// namedRef is what a name was found to be.
type namedRef struct {
	id  string
	err error
}

func newLeadRefs(s *Store, account string) *leadRefs {
	return &leadRefs{s, account, map[string]namedRef{}}
}

// resolve sets the product and the AI site of a lead, or returns CodeMissing on the field.
func (r *leadRefs) resolve(ctx context.Context, where db.Reader, n *NewLead, l *Lead) error {
	product, err := r.find(ctx, where, "product", n.Product)
	if err != nil {
		return err
	}
	site, err := r.find(ctx, where, "ai_site", n.AISite)
	l.ProductID, l.AISiteID = product, site
	return err
}

// find returns the id of what a field names, nil if it names nothing.
func (r *leadRefs) find(ctx context.Context, where db.Reader, field, name string) (*string, error) {
	if name == "" {
		return nil, nil
	}
	was, ok := r.known[field+name]
	if !ok {
		was.id, was.err = r.look(ctx, where, field, name)
		r.known[field+name] = was
	}
	return &was.id, was.err
}

func (r *leadRefs) look(ctx context.Context, where db.Reader, field, name string) (string, error) {
	if field == "product" {
		product, err := r.store.rooms.Catalog.ProductNamed(ctx, where, r.account, name, field)
		if err != nil {
			return "", err
		}
		return product.ID, nil
	}
	site, err := r.store.rooms.Content.AISiteNamed(ctx, where, r.account, name, field)
	if err != nil {
		return "", err
	}
	return site.ID, nil
}
