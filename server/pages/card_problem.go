package pages

import (
	"cmp"
	"errors"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/server/locale"
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/payment"
)

// refusedCard returns the field of a typed card that a refusal is about, empty for none.
func refusedCard(err error) string {
	e, _ := errors.AsType[*core.Error](err)
	if e == nil || e.Code != core.CodeInvalid || e.Param != "payment_method" || e.Reason == "" || reasons["payment_method."+e.Reason] != "" {
		return ""
	}
	return cmp.Or(cardFieldOf[e.Reason], "card_number")
}

// failedCard returns the field of a typed card that a failed payment is about.
func failedCard(why *payment.Failure) string {
	return cmp.Or(cardFieldOf[text(why.DeclineCode)], cardFieldOf[why.Code], "card_number")
}

// cardFields are the fields of a typed card, in the order of the page.
var cardFields = []string{"card_number", "card_expiry", "card_cvc"}

// emptyCard has the key of what is said of a field of a typed card that was left empty.
var emptyCard = map[string]string{"card_number": "error.no_card", "card_expiry": "decline.invalid_expiry", "card_cvc": "error.card.cvc"}

// cardFaults returns what is wrong with the card that a request types into a form, by the name of its field. It is what is empty, and what no bank
// takes. A bank may refuse a card that has no fault.
func (p *Pages) cardFaults(c echo.Context, l *locale.Locale) map[string]string {
	problems := map[string]string{}
	for _, fault := range typedCard(c).Card.Faults(p.store.Now().Time()) {
		problems[cmp.Or(cardFieldOf[fault.Reason], "card_number")], _ = l.Decline(fault.Reason)
	}
	for name, key := range emptyCard {
		if strings.TrimSpace(c.FormValue(name)) == "" {
			problems[name] = l.T(key)
		}
	}
	return problems
}

// cardProblems returns what is wrong with the card that a request types into a form, by the name of its field. What refused it said this of one field.
func (p *Pages) cardProblems(c echo.Context, l *locale.Locale, field, said string) map[string]string {
	problems := p.cardFaults(c, l)
	problems[field] = said
	return problems
}

// cardSummary returns what is wrong with a card as the summary of a page has it: each leads to its field.
func cardSummary(l *locale.Locale, problems map[string]string) (all []ui.Problem) {
	if said := problems[""]; said != "" {
		all = append(all, ui.Problem{Text: said})
	}
	for _, name := range cardFields {
		if said := problems[name]; said != "" {
			all = append(all, ui.Problem{Field: name, Label: cardField(l, name, nil).Label, Text: said})
		}
	}
	return all
}
