package dashboard

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/person"
)

const subscriptionsPage = "/app/subscriptions"

func subscriptionBadge(s *sdk.Subscription) *ui.Badge {
	switch s.Status {
	case sdk.SubscriptionStatusActive:
		if s.CancelAtPeriodEnd {
			return &ui.Badge{Text: "Ends soon", Tone: "warn", Icon: "clock"}
		}
		return &ui.Badge{Text: "Active", Tone: "good", Icon: "check"}
	case sdk.SubscriptionStatusTrialing:
		return &ui.Badge{Text: "Trial", Tone: "good", Icon: "clock"}
	case sdk.SubscriptionStatusPastDue:
		return &ui.Badge{Text: "Past due", Tone: "bad", Icon: "alert"}
	case sdk.SubscriptionStatusPaused:
		return &ui.Badge{Text: "Paused", Tone: "warn", Icon: "lock"}
	case sdk.SubscriptionStatusCompleted:
		return &ui.Badge{Text: "Completed", Icon: "check"}
	case sdk.SubscriptionStatusCanceled:
	}
	return &ui.Badge{Text: "Cancelled", Icon: "cross"}
}

// every returns what a subscription costs, and how often.
func every(s *sdk.Subscription) string {
	if s.IntervalCount == 1 {
		return core.FormatAmount(s.Amount, s.Currency) + " every " + string(s.Interval)
	}
	return core.FormatAmount(s.Amount, s.Currency) + " every " + strconv.FormatInt(s.IntervalCount, 10) + " " + string(s.Interval) + "s"
}

func productName(s *sdk.Subscription) string {
	if p, ok := s.Product.Get(); ok {
		return p.Name
	}
	return s.Product.ID
}

// subscriptions lists what is renewed.
func (d *Dashboard) subscriptions(v *visit) error {
	after, before := v.position()
	in := &sdk.ListSubscriptionsParams{Limit: new(onPage), StartingAfter: after, EndingBefore: before, Q: query(v, "q"), Product: query(v, "product"), Expand: sdk.Expand("customer", "product")}
	status := v.QueryParam("status")
	if status != "" {
		in.Status = new(sdk.SubscriptionStatus(status))
	}
	list, err := d.api.Subscriptions.List(v.ctx(), in)
	if err != nil {
		return err
	}
	t := subscriptionTable(v, list.Data)
	if n := len(list.Data); n > 0 {
		v.turn(t, list.Data[0].ID, list.Data[n-1].ID, list.HasMore)
	}
	t.Empty = v.nothing(&ui.Empty{Text: "What customers pay for again and again stands here. A product with a recurring price makes one. There is none yet.", Action: &ui.Link{Text: "See your products", Address: productsPage}})
	return v.show(http.StatusOK, ui.Page{Heading: "Subscriptions", Table: t, Filter: &ui.Form{Get: true, Inline: true, Submit: "Show", Controls: []ui.Control{
		{Name: "q", Label: "Search", Value: v.QueryParam("q"), Longest: 200},
		{Name: "product", Label: "Product", Hint: "By its id.", Value: v.QueryParam("product"), Longest: 255},
		{Kind: "select", Name: "status", Label: "Status", Options: chosen(status, "", "All", "active", "Active", "trialing", "Trial", "past_due", "Past due", "paused", "Paused", "canceled", "Cancelled", "completed", "Completed")},
	}}})
}

// subscriptionTable returns rows of subscriptions, whose customers and products are expanded.
func subscriptionTable(v *visit, subscriptions []sdk.Subscription) *ui.Table {
	t := &ui.Table{Label: "Subscriptions", Columns: []string{"Product", "Customer", "Costs", "Status", "Period ends"}}
	for i := range subscriptions {
		s := &subscriptions[i]
		who := ui.Cell{Text: "Deleted"}
		if c, ok := s.Customer.Get(); ok {
			who.Text = customerName(&c)
		}
		ends := v.at(s.CurrentPeriodEnd.Time())
		if s.EndedAt != nil {
			ends = ui.Cell{}
		}
		t.Rows = append(t.Rows, []ui.Cell{{Text: productName(s), Address: subscriptionsPage + "/" + s.ID}, who, {Text: every(s)}, {Badge: subscriptionBadge(s)}, ends})
	}
	return t
}

