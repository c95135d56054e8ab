package contract

import (
	"net/http"
	"testing"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/tests/harness"
)

func TestUpdateAccount_ChangesWhatIsSent(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		a := ok[*sdk.Account](t)(c.Account.Update(background, &sdk.AccountUpdate{
			BusinessName: sdk.Set("Ada Ltd"), Timezone: new("Europe/Berlin"), BusinessAddress: sdk.Set(sdk.Address{Country: new("GB")}),
		}))
		if *a.BusinessName != "Ada Ltd" || a.Timezone != "Europe/Berlin" || *a.BusinessAddress.Country != "GB" || a.Name != "Test" {
			t.Errorf("the account is %+v", a)
		}
		a = ok[*sdk.Account](t)(c.Account.Update(background, &sdk.AccountUpdate{BusinessName: sdk.Null[string]()}))
		if a.BusinessName != nil || a.BusinessAddress == nil {
			t.Errorf("the account is %+v", a)
		}
		if read := ok[*sdk.Account](t)(c.Account.Get(background)); read.UpdatedAt != a.UpdatedAt {
			t.Errorf("the account reads as %+v", read)
		}
	})
}

func TestUpdateAccount_NeedsThePlan(t *testing.T) {
	onEach(t, func(t *testing.T, _ *sdk.Client, s *harness.Server) {
		free := s.AccountOn(t, store.PlanFree).SDK()
		for param, body := range map[string]*sdk.AccountUpdate{
			"custom_domain":   {CustomDomain: sdk.Set("shop.ada.example")},
			"remove_branding": {RemoveBranding: new(true)},
		} {
			_, err := free.Account.Update(background, body)
			refused(t, err, http.StatusPaymentRequired, sdk.CodePlanUpgradeRequired, param)
			ok[*sdk.Account](t)(s.AccountOn(t, store.PlanPro).SDK().Account.Update(background, &sdk.AccountUpdate{RemoveBranding: new(true)}))
		}
		// What is switched off needs no plan.
		ok[*sdk.Account](t)(free.Account.Update(background, &sdk.AccountUpdate{RemoveBranding: new(false), CustomDomain: sdk.Null[string]()}))
	})
}

func TestUpdateAccount_RefusesWhatCannotBe(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		taken := ok[*sdk.Account](t)(s.SDK(t).Account.Get(background)).Handle
		for param, body := range map[string]*sdk.AccountUpdate{
			"handle":               {Handle: &taken},
			"default_currency":     {DefaultCurrency: new("xyz")},
			"timezone":             {Timezone: new("Mars/Olympus")},
			"statement_descriptor": {StatementDescriptor: sdk.Set("more than twenty-two characters")},
			"country":              {Country: sdk.Set("Germany")},
		} {
			_, err := c.Account.Update(background, body)
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, param)
		}
	})
}
