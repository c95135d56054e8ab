package advert

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// ConversionStatus says what became of a conversion.
type ConversionStatus string

// The statuses of a conversion. All but pending are final.
const (
	ConversionPending ConversionStatus = "pending"
	ConversionSent    ConversionStatus = "sent"    // the network has taken it
	ConversionRefused ConversionStatus = "refused" // by the network
	ConversionExpired ConversionStatus = "expired" // it was too late to send it, or to send it again
)

// Where a conversion comes from.
const (
	ConversionFromOrder = "order" // what was bought in the shop
	ConversionFromLead  = "lead"  // who left their address there
	ConversionFromAPI   = "api"
)

// conversionLife is how long a conversion waits at most, counted from when it happened. Networks refuse what is older, and who did it
// is kept no longer than that.
const conversionLife = 7 * 24 * time.Hour

// Conversion is something that one destination is told of.
type Conversion struct {
	AccountID     string                      `db:"account_id"`
	ID            string                      `db:"id"` // conv_
	DestinationID string                      `db:"destination_id"`
	PixelID       string                      `db:"pixel_id"` // of the destination
	Kind          ConversionKind              `db:"kind"`
	EventID       string                      `db:"event_id"`
	HappenedAt    core.Time                   `db:"happened_at"`
	Value         Amount                      `db:"value"`
	Currency      string                      `db:"currency"`
	Items         core.JSON[[]ConversionItem] `db:"items"`
	IsOffsite     bool                        `db:"is_offsite"`
	Source        string                      `db:"source"`
	Status        ConversionStatus            `db:"status"`
	Reason        string                      `db:"reason"` // of the last failure
	Attempts      int                         `db:"attempts"`
	SentAt        *core.Time                  `db:"sent_at"`

	// While it is pending.
	CustomerID *string                   `db:"customer_id"` // cus_; nil = nobody whom we know
	User       core.JSON[ConversionUser] `db:"user_data"`
	DueAt      *core.Time                `db:"due_at"`     // when it is sent next; while somebody sends it, when they are taken for dead; see IsHeld
	TriedAt    *core.Time                `db:"tried_at"`   // when it was first sent without anybody knowing that it did not arrive
	ExpiresAt  *core.Time                `db:"expires_at"` // when it is given up

	CreatedAt core.Time `db:"created_at"`
	UpdatedAt core.Time `db:"updated_at"`
}

var conversionColumns = db.ColumnsOf[Conversion]("ad_conversions")

// Event returns the conversion as a network is told of it.
func (c *Conversion) Event() ConversionEvent {
	return ConversionEvent{
		EventID: c.EventID, Kind: c.Kind, At: c.HappenedAt, Value: c.Value, Currency: c.Currency,
		Items: c.Items.V, Offsite: c.IsOffsite, User: c.User.V,
	}
}

// QueueConversions keeps, in the transaction that makes it happen, what the account's destinations are to be told. A pixel is told the
// same event once, however often this is called and however many destinations name it. An identifier without the form that its network
// hashes is left out: it would match nobody.
func (s *Store) QueueConversions(ctx context.Context, u *db.Unit, h Happening) error {
	destinations, err := db.Select[ConversionDestination](ctx, u, destinationColumns.SelectSQL+`
		WHERE account_id = ? AND status <> 'paused' ORDER BY id`, h.Account)
	if err != nil {
		return fmt.Errorf("read who is told of a conversion: %w", err)
	}
	var rows []Conversion
	for i := range destinations {
		if d := &destinations[i]; d.wants(&h) {
			c := s.newConversion(d, h.event(d.Platform), h.source(), h.CustomerID)
			if h.Unconfirmed {
				c.DueAt, c.Reason = c.ExpiresAt, unconfirmed
			}
			rows = append(rows, c)
		}
	}
	_, err = s.insertConversions(ctx, u, rows)
	return err
}

// CreateConversions keeps what a destination is to be told, and returns the id of each in the order of the events. It is "" for an event that its
// pixel was told before, or waits to be told.
func (s *Store) CreateConversions(ctx context.Context, d *ConversionDestination, events []ConversionEvent) ([]string, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) ([]string, error) {
		rows, ids := make([]Conversion, len(events)), make([]string, len(events))
		for i, e := range events {
			rows[i] = s.newConversion(d, e, ConversionFromAPI, "")
		}
		queued, err := s.insertConversions(ctx, u, rows)
		if err != nil {
			return nil, err
		}
		isNew := map[string]bool{}
		for _, id := range queued {
			isNew[id] = true
		}
		for i := range rows {
			if isNew[rows[i].ID] {
				ids[i] = rows[i].ID
			}
		}
		return ids, nil
	})
}

