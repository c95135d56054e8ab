package pages

import (
	"html/template"

	"github.com/tillwright/tillwright/server/ui"
)

// script is one of our own, which stands in the pages that need it.
type script struct {
	text template.JS
	hash string // by which a Content-Security-Policy lets it run
}

// scripts are all of ours.
type scripts struct {
	checkout script // counts the total of an open checkout anew, and says what is empty
	stripe   script // takes a card with Stripe's script
	copy     script // copies licence keys
}

func readScripts() (scripts, error) {
	var all scripts
	for name, into := range map[string]*script{"checkout.js": &all.checkout, "stripe.js": &all.stripe, "copy.js": &all.copy} {
		text, err := files.ReadFile(name)
		if err != nil {
			return all, err
		}
		*into = script{template.JS(text), ui.HashOf(text)} //nolint:gosec // a file of ours
	}
	return all, nil
}

// policyFor returns what the Content-Security-Policy of a page with this data allows besides that of other pages. It lets the scripts of the page run,
// and what these need. For Stripe this is what Stripe says that its script needs.
func (s *scripts) policyFor(data any) string {
	ours, connects, frames := "", "", ""
	if isLive(data) {
		ours, connects = ours+" "+s.checkout.hash, " 'self'"
	}
	if copies(data) {
		ours += " " + s.copy.hash
	}
	if takesStripe(data) {
		ours += " " + s.stripe.hash + " https://js.stripe.com https://*.js.stripe.com"
		connects += " https://api.stripe.com"
		frames = "; frame-src https://js.stripe.com https://*.js.stripe.com https://hooks.stripe.com"
	}
	if ours == "" {
		return ""
	}
	if connects != "" {
		connects = "; connect-src" + connects
	}
	return "; script-src" + ours + frames + connects
}

// takesStripe reports whether Stripe may take a card on the page with this data.
func takesStripe(data any) bool {
	by, ok := data.(interface{ TakesStripe() bool })
	return ok && by.TakesStripe()
}

// isLive reports whether the page with this data counts its total anew.
func isLive(data any) bool {
	by, ok := data.(interface{ IsLive() bool })
	return ok && by.IsLive()
}

// copies reports whether the page with this data shows a licence key.
func copies(data any) bool {
	by, ok := data.(interface{ HasKey() bool })
	return ok && by.HasKey()
}
