package view

import (
	"github.com/oapi-codegen/nullable"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/sdk/wire"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/grant"
	"github.com/tillwright/tillwright/store/offer"
)

// Checkout renders a checkout as its seller sees it. A URL or client secret that is empty is shown as null: the caller may not
// see it.
func Checkout(c *checkout.Checkout) api.Checkout {
	return api.Checkout{
		ID:                    c.ID,
		Object:                "checkout",
		LineItems:             wire.RefTos(c.LineItemIDs.V),
		Customer:              ref(c.CustomerID),
		CustomerEmail:         c.CustomerEmail,
		CustomerEmailVerified: c.EmailVerified,
		CustomerName:          c.CustomerName,
		BillingAddress:        address(c.BillingAddress.V),
		TaxID:                 (*api.TaxID)(c.TaxID.V),
		Currency:              c.Currency,
		Discount:              ref(c.DiscountID),
		DiscountCode:          c.DiscountCode,
		AllowDiscountCodes:    c.AllowDiscountCodes,
		AllowQuantityChange:   c.AllowQuantityChange,
		SubtotalAmount:        c.SubtotalAmount,
		DiscountAmount:        c.DiscountAmount,
		NetAmount:             c.NetAmount,
		TaxAmount:             c.TaxAmount,
		TaxBreakdown:          mapped(c.TaxBreakdown.V, taxBreakdown),
		TotalAmount:           c.TotalAmount,
		AmountDueNow:          c.AmountDueNow,
		Status:                api.CheckoutStatus(c.Status),
		PaymentStatus:         api.CheckoutPaymentStatus(c.PaymentStatus),
		PaymentMethodRequired: c.PaymentMethodRequired,
		LastPaymentError:      paymentFailure(c.LastPaymentError.V),
		NextAction:            nextAction(c.NextAction.V),
		URL:                   shown(c.URL),
		ClientSecret:          shown(c.ClientSecret),
		SuccessURL:            c.SuccessURL,
		CancelURL:             c.CancelURL,
		ReturnURL:             c.ReturnURL,
		CustomFieldData:       object(c.CustomFieldData.V),
		ClientReferenceID:     c.ClientReferenceID,
		ExternalCustomerID:    c.ExternalCustomerID,
		Locale:                c.Locale,
		ExpiresAt:             at(c.ExpiresAt),
		CompletedAt:           atOrNull(c.CompletedAt),
		Order:                 ref(c.OrderID),
		Subscription:          ref(c.SubscriptionID),
		Invoice:               ref(c.InvoiceID),
		Source:                (*api.CheckoutOrigin)(c.Source.V),
		TermsAcceptedAt:       atOrNull(c.TermsAcceptedAt),
		WithdrawalWaivedAt:    atOrNull(c.WithdrawalWaivedAt),
		AdsConsent:            c.AdsConsent,
		Metadata:              api.Metadata(c.Metadata.Text()),
		CreatedAt:             at(c.CreatedAt),
		UpdatedAt:             at(c.UpdatedAt),
	}
}

// PublicCheckout renders a checkout as its buyer sees it, with what they have by it.
func PublicCheckout(c *checkout.Checkout, offer *checkout.Offer, deliveries []grant.Delivery) api.PublicCheckout {
	seller, country := offer.Seller, ""
	if a := c.BillingAddress.V; a != nil && a.Country != nil {
		country = *a.Country
	}
	lines := make([]api.LineItem, len(offer.Items))
	for i := range offer.Items {
		lines[i] = LineItem(&offer.Items[i])
	}
	return api.PublicCheckout{
		ID:                     c.ID,
		Object:                 "checkout",
		SellerName:             seller.Name,
		LineItems:              lines,
		CustomerEmail:          c.CustomerEmail,
		CustomerEmailVerified:  c.EmailVerified,
		CustomerName:           c.CustomerName,
		BillingAddress:         address(c.BillingAddress.V),
		TaxID:                  (*api.TaxID)(c.TaxID.V),
		Currency:               c.Currency,
		DiscountCode:           c.DiscountCode,
		AllowDiscountCodes:     c.AllowDiscountCodes,
		TaxBreakdown:           mapped(c.TaxBreakdown.V, taxBreakdown),
		SubtotalAmount:         c.SubtotalAmount,
		DiscountAmount:         c.DiscountAmount,
		NetAmount:              c.NetAmount,
		TaxAmount:              c.TaxAmount,
		TotalAmount:            c.TotalAmount,
		AmountDueNow:           c.AmountDueNow,
		Status:                 api.CheckoutStatus(c.Status),
		PaymentStatus:          api.CheckoutPaymentStatus(c.PaymentStatus),
		PaymentMethodRequired:  c.PaymentMethodRequired,
		LastPaymentError:       paymentFailure(c.LastPaymentError.V),
		NextAction:             nextAction(c.NextAction.V),
		URL:                    c.URL,
		SuccessURL:             c.SuccessURL,
		CancelURL:              c.CancelURL,
		ReturnURL:              c.ReturnURL,
		CustomFields:           mapped(offer.CustomFields, customField),
		CustomFieldData:        object(c.CustomFieldData.V),
		TermsRequired:          offer.TermsRequired(),
		WithdrawalWaiverNeeded: c.Status == checkout.StatusOpen && c.WithdrawalWaivedAt == nil && offer.AsksWaiver(country),
		AdsConsent:             c.AdsConsent,
		Locale:                 c.Locale,
		ExpiresAt:              at(c.ExpiresAt),
		CompletedAt:            atOrNull(c.CompletedAt),
		Deliveries:             mapped(deliveries, func(d grant.Delivery) api.CheckoutDelivery { return delivery(c, d) }),
		CreatedAt:              at(c.CreatedAt),
		UpdatedAt:              at(c.UpdatedAt),
	}
}

