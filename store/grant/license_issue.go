package grant

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// LicenseTerms is what a price variant says of its licence keys. Nil is no limit.
type LicenseTerms struct {
	Enabled         bool   `json:"enabled"`
	ActivationLimit *int64 `json:"activation_limit"` // of one piece
	ExpiresInDays   *int64 `json:"expires_in_days"`
	OfflineDays     *int64 `json:"offline_days"`
}

// Licensing is whether a product and a price variant ask for a licence key, and for which.
type Licensing struct {
	Keys  int                      `db:"keys"`  // deliverables that are keys
	Stock int                      `db:"stock"` // and of these, those that are of imported ones
	Terms core.JSON[*LicenseTerms] `db:"license"`
}

func (l *Licensing) wanted() bool {
	return l.Keys > 0 || l.Terms.V != nil && l.Terms.V.Enabled
}

// issueLicense gives a new grant a licence key if its product or its price variant asks for one. An ended subscription that was bought again gets its
// key back. Imported keys are handed out oldest first; if there is none left the grant waits for one: see DueLicenseWaits.
func (s *Store) issueLicense(ctx context.Context, u *db.Unit, g *Grant) error {
	asked, err := s.licensingOf(ctx, u, g)
	if err != nil {
		return err
	}
	return s.issueLicenseAs(ctx, u, g, asked)
}

// issueLicenseAs does what issueLicense does, for who knows what is asked for.
func (s *Store) issueLicenseAs(ctx context.Context, u *db.Unit, g *Grant, asked *Licensing) error {
	if !asked.wanted() {
		return nil
	}
	k, err := s.formerLicense(ctx, u, g)
	if err == nil && k == nil && asked.Stock > 0 {
		if k, err = s.stockedLicense(ctx, u, g.AccountID, g.ProductID); err == nil && k == nil {
			return s.waitForLicense(ctx, u, g)
		}
	}
	if err != nil {
		return err
	}
	if k != nil {
		return s.handOut(ctx, u, g, k, asked)
	}
	k = &LicenseKey{ProductID: g.ProductID}
	if err := s.draftLicenseKey(ctx, u, g.AccountID, k); err != nil {
		return err
	}
	k.follow(g, asked)
	return u.Insert(ctx, licenseKeyColumns, k)
}

// licensingOf returns what the product of a grant and its price variant say of licence keys. Only what is on the list of deliverables now counts.
func (s *Store) licensingOf(ctx context.Context, u *db.Unit, g *Grant) (*Licensing, error) {
	asked, err := db.Get[Licensing](ctx, u, `
		SELECT count(*) AS keys, count(ref) AS stock, (SELECT license FROM price_variants WHERE account_id = ? AND id = ?) AS license
		FROM product_deliverables WHERE account_id = ? AND product_id = ? AND type = 'license_key' AND removed IS NULL`,
		g.AccountID, core.Deref(g.PriceVariantID), g.AccountID, g.ProductID)
	if err != nil {
		return nil, fmt.Errorf("read what licence is sold: %w", err)
	}
	return asked, nil
}

// formerLicense locks the key that a customer had by a subscription to the product which has ended without a refund, nil if there is none.
func (s *Store) formerLicense(ctx context.Context, u *db.Unit, g *Grant) (*LicenseKey, error) {
	if g.SourceType != SourceTypeSubscription {
		return nil, nil
	}
	return db.Get[LicenseKey](ctx, u.Locked(), licenseKeyColumns.SelectSQL+`
		WHERE account_id = ? AND customer_id = ? AND product_id = ? AND ended_by = 'grant' AND EXISTS (
			SELECT 1 FROM grants WHERE grants.account_id = license_keys.account_id AND grants.id = license_keys.grant_id AND reason = ? AND NOT refunded)
		ORDER BY id DESC LIMIT 1`, g.AccountID, g.CustomerID, g.ProductID, ReasonSubscriptionEnded)
}

// stockedLicense locks the oldest imported key of a product that is not sold and that nobody else is taking, nil if there is none.
func (s *Store) stockedLicense(ctx context.Context, u *db.Unit, account, product string) (*LicenseKey, error) {
	now, err := db.BusinessNow(ctx, u, account)
	if err != nil {
		return nil, err
	}
	return db.Get[LicenseKey](ctx, u, licenseKeyColumns.SelectSQL+`
		WHERE account_id = ? AND product_id = ? AND in_stock AND status = 'granted' AND (expires_at IS NULL OR expires_at > ?)
		ORDER BY id LIMIT 1`+u.LockSkip(), account, product, now)
}