// subscription shows a subscription with its next invoice.
func (d *Dashboard) subscription(v *visit) error {
	s, err := d.api.Subscriptions.Get(v.ctx(), v.Param("id"), sdk.Expand("customer", "product", "payment_method"))
	if err != nil {
		return err
	}
	orders, err := d.api.Orders.List(v.ctx(), &sdk.ListOrdersParams{Subscription: &s.ID, Limit: new(int64(10)), Expand: sdk.Expand("customer", "line_items")})
	if err != nil {
		return err
	}
	next, err := d.nextInvoice(v, s)
	if err != nil {
		return err
	}
	p := ui.Page{Heading: productName(s), Badge: subscriptionBadge(s), Up: &ui.Link{Text: "Subscriptions", Address: subscriptionsPage}}
	facts := ui.Section{Terms: v.subscriptionTerms(s)}
	if v.may("subscriptions:write") && s.EndedAt == nil {
		v.subscriptionActions(s, &p, &facts)
	}
	paid := d.orderTable(v, orders.Data)
	paid.Empty = &ui.Empty{Text: "Nothing was paid for it yet."}
	p.Sections = []ui.Section{facts, next, {Title: "Orders", Table: paid}}
	return v.show(http.StatusOK, p)
}

// subscriptionActions adds what can be done to a subscription that goes on.
func (v *visit) subscriptionActions(s *sdk.Subscription, p *ui.Page, facts *ui.Section) {
	at := subscriptionsPage + "/" + s.ID
	move := func(name, submit string) {
		facts.Forms = append(facts.Forms, ui.Form{Action: at + "/" + name, Submit: submit, Inline: true, Once: newOnce()})
	}
	switch {
	case s.CancelAtPeriodEnd:
		move("uncancel", "Keep it")
	case s.Status == sdk.SubscriptionStatusPaused:
		move("resume", "Resume")
	case s.PauseAtPeriodEnd:
		move("resume", "Do not pause")
	case s.Status == sdk.SubscriptionStatusActive, s.Status == sdk.SubscriptionStatusTrialing:
		move("pause", "Pause at the end of the period")
	}
	p.Actions = []ui.Link{{Text: "Cancel", Address: at + "/cancel", Danger: true}}
}

func (v *visit) subscriptionTerms(s *sdk.Subscription) []ui.Term {
	customer := ui.Cell{Text: "Deleted"}
	if c, ok := s.Customer.Get(); ok {
		customer = ui.Cell{Text: customerName(&c), Address: customersPage + "/" + c.ID}
	}
	terms := []ui.Term{
		{Name: "Customer", Value: customer}, {Name: "Costs", Value: ui.Cell{Text: every(s)}}, {Name: "Quantity", Value: ui.Cell{Text: strconv.FormatInt(s.Quantity, 10)}},
		{Name: "Began", Value: v.at(s.StartedAt.Time())}, {Name: "Period ends", Value: v.at(s.CurrentPeriodEnd.Time())},
	}
	if m, ok := s.PaymentMethod.Get(); ok {
		terms = append(terms, ui.Term{Name: "Charged to", Value: ui.Cell{Text: m.Brand + " …" + m.Last4}})
	}
	for _, moment := range []struct {
		name string
		at   *sdk.Time
	}{{"Trial ends", s.TrialEnd}, {"Ends", s.CancelAt}, {"Paused", s.PausedAt}, {"Resumes", s.ResumesAt}, {"Past due since", s.PastDueAt}, {"Tried again", s.NextPaymentAttemptAt}, {"Ended", s.EndedAt}} {
		if moment.at != nil {
			terms = append(terms, ui.Term{Name: moment.name, Value: v.when(moment.at)})
		}
	}
	if s.Cancellation != nil && s.Cancellation.Reason != nil {
		terms = append(terms, ui.Term{Name: "Why", Value: ui.Cell{Text: optionText(string(*s.Cancellation.Reason), append([]string{"payment_failed", "Nobody paid"}, cancelReasons...)...)}})
	}
	return append(terms, ui.Term{Name: "Id", Value: ui.Cell{Text: s.ID, Code: true}})
}

// nextInvoice says what the next period is going to cost, or that there is none.
func (d *Dashboard) nextInvoice(v *visit, s *sdk.Subscription) (ui.Section, error) {
	section := ui.Section{Title: "Next invoice"}
	if s.PauseAtPeriodEnd { // a preview is one of when it goes on
		section.Text = "It is paused when its period ends."
		return section, nil
	}
	preview, err := d.api.Subscriptions.PreviewRenewal(v.ctx(), s.ID)
	if refused, ok := errors.AsType[*sdk.Error](err); ok && refused.Code == sdk.CodeValidationFailed {
		section.Text = refused.Message
		return section, nil
	}
	if err != nil {
		return section, err
	}
	t := &ui.Table{Label: "Next invoice", Columns: []string{"What", "Quantity", "Net"}}
	for _, line := range preview.Lines {
		t.Rows = append(t.Rows, []ui.Cell{{Text: line.Description}, {Text: strconv.FormatInt(line.Quantity, 10), Number: true}, money(line.NetAmount, preview.Currency)})
	}
	section.Table, section.Terms = t, []ui.Term{
		{Name: "From", Value: v.at(preview.PeriodStart.Time())}, {Name: "Tax", Value: ui.Cell{Text: core.FormatAmount(preview.TaxAmount, preview.Currency)}},
		{Name: "Total", Value: ui.Cell{Text: core.FormatAmount(preview.TotalAmount, preview.Currency)}}, {Name: "To be charged", Value: ui.Cell{Text: core.FormatAmount(preview.AmountDue, preview.Currency)}},
	}
	return section, nil
}

