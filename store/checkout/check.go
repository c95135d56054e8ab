package checkout

import (
	"context"
	"slices"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/offer"
)

// prepare checks a draft against the checkout as it was before; a new one is compared with an empty one. If anything
// changed that the price depends on, it prices the draft anew and returns the lines. Nil means that the lines stay.
func (s *Store) prepare(ctx context.Context, r db.Reader, draft Draft, before *Checkout, now core.Time) (*lineChange, error) {
	c := draft.Checkout
	if err := s.assignCustomer(ctx, r, c, before); err != nil {
		return nil, err
	}
	if err := c.check(before, now); err != nil {
		return nil, err
	}
	c.CustomerEmailKey = core.OddEmailKey(c.CustomerEmail)
	if err := s.assignDiscount(ctx, r, c, before); err != nil {
		return nil, err
	}
	wanted, err := s.wantedLines(ctx, r, draft, before)
	if err != nil {
		return nil, err
	}
	if wanted == nil && c.isPricedAs(before) {
		return nil, s.checkNewAnswers(ctx, r, c, before)
	}
	var stored []lineitem.Item
	if before.ID != "" {
		if stored, err = s.rooms.Lines.OfCheckoutIn(ctx, r, c.AccountID, c.ID); err != nil {
			return nil, err
		}
	}
	items, err := s.draftLines(ctx, r, draft, before, wanted, stored, now)
	if err != nil {
		return nil, err
	}
	return &lineChange{stored, items}, s.reprice(ctx, r, c, items, now)
}

// draftLines returns the lines of a draft without discount and tax: new ones if any are wanted, or else a copy of the stored
// ones. It checks the buyer's answers on the way.
func (s *Store) draftLines(ctx context.Context, r db.Reader, draft Draft, before *Checkout, wanted []offer.NewLine, stored []lineitem.Item, now core.Time) ([]lineitem.Item, error) {
	c := draft.Checkout
	if wanted == nil {
		return slices.Clone(stored), s.checkNewAnswers(ctx, r, c, before)
	}
	offers, err := s.rooms.Offer.Of(ctx, r, c.AccountID, wanted)
	if err != nil {
		return nil, err
	}
	if err := draft.checkChosen(offers, stored); err != nil {
		return nil, err
	}
	items, err := s.newLines(ctx, r, c, before, offer.Lineup{Offers: offers, Wanted: wanted, Now: now}, stored, now)
	if err != nil {
		return nil, err
	}
	return items, checkAnswers(offers, c.CustomFieldData.V, false)
}

// checkNewAnswers checks the buyer's answers, if they have changed, against the questions that the products of the stored lines
// ask. Required ones may still be missing.
func (s *Store) checkNewAnswers(ctx context.Context, r db.Reader, c, before *Checkout) error {
	if core.SameJSON(c.CustomFieldData, before.CustomFieldData) {
		return nil
	}
	items, err := s.rooms.Lines.OfCheckoutIn(ctx, r, c.AccountID, c.ID)
	if err != nil {
		return err
	}
	offers, err := s.rooms.Offer.Of(ctx, r, c.AccountID, asked(items))
	if err != nil {
		return err
	}
	return checkAnswers(offers, c.CustomFieldData.V, false)
}

// wantedLines returns the lines that are to be made and priced, nil if those that are stored stay. In another currency all are
// made again.
func (s *Store) wantedLines(ctx context.Context, r db.Reader, draft Draft, before *Checkout) ([]offer.NewLine, error) {
	// A new checkout without lines: making them says what is wrong.
	if before.ID == "" && draft.Lines == nil {
		return []offer.NewLine{}, nil
	}
	if draft.Lines != nil || draft.Currency == before.Currency && draft.chosen == nil && draft.pieces == nil {
		return draft.Lines, nil
	}
	items, err := s.rooms.Lines.OfCheckoutIn(ctx, r, before.AccountID, before.ID)
	if err != nil {
		return nil, err
	}
	wanted, changes := asked(items), draft.Currency != before.Currency
	for i, item := range lineitem.Sales(items) {
		if amount, chosen := draft.chosen[i]; chosen && amount != item.UnitAmount {
			wanted[i].CustomAmount, changes = &amount, true
		}
		if pieces, chosen := draft.pieces[i]; chosen && pieces != item.Quantity {
			wanted[i].Quantity, changes = pieces, true
		}
	}
	if !changes {
		return nil, nil
	}
	return wanted, nil
}

// asked turns lines back into what was asked for when they were made. Set-up fees are left out: they come with their line.
func asked(items []lineitem.Item) []offer.NewLine {
	wanted := []offer.NewLine{}
	for _, item := range lineitem.Sales(items) {
		wanted = append(wanted, offer.NewLine{PriceVariant: *item.PriceVariantID, Quantity: item.Quantity, CustomAmount: item.CustomAmount, TrialEnd: item.TrialEnd})
	}
	return wanted
}

