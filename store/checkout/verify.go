package checkout

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/signed"
)

// Whoever types an address is not yet who it belongs to. What they buy is billed to the customer with the address, so that the seller finds it.
// It stays apart from what is the customer's until somebody vouches for it. That is the seller, whoever reads the mail to the address, or the
// customer on the portal. The card stays that of the purchase even then, because whoever reads the mail is not always whose card it is.

// Verify records that a checkout is really its customer's. In an open one the address is marked as verified; the order
// and the subscriptions of a completed one become the customer's. If that is so already nothing changes; a checkout in any other
// state is CodeInvalid on status.
func (s *Store) Verify(ctx context.Context, account, ref string) (*Checkout, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Checkout, error) {
		c, err := s.Lock(ctx, u, account, ref)
		if err != nil {
			return nil, err
		}
		switch c.Status {
		case StatusOpen:
			return s.verifyOpen(ctx, u, c)
		case StatusCompleted:
			return c, s.verifyPurchase(ctx, u, c)
		case StatusProcessing, StatusExpired:
		}
		return nil, core.Invalid("status", fmt.Sprintf("The checkout is %s. Only an open or a completed one can be verified.", c.Status))
	})
}

// verifyOpen marks the address of an open checkout as verified. A discount that the address's owner cannot use is taken off.
func (s *Store) verifyOpen(ctx context.Context, r db.Reader, c *Checkout) (*Checkout, error) {
	items, err := s.rooms.Lines.OfCheckoutIn(ctx, r, c.AccountID, c.ID)
	if err != nil {
		return nil, err
	}
	now, err := db.BusinessNow(ctx, r, c.AccountID)
	if err != nil {
		return nil, err
	}
	// Tries the discount as the owner of the address, to see whether it is refused to them.
	verified := *c
	verified.EmailVerified = true
	_, err = s.discountsOf(ctx, r, &verified, items, now)
	refused, isRefused := errors.AsType[*core.Error](err)
	if err != nil && (!isRefused || refused.Code != core.CodeInvalid) {
		return nil, err
	}
	return s.Update(ctx, c.AccountID, c.ID, func(d *Draft) {
		d.Vouch(true, true)
		if isRefused {
			d.DiscountID, d.DiscountCode = nil, nil
		}
	})
}

// owedOrder is an order of which it was just learned whose it is. Its BalanceApplied is a total that was too little to be charged.
type owedOrder struct {
	ID             string `db:"id"`
	Currency       string `db:"currency"`
	BalanceApplied int64  `db:"balance_applied"`
}

// verifyPurchase makes what came of a locked completed checkout its customer's: its order, and its subscriptions with their
// orders. Totals that were too little to be charged are taken off the balance now, but no more than there is. The customer who says that a
// purchase is theirs owes nothing by that. The customer also learns from the checkout what was not known of them. It locks the subscriptions
// before the customer, as everybody does.
func (s *Store) verifyPurchase(ctx context.Context, u *db.Unit, c *Checkout) error {
	now, err := db.BusinessNow(ctx, u, c.AccountID)
	if err != nil {
		return err
	}
	_, err = db.Select[string](ctx, u.Locked(), `SELECT id FROM subscriptions WHERE account_id = ? AND checkout_id = ? ORDER BY id`, c.AccountID, c.ID)
	if err != nil {
		return fmt.Errorf("lock the subscriptions of a checkout: %w", err)
	}
	_, err = u.Exec(ctx, `UPDATE subscriptions SET customer_verified = TRUE, updated_at = ? WHERE account_id = ? AND checkout_id = ? AND NOT customer_verified`,
		now, c.AccountID, c.ID)
	if err != nil {
		return fmt.Errorf("verify subscriptions: %w", err)
	}
	buyer, err := s.rooms.Customer.LockOwner(ctx, u, c.AccountID, core.Deref(c.CustomerID), "checkouts", c.ID)
	if err != nil {
		return err
	}
	if err := s.forgetTypedName(ctx, u, buyer); err != nil {
		return err
	}
	owed, err := db.Select[owedOrder](ctx, u, `
		UPDATE orders SET customer_verified = TRUE, updated_at = ?
		WHERE account_id = ? AND customer_id = ? AND NOT customer_verified AND (checkout_id = ? OR subscription_id IN (
			SELECT id FROM subscriptions WHERE account_id = ? AND checkout_id = ?))
		RETURNING id, currency, balance_applied`, now, c.AccountID, buyer.ID, c.ID, c.AccountID, c.ID)
	if err != nil {
		return fmt.Errorf("verify orders: %w", err)
	}
	if len(owed) == 0 || buyer.DeletedAt != nil {
		return nil
	}
	if err := s.takeOwed(ctx, u, buyer, owed, now); err != nil {
		return err
	}
	items, err := s.rooms.Lines.OfCheckoutIn(ctx, u, c.AccountID, c.ID)
	if err != nil {
		return err
	}
	if err := s.BeginTrials(ctx, u, c, items, buyer, true, now); err != nil {
		return err
	}
	if err := s.identify(ctx, u, buyer, c.ExternalCustomerID); err != nil {
		return err
	}
	c.teach(buyer)
	buyer.UpdatedAt = now
	return u.Update(ctx, customer.Columns, buyer)
}