// delivery renders what the buyer of a checkout has by it. A file is downloaded by way of the checkout's page, as long as they have it.
func delivery(c *checkout.Checkout, d grant.Delivery) api.CheckoutDelivery {
	if d.FileID != nil {
		d.URL = new(c.URL + "/downloads/" + d.GrantID + "/" + *d.FileID)
	}
	return api.CheckoutDelivery{Type: api.CheckoutDeliveryType(d.Type), Name: d.Name, URL: d.URL, Key: d.Key}
}

// ListCheckouts reads the query of a list.
func ListCheckouts(q api.ListCheckoutsParams) checkout.List {
	return checkout.List{
		Page:          SortedPage(q.Limit, q.StartingAfter, q.EndingBefore, q.Sort),
		ListFilter:    Filter(q.CreatedAfter, q.CreatedBefore, q.Q, q.Metadata),
		Status:        checkout.Status(value(q.Status)),
		PaymentStatus: checkout.PaymentStatus(value(q.PaymentStatus)),
		Customer:      value(q.Customer),
		CustomerEmail: value(q.CustomerEmail),
		Product:       value(q.Product),
		Discount:      value(q.Discount),
	}
}

// NewCheckout reads the body of a create.
func NewCheckout(b *api.CheckoutCreate) checkout.Draft {
	draft := checkout.Draft{
		Checkout: &checkout.Checkout{
			CustomerID:          b.Customer,
			CustomerEmail:       b.CustomerEmail,
			EmailVerified:       value(b.CustomerEmailVerified) && b.CustomerEmail != nil,
			CustomerName:        b.CustomerName,
			BillingAddress:      core.JSONOf((*core.Address)(b.BillingAddress)),
			TaxID:               core.JSONOf((*customer.TaxID)(b.TaxID)),
			Currency:            value(b.Currency),
			DiscountID:          b.Discount,
			DiscountCode:        b.DiscountCode,
			AllowDiscountCodes:  true,
			AllowQuantityChange: value(b.AllowQuantityChange),
			SuccessURL:          b.SuccessURL,
			CancelURL:           b.CancelURL,
			ReturnURL:           b.ReturnURL,
			CustomFieldData:     core.JSONOf(map[string]string(value(b.CustomFieldData))),
			ClientReferenceID:   b.ClientReferenceID,
			ExternalCustomerID:  b.ExternalCustomerID,
			Locale:              b.Locale,
			ExpiresAt:           value(stored(b.ExpiresAt)),
			Source:              core.JSONOf(checkoutSource(b.Source)),
			AdsConsent:          value(b.AdsConsent),
			AdsVisit:            core.JSONOf(AdsVisit(b.AdsVisit)),
			Metadata:            metadata(b.Metadata),
		},
		Lines: mapped(b.LineItems, newLine),
	}
	set(&draft.AllowDiscountCodes, b.AllowDiscountCodes)
	return draft
}