// HasLicenses reports whether so many keys of a product can be sold now: always, unless it is sold with imported ones.
func (s *Store) HasLicenses(ctx context.Context, r db.Reader, account, product string, keys int) (bool, error) {
	now, err := db.BusinessNow(ctx, r, account)
	if err != nil {
		return false, err
	}
	left, err := db.Get[int](ctx, r, `
		SELECT CASE WHEN EXISTS (
			SELECT 1 FROM product_deliverables WHERE account_id = ? AND product_id = ? AND type = 'license_key' AND ref IS NOT NULL AND removed IS NULL
		) THEN (SELECT count(*) FROM (
			SELECT id FROM license_keys WHERE account_id = ? AND product_id = ? AND in_stock AND status = 'granted' AND (expires_at IS NULL OR expires_at > ?) LIMIT ?
		) AS stock) ELSE ? END`, account, product, account, product, now, keys, keys)
	if err != nil {
		return false, fmt.Errorf("count licence keys in stock: %w", err)
	}
	return *left >= keys, nil
}

// handOut makes a locked key the one of a grant.
func (s *Store) handOut(ctx context.Context, u *db.Unit, g *Grant, k *LicenseKey, asked *Licensing) error {
	was := *k
	var err error
	if k.UpdatedAt, err = db.BusinessNow(ctx, u, g.AccountID); err != nil {
		return err
	}
	k.InStock = false
	k.comeBack()
	k.follow(g, asked)
	if was.InStock { // what was imported with a limit or an end has its own
		if was.ActivationLimit != nil {
			k.ActivationLimit = was.ActivationLimit
		}
		if was.ExpiresAt != nil {
			k.ExpiresAt = was.ExpiresAt
		}
	}
	return s.saveWithin(ctx, u, k)
}

// follow gives a key the owner, the limits and the end that follow from its grant. The days of its price variant begin now.
func (k *LicenseKey) follow(g *Grant, asked *Licensing) {
	k.GrantID, k.CustomerID = &g.ID, &g.CustomerID
	k.ExpiresAt = g.ExpiresAt
	k.limit(asked, g.Quantity)
	terms := asked.Terms.V
	if terms == nil {
		return
	}
	if terms.ExpiresInDays != nil {
		end := k.UpdatedAt.Add(time.Duration(*terms.ExpiresInDays) * 24 * time.Hour)
		if k.ExpiresAt == nil || end < *k.ExpiresAt {
			k.ExpiresAt = &end
		}
	}
}

// limit sets how many devices so many pieces allow. If the price variant does not say so, an imported key keeps the limit that it came with.
func (k *LicenseKey) limit(asked *Licensing, quantity int64) {
	terms := asked.Terms.V
	if terms == nil {
		terms = &LicenseTerms{}
	}
	k.OfflineDays = terms.OfflineDays
	switch {
	case terms.ActivationLimit != nil:
		k.ActivationLimit = new(min(*terms.ActivationLimit*quantity, maxActivations))
	case asked.Stock == 0:
		k.ActivationLimit = nil
	}
}

// maxActivations bounds what quantities multiply.
const maxActivations = 1_000_000_000

// planLicense has the licence key of a locked grant follow another price variant or quantity. It gets the limits of now. It ends if none is asked
// for any more, and comes back, or is issued, once one is. A key that a hand has ended stays so, and no other is issued.
func (s *Store) planLicense(ctx context.Context, u *db.Unit, g *Grant) error {
	asked, err := s.licensingOf(ctx, u, g)
	if err != nil {
		return err
	}
	now, err := db.BusinessNow(ctx, u, g.AccountID)
	if err != nil {
		return err
	}
	keys, err := db.Select[LicenseKey](ctx, u.Locked(), licenseKeyColumns.SelectSQL+` WHERE account_id = ? AND grant_id = ? ORDER BY id DESC`, g.AccountID, g.ID)
	if err != nil {
		return fmt.Errorf("lock the licence keys of a grant: %w", err)
	}
	if len(keys) == 0 { // it may wait for an imported one
		if err := s.endWait(ctx, u, g); err != nil {
			return err
		}
	}
	switch {
	case len(keys) == 0 && asked.wanted():
		if err := s.issueLicense(ctx, u, g); err != nil || g.Status != StatusRevoked {
			return err
		}
		return s.endLicense(ctx, u, g, now)
	case len(keys) == 0:
		return nil
	case !asked.wanted():
		g.Keyless = true
		return s.endLicense(ctx, u, g, now)
	}
	k, wasKeyless := &keys[0], g.Keyless
	g.Keyless = false
	if k.EndedBy != nil && *k.EndedBy != licenseEndedByGrant {
		return nil
	}
	if wasKeyless && g.Status != StatusRevoked {
		k.comeBack()
	}
	k.UpdatedAt = now
	k.limit(asked, g.Quantity)
	return s.saveWithin(ctx, u, k)
}