// takeOwed takes the small bills of locked orders off a locked customer's balance, the oldest first, as far as there is something. The caller
// stores the customer.
func (s *Store) takeOwed(ctx context.Context, u *db.Unit, c *customer.Customer, owed []owedOrder, now core.Time) error {
	slices.SortFunc(owed, func(a, b owedOrder) int { return cmp.Compare(a.ID, b.ID) })
	for _, o := range owed {
		taken := min(o.BalanceApplied, c.Balance.V[o.Currency])
		if taken <= 0 {
			continue
		}
		if err := s.rooms.Customer.MoveOrderBalance(ctx, u, c, o.ID, o.Currency, -taken, customer.BalanceReasonApplied, now); err != nil {
			return err
		}
		if _, err := u.Exec(ctx, `UPDATE orders SET balance_taken = ? WHERE account_id = ? AND id = ?`, taken, c.AccountID, o.ID); err != nil {
			return fmt.Errorf("note what a balance paid of an order: %w", err)
		}
	}
	return nil
}

// verificationLifetime is how long the link in a letter can be used.
const verificationLifetime = 7 * core.Day

// IsVerified reports whether it is known who bought, by more than an address that somebody typed. Of a completed checkout that
// is asked of its order and its subscriptions.
func (s *Store) IsVerified(ctx context.Context, c *Checkout) (bool, error) {
	return s.isVerifiedIn(ctx, s.db, c)
}

// isVerifiedIn does what IsVerified does, where r says.
func (s *Store) isVerifiedIn(ctx context.Context, r db.Reader, c *Checkout) (bool, error) {
	if c.OrderID == nil {
		return c.CustomerID != nil || c.EmailVerified, nil
	}
	left, err := db.Get[string](ctx, r, `
		SELECT id FROM orders WHERE account_id = ? AND id = ? AND NOT customer_verified
		UNION ALL SELECT id FROM subscriptions WHERE account_id = ? AND checkout_id = ? AND NOT customer_verified LIMIT 1`,
		c.AccountID, *c.OrderID, c.AccountID, c.ID)
	if err != nil {
		return false, fmt.Errorf("look for what is not verified: %w", err)
	}
	return left == nil, nil
}

// verification is what the link in a letter holds, sealed. Whoever has the link reads the mail to the address, and so vouches
// for it.
type verification struct {
	Account   string    `json:"account"`
	Checkout  string    `json:"checkout"`
	Email     string    `json:"email"`
	ExpiresAt core.Time `json:"expires_at"`
}

// verificationContext is what links in letters are sealed for: nothing else that is sealed opens as one.
const verificationContext = "verification"

// VerificationURL returns the address of the page on which the reader of a letter says that a checkout is theirs. The checkout
// has to have an e-mail address. Nobody else can read or make such a link, and it can be used for seven days.
func (s *Store) VerificationURL(c *Checkout) (string, error) {
	text, err := json.Marshal(verification{c.AccountID, c.ID, *c.CustomerEmail, s.db.Now().Add(verificationLifetime)})
	if err != nil {
		return "", fmt.Errorf("seal verification: %w", err)
	}
	return s.db.Options.PublicURL + "/verify/" + signed.Encoding.EncodeToString(s.db.Options.Sealer.Seal(text, verificationContext)), nil
}