// assignCustomer checks who the checkout is for, if that has changed, and copies the address of the customer that it names.
func (s *Store) assignCustomer(ctx context.Context, r db.Reader, c, before *Checkout) error {
	if err := s.takeAddress(ctx, r, c, before); err != nil {
		return err
	}
	if core.SameJSON(c.CustomerID, before.CustomerID) && core.SameJSON(c.ExternalCustomerID, before.ExternalCustomerID) {
		return nil
	}
	return s.checkBuyer(ctx, r, c)
}

// checkBuyer returns CodeInvalid if a checkout names one customer, and another one by the merchant's own id: nobody could say
// whose order it is.
func (s *Store) checkBuyer(ctx context.Context, r db.Reader, c *Checkout) error {
	if c.CustomerID == nil || c.ExternalCustomerID == nil {
		return nil
	}
	owner, err := s.rooms.Customer.ExternalOwner(ctx, r, c.AccountID, *c.ExternalCustomerID)
	if err == nil && owner != nil && *owner != *c.CustomerID {
		err = core.Invalid("external_customer_id", "Another customer has this external_id. Send customer or external_customer_id, not both.")
	}
	return err
}

// takeAddress finds the customer that a checkout names, if it is another one than before or the address was changed. It copies
// their e-mail address and, where the checkout has none, their name, billing address and tax id. An address sent beside a
// customer is CodeInvalid on customer_email, a customer that does not exist CodeMissing.
func (s *Store) takeAddress(ctx context.Context, r db.Reader, c, before *Checkout) error {
	if c.CustomerID == nil || core.SameJSON(c.CustomerID, before.CustomerID) && core.SameJSON(c.CustomerEmail, before.CustomerEmail) {
		return nil
	}
	if c.CustomerEmail != nil && !core.SameJSON(c.CustomerEmail, before.CustomerEmail) {
		return core.Invalid("customer_email", "Send customer or customer_email, not both.")
	}
	customer, err := s.rooms.Customer.Named(ctx, r, c.AccountID, *c.CustomerID, "customer")
	if err != nil {
		return err
	}
	c.CustomerID, c.CustomerEmail = &customer.ID, customer.Email
	if c.CustomerName == nil {
		c.CustomerName = customer.Name
	}
	if c.BillingAddress.V == nil {
		c.BillingAddress = customer.BillingAddress
	}
	if c.TaxID.V == nil {
		c.TaxID = customer.TaxID
	}
	return nil
}

// check returns CodeInvalid with the fields that are not acceptable. Only an address and an expiry that have changed are looked at.
func (c *Checkout) check(before *Checkout, now core.Time) error {
	var p core.Problems
	if c.CustomerEmail != nil && !core.SameJSON(c.CustomerEmail, before.CustomerEmail) {
		p.CheckEmail("customer_email", *c.CustomerEmail, "Send an e-mail address, such as ada@example.com.")
	}
	if c.ExpiresAt != before.ExpiresAt {
		inRange := c.ExpiresAt >= now.Add(minLifetime) && c.ExpiresAt <= now.Add(maxLifetime)
		p.Check(inRange, "expires_at", "A checkout expires in 30 minutes to 30 days.")
	}
	if !core.SameJSON(c.ExternalCustomerID, before.ExternalCustomerID) {
		customer.CheckExternalID(&p, "external_customer_id", c.ExternalCustomerID)
	}
	c.checkVisit(&p, before, now)
	c.Metadata.Check(&p)
	return p.Err()
}

// checkAnswers returns CodeInvalid with every answer of a buyer that the products' questions do not allow, or that answers none
// of them. If complete, every required question has to be answered.
func checkAnswers(offers []offer.Offer, answers map[string]string, complete bool) error {
	questions := map[string][]catalog.CustomField{} // two products may ask under one key: the answer has to satisfy both
	for _, o := range offers {
		for _, field := range o.Product.CustomFields.V {
			questions[field.Key] = append(questions[field.Key], field)
		}
	}
	var p core.Problems
	for key := range answers {
		p.Check(len(questions[key]) > 0, "custom_field_data."+key, "No product of this checkout asks for this.")
	}
	for key, asked := range questions {
		answer, given := answers[key]
		for _, question := range asked {
			problem := ""
			if given {
				problem = question.Refuses(answer)
			}
			if complete && question.Required && !question.AnsweredBy(answer) {
				problem = "This is required."
			}
			p.Check(problem == "", "custom_field_data."+key, problem)
		}
	}
	return p.Err()
}
