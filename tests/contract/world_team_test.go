package contract

import (
	"net/http"
	"testing"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/person"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness"
)

// team gives the account an owner, who is told of a sale, then of the day before, then of the week before.
func team(t *testing.T, s *harness.Server, owner *harness.Client) {
	t.Helper()
	c := owner.SDK()
	s.Member(t, owner.Account, person.RoleOwner)
	ok[*sdk.Account](t)(c.Account.Update(background, &sdk.AccountUpdate{Letters: map[string]bool{"sale": true}}))
	bought := checkout(t, c, "sold@example.com", onSale(t, c, 1900))
	ok[*sdk.Checkout](t)(c.Checkouts.Confirm(background, bought.ID, by("pm_card_visa")))
	_, err := c.Invoices.Pay(background, issued(t, c).ID, payWith("pm_card_chargeDeclined"))
	refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "payment_method")
	told := func(kind tenant.LetterKind) {
		if !comes(func() bool {
			n := 0
			err := s.DB.QueryRowContext(t.Context(), `SELECT count(*) FROM team_letters WHERE account_id = '`+owner.Account+`' AND kind = '`+string(kind)+`'`).Scan(&n)
			return err == nil && n > 0
		}) {
			t.Fatalf("nobody was told of %s", kind)
		}
	}
	told(tenant.LetterSale)
	if _, err := s.DB.ExecContext(t.Context(), `UPDATE ai_sites SET is_live = TRUE, domain_told = TRUE, domain_tell_at = 1 WHERE account_id = '`+owner.Account+`' AND domain IS NOT NULL`); err != nil {
		t.Fatal(err)
	}
	told(tenant.LetterDomainFailing)
	for _, kinds := range [][]tenant.LetterKind{{tenant.LetterSalesDaily, tenant.LetterFailedDaily}, {tenant.LetterWeek}} {
		advance(t, c, core.Day)
		if _, err := s.DB.ExecContext(t.Context(), `UPDATE accounts SET team_due_at = 1 WHERE id = '`+owner.Account+`'`); err != nil {
			t.Fatal(err)
		}
		for _, kind := range kinds {
			told(kind)
		}
		advance(t, c, 6*core.Day)
	}
}
