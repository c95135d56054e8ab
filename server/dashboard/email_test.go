package dashboard_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

func TestEmails_AreListedAndSentAgain(t *testing.T) {
	t.Parallel()
	eachAlone(t, func(t *testing.T, w *world) {
		sees(t, w.owner, "/app/emails", "None was written yet.")
		w.sold()
		require.Eventually(t, func() bool { return len(w.Mail.Listed()) == 1 }, harness.Patience, 20*time.Millisecond)
		letters, err := w.api.SDK().Letters.List(t.Context(), &sdk.ListLettersParams{})
		require.NoError(t, err)
		require.Len(t, letters.Data, 1)
		address := "/app/emails/" + letters.Data[0].ID
		require.Eventually(t, func() bool {
			l, err := w.api.SDK().Letters.Get(t.Context(), letters.Data[0].ID)
			return err == nil && l.Status == sdk.LetterStatusSent
		}, harness.Patience, 20*time.Millisecond)
		sees(t, w.owner, "/app/emails?kind=receipt&status=sent", "Receipt", "grace@example.com")
		sees(t, w.owner, "/app/emails?status=failed", "Nothing matches.")
		sees(t, w.owner, address, "Receipt</h1>", "Sent</span>", "Send it again")
		sends(t, w.owner, address+"/resend", nil)
		require.Eventually(t, func() bool { return len(w.Mail.Listed()) == 2 }, harness.Patience, 20*time.Millisecond)
	})
}
