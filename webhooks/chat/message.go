package chat

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tillwright/tillwright/store/outbox"
)

// message is what an event tells people, before it is written in the form of one service.
type message struct {
	event    event
	title    string
	sentence phrase
	fields   []field
	mood     mood
	link     string // "" without one
	noun     string // what the link leads to
}

// field is a fact that is shown beside the sentence. Its value may have several lines.
type field struct{ name, value string }

// mood says whether the news is good or bad for the reader.
type mood int

const (
	moodNeutral mood = iota
	moodGood
	moodBad
)

// compose makes the message for an event. For a type of event that this release does not know, it tells only the type
// and the object.
func compose(body []byte, base string) (message, error) {
	e, err := readEvent(body)
	if err != nil {
		return message{}, err
	}
	m := tell(e)
	m.event, m.link, m.noun = e, linkTo(base, e.data), e.data.word("object")
	m.fields = slices.DeleteFunc(m.fields, func(f field) bool { return f.value == "" })
	if e.test {
		m.title = "Test: " + m.title
	}
	return m, nil
}

// tell chooses the message by the type of an event.
func tell(e event) message {
	if m, isKnown := outbox.OfEvent(messages{e.data}, e.kind); isKnown {
		return m
	}
	return somethingElse(e)
}

// messages makes the message of each type of event.
type messages struct{ data object }

func (m messages) LeadCreated() message     { return leadCreated(m.data) }
func (m messages) CheckoutCreated() message { return checkoutCreated(m.data) }
func (m messages) OrderCreated() message    { return orderCreated(m.data) }
func (m messages) OrderPaid() message       { return orderPaid(m.data) }
func (m messages) RefundCreated() message   { return refundChanged(m.data) }
func (m messages) RefundUpdated() message   { return refundChanged(m.data) }
func (m messages) InvoiceCreated() message  { return invoiceCreated(m.data) }
func (m messages) InvoicePaid() message     { return invoicePaid(m.data) }
func (m messages) InvoicePastDue() message  { return invoicePastDue(m.data) }
func (m messages) InvoiceVoided() message   { return invoiceVoided(m.data) }
func (m messages) ProductCreated() message  { return productCreated(m.data) }
func (m messages) ProductUpdated() message  { return productUpdated(m.data) }

// leadCreated makes the message about a new lead. The data is the lead, or an object that has it inlined.
func leadCreated(data object) message {
	lead := data.object("lead")
	if lead == nil {
		lead = data
	}
	product := lead.object("product").str("name")
	return message{
		title: "New lead", mood: moodGood,
		sentence: says(either(lead.str("name"), data.str("name"), lead.str("email"), data.str("email"), "Somebody")).and(" is a new lead").
			maybe(" for ", product).and("."),
		fields: []field{
			{"Email", either(lead.str("email"), data.str("email"))}, {"Phone", either(lead.str("phone"), data.str("phone"))},
			{"Source", lead.word("source")}, {"Status", lead.word("status")},
		},
	}
}

func checkoutCreated(c object) message {
	things := either(things(c.objects("line_items")), "something")
	return message{
		title:    "New checkout",
		sentence: says(who(c)).and(" is checking out ").and(things).maybeStrong(" for ", price(c)).and("."),
		fields:   saleFields(c),
	}
}

func orderCreated(o object) message {
	things := either(things(o.objects("line_items")), "something")
	return message{
		title: strings.TrimSpace("New order " + hash(o.documentNumber())), mood: moodGood,
		sentence: says(who(o)).and(" ordered ").and(things).maybeStrong(" for ", price(o)).and("."),
		fields:   saleFields(o),
	}
}

func orderPaid(o object) message {
	things := things(o.objects("line_items"))
	m := message{title: numbered("Order", hash(o.documentNumber())) + " paid", mood: moodGood, fields: saleFields(o)}
	if o.isZero("total_amount") {
		m.sentence = says(who(o)).and(" got ").and(either(things, "an order")).and(" for free.")
		return m
	}
	m.sentence = says(who(o)).and(" paid").maybeStrong(" ", o.money("total_amount")).maybe(" for ", things).and(".")
	return m
}

