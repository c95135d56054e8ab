package pages

import (
	"errors"
	"strconv"
	"strings"

	"github.com/tillwright/tillwright/server/locale"
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/subscription"
)

// planPieces is the field in which a customer says how many pieces of their plan they want.
type planPieces struct {
	*pieces
	taken subscription.PlanUnits
}

// newPlanPieces returns the field for the pieces that a subscription may have, nil for nil.
func newPlanPieces(l *locale.Locale, sub *subscription.Subscription, of *store.Pieces) *planPieces {
	if of == nil {
		return nil
	}
	return &planPieces{newPieces(l, of.Variant, "quantity", l.T("field.quantity"), sub.Quantity, of.Least, of.Most), of.Taken}
}

// typedQuantity returns what was typed into the field, in an address or a form.
func typedQuantity(v *visit) string { return strings.TrimSpace(textOnly(v.FormValue("quantity"))) }

// chosen returns how many pieces the customer wants. Problem says why they cannot have so many, and nothing if they can. What they have already is
// no part of what is left.
func (p *planPieces) chosen(typed string) (chosen int64, problem string) {
	chosen, err := strconv.ParseInt(typed, 10, 64)
	left, limited := leftOf(p.v)
	most := p.taken.Most + p.taken.Held + left
	switch {
	case err != nil || chosen < 1:
		return 0, p.l.T("error.quantity.form")
	case chosen == p.now:
		return 0, p.l.T("error.quantity.same")
	case chosen < p.least || chosen > p.most:
		return 0, p.l.T("error.quantity.bounds", "bounds", p.bounds())
	case limited && chosen > most && p.v.ReservedCount > p.taken.Held:
		return 0, p.l.T("error.quantity.scarce_held", "most", p.l.Number(most))
	case limited && chosen > most:
		return 0, p.l.T("error.quantity.scarce", "most", p.l.Number(most))
	}
	return chosen, ""
}

// says returns a problem with the field as the summary of the page has it.
func (p *planPieces) says(problem string) ui.Problem {
	return ui.Problem{Field: p.Name, Label: p.named, Text: problem}
}

// refused returns why the store refused so many pieces, of which the page says something. Whatever is not about the quantity, as with another plan,
// is not about the field.
func (p *planPieces) refused(err error, chosen int64, said string) ui.Problem {
	e, _ := errors.AsType[*core.Error](err)
	switch {
	case p == nil || e == nil || e.Param != "quantity" || chosen == p.now:
		return ui.Problem{Text: said}
	case chosen > p.now: // no order comes to as much
		return p.says(p.l.T("error.quantity.fewer"))
	}
	return p.says(said)
}
