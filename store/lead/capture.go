package lead

import (
	"context"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/content"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/tenant"
)

// A form takes its token before it is shown, and sends it with what was typed. Programs that fill in forms send it at once, or keep it.
const (
	formLeast = 2 * time.Second
	formMost  = 24 * time.Hour
)

// Form is what a page needs to send a lead.
type Form struct {
	Token     string
	ExpiresAt core.Time
}

// Captured is what somebody sent from a form, without a key.
type Captured struct {
	NewLead
	FormToken string
	Website   string  // which no person sees, and only a program fills in
	From      string  // a network address
	Agrees    bool    // to be written to
	Locale    *string // in which they were asked, nil if it is not known
	IsProven  bool    // they read the mail to the address: no letter asks them to confirm it

	AdsConsent bool          // they agree that ad networks are told of the lead
	AdsVisit   *advert.Visit // how they came; nil: not said

	Site *content.AISite // whose page has the form; nil for a form of somebody else's page
}

// formContext is what tokens of forms are signed for: nothing else that is signed opens one.
const formContext = "lead form\x00"

// NewForm returns a token for a form of an account. An account that does not exist, or is disabled, is CodeMissing.
func (s *Store) NewForm(ctx context.Context, account string) (*Form, error) {
	id, ok := core.ParseID(core.KindAccount, account)
	if !ok {
		return nil, core.Missing("account", "", account)
	}
	if disabled, err := s.rooms.Tenant.IsDisabled(ctx, id); err != nil {
		return nil, err
	} else if disabled {
		return nil, core.Missing("account", "", account)
	}
	now := s.db.Now()
	named := strings.TrimPrefix(id, core.KindAccount.Prefix()) + "_" + strconv.FormatInt(now.Time().UnixMilli(), 36)
	token := named + "_" + core.TokenEncoding.EncodeToString(s.db.Options.Sealer.Sign(formContext+named))
	return &Form{Token: token, ExpiresAt: now.Add(formMost)}, nil
}

// AccountOfForm returns the account whose form a token is for. It is CodeInvalid on form_token if the token was not made here, or
// is too young or too old.
func (s *Store) AccountOfForm(token string) (string, error) {
	named, account, made, ok := splitForm(token)
	if !ok {
		return "", badForm
	}
	signature, err := core.TokenEncoding.DecodeString(token[len(named)+1:])
	if err != nil || !s.db.Options.Sealer.Signed(formContext+named, signature) || core.TokenEncoding.EncodeToString(signature) != token[len(named)+1:] {
		return "", badForm
	}
	if age := s.db.Now().Time().Sub(made); age < formLeast || age >= formMost {
		return "", badForm
	}
	return account, nil
}

// splitForm returns what the token of a form says: the part of it that is signed, the account, and when it was made.
func splitForm(token string) (named, account string, made time.Time, ok bool) {
	at := strings.LastIndexByte(token, '_')
	if at < 0 {
		return "", "", time.Time{}, false
	}
	named = token[:at]
	id, moment, _ := strings.Cut(named, "_")
	account, ok = core.ParseID(core.KindAccount, core.KindAccount.Prefix()+id)
	millis, err := strconv.ParseInt(moment, 36, 64)
	return named, account, time.UnixMilli(millis), ok && err == nil
}

var badForm = core.Invalid("form_token", "Send a token of GET /public/lead_forms/{account}, from 2 seconds to 24 hours after it was made.")

// Capture makes a lead of what somebody sent from a form: lead.created follows. Of a lead that is known only two things change: what it agrees
// to, which only grows, and the language in which they agreed. Whoever types an address is not yet who it belongs to. For the same reason no
// customer learns a name. If the account wants it, they have agreed only once they confirm the letter that is sent to them. Whoever ended the
// news agrees to nothing again. What only a program fills in makes the rest mean nothing. A product that is not for sale is CodeMissing. Of a new
// lead ad networks are told if they agree to that: see tell.
//
// The lead is for the seller alone, and nil if nothing was made or changed: whoever sends a form learns nothing of who is known.
func (s *Store) Capture(ctx context.Context, in Captured) (*Lead, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Lead, error) {
		account, err := s.AccountOfForm(in.FormToken)
		if err != nil {
			return nil, err
		}
		seller, err := s.rooms.Tenant.GetAccountIn(ctx, u, account)
		if err == nil && (seller.DisabledAt != nil || in.Site != nil && in.Site.AccountID != account) {
			err = badForm
		}
		if err != nil {
			return nil, err
		}
		return s.capture(ctx, u, seller, &in)
	})
}

func (s *Store) capture(ctx context.Context, u *db.Unit, seller *tenant.Account, in *Captured) (*Lead, error) {
	now, err := db.BusinessNow(ctx, u, seller.ID)
	if err != nil {
		return nil, err
	}
	l, err := s.captured(ctx, u, seller.ID, in, now)
	if err != nil || in.Website != "" {
		return nil, err
	}
	batch := &leadBatch{Unit: u, s: s, account: seller.ID, now: now}
	if err := batch.read(ctx, []Saved{{Lead: l}}); err != nil {
		return nil, err
	}
	in.Agrees = in.Agrees && !batch.hasEnded(l)
	how := seller.LeadConfirmation
	if in.IsProven {
		how = tenant.LeadConfirmationNone
	}
	there := batch.leads[l.key()]
	switch {
	case there == nil:
		if in.Agrees {
			l.agree(in.From, how, now, s.db.Now())
		}
		batch.create(l)
	case in.Agrees && !there.Consent.V.Marketing:
		there.agree(in.From, how, now, s.db.Now())
		if in.Locale != nil {
			there.Locale = in.Locale
		}
		there.UpdatedAt = now
		batch.keep(there)
	default:
		return nil, nil
	}
	if err := batch.store(ctx); err != nil || there != nil {
		return there, err
	}
	return l, s.tell(ctx, u, seller, l, in.AdsVisit)
}

// captured returns the lead that somebody sent, who agreed to no letters yet.
func (s *Store) captured(ctx context.Context, r db.Reader, account string, in *Captured, now core.Time) (*Lead, error) {
	l, err := in.lead(account, now)
	if err != nil {
		return nil, err
	}
	var p core.Problems
	l.AdsConsent, l.Locale = in.AdsConsent, in.Locale
	in.AdsVisit.Check(&p, in.AdsConsent, now)
	if err := p.Err(); err != nil {
		return nil, err
	}
	if in.Site != nil {
		l.AISiteID = &in.Site.ID
	}
	if in.Product != "" {
		product, err := s.rooms.Catalog.ProductNamed(ctx, r, account, in.Product, "product")
		if err != nil {
			return nil, err
		}
		if product.Status != catalog.ProductStatusActive {
			return nil, core.Missing("product", "product", in.Product)
		}
		l.ProductID = &product.ID
	}
	return l, nil
}

// agree notes that somebody at a network address agreed to letters in the name of a lead. They have agreed at once, or as soon as the reader of a
// letter confirms it. That letter is due now.
func (l *Lead) agree(from string, how tenant.LeadConfirmation, now, realNow core.Time) {
	c := &l.Consent.V
	c.At = &now
	if _, err := netip.ParseAddr(from); err == nil { // it is not always known
		c.IP = &from
	}
	if how == tenant.LeadConfirmationNone {
		c.Marketing = true
		return
	}
	if l.LetterDueAt == nil {
		l.LetterDueAt, l.LetterAttempts = &realNow, 0
	}
}