// OpenVerification returns the checkout that a letter asked about. It is CodeMissing if the link is not genuine, the checkout
// has another address now, or the account is disabled. If the link's time is over, expired is true,
// and of the checkout only the account is set.
func (s *Store) OpenVerification(ctx context.Context, token string) (c *Checkout, expired bool, err error) {
	return s.openVerification(ctx, s.db, token)
}

// openVerification is OpenVerification, and reads the checkout from r.
func (s *Store) openVerification(ctx context.Context, r db.Reader, token string) (c *Checkout, expired bool, err error) {
	sealed, err := signed.Encoding.DecodeString(token)
	if err != nil {
		return nil, false, core.Missing("page", "", "")
	}
	text, err := s.db.Options.Sealer.Open(sealed, verificationContext)
	if err != nil {
		return nil, false, core.Missing("page", "", "")
	}
	var v verification
	if err := json.Unmarshal(text, &v); err != nil {
		return nil, false, fmt.Errorf("read verification: %w", err)
	}
	if v.ExpiresAt <= s.db.Now() {
		return &Checkout{AccountID: v.Account}, true, nil
	}
	if disabled, err := s.rooms.Tenant.IsDisabledIn(ctx, db.Unlocked(r), v.Account); err != nil {
		return nil, false, err
	} else if disabled {
		return nil, false, core.Missing("page", "", "")
	}
	c, err = s.find(ctx, r, v.Account, v.Checkout, "")
	if err == nil && !core.SameEmail(core.Deref(c.CustomerEmail), v.Email) {
		return nil, false, core.Missing("page", "", "")
	}
	return c, false, err
}

// VerifyAddress does what Verify does, for somebody who opened the link in a letter, whose token this is. What comes
// back is as of OpenVerification.
func (s *Store) VerifyAddress(ctx context.Context, token string) (c *Checkout, expired bool, err error) {
	c, err = db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Checkout, error) {
		var c *Checkout
		if c, expired, err = s.openVerification(ctx, u.Locked(), token); err != nil || expired {
			return c, err
		}
		return s.Verify(ctx, c.AccountID, c.ID)
	})
	return c, expired, err
}

// SetVerified verifies a checkout if that is wanted and not so yet. To take it back is CodeInvalid on customer_verified.
func (s *Store) SetVerified(ctx context.Context, account string, checkout *string, isVerified, wanted bool) error {
	if isVerified && !wanted {
		return core.Invalid("customer_verified", "It is known whose this is. That cannot be taken back.")
	}
	if isVerified == wanted {
		return nil
	}
	_, err := s.Verify(ctx, account, core.Deref(checkout))
	return err
}

// AcceptPurchase does what Verify does, for a customer who says on the portal that a purchase is theirs. What was not
// bought under their address, or is not completed, is CodeMissing.
func (s *Store) AcceptPurchase(ctx context.Context, account, customer, ref string) (*Checkout, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Checkout, error) {
		c, err := s.Lock(ctx, u, account, ref)
		if err == nil && (c.Status != StatusCompleted || core.Deref(c.CustomerID) != customer) {
			err = core.Missing("checkout", "", ref)
		}
		if err != nil {
			return nil, err
		}
		return s.Verify(ctx, account, c.ID)
	})
}

// UnverifiedPurchases returns checkouts that were completed by somebody who only typed this customer's address, the newest first
// and at most limit.
func (s *Store) UnverifiedPurchases(ctx context.Context, account, customer string, limit int) ([]Checkout, error) {
	ids, err := db.Select[string](ctx, s.db, `
		SELECT id FROM (
			SELECT checkout_id AS id FROM orders WHERE account_id = ? AND customer_id = ? AND NOT customer_verified AND checkout_id IS NOT NULL
			UNION SELECT checkout_id AS id FROM subscriptions WHERE account_id = ? AND customer_id = ? AND NOT customer_verified AND checkout_id IS NOT NULL
		) purchases ORDER BY id DESC LIMIT ?`, account, customer, account, customer, limit)
	if err != nil {
		return nil, fmt.Errorf("look for purchases: %w", err)
	}
	found, err := s.ByID(ctx, account, ids)
	if err != nil {
		return nil, err
	}
	var purchases []Checkout
	for _, id := range ids {
		if c := found[id]; c != nil {
			purchases = append(purchases, *c)
		}
	}
	return purchases, nil
}
