package wire

import (
	"bytes"
	"encoding/json"
)

// PaymentMethod says how a checkout is paid: with a token such as "pm_card_visa", or with a card.
type PaymentMethod struct {
	Token string
	Card  *Card
}

// Card is a card with its number in plain text. Only the test provider takes one.
type Card struct {
	Number   string `json:"number"`
	ExpMonth int    `json:"exp_month"`
	ExpYear  int    `json:"exp_year"`
	CVC      string `json:"cvc"`
}

type cardPaymentMethod struct {
	Type string `json:"type"`
	Card *Card  `json:"card"`
}

// MarshalJSON writes a card as {"type": "card", "card": {...}} and a token as a string.
func (m PaymentMethod) MarshalJSON() ([]byte, error) {
	if m.Card != nil {
		return json.Marshal(cardPaymentMethod{Type: "card", Card: m.Card})
	}
	return json.Marshal(m.Token)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (m *PaymentMethod) UnmarshalJSON(data []byte) error {
	*m = PaymentMethod{}
	if !bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		return json.Unmarshal(data, &m.Token)
	}
	var card cardPaymentMethod
	err := json.Unmarshal(data, &card)
	m.Card = card.Card
	return err
}