// saleFields returns the fields of a checkout or an order.
func saleFields(sale object) []field {
	fields := []field{
		{"Customer", email(sale)}, {"Total", sale.money("total_amount")}, {"Status", sale.word("status")},
		{"Items", items(sale.objects("line_items"))},
	}
	if reason := sale.word("billing_reason"); reason != "purchase" {
		fields = append(fields, field{"Reason", reason})
	}
	return fields
}

// refundChanged makes the message about a refund. It goes by the refund's status and not by the event's type, because a
// refund may be done as soon as it is created.
func refundChanged(order object) message {
	refund := order.object("refund")
	if refund == nil {
		refund = order
	}
	m := message{
		title: "Refund", mood: moodBad,
		fields: []field{
			{"Customer", email(order)}, {"Refund", refund.money("amount")}, {"Status", refund.word("status")},
			{"Reason", refund.word("reason")}, {"Failure", refund.word("failure_reason")}, {"Comment", refund.str("comment")},
		},
	}
	if order.str("object") == "order" {
		m.title = numbered("Refund of order", hash(order.documentNumber()))
	}
	amount, things := refund.money("amount"), things(order.objects("line_items"))
	switch status := refund.word("status"); status {
	case "succeeded":
		m.sentence = says(who(order)).and(" was refunded").maybeStrong(" ", amount).maybe(" for ", things).and(".")
	case "failed", "canceled":
		m.sentence = says("The refund").maybeStrong(" of ", amount).and(" to ").and(whom(order)).maybe(" for ", things).
			and(map[string]string{"failed": " failed.", "canceled": " was canceled."}[status])
	default:
		m.sentence = says(who(order)).and(" is being refunded").maybeStrong(" ", amount).maybe(" for ", things).and(".")
	}
	return m
}

func invoiceCreated(i object) message {
	name := numbered("Invoice", i.documentNumber())
	m := message{title: "New " + strings.ToLower(name[:1]) + name[1:], fields: invoiceFields(i)}
	if i.str("status") == "draft" {
		m.title = "New draft of an invoice"
		m.sentence = says("An invoice").maybeStrong(" of ", i.money("total_amount")).and(" to ").and(whom(i)).and(" was drafted.")
		return m
	}
	m.sentence = says(name).maybeStrong(" of ", i.money("total_amount")).and(" was issued to ").and(whom(i)).
		maybe(" for ", things(i.objects("lines"))).and(".")
	return m
}

func invoicePaid(i object) message {
	name := numbered("Invoice", i.documentNumber())
	return message{
		title: name + " paid", mood: moodGood, fields: invoiceFields(i),
		sentence: says(name).maybeStrong(" of ", i.money("total_amount")).and(" was paid by ").and(whom(i)).and("."),
	}
}

func invoicePastDue(i object) message {
	name := numbered("Invoice", i.documentNumber())
	return message{
		title: name + " past due", mood: moodBad, fields: invoiceFields(i),
		sentence: says(name).and(" is past due: ").and(whom(i)).and(" owes ").
			maybeStrong("", either(i.money("amount_due"), i.money("total_amount"), "money")).and("."),
	}
}

func invoiceVoided(i object) message {
	name := numbered("Invoice", i.documentNumber())
	return message{
		title: name + " voided", fields: invoiceFields(i),
		sentence: says(name).maybeStrong(" of ", i.money("total_amount")).and(" to ").and(whom(i)).and(" was voided."),
	}
}

func invoiceFields(i object) []field {
	fields := []field{
		{"Customer", email(i)}, {"Total", i.money("total_amount")}, {"Status", i.word("status")}, {"Items", items(i.objects("lines"))},
		{"Next attempt", i.day("next_payment_attempt_at")}, {"Reason", i.word("void_reason")},
	}
	if amount, ok := i.int("amount_due"); ok && amount != 0 {
		fields = append(fields, field{"Open", i.money("amount_due")}, field{"Due", i.day("due_at")})
	}
	return fields
}

