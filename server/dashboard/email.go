package dashboard

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/person"
)

const emailsPage = "/app/emails"

// letterKinds are the letters to customers, with their names.
var letterKinds = []string{
	"receipt", "Receipt", "refund", "Refund", "payment_failed", "Payment failed", "trial_ending", "Trial ends", "subscription_canceled", "Subscription cancelled",
	"subscription_ended", "Subscription ended", "access_given", "Access given", "subscription_kept", "Subscription kept", "plan_changed", "Plan changed", "renewal_upcoming", "Renewal soon",
	"card_expiring", "Card expires", "invoice", "Invoice", "invoice_reminder", "Invoice reminder", "file_updated", "New version of a file", "checkout_abandoned", "Abandoned checkout", "product_news", "Product news",
}

func letterName(kind sdk.LetterKind) string {
	for _, option := range chosen("", letterKinds...) {
		if option.Value == string(kind) {
			return option.Text
		}
	}
	return strings.ReplaceAll(string(kind), "_", " ")
}

func letterBadge(s sdk.LetterStatus) *ui.Badge {
	switch s {
	case sdk.LetterStatusSent:
		return &ui.Badge{Text: "Sent", Tone: "good", Icon: "check"}
	case sdk.LetterStatusFailed:
		return &ui.Badge{Text: "Failed", Tone: "bad", Icon: "alert"}
	case sdk.LetterStatusSkipped:
		return &ui.Badge{Text: "Not sent", Icon: "cross"}
	case sdk.LetterStatusQueued:
	}
	return &ui.Badge{Text: "Waits", Tone: "warn", Icon: "clock"}
}

// emails lists the letters that customers were sent, and those that wait or failed.
func (d *Dashboard) emails(v *visit) error {
	after, before := v.position()
	in := &sdk.ListLettersParams{Limit: new(onPage), StartingAfter: after, EndingBefore: before}
	kind, status := v.QueryParam("kind"), v.QueryParam("status")
	if kind != "" {
		in.Kind = new(sdk.LetterKind(kind))
	}
	if status != "" {
		in.Status = new(sdk.LetterStatus(status))
	}
	list, err := d.api.Letters.List(v.ctx(), in)
	if err != nil {
		return err
	}
	t := &ui.Table{Label: "Letters", Columns: []string{"Letter", "To", "State", "Attempts", "When"}}
	for i := range list.Data {
		l := &list.Data[i]
		t.Rows = append(t.Rows, []ui.Cell{{Text: letterName(l.Kind), Address: emailsPage + "/" + l.ID}, textCell(l.To), {Badge: letterBadge(l.Status)}, {Text: strconv.FormatInt(l.Attempts, 10), Number: true}, v.at(l.CreatedAt.Time())})
	}
	if n := len(list.Data); n > 0 {
		v.turn(t, list.Data[0].ID, list.Data[n-1].ID, list.HasMore)
	}
	t.Empty = v.nothing(&ui.Empty{Text: "Customers get a letter when they buy, when a payment fails, when something ends, and when you send an invoice. None was written yet."})
	return v.show(http.StatusOK, ui.Page{Heading: "E-mails", Actions: []ui.Link{{Text: "Product news", Address: newsPage}, {Text: "Letters to your team", Address: lettersPage}}, Table: t, Filter: &ui.Form{Get: true, Inline: true, Submit: "Show", Controls: []ui.Control{
		{Kind: "select", Name: "kind", Label: "Letter", Options: chosen(kind, append([]string{"", "All"}, letterKinds...)...)},
		{Kind: "select", Name: "status", Label: "State", Options: chosen(status, "", "All", "sent", "Sent", "queued", "Waits", "failed", "Failed", "skipped", "Not sent")},
	}}})
}

// email shows a letter: whom it went to, and what the mail server said if it did not take it.
func (d *Dashboard) email(v *visit) error {
	l, err := d.api.Letters.Get(v.ctx(), v.Param("id"))
	if err != nil {
		return err
	}
	p := ui.Page{Heading: letterName(l.Kind), Badge: letterBadge(l.Status), Up: &ui.Link{Text: "E-mails", Address: emailsPage}, Sections: []ui.Section{{Terms: []ui.Term{
		{Name: "To", Value: textCell(l.To)}, {Name: "Subject", Value: textCell(l.Subject)}, {Name: "Customer", Value: ui.Cell{Text: l.Customer.ID, Code: true, Address: customersPage + "/" + l.Customer.ID}},
		{Name: "Written", Value: v.at(l.CreatedAt.Time())}, {Name: "Sent", Value: v.when(l.SentAt)}, {Name: "Next attempt", Value: v.when(l.NextAttemptAt)},
		{Name: "Attempts", Value: ui.Cell{Text: strconv.FormatInt(l.Attempts, 10)}}, {Name: "What went wrong", Value: ui.Cell{Text: core.Deref(l.LastError)}}, {Name: "Id", Value: ui.Cell{Text: l.ID, Code: true}},
	}}}}
	if l.Kind == sdk.LetterKindProductNews {
		p.Up = &ui.Link{Text: "Product news", Address: newsPage + "/" + l.About.ID}
	}
	if v.may("customers:write") && l.Kind != sdk.LetterKindCheckoutAbandoned && l.Kind != sdk.LetterKindProductNews && (l.Status == sdk.LetterStatusSent || l.Status == sdk.LetterStatusFailed) {
		p.Sections = append(p.Sections, ui.Section{Forms: []ui.Form{{Action: emailsPage + "/" + l.ID + "/resend", Submit: "Send it again", Inline: true, Once: newOnce()}}})
	}
	return v.show(http.StatusOK, p)
}

// resendEmail sends a letter again.
func (d *Dashboard) resendEmail(v *visit) error {
	if _, err := d.api.Letters.Resend(v.ctx(), v.Param("id"), v.once()); err != nil {
		return err
	}
	return v.done(emailsPage+"/"+v.Param("id"), person.Notice{Text: "The letter is sent again."})
}
