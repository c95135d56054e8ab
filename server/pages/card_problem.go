package pages

import (
	"cmp"
	"errors"

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

// cardProblem returns a problem as the summary of a page has it. It leads to the field of a typed card that it is about, which is empty for none.
func cardProblem(l *locale.Locale, field, said string) ui.Problem {
	if field == "" {
		return ui.Problem{Text: said}
	}
	return ui.Problem{Field: field, Label: cardField(l, field, nil).Label, Text: said}
}
