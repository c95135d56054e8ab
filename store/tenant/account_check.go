package tenant

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

var domainPattern = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$`)

var colorPattern = regexp.MustCompile(`^#[0-9a-fA-F]{6}$`)

var prefixPattern = regexp.MustCompile(`^[A-Z0-9]{3,12}$`)

// check returns CodeInvalid with every field whose value is not acceptable. It looks at this account alone: whether its handle
// is still free shows when it is taken. Addresses and tax are looked at only if they have changed.
func (a *Account) check(before *Account) error {
	var p core.Problems
	p.Check(strings.TrimSpace(a.Name) != "" && core.HasAtMost(&a.Name, 255), "name", "A name has 1 to 255 characters, not only white space.")
	p.Check(db.IsSlug(a.Handle) && len(a.Handle) >= 3 && len(a.Handle) <= 63, "handle", "A handle has 3 to 63 lower-case letters, digits and single hyphens between them.")
	if a.Email != before.Email || a.Email == "" {
		p.CheckEmail("email", a.Email, "Send an e-mail address, such as ada@example.com.")
	}
	if a.SupportEmail != nil && !core.SameJSON(a.SupportEmail, before.SupportEmail) {
		p.CheckEmail("support_email", *a.SupportEmail, "Send an e-mail address, such as help@example.com.")
	}
	p.Check(a.AccentColor == nil || colorPattern.MatchString(*a.AccentColor), "accent_color", "Send a colour such as #1a73e8, or null for ours.")
	p.Check(core.HasAtMost(a.StatementDescriptor, 22), "statement_descriptor", "A statement descriptor has at most 22 characters.")
	p.Check(a.CustomDomain == nil || domainPattern.MatchString(*a.CustomDomain), "custom_domain", "Send a domain name in lower case, such as shop.example.com.")
	p.Check(slices.Contains([]Plan{PlanFree, PlanPro, PlanBusiness}, a.Plan), "plan", "A plan is free, pro or business.")
	_, ok := core.LookupCurrency(a.DefaultCurrency)
	p.Check(ok, "default_currency", "This currency is not supported. Send a lower-case ISO 4217 code such as usd.")
	_, err := core.LoadZone(a.Timezone)
	p.Check(err == nil, "timezone", "Send an IANA time zone, such as Europe/Berlin.")
	p.Check(slices.Contains([]LeadConfirmation{LeadConfirmationNone, LeadConfirmationDoubleOptIn}, a.LeadConfirmation), "lead_confirmation", "A confirmation of leads is none or double_opt_in.")
	a.checkLetters(&p)
	a.checkBilling(&p)
	if !core.SameJSON(a.Tax, before.Tax) {
		a.Tax.V.check(&p)
	}
	return p.Err()
}

// checkBilling adds to p every billing setting that is not acceptable. It looks at invoice numbers, proration, access while past due,
// dunning, the limit of declines and how long payments are held.
func (a *Account) checkBilling(p *core.Problems) {
	p.Check(prefixPattern.MatchString(a.InvoicePrefix), "invoice_prefix", "A prefix of invoice numbers has 3 to 12 capital letters and digits.")
	p.Check(slices.Contains([]ProrationBehavior{ProrationBehaviorInvoiceImmediately, ProrationBehaviorNextInvoice, ProrationBehaviorNextPeriod}, a.ProrationBehavior),
		"proration_behavior", "A proration behavior is invoice_immediately, next_invoice or next_period.")
	p.Check(a.PastDueAccess == PastDueAccessKeep || a.PastDueAccess == PastDueAccessSuspend, "past_due_access", "Past due access is keep or suspend.")
	d := &a.Dunning.V
	p.Check(len(d.IntervalsDays) >= 1 && len(d.IntervalsDays) <= maxDunningRetries, "dunning.intervals_days", "A payment is tried again 1 to 10 times.")
	for i, days := range d.IntervalsDays {
		p.Check(days >= 1 && days <= maxDunningDays, fmt.Sprintf("dunning.intervals_days.%d", i), "There are 1 to 60 days between two attempts.")
	}
	p.Check(a.DeclineLimit == nil || *a.DeclineLimit >= MinDeclineLimit && *a.DeclineLimit <= maxDeclineLimit,
		"decline_limit", "Payments pause after 10 to 1000000 declines in an hour. Null means never.")
	p.Check(a.PaymentHoldMinutes >= minHoldMinutes && a.PaymentHoldMinutes <= maxHoldMinutes,
		"payment_hold_minutes", "A payment waits 5 to 120 minutes for its buyer.")
	p.Check(d.OnExhausted == "cancel", "dunning.on_exhausted", "When all attempts have failed, the subscription is canceled: send cancel.")
}
