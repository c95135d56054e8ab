package contract

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

// Whether a letter about a cancellation has left when that is taken back is chance. Its customer reads both, or neither.
func TestLetters_OfACancellationThatIsTakenBackBothAreSentOrNeither(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		sub := subscription(t, c, monthly(t, c, 900))
		ok[*sdk.Subscription](t)(c.Subscriptions.Cancel(background, sub.ID, &sdk.SubscriptionCancel{AtPeriodEnd: new(true)}))
		ok[*sdk.Subscription](t)(c.Subscriptions.Uncancel(background, sub.ID))
		became := map[sdk.LetterKind]sdk.LetterStatus{}
		for _, kind := range []sdk.LetterKind{"subscription_canceled", "subscription_kept"} {
			assert.True(t, comes(func() bool {
				letters, _ := lettersOf(t, c, kind)
				if len(letters) == 1 {
					became[kind] = letters[0].Status
				}
				return became[kind] == sdk.LetterStatusSent || became[kind] == sdk.LetterStatusSkipped
			}), "%s became %s", kind, became[kind])
		}
		assert.Equal(t, became["subscription_canceled"], became["subscription_kept"])
	})
}
