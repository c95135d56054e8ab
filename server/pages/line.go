package pages

import "github.com/tillwright/tillwright/server/mail"

// Describe says what a line is about.
func (p checkoutPage) Describe(line shownLine) string { return mail.Describe(p.l, &line.Item) }
