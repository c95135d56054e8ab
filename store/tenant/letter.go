package tenant

import (
	"maps"
	"slices"
	"strings"

	"github.com/tillwright/tillwright/store/core"
)

// LetterKind says what a letter is about: one to a customer, or to people who sign in.
type LetterKind string

// The kinds of letters to customers. An account may switch off each.
const (
	LetterReceipt           LetterKind = "receipt"            // an order was paid
	LetterPaymentFailed     LetterKind = "payment_failed"     // a renewal could not be charged, and will be tried again; or a last invoice
	LetterTrialEnding       LetterKind = "trial_ending"       // a trial is over soon
	LetterSubscriptionEnded LetterKind = "subscription_ended" // it was cancelled, or all of it is paid
	LetterAccessGiven       LetterKind = "access_given"       // something was given that no receipt tells of

	LetterRefund               LetterKind = "refund"
	LetterSubscriptionCanceled LetterKind = "subscription_canceled" // it will end with its period
	LetterSubscriptionKept     LetterKind = "subscription_kept"     // it will not
	LetterPlanChanged          LetterKind = "plan_changed"          // or will with the next period
	LetterRenewalUpcoming      LetterKind = "renewal_upcoming"      // of a plan of a year or more
	LetterCardExpiring         LetterKind = "card_expiring"         // to which a subscription is charged
	LetterInvoiceReminder      LetterKind = "invoice_reminder"      // an invoice that the seller issued is due
	LetterCheckoutAbandoned    LetterKind = "checkout_abandoned"    // who agreed to news did not finish a checkout; off at first
	LetterFileUpdated          LetterKind = "file_updated"          // there is a new version of a file, of which the seller wants buyers told
)

// LetterKinds are all kinds of letters to customers.
var LetterKinds = []LetterKind{
	LetterReceipt, LetterPaymentFailed, LetterTrialEnding, LetterSubscriptionCanceled, LetterSubscriptionEnded, LetterAccessGiven, LetterRefund,
	LetterSubscriptionKept, LetterPlanChanged, LetterRenewalUpcoming, LetterCardExpiring, LetterInvoiceReminder, LetterFileUpdated,
	LetterCheckoutAbandoned,
}

// LetterProductNews is what a seller writes about a product to those who agreed to news. Nobody switches it off: whoever wants none writes none.
const LetterProductNews LetterKind = "product_news"

// LetterInvoice has an invoice that somebody asked to be sent. Nobody switches it off either.
const LetterInvoice LetterKind = "invoice"

// LetterWebhookFailing tells owners of an account that a webhook endpoint has taken nothing for an hour.
const LetterWebhookFailing LetterKind = "webhook_failing"

// The kinds of letters to owners and admins of an account.
const (
	LetterSale          LetterKind = "sale"                  // some orders were paid just now; off at first
	LetterSalesDaily    LetterKind = "sales_daily"           // what was sold on a day
	LetterFailedDaily   LetterKind = "payments_failed_daily" // what could not be charged on a day
	LetterKeyRefused    LetterKind = "provider_key_refused"  // the payment provider refuses the key
	LetterDomainFailing LetterKind = "domain_failing"        // the domain of a site does not work any more
	LetterWeek          LetterKind = "week_figures"          // what a week came to
)

// TeamKinds are all of them.
var TeamKinds = []LetterKind{LetterSale, LetterSalesDaily, LetterFailedDaily, LetterKeyRefused, LetterDomainFailing, LetterWeek}

// switchable are all kinds of letters that an account may switch off.
var switchable = slices.Concat(LetterKinds, []LetterKind{LetterWebhookFailing}, TeamKinds)

// newKinds are those that the release before this one does not know. Its servers run beside those of this one for a while, and refuse every change of an
// account that has one of them in LettersOff.
var newKinds = append([]LetterKind{LetterFileUpdated, LetterWebhookFailing}, TeamKinds...)

// off returns the list in which a kind stands if it is switched off.
func (a *Account) off(k LetterKind) *core.JSON[[]LetterKind] {
	if slices.Contains(newKinds, k) {
		return &a.NewLettersOff
	}
	return &a.LettersOff
}

// WritesOfSales is the condition in SQL of accounts that have letters of LetterSale sent.
const WritesOfSales = `letters_on LIKE '%"` + string(LetterSale) + `"%'`

// isOffAtFirst reports whether an account has letters of a kind sent only if it switched them on.
func (k LetterKind) isOffAtFirst() bool { return k == LetterCheckoutAbandoned || k == LetterSale }

// Writes reports whether the account has letters of a kind sent.
func (a *Account) Writes(k LetterKind) bool {
	if k.isOffAtFirst() {
		return slices.Contains(a.LettersOn.V, k)
	}
	return !slices.Contains(a.off(k).V, k)
}

// SwitchLetters switches kinds of letters on or off, and leaves the others as they are. What is no kind is kept, for check to refuse.
func (a *Account) SwitchLetters(on map[string]bool) {
	for _, name := range slices.Sorted(maps.Keys(on)) {
		kind := LetterKind(name)
		if kind.isOffAtFirst() {
			a.LettersOn = listed(a.LettersOn, kind, on[name])
			continue
		}
		list := a.off(kind)
		*list = listed(*list, kind, !on[name] || !slices.Contains(switchable, kind))
	}
}

// listed returns a list of kinds with or without a kind, in the order of their names.
func listed(list core.JSON[[]LetterKind], kind LetterKind, isIn bool) core.JSON[[]LetterKind] {
	all := slices.DeleteFunc(slices.Clone(list.V), func(k LetterKind) bool { return k == kind })
	if isIn {
		all = append(all, kind)
	}
	slices.Sort(all)
	return core.JSONOf(all)
}

// checkLetters adds to p every kind of letters that there is not.
func (a *Account) checkLetters(p *core.Problems) {
	kinds := make([]string, len(switchable))
	for i, kind := range switchable {
		kinds[i] = string(kind)
	}
	for _, kind := range a.LettersOff.V {
		p.Check(slices.Contains(switchable, kind), "letters."+string(kind), "There are no letters of this kind. Send some of "+strings.Join(kinds, ", ")+".")
	}
}
