package checkout

import (
	"fmt"
	"strconv"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/offer"
)

// Draft is a checkout that is not paid yet, with what somebody wants it to be. Lines, if not nil, replace all lines; an
// empty Currency is the first line's.
type Draft struct {
	*Checkout
	Lines   []offer.NewLine
	chosen  map[int]int64 // amounts, by ChooseAmount
	pieces  map[int]int64 // by ChooseQuantity
	refused error         // by Update, which stores nothing then
}

// LetsChoose reports whether the buyer chooses on the page what to pay for a unit of what has no fixed price. They do if they came by a checkout
// link. Whoever makes a checkout by the API says the amount.
func (c *Checkout) LetsChoose() bool { return c.Source.V != nil && c.Source.V.CheckoutLink != nil }

// ChooseAmount sets what the buyer pays for a unit of a line, by its place among those that sell something. Where the buyer does not choose it
// changes nothing.
func (d *Draft) ChooseAmount(at int, text string) {
	amount, problem := core.ReadAmount(text, d.Currency)
	switch {
	case !d.LetsChoose():
	case problem != "":
		d.refused = core.Invalid("line_items", problem)
	case amount > core.MaxAmount:
		d.refused = core.Invalid("line_items", "This is too much.")
	default:
		if d.chosen == nil {
			d.chosen = map[int]int64{}
		}
		d.chosen[at] = amount
	}
}

// MaxPieces is how many pieces a line may have.
const MaxPieces = 1_000_000

// mostChosen is how many pieces of a line a buyer may choose on our pages, unless the price variant says that they may have more.
const mostChosen = 100

// MostChosen returns how many pieces of a line of a price variant a buyer may choose on our pages.
func MostChosen(v *catalog.PriceVariant) int64 {
	if v.QuantityMax != nil {
		return *v.QuantityMax
	}
	return max(mostChosen, v.QuantityMin)
}

// checkChosen returns CodeInvalid if the buyer chose more pieces of a line than they may. A line that has more already keeps them.
func (d *Draft) checkChosen(offers []offer.Offer, stored []lineitem.Item) error {
	for i, line := range lineitem.Sales(stored) {
		pieces, chosen := d.pieces[i]
		if chosen && i < len(offers) && pieces != line.Quantity && pieces > MostChosen(offers[i].Variant) {
			return core.Invalid("line_items", fmt.Sprintf("Choose at most %d pieces.", MostChosen(offers[i].Variant)))
		}
	}
	return nil
}

// ChooseQuantity sets how many pieces of a line the buyer wants, by its place among those that sell something. Where the seller does not let them
// choose it changes nothing.
func (d *Draft) ChooseQuantity(at int, text string) {
	pieces, err := strconv.ParseInt(text, 10, 64)
	switch {
	case !d.AllowQuantityChange:
	case err != nil || pieces < 1 || pieces > MaxPieces:
		d.refused = core.Invalid("line_items", "Choose how many pieces you want, in digits.")
	default:
		if d.pieces == nil {
			d.pieces = map[int]int64{}
		}
		d.pieces[at] = pieces
	}
}

// EnterEmail sets the buyer's address. One that was not there before is not verified: nobody vouches for it yet.
func (d *Draft) EnterEmail(email *string) {
	d.EmailVerified = d.EmailVerified && core.SameJSON(email, d.CustomerEmail)
	d.CustomerEmail = email
}

// Vouch records whether the seller says that the address of the checkout is the buyer's. Who vouches for an address has to name it in the same
// request (isNamed), or the change is refused. The buyer may have typed another one meanwhile.
func (d *Draft) Vouch(isTheirs, isNamed bool) {
	if isTheirs && !isNamed {
		d.refused = core.Invalid("customer_email_verified", "Send the customer_email that you vouch for with it: the buyer may have typed another one meanwhile.")
		return
	}
	if isTheirs && !d.EmailVerified { // whoever ticked before need not be who reads the mail
		d.NewsFor = nil
	}
	d.EmailVerified = isTheirs
}

// SetSource records where the seller says that the buyer came from. The checkout link stays the one by which they really came.
func (d *Draft) SetSource(source *Source) {
	if link := d.Source.V; source != nil && link != nil {
		source.CheckoutLink = link.CheckoutLink
	}
	d.Source.V = source
}
