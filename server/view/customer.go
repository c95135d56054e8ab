package view

import (
	"github.com/oapi-codegen/nullable"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
)

// Customer renders a customer.
func Customer(c *customer.Customer) api.Customer {
	return api.Customer{
		ID:                   c.ID,
		Object:               "customer",
		Email:                value(c.Email),
		Name:                 c.Name,
		Phone:                c.Phone,
		ExternalID:           c.ExternalID,
		AvatarURL:            c.AvatarURL,
		BillingAddress:       address(c.BillingAddress.V),
		TaxID:                (*api.TaxID)(c.TaxID.V),
		TaxExempt:            c.TaxExempt,
		PreferredLocale:      c.PreferredLocale,
		DefaultPaymentMethod: ref(c.DefaultPaymentMethodID),
		Type:                 api.CustomerType(c.Type),
		OrdersCount:          c.OrdersCount,
		TotalSpent:           object(c.TotalSpent.V),
		BalanceAmount:        object(c.Balance.V),
		FirstPaidAt:          atOrNull(c.FirstPaidAt),
		LastOrderAt:          atOrNull(c.LastOrderAt),
		MarketingConsent:     marketingConsent(c),
		Notes:                c.Notes,
		Tags:                 list(c.Tags.V),
		Metadata:             api.Metadata(c.Metadata.Text()),
		CreatedAt:            at(c.CreatedAt),
		UpdatedAt:            at(c.UpdatedAt),
	}
}

// ListCustomers reads the query of a list.
func ListCustomers(q api.ListCustomersParams) customer.List {
	return customer.List{
		Page:       SortedPage(q.Limit, q.StartingAfter, q.EndingBefore, q.Sort),
		ListFilter: Filter(q.CreatedAfter, q.CreatedBefore, q.Q, q.Metadata),
		Email:      value(q.Email),
		ExternalID: value(q.ExternalID),
		Type:       customer.Type(value(q.Type)),
		Tag:        value(q.Tag),

		HasActiveSubscription: q.HasActiveSubscription,
	}
}

// CustomerState renders what a customer has and owes.
func CustomerState(s *store.CustomerState) api.CustomerState {
	state := api.CustomerState{
		Object: "customer_state", Customer: Customer(s.Customer),
		ActiveSubscriptions: make([]api.Subscription, len(s.ActiveSubscriptions)), OpenInvoices: make([]api.Invoice, len(s.OpenInvoices)),
		Grants: make([]api.Grant, len(s.Grants)),
	}
	for i := range s.ActiveSubscriptions {
		state.ActiveSubscriptions[i] = Subscription(&s.ActiveSubscriptions[i])
	}
	for i := range s.OpenInvoices {
		state.OpenInvoices[i] = Invoice(&s.OpenInvoices[i])
	}
	for i := range s.Grants {
		state.Grants[i] = Grant(&s.Grants[i])
	}
	return state
}

// NewCustomer reads the body of a create.
func NewCustomer(b *api.CustomerCreate) customer.Customer {
	return customer.Customer{
		Email:            &b.Email,
		Name:             b.Name,
		Phone:            b.Phone,
		ExternalID:       b.ExternalID,
		AvatarURL:        b.AvatarURL,
		BillingAddress:   core.JSONOf((*core.Address)(b.BillingAddress)),
		TaxID:            core.JSONOf((*customer.TaxID)(b.TaxID)),
		TaxExempt:        value(b.TaxExempt),
		PreferredLocale:  b.PreferredLocale,
		MarketingConsent: core.JSONOf(storedMarketingConsent(b.MarketingConsent)),
		NewsWords:        core.JSONOf(storedWords(b.MarketingConsent)),
		Notes:            b.Notes,
		Tags:             core.JSONOf(b.Tags),
		Metadata:         metadata(b.Metadata),
	}
}

// CustomerChange reads the body of a PATCH.
func CustomerChange(b *api.CustomerUpdate) func(*customer.Customer) {
	return func(c *customer.Customer) {
		if b.Email != nil {
			c.SetEmail(*b.Email)
		}
		setOrClear(&c.Name, b.Name)
		setOrClear(&c.Phone, b.Phone)
		setOrClear(&c.ExternalID, b.ExternalID)
		setOrClear(&c.AvatarURL, b.AvatarURL)
		setAddress(&c.BillingAddress, b.BillingAddress)
		setTaxID(&c.TaxID, b.TaxID)
		set(&c.TaxExempt, b.TaxExempt)
		setOrClear(&c.PreferredLocale, b.PreferredLocale)
		setOrClear(&c.DefaultPaymentMethodID, b.DefaultPaymentMethod)
		setOrClear(&c.Notes, b.Notes)
		setMetadata(&c.Metadata, b.Metadata)
		if b.MarketingConsent.IsSpecified() {
			setMarketingConsent(c, sent(b.MarketingConsent))
		}
		if b.Tags != nil {
			c.Tags.V = b.Tags
		}
	}
}

// CustomerUpsert reads the body of an upsert.
func CustomerUpsert(b *api.CustomerUpsert) core.Upsert[customer.Customer] {
	return core.Upsert[customer.Customer]{ExternalID: core.Deref(sent(b.ExternalID)), Change: CustomerChange(b)}
}

// CustomerUpserts reads the body of a bulk upsert.
func CustomerUpserts(b *api.CustomerBulkUpsert, refused map[int]*core.Error) []core.Upsert[customer.Customer] {
	return upserts(b.Items, refused, CustomerUpsert)
}

func setTaxID(field *core.JSON[*customer.TaxID], t nullable.Nullable[api.TaxID]) {
	if t.IsSpecified() {
		field.V = (*customer.TaxID)(sent(t))
	}
}

func marketingConsent(c *customer.Customer) *api.MarketingConsent {
	said := c.MarketingConsent.V
	if said == nil {
		return nil
	}
	return &api.MarketingConsent{Status: api.MarketingConsentStatus(said.Status), Source: said.Source, At: atOrNull(said.At), Text: c.ConsentText()}
}

// setMarketingConsent sets what a customer said about being written to. Clients that do not know of the words send them back without: those of the same
// moment stay.
func setMarketingConsent(c *customer.Customer, said *api.MarketingConsent) {
	words := storedWords(said)
	if words == nil && said != nil && said.At != nil && c.NewsWords.V != nil && core.SameJSON(stored(said.At), c.NewsWords.V.At) {
		words = c.NewsWords.V
	}
	c.MarketingConsent.V, c.NewsWords.V = storedMarketingConsent(said), words
}

func storedMarketingConsent(c *api.MarketingConsent) *customer.MarketingConsent {
	if c == nil {
		return nil
	}
	return &customer.MarketingConsent{Status: string(c.Status), Source: c.Source, At: stored(c.At)}
}

func storedWords(c *api.MarketingConsent) *customer.NewsWords {
	if c == nil || c.Text == nil {
		return nil
	}
	return &customer.NewsWords{Text: *c.Text, At: stored(c.At)}
}