// newConversion returns what is to be inserted of an event that a destination is to be told. One that is yet to happen, by an account's test clock, is
// not sent before.
func (s *Store) newConversion(d *ConversionDestination, e ConversionEvent, source, customer string) Conversion {
	now := s.Now()
	due, end := max(now, e.At), min(now, e.At).Add(conversionLife)
	c := Conversion{
		AccountID: d.AccountID, ID: core.NewID(core.KindConversion), DestinationID: d.ID, PixelID: d.PixelID, Kind: e.Kind, EventID: e.EventID, HappenedAt: e.At,
		Value: e.Value, Currency: e.Currency, Items: core.JSONOf(e.Items), IsOffsite: e.Offsite, Source: source, Status: ConversionPending,
		User: core.JSONOf(e.User), DueAt: &due, ExpiresAt: &end,
	}
	if customer != "" {
		c.CustomerID = &customer
	}
	return c
}

// IsHeld reports whether a conversion is not sent before ReleaseConversions: by then it would be given up.
func (c *Conversion) IsHeld() bool {
	return c.DueAt != nil && c.ExpiresAt != nil && *c.DueAt >= *c.ExpiresAt
}

// HoldsConversions reports whether something of an event waits for ReleaseConversions.
func (s *Store) HoldsConversions(ctx context.Context, account, event string) (bool, error) {
	held, err := db.Get[string](ctx, s.db, `SELECT id FROM ad_conversions
		WHERE account_id = ? AND event_id = ? AND source = 'lead' AND due_at >= expires_at AND tried_at IS NULL AND expires_at > ? LIMIT 1`, account, event, s.Now())
	return held != nil, err
}

// ReleaseConversions lets what was unconfirmed of an event be sent, because it is confirmed. What ended or was deleted meanwhile stays so.
func (s *Store) ReleaseConversions(ctx context.Context, u *db.Unit, account, event string) error {
	if _, err := u.Exec(ctx, `UPDATE ad_conversions SET due_at = happened_at, reason = '', updated_at = ?
		WHERE account_id = ? AND event_id = ? AND source = 'lead' AND due_at >= expires_at AND tried_at IS NULL`, s.Now(), account, event); err != nil {
		return fmt.Errorf("release the conversions of a lead: %w", err)
	}
	return nil
}

// insertConversions stores conversions, and returns the ids of those of which their pixel was not told before, and does not wait to be.
func (s *Store) insertConversions(ctx context.Context, u *db.Unit, rows []Conversion) ([]string, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	values := make([][]any, len(rows))
	for i := range rows {
		c := &rows[i]
		values[i] = []any{
			c.ID, c.DestinationID, c.PixelID, c.Kind, c.EventID, int64(c.HappenedAt), int64(c.Value), c.Currency, core.JSONText(c.Items), c.IsOffsite,
			c.Source, c.CustomerID, core.JSONText(c.User), (*int64)(c.DueAt), (*int64)(c.ExpiresAt), c.Reason,
		}
	}
	now := s.Now()
	queued, err := db.Select[string](ctx, u, `
		INSERT INTO ad_conversions (account_id, id, destination_id, pixel_id, kind, event_id, happened_at, value, currency, items, is_offsite,
			source, customer_id, user_data, due_at, expires_at, status, reason, attempts, created_at, updated_at)
		SELECT CAST(? AS text), value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, CAST(value ->> 5 AS BIGINT), CAST(value ->> 6 AS BIGINT),
			value ->> 7, value ->> 8, CAST(value ->> 9 AS BOOLEAN), value ->> 10, value ->> 11, value ->> 12, CAST(value ->> 13 AS BIGINT), CAST(value ->> 14 AS BIGINT),
			'pending', value ->> 15, 0, CAST(? AS BIGINT), CAST(? AS BIGINT)
		FROM `+s.db.JSONRows()+` WHERE TRUE
		ON CONFLICT (account_id, pixel_id, kind, event_id) DO NOTHING RETURNING id`, rows[0].AccountID, now, now, core.JSONOf(values))
	if err != nil {
		return nil, fmt.Errorf("queue conversions: %w", err)
	}
	return queued, nil
}

