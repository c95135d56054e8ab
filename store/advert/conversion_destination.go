package advert

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// DestinationStatus says whether a pixel is told what happens.
type DestinationStatus string

// The statuses of a destination. Of what happens while it is paused nothing is kept. Error means that its network does not let us tell
// it any more: what happens meanwhile waits.
const (
	DestinationActive DestinationStatus = "active"
	DestinationPaused DestinationStatus = "paused"
	DestinationError  DestinationStatus = "error"
)

// ConversionDestination is a pixel that is told what happens in the shop.
type ConversionDestination struct {
	AccountID   string                      `db:"account_id"`
	ID          string                      `db:"id"` // cdest_
	ChannelID   string                      `db:"channel_id"`
	Platform    Platform                    `db:"platform"`
	AdAccountID string                      `db:"ad_account_id"` // platform id
	PixelID     string                      `db:"pixel_id"`      // the network's
	Name        string                      `db:"name"`
	Events      core.JSON[[]ConversionKind] `db:"events"`
	ProductIDs  core.JSON[*[]string]        `db:"product_ids"` // prod_; nil = all
	SealedToken []byte                      `db:"token"`       // the pixel's own access; nil = the channel's is used
	Status      DestinationStatus           `db:"status"`
	LastError   string                      `db:"last_error"` // why the network does not let us tell it any more
	CreatedAt   core.Time                   `db:"created_at"`
	UpdatedAt   core.Time                   `db:"updated_at"`
}

var destinationColumns = db.ColumnsOf[ConversionDestination]("ad_conversion_destinations")

// wants reports whether the destination is about something that happened.
func (d *ConversionDestination) wants(h *Happening) bool {
	if !slices.Contains(d.Events.V, h.Kind) {
		return false
	}
	return d.ProductIDs.V == nil || slices.ContainsFunc(h.ProductIDs, func(id string) bool { return slices.Contains(*d.ProductIDs.V, id) })
}

// maxDestinations is how many destinations an account may have. Each sale may have to be told to all of them.
const maxDestinations = 50

func (d *ConversionDestination) sealContext() string {
	return "conversion token\x00" + d.AccountID + "\x00" + d.ID
}

// DestinationToken opens the access of a destination's own, "" if it has none.
func (s *Store) DestinationToken(d *ConversionDestination) (string, error) {
	if d.SealedToken == nil {
		return "", nil
	}
	token, err := s.db.Options.Sealer.Open(d.SealedToken, d.sealContext())
	return string(token), err
}

// setToken gives a destination an access of its own; "" takes it away.
func (s *Store) setToken(d *ConversionDestination, token string) {
	d.SealedToken = nil
	if token != "" {
		d.SealedToken = s.db.Options.Sealer.Seal([]byte(token), d.sealContext())
	}
}

// NewConversionDestination is a pixel to tell what happens in the shop.
type NewConversionDestination struct {
	AdAccountID string
	PixelID     string
	Name        string
	Events      []ConversionKind
	ProductIDs  *[]string // nil = all
	Token       string    // secret; "" = the channel's is used
	Status      DestinationStatus
}

// CreateConversionDestination makes a destination. The 51st of an account is CodeInvalid on pixel_id.
func (s *Store) CreateConversionDestination(ctx context.Context, account string, channel *SocialAccount, in NewConversionDestination) (*ConversionDestination, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*ConversionDestination, error) {
		if err := u.LockAccount(ctx, account); err != nil {
			return nil, err
		}
		others, err := db.Get[int](ctx, u, `SELECT count(*) FROM ad_conversion_destinations WHERE account_id = ?`, account)
		if err != nil {
			return nil, fmt.Errorf("count destinations: %w", err)
		}
		if *others >= maxDestinations {
			return nil, core.Invalid("pixel_id", fmt.Sprintf("The account has %d conversion destinations, which is the most. Delete one first.", maxDestinations))
		}
		now := s.Now()
		d := &ConversionDestination{
			AccountID: account, ID: core.NewID(core.KindConversionDestination), ChannelID: channel.ID, Platform: channel.Platform,
			AdAccountID: in.AdAccountID, PixelID: in.PixelID, Name: in.Name, Events: core.JSONOf(in.Events), ProductIDs: core.JSONOf(in.ProductIDs),
			Status: in.Status, CreatedAt: now, UpdatedAt: now,
		}
		s.setToken(d, in.Token)
		return d, u.Insert(ctx, destinationColumns, d)
	})
}

// GetConversionDestination returns a destination, or CodeMissing.
func (s *Store) GetConversionDestination(ctx context.Context, account, ref string) (*ConversionDestination, error) {
	return findDestination(ctx, s.db, account, ref)
}

// lockDestination does what GetConversionDestination does, and locks the row until the transaction ends.
func (s *Store) lockDestination(ctx context.Context, u *db.Unit, account, ref string) (*ConversionDestination, error) {
	return findDestination(ctx, u.Locked(), account, ref)
}