func productCreated(p object) message {
	return message{
		title: "New product", fields: productFields(p),
		sentence: says(either(p.str("name"), "A product")).and(" was added to the products").maybeStrong(" for ", prices(p)).and("."),
	}
}

func productUpdated(p object) message {
	return message{
		title: "Product changed", fields: productFields(p),
		sentence: says(either(p.str("name"), "A product")).and(" was changed."),
	}
}

func productFields(p object) []field {
	return []field{
		{"Price", prices(p)}, {"Status", p.word("status")}, {"Type", p.word("type")}, {"Visibility", p.word("visibility")},
	}
}

// prices returns a product's price, or the lowest and the highest.
func prices(p object) string {
	span := p.object("price_range")
	low, high := span.money("min_amount"), span.money("max_amount")
	switch {
	case low == "" || high == "" || low == high:
		if span.isZero("max_amount") {
			return "free"
		}
		return either(low, high)
	case span.isZero("min_amount"):
		return "free to " + high
	}
	return low + " to " + high
}

func somethingElse(e event) message {
	kind := either(e.kind, "unknown")
	return message{
		title:    "Event " + cut(kind, longest/2),
		sentence: says("Event ").and(kind).and(" happened").maybe(" to ", e.data.str("id")).and("."),
		fields:   []field{{"Status", e.data.word("status")}},
	}
}

// who names the person behind an object, at the beginning of a sentence.
func who(o object) string { return either(person(o), "A customer") }

// whom names the person behind an object within a sentence.
func whom(o object) string { return either(person(o), "a customer") }

func person(o object) string {
	return either(o.object("customer").str("name"), o.str("customer_name"), o.str("billing_name"), email(o))
}

func email(o object) string {
	return either(o.object("customer").str("email"), o.str("customer_email"))
}

// price returns a total as a sentence says it: an amount, or "free".
func price(o object) string {
	if o.isZero("total_amount") {
		return "free"
	}
	return o.money("total_amount")
}

// things names the first thing that was bought and says how many others there are.
func things(lines []object) string {
	if len(lines) == 0 {
		return ""
	}
	first := thing(lines[0], longest)
	switch others := len(lines) - 1; {
	case first == "":
		return ""
	case others == 1:
		return first + " and 1 more item"
	case others > 1:
		return first + " and " + strconv.Itoa(others) + " more items"
	}
	return first
}

func thing(line object, most int) string {
	return cut(either(line.str("product_name"), line.str("description")), most)
}

// items lists what was bought if the sentence cannot say it: several things, several of one, or a variant. Each line
// begins with a quantity, so that what somebody typed is never at the beginning of one.
func items(lines []object) string {
	const shown = 3
	listed, telling := []string{}, len(lines) > 1
	for i, line := range lines {
		quantity, _ := line.int("quantity")
		quantity = max(quantity, 1)
		variant := cut(line.str("price_variant_name"), shorter)
		telling = telling || quantity != 1 || variant != ""
		if i < shown {
			listed = append(listed, strconv.FormatInt(quantity, 10)+" × "+either(thing(line, longest/2), "item")+bracketed(variant))
		}
	}
	if !telling {
		return ""
	}
	if others := len(lines) - shown; others > 0 {
		listed = append(listed, "and "+strconv.Itoa(others)+" more")
	}
	return strings.Join(listed, "\n")
}

func bracketed(s string) string {
	if s == "" {
		return ""
	}
	return " (" + s + ")"
}

func numbered(noun, number string) string { return strings.TrimSpace(noun + " " + number) }

func hash(number string) string {
	if number == "" {
		return ""
	}
	return "#" + number
}

// either returns the first text that is not empty.
func either(choices ...string) string {
	for _, choice := range choices {
		if choice != "" {
			return choice
		}
	}
	return ""
}
