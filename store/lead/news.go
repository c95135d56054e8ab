package lead

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/signed"
	"github.com/tillwright/tillwright/store/tenant"
)

// AgreeAtCheckout makes a lead of somebody who agrees to news at a checkout, as Capture does of a form, and returns it. One that is unsubscribed stays so.
func (s *Store) AgreeAtCheckout(ctx context.Context, u *db.Unit, seller *tenant.Account, in Captured) (*Lead, error) {
	if _, err := s.capture(ctx, u, seller, &in); err != nil {
		return nil, err
	}
	all, err := s.ofAddress(ctx, u, seller.ID, core.EmailKey(in.Email))
	for i := range all {
		if core.Deref(all[i].ProductID) == in.Product {
			return &all[i], nil
		}
	}
	if err == nil {
		err = fmt.Errorf("there is no lead of the checkout")
	}
	return nil, err
}

// HasEnded reports whether the reader of an address has ended the news of a seller. They get none again, whoever agrees with their address.
func (s *Store) HasEnded(ctx context.Context, account, email string) (bool, error) {
	all, err := s.ofAddress(ctx, s.db, account, core.EmailKey(email))
	return slices.ContainsFunc(all, func(l Lead) bool { return l.Status == StatusUnsubscribed }), err
}

// Agrees reports whether a seller may send news to an address: by a lead that agreed, if none of the address is unsubscribed.
func (s *Store) Agrees(ctx context.Context, account, email string) (bool, error) {
	all, err := s.ofAddress(ctx, s.db, account, core.EmailKey(email))
	agrees := false
	for i := range all {
		if all[i].Status == StatusUnsubscribed {
			return false, nil
		}
		agrees = agrees || all[i].Consent.V.Marketing
	}
	return agrees, err
}

func (s *Store) ofAddress(ctx context.Context, r db.Reader, account, key string) ([]Lead, error) {
	all, err := db.Select[Lead](ctx, r, columns.SelectSQL+` WHERE account_id = ? AND email_key = ?`, account, key)
	if err != nil {
		return nil, fmt.Errorf("read the leads of an address: %w", err)
	}
	return all, nil
}

// unsubscription is what the link holds, sealed, by which the reader of a letter ends the news. It works for ever.
type unsubscription struct {
	Account string `json:"account"`
	Key     string `json:"key"` // of the address
}

// unsubscriptionContext is what these links are sealed for: nothing else that is sealed opens as one.
const unsubscriptionContext = "unsubscription"

// UnsubscribeURL returns the address of the page on which the reader of a letter ends the news of a seller. Nobody else can make such a link.
func (s *Store) UnsubscribeURL(account, email string) (string, error) {
	text, err := json.Marshal(unsubscription{account, core.EmailKey(email)})
	if err != nil {
		return "", fmt.Errorf("seal unsubscription: %w", err)
	}
	return s.db.Options.PublicURL + "/unsubscribe/" + signed.Encoding.EncodeToString(s.db.Options.Sealer.Seal(text, unsubscriptionContext)), nil
}

// OpenUnsubscription returns the account of a link, and whether the news of it have ended. A link that is not genuine is CodeMissing.
func (s *Store) OpenUnsubscription(ctx context.Context, token string) (account string, ended bool, err error) {
	o, err := s.openUnsubscription(token)
	if err != nil {
		return "", false, err
	}
	all, err := s.ofAddress(ctx, s.db, o.Account, o.Key)
	ended = true
	for i := range all {
		ended = ended && all[i].Status == StatusUnsubscribed
	}
	return o.Account, ended, err
}

func (s *Store) openUnsubscription(token string) (o unsubscription, err error) {
	missing := core.Missing("page", "", "")
	sealed, err := signed.Encoding.DecodeString(token)
	if err != nil {
		return o, missing
	}
	text, err := s.db.Options.Sealer.Open(sealed, unsubscriptionContext)
	if err != nil {
		return o, missing
	}
	if err := json.Unmarshal(text, &o); err != nil {
		return o, fmt.Errorf("read unsubscription: %w", err)
	}
	return o, nil
}

// Unsubscribe ends all news of a seller to the address of a link, for good: all its leads are unsubscribed, and its customer is. Doing it again changes
// nothing.
func (s *Store) Unsubscribe(ctx context.Context, token string) (account string, err error) {
	o, err := s.openUnsubscription(token)
	if err != nil {
		return "", err
	}
	_, err = db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (any, error) {
		all, err := s.ofAddress(ctx, u, o.Account, o.Key)
		if err != nil {
			return nil, err
		}
		for i := range all {
			if all[i].Status == StatusUnsubscribed {
				continue
			}
			if _, err := s.Update(ctx, o.Account, all[i].ID, func(l *Lead) { l.Status = StatusUnsubscribed }); err != nil {
				return nil, err
			}
		}
		return nil, nil
	})
	return o.Account, err
}