// CheckoutChange reads the body of a PATCH by the seller.
func CheckoutChange(b *api.CheckoutUpdate) func(*checkout.Draft) {
	return func(c *checkout.Draft) {
		setOrClear(&c.CustomerID, b.Customer)
		enterEmail(c, b.CustomerEmail)
		if b.CustomerEmailVerified != nil {
			c.Vouch(*b.CustomerEmailVerified, sent(b.CustomerEmail) != nil)
		}
		setOrClear(&c.CustomerName, b.CustomerName)
		setAddress(&c.BillingAddress, b.BillingAddress)
		setTaxID(&c.TaxID, b.TaxID)
		set(&c.Currency, b.Currency)
		setOrClear(&c.DiscountID, b.Discount)
		setOrClear(&c.DiscountCode, b.DiscountCode)
		set(&c.AllowDiscountCodes, b.AllowDiscountCodes)
		set(&c.AllowQuantityChange, b.AllowQuantityChange)
		setOrClear(&c.SuccessURL, b.SuccessURL)
		setOrClear(&c.CancelURL, b.CancelURL)
		setOrClear(&c.ReturnURL, b.ReturnURL)
		setCustomFieldData(c, b.CustomFieldData)
		setOrClear(&c.ClientReferenceID, b.ClientReferenceID)
		setOrClear(&c.ExternalCustomerID, b.ExternalCustomerID)
		setOrClear(&c.Locale, b.Locale)
		set(&c.ExpiresAt, stored(b.ExpiresAt))
		setMetadata(&c.Metadata, b.Metadata)
		if b.Source.IsSpecified() {
			c.SetSource(checkoutSource(sent(b.Source)))
		}
		answerAds(c, b.AdsConsent, b.AdsVisit)
		if b.LineItems != nil {
			c.Lines = mapped(b.LineItems, newLine)
		}
	}
}

// PublicCheckoutChange reads the body of a PATCH by the buyer.
func PublicCheckoutChange(b *api.PublicCheckoutUpdate) func(*checkout.Draft) {
	return func(c *checkout.Draft) {
		enterEmail(c, b.CustomerEmail)
		setOrClear(&c.CustomerName, b.CustomerName)
		setAddress(&c.BillingAddress, b.BillingAddress)
		setTaxID(&c.TaxID, b.TaxID)
		if b.DiscountCode.IsSpecified() {
			c.EnterDiscountCode(sent(b.DiscountCode))
		}
		setCustomFieldData(c, b.CustomFieldData)
		setOrClear(&c.Locale, b.Locale)
		answerAds(c, b.AdsConsent, b.AdsVisit)
	}
}

func enterEmail(c *checkout.Draft, sentEmail nullable.Nullable[string]) {
	email := c.CustomerEmail
	setOrClear(&email, sentEmail)
	c.EnterEmail(email)
}

func setCustomFieldData(c *checkout.Draft, sent *api.CustomFieldData) {
	if sent != nil {
		c.CustomFieldData.V = *sent
	}
}

func answerAds(c *checkout.Draft, agrees *bool, visit nullable.Nullable[api.AdsVisit]) {
	c.AnswerAds(agrees)
	if visit.IsSpecified() {
		c.AdsVisit.V = AdsVisit(sent(visit))
	}
}

// AdsVisit reads the visit that led to a purchase or a lead, nil for none.
func AdsVisit(v *api.AdsVisit) *advert.Visit {
	if v == nil {
		return nil
	}
	visit := &advert.Visit{PageURL: value(v.PageURL), ClientIP: value(v.ClientIP), UserAgent: value(v.UserAgent)}
	if ids := v.ClickIds; ids != nil {
		visit.ClickIDs = map[string]string{}
		for name, id := range map[string]*string{"fbclid": ids.Fbclid, "epik": ids.Epik, "ttclid": ids.Ttclid, "gclid": ids.Gclid} {
			if id != nil {
				visit.ClickIDs[name] = *id
			}
		}
	}
	return visit
}

func newLine(l api.CheckoutLine) offer.NewLine {
	quantity := int64(1)
	set(&quantity, l.Quantity)
	return offer.NewLine{PriceVariant: l.PriceVariant, Quantity: quantity, CustomAmount: l.CustomAmount}
}

// checkoutSource reads where the buyer came from, as the seller says.
func checkoutSource(s *api.CheckoutSource) *checkout.Source {
	if s == nil {
		return nil
	}
	return &checkout.Source{
		Referrer: s.Referrer, UTMSource: s.UTMSource, UTMMedium: s.UTMMedium, UTMCampaign: s.UTMCampaign, UTMTerm: s.UTMTerm, UTMContent: s.UTMContent,
	}
}

func nextAction(a *checkout.NextAction) *api.NextAction {
	if a == nil {
		return nil
	}
	return &api.NextAction{Type: api.NextActionType(a.Type), URL: a.URL}
}