// moveSubscription pauses a subscription, resumes it, or takes back that it ends.
func (d *Dashboard) moveSubscription(v *visit) error {
	id, said := v.Param("id"), ""
	var err error
	switch v.Param("move") {
	case "pause":
		_, err = d.api.Subscriptions.Pause(v.ctx(), id, &sdk.SubscriptionPause{AtPeriodEnd: new(true)}, v.once())
		said = "It is paused at the end of its period."
	case "resume":
		_, err = d.api.Subscriptions.Resume(v.ctx(), id, v.once())
		said = "It goes on."
	case "uncancel":
		_, err = d.api.Subscriptions.Uncancel(v.ctx(), id, v.once())
		said = "It is not cancelled any more."
	default:
		err = core.Missing("page", "", v.Param("move"))
	}
	if err != nil {
		return err
	}
	return v.done(subscriptionsPage+"/"+id, person.Notice{Text: said})
}

// cancelReasons are the reasons of a cancellation with their words.
var cancelReasons = []string{
	"", "Not said", "too_expensive", "Too expensive", "unused", "It is not used", "missing_features", "Something is missing", "low_quality", "It is not good enough", "too_complex", "Too complicated",
	"customer_service", "The service", "switched_service", "They use something else", "other", "Something else",
}

func cancelPage(v *visit, s *sdk.Subscription) ui.Page {
	return ui.Page{Heading: "Cancel " + productName(s), Up: &ui.Link{Text: productName(s), Address: subscriptionsPage + "/" + s.ID}, Form: &ui.Form{
		Text:   "At the end of the period nothing is lost, and it can be taken back until then. What waits to be billed is billed with a last invoice. At once, access ends and what is unpaid is void.",
		Submit: "Cancel subscription", Danger: true, Cancel: subscriptionsPage + "/" + s.ID, Once: newOnce(), Controls: []ui.Control{
			{Kind: "select", Name: "at_period_end", Label: "When", Options: chosen(v.field("at_period_end"), "yes", "At the end of the period", "no", "At once")},
			{Kind: "select", Name: "reason", Label: "Why", Options: chosen(v.field("reason"), cancelReasons...)},
			{Kind: "textarea", Name: "comment", Label: "Comment", Value: v.field("comment"), Lines: 3, Optional: true},
		},
	}}
}

// cancelForm says what happens when a subscription is cancelled.
func (d *Dashboard) cancelForm(v *visit) error {
	s, err := d.api.Subscriptions.Get(v.ctx(), v.Param("id"), sdk.Expand("product"))
	if err != nil {
		return err
	}
	return v.show(http.StatusOK, cancelPage(v, s))
}

// cancel ends a subscription, with its period or at once.
func (d *Dashboard) cancel(v *visit) error {
	s, err := d.api.Subscriptions.Get(v.ctx(), v.Param("id"), sdk.Expand("product"))
	if err != nil {
		return err
	}
	p, in := cancelPage(v, s), &sdk.SubscriptionCancel{Comment: v.optional("comment")}
	switch v.field("at_period_end") {
	case "yes", "no":
		in.AtPeriodEnd = new(v.field("at_period_end") == "yes")
	default:
		err = core.Invalid("at_period_end", "Choose one of these.")
	}
	if reason := v.field("reason"); reason != "" {
		in.Reason = new(sdk.CancellationFeedback(reason))
	}
	if err == nil {
		s, err = d.api.Subscriptions.Cancel(v.ctx(), s.ID, in, v.once())
	}
	if wrong, ok := problems(err, p.Form); ok {
		return v.show(http.StatusUnprocessableEntity, p, wrong...)
	}
	if err != nil {
		return err
	}
	said := "The subscription has ended."
	if s.EndedAt == nil {
		said = "The subscription ends with its period."
	}
	return v.done(subscriptionsPage+"/"+s.ID, person.Notice{Text: said})
}
