package view

import (
	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/store/payment"
)

// Payment renders a payment.
func Payment(p *payment.Payment) api.Payment {
	return api.Payment{
		ID:            p.ID,
		Object:        "payment",
		Purpose:       api.PaymentPurpose(p.Purpose),
		Checkout:      p.CheckoutID,
		Order:         p.OrderID,
		Invoice:       p.InvoiceID,
		Customer:      p.CustomerID,
		Status:        api.PaymentStatus(p.Status),
		Amount:        p.Amount,
		Currency:      p.Currency,
		Provider:      p.Provider,
		PaymentMethod: paymentMethod(p.PaymentMethod.V),
		Failure:       paymentFailure(p.Failure.V),
		CreatedAt:     at(p.CreatedAt),
		UpdatedAt:     at(p.UpdatedAt),
	}
}

func paymentFailure(f *payment.Failure) *api.PaymentFailure {
	if f == nil {
		return nil
	}
	return &api.PaymentFailure{Code: f.Code, DeclineCode: f.DeclineCode, Message: f.Message}
}

func paymentMethod(m payment.Method) *api.PaymentMethodDetails {
	if m.Type == "" {
		return nil
	}
	return &api.PaymentMethodDetails{
		Type: api.PaymentMethodDetailsType(m.Type), Brand: m.Brand, Last4: m.Last4,
		ExpMonth: int64(m.ExpMonth), ExpYear: int64(m.ExpYear),
	}
}

// SavedPaymentMethod renders a payment method that a customer can be charged with later.
func SavedPaymentMethod(m *payment.SavedMethod) api.SavedPaymentMethod {
	return api.SavedPaymentMethod{
		ID:        m.ID,
		Object:    "payment_method",
		Customer:  m.CustomerID,
		Provider:  m.Provider,
		Type:      api.SavedPaymentMethodType(m.Card.V.Type),
		Brand:     m.Card.V.Brand,
		Last4:     m.Card.V.Last4,
		ExpMonth:  int64(m.Card.V.ExpMonth),
		ExpYear:   int64(m.Card.V.ExpYear),
		CreatedAt: at(m.CreatedAt),
		UpdatedAt: at(m.UpdatedAt),
	}
}