// comeBack takes back that a key ended with its grant.
func (k *LicenseKey) comeBack() {
	k.Stored, k.EndedBy = LicenseKeyGranted, nil
	if k.WasDisabled {
		k.Stored, k.WasDisabled = LicenseKeyDisabled, false
	}
}

// saveWithin stores a locked key, after it has ended so many of its activations, the newest first, that the others fit its limit.
func (s *Store) saveWithin(ctx context.Context, u *db.Unit, k *LicenseKey) error {
	if limit := k.ActivationLimit; limit != nil && k.ActivationsCount > *limit {
		ended, err := u.Exec(ctx, `
			DELETE FROM license_activations WHERE account_id = ? AND id IN (
				SELECT id FROM license_activations WHERE account_id = ? AND license_key_id = ? ORDER BY id DESC LIMIT ?)`,
			k.AccountID, k.AccountID, k.ID, k.ActivationsCount-*limit)
		if err != nil {
			return fmt.Errorf("end activations beyond the limit: %w", err)
		}
		k.ActivationsCount -= ended
	}
	return u.Update(ctx, licenseKeyColumns, k)
}

// endLicense revokes the key of a grant that ends, or whose plan asks for none. What a hand or a rotation has ended stays so.
func (s *Store) endLicense(ctx context.Context, u *db.Unit, g *Grant, now core.Time) error {
	_, err := u.Exec(ctx, `
		UPDATE license_keys SET was_disabled = (status = 'disabled'), status = 'revoked', ended_by = 'grant', updated_at = ?
		WHERE account_id = ? AND grant_id = ? AND ended_by IS NULL`, now, g.AccountID, g.ID)
	return err
}

// reviveLicense takes back that the key of a grant ended with it. If its key went to another subscription of its customer meanwhile, it gets one like a
// new grant.
func (s *Store) reviveLicense(ctx context.Context, u *db.Unit, g *Grant, now core.Time) error {
	revived, err := u.Exec(ctx, `
		UPDATE license_keys SET status = CASE WHEN was_disabled THEN 'disabled' ELSE 'granted' END, was_disabled = FALSE, ended_by = NULL, updated_at = ?
		WHERE account_id = ? AND grant_id = ? AND ended_by = 'grant'`, now, g.AccountID, g.ID)
	if err != nil || revived > 0 {
		return err
	}
	has, err := db.Get[string](ctx, u, `
		SELECT id FROM license_keys WHERE account_id = ? AND grant_id = ? UNION ALL
		SELECT id FROM license_waits WHERE account_id = ? AND id = ? LIMIT 1`, g.AccountID, g.ID, g.AccountID, g.ID)
	if err != nil || has != nil {
		return err
	}
	return s.issueLicense(ctx, u, g)
}

// expireLicense has the key of a grant end with it, after the grant has got another end than was. A key that ended with the grant ends with it
// again. One with an end of its own ends at the earlier of the two.
func (s *Store) expireLicense(ctx context.Context, u *db.Unit, g *Grant, was *core.Time) error {
	const forever = int64(math.MaxInt64)
	own, end := forever, forever
	if was != nil {
		own = int64(*was)
	}
	if g.ExpiresAt != nil {
		end = int64(*g.ExpiresAt)
	}
	_, err := u.Exec(ctx, `
		UPDATE license_keys SET expires_at = ?, updated_at = ?
		WHERE account_id = ? AND grant_id = ? AND (ended_by IS NULL OR ended_by = 'grant') AND (COALESCE(expires_at, ?) = ? OR COALESCE(expires_at, ?) > ?)`,
		g.ExpiresAt, g.UpdatedAt, g.AccountID, g.ID, forever, own, forever, end)
	return err
}