// ForgetConversions deletes what waits to be told of a customer. Of what was told, nothing that identifies them is kept anyway.
func (s *Store) ForgetConversions(ctx context.Context, u *db.Unit, account, customerID string) error {
	if _, err := u.Exec(ctx, `DELETE FROM ad_conversions WHERE account_id = ? AND customer_id = ?`, account, customerID); err != nil {
		return fmt.Errorf("forget the conversions of a customer: %w", err)
	}
	return nil
}

// ForgetLeads deletes what waits to be told of leads.
func (s *Store) ForgetLeads(ctx context.Context, u *db.Unit, account string, leads ...string) error {
	condition, arg := s.db.In("event_id", leads)
	_, err := u.Exec(ctx, `DELETE FROM ad_conversions WHERE account_id = ? AND `+condition+` AND source = 'lead' AND due_at IS NOT NULL`, account, arg)
	if err != nil {
		return fmt.Errorf("forget the conversions of leads: %w", err)
	}
	return nil
}

// source says where what happened comes from.
func (h *Happening) source() string {
	if h.Kind == ConversionLead {
		return ConversionFromLead
	}
	return ConversionFromOrder
}

// event returns what happened as a network is told of it.
func (h *Happening) event(p Platform) ConversionEvent {
	user := ConversionUser{
		Email: hashed(NormalizeEmail(h.Email)), Phone: hashed(p.normalizePhone(h.Phone)),
		FirstName: hashed(NormalizeDetail("first_name", h.FirstName)), LastName: hashed(NormalizeDetail("last_name", h.LastName)),
		City: hashed(NormalizeDetail("city", h.City)), State: hashed(NormalizeDetail("state", h.State)),
		Zip: hashed(NormalizeDetail("zip", h.Zip)), Country: hashed(NormalizeDetail("country", h.Country)),
		ClientIP: h.ClientIP, UserAgent: h.UserAgent, PageURL: h.PageURL,
	}
	if h.CustomerID != "" {
		user.ExternalID = HashOf(h.CustomerID)
	}
	if id := h.Clicks[p.ClickParam()]; id != "" {
		user.ClickID, user.ClickAt = id, h.ClickAt
	}
	return ConversionEvent{
		EventID: h.EventID, Kind: h.Kind, At: h.At, Value: h.Value, Currency: h.Currency, Items: h.Items,
		Offsite: h.PageURL == "" || h.UserAgent == "", User: user,
	}
}

// hashed returns the hash of what a function of this package has normalized, or "" where there is a problem with it.
func hashed(plain, problem string) string {
	if problem != "" {
		return ""
	}
	return HashOf(plain)
}

// normalizePhone returns a phone number in the form that the platform hashes. Whatever the form, its country must be known.
func (p Platform) normalizePhone(text string) (plain, problem string) {
	plain, problem = NormalizePhone(text, PhoneE164)
	if p.PhoneForm() == PhoneDigits {
		plain = strings.TrimPrefix(plain, "+")
	}
	return plain, problem
}

// GetConversion returns a conversion, or CodeMissing.
func (s *Store) GetConversion(ctx context.Context, account, ref string) (*Conversion, error) {
	id, ok := core.ParseID(core.KindConversion, ref)
	if !ok {
		return nil, core.Missing("conversion", "", ref)
	}
	c, err := db.Get[Conversion](ctx, s.db, conversionColumns.SelectSQL+` WHERE account_id = ? AND id = ?`, account, id)
	if err == nil && c == nil {
		err = core.Missing("conversion", "", ref)
	}
	return c, err
}

// ListConversions holds the filters of a list of conversions. An empty one does not filter.
type ListConversions struct {
	core.Page
	DestinationID string // cdest_
	Status        ConversionStatus
	Kind          ConversionKind
	EventID       string
}

// ListConversions returns a page of conversions, newest first, and whether there are more.
func (s *Store) ListConversions(ctx context.Context, account string, in ListConversions) ([]Conversion, bool, error) {
	var f db.Filter
	f.OrderedIfSet("destination_id", in.DestinationID)
	f.OrderedIfSet("status", string(in.Status))
	f.OrderedIfSet("kind", string(in.Kind))
	f.OrderedIfSet("event_id", in.EventID)
	return db.Page(ctx, s.db, conversionColumns, core.KindConversion, account, in.Page, &f)
}