// findDestination returns a destination, or CodeMissing.
func findDestination(ctx context.Context, r db.Reader, account, ref string) (*ConversionDestination, error) {
	id, ok := core.ParseID(core.KindConversionDestination, ref)
	if !ok {
		return nil, core.Missing("conversion destination", "", ref)
	}
	d, err := db.Get[ConversionDestination](ctx, r, destinationColumns.SelectSQL+` WHERE account_id = ? AND id = ?`, account, id)
	if err == nil && d == nil {
		err = core.Missing("conversion destination", "", ref)
	}
	return d, err
}

// ListConversionDestinations holds the filters of a list of destinations. An empty one does not filter.
type ListConversionDestinations struct {
	core.Page
	ChannelID string // sacct_
}

// ListConversionDestinations returns a page of destinations, newest first, and whether there are more. A channel that does not exist is
// CodeMissing on account_id.
func (s *Store) ListConversionDestinations(ctx context.Context, account string, in ListConversionDestinations) ([]ConversionDestination, bool, error) {
	var f db.Filter
	f.OrderedIfSet("channel_id", db.IDNamed(ctx, s.db, &f, s.getSocialAccount, account, in.ChannelID, "account_id"))
	return db.Page(ctx, s.db, destinationColumns, core.KindConversionDestination, account, in.Page, &f)
}

// UpdateConversionDestination says what to change. A field that is nil is left as it is.
type UpdateConversionDestination struct {
	Name       *string
	Events     *[]ConversionKind
	ProductIDs **[]string // nil inside = all
	Token      *string    // secret; "" takes it away
	Status     *DestinationStatus
}

// UpdateConversionDestination changes a destination. One that its network did not let in is told again if it gets a token or is made active. What
// waits for one that is paused goes on waiting.
func (s *Store) UpdateConversionDestination(ctx context.Context, account, ref string, in UpdateConversionDestination) (*ConversionDestination, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*ConversionDestination, error) {
		d, err := s.lockDestination(ctx, u, account, ref)
		if err != nil {
			return nil, err
		}
		before := *d
		set(&d.Name, in.Name)
		set(&d.Events.V, in.Events)
		set(&d.ProductIDs.V, in.ProductIDs)
		if in.Token != nil {
			s.setToken(d, *in.Token)
			if d.Status == DestinationError {
				d.Status = DestinationActive
			}
		}
		set(&d.Status, in.Status)
		if d.Status != DestinationError {
			d.LastError = ""
		}
		if reflect.DeepEqual(before, *d) {
			return d, nil
		}
		d.UpdatedAt = s.Now()
		return d, u.Update(ctx, destinationColumns, d)
	})
}

// set gives a field a value, unless that is nil.
func set[T any](field *T, value *T) {
	if value != nil {
		*field = *value
	}
}

// DeleteConversionDestination deletes a destination, and what waits for it. What it was told stays in the list of conversions.
func (s *Store) DeleteConversionDestination(ctx context.Context, account, ref string) (*ConversionDestination, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*ConversionDestination, error) {
		d, err := s.lockDestination(ctx, u, account, ref)
		if err != nil {
			return nil, err
		}
		if err := s.dropConversions(ctx, u, account, d.ID); err != nil {
			return nil, err
		}
		_, err = u.Exec(ctx, `DELETE FROM ad_conversion_destinations WHERE account_id = ? AND id = ?`, account, d.ID)
		return d, err
	})
}

// dropConversions deletes what waits for a destination.
func (s *Store) dropConversions(ctx context.Context, u *db.Unit, account, destination string) error {
	if _, err := u.Exec(ctx, `DELETE FROM ad_conversions WHERE account_id = ? AND destination_id = ? AND due_at IS NOT NULL`, account, destination); err != nil {
		return fmt.Errorf("delete conversions that wait: %w", err)
	}
	return nil
}

// pauseDestinations ends that anything is told through a channel that is deleted. What waits is deleted, and its destinations are paused. So a
// profile that is connected again is told nothing unasked.
func (s *Store) pauseDestinations(ctx context.Context, u *db.Unit, channel *SocialAccount) error {
	ids, err := db.Select[string](ctx, u, `SELECT id FROM ad_conversion_destinations WHERE account_id = ? AND channel_id = ?`, channel.AccountID, channel.ID)
	if err != nil {
		return fmt.Errorf("read the destinations of a channel: %w", err)
	}
	for _, id := range ids {
		if err := s.dropConversions(ctx, u, channel.AccountID, id); err != nil {
			return err
		}
	}
	if len(ids) == 0 {
		return nil
	}
	if _, err := u.Exec(ctx, `UPDATE ad_conversion_destinations SET status = 'paused', last_error = '', updated_at = ? WHERE account_id = ? AND channel_id = ?`,
		s.Now(), channel.AccountID, channel.ID); err != nil {
		return fmt.Errorf("pause the destinations of a channel: %w", err)
	}
	return nil
}

// reviveDestinations lets the destinations be told again that use the access of a channel, which has got another one.
func (s *Store) reviveDestinations(ctx context.Context, u *db.Unit, channel *SocialAccount) error {
	if _, err := u.Exec(ctx, `UPDATE ad_conversion_destinations SET status = 'active', last_error = '', updated_at = ?
		WHERE account_id = ? AND channel_id = ? AND status = 'error' AND token IS NULL`, s.Now(), channel.AccountID, channel.ID); err != nil {
		return fmt.Errorf("revive the destinations of a channel: %w", err)
	}
	return nil
}
