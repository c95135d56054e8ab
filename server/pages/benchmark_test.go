package pages

import (
	"io"
	"testing"

	"github.com/tillwright/tillwright/server/locale"
)

// BenchmarkCheckoutPage draws the page that is drawn most.
func BenchmarkCheckoutPage(b *testing.B) {
	templates, err := parse(locale.English, scripts{})
	if err != nil {
		b.Fatal(err)
	}
	d := everyPage(locale.English, usual)
	for _, page := range d {
		if page.name != "checkout" {
			continue
		}
		for b.Loop() {
			if err := templates.Write(io.Discard, page.template, page.frame, page.data); err != nil {
				b.Fatal(err)
			}
		}
	}
}
