package payment

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/mailbox"
	"github.com/tillwright/tillwright/store/throttle"
)

// TestGuards_LetPassWhatTheGuideSays holds every figure of its table, and of the sentences around it.
func TestGuards_LetPassWhatTheGuideSays(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile("../../server/reference/guide/limits.md")
	require.NoError(t, err)
	guide := strings.Join(strings.Fields(string(file)), " ")

	assert.Equal(t, time.Hour, guardWindow)
	assert.Equal(t, time.Minute, mailbox.VerificationPause)
	waits := func(p patience) string {
		assert.Equal(t, time.Minute, p.First)
		if p.First == p.Longest {
			return "1 minute"
		}
		return fmt.Sprintf("1, 2, 4 ... %d minutes", p.Longest/time.Minute)
	}
	for subject, row := range map[string]string{
		"a checkout":                             fmt.Sprintf("%d, until nobody has tried for an hour after the last wait", checkoutAttempts),
		"an invoice":                             "",
		"an address (of IPv6 a /64), without an": guardAddress,
		"a network (/24, of IPv6 a /48)":         guardNetwork,
		"a private address":                      guardInside,
		"a customer":                             guardCustomer,
	} {
		p := patienceFor(row)
		free := fmt.Sprintf("%d an hour", p.Free)
		if subject == "a checkout" {
			p, free = patienceFor(guardInvoice), row
		}
		_, after, found := strings.Cut(guide, "| "+subject)
		require.True(t, found, subject)
		_, figures, _ := strings.Cut(after, " | ")
		assert.True(t, strings.HasPrefix(figures, fmt.Sprintf("%s | %s | %d |", free, waits(p), p.atOnce)), "%s: %.80s", subject, figures)
	}

	for _, sentence := range []string{
		fmt.Sprintf("paused for %s for buyers without a key", throttle.Spoken(salesPause)),
		fmt.Sprintf("of the others one every %s,", throttle.Spoken(pausedTurn)),
		fmt.Sprintf("as long as it was held, at least %d minute, before", shortestTurn/time.Minute),
		fmt.Sprintf("| a receipt or an invoice that you send | %d times an hour | | all letters of an account | %d an hour |", mailbox.DocumentLetters, mailbox.AccountLetters),
		fmt.Sprintf("without a key | %d a day, and %d an hour for an account |", mailbox.PageDocumentLetters, mailbox.PageAccountLetters),
		fmt.Sprintf("%d a day for a checkout, a minute apart; %d an hour to an address; %d an hour for an account |", mailbox.CheckoutVerifications, mailbox.RecipientVerifications, mailbox.AccountVerifications),
		fmt.Sprintf("%d an hour from one network address (of IPv6 a /64), or %d from a private one; %d from the network around it", mailbox.SenderLetters, mailbox.InsideLetters, mailbox.NetworkLetters),
	} {
		assert.Contains(t, guide, sentence)
	}
}
