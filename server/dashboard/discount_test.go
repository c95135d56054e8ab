package dashboard_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDiscounts_AreMadeUsedAndSwitchedOff(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		sees(t, w.owner, "/app/discounts", "There is none yet.")
		sees(t, w.owner, "/app/discounts/new", "Create discount")
		good := url.Values{"name": {"Spring <b>"}, "code": {"SPRING"}, "type": {"percent"}, "amount": {"12,5"}, "currency": {"eur"}, "duration": {"once"}, "max_redemptions": {"3"}, "ends_at": {"2099-12-31"}}
		for field, wrong := range map[string]string{"name": "", "amount": "120", "type": "half", "max_redemptions": "many", "ends_at": "tomorrow", "code": "white space"} {
			bad := url.Values{}
			for name, values := range good {
				bad[name] = values
			}
			bad.Set(field, wrong)
			status, page := w.owner.Post("/app/discounts/new", bad)
			require.Equal(t, http.StatusUnprocessableEntity, status, field)
			require.Contains(t, page, "There is a problem", field)
		}
		good.Set("once", "aaaaaaaaaaaaaaaaaaaaaaaa")
		address := sends(t, w.owner, "/app/discounts/new", good)
		require.Equal(t, address, sends(t, w.owner, "/app/discounts/new", good), "a double click")
		sees(t, w.owner, address, "Spring &lt;b&gt;</h1>", "12.5 % off.", "SPRING", "Nobody has used it yet.", "Active")
		x, err := w.api.SDK().Discounts.Get(t.Context(), strings.TrimPrefix(address, "/app/discounts/"))
		require.NoError(t, err)
		require.Equal(t, []int64{1250, 3}, []int64{*x.PercentBps, *x.MaxRedemptions})
		require.Equal(t, "2100-01-01T00:00:00.000Z", x.EndsAt.String(), "the whole last day")
		sees(t, w.owner, "/app/discounts?status=active", "0 of 3")
		sends(t, w.owner, address+"/disable", nil)
		sees(t, w.owner, address, "The discount is off.", "Off</span>")
		sends(t, w.owner, address+"/enable", nil)
		sees(t, w.owner, address, "Active</span>")
		fixed := url.Values{"name": {"Five"}, "type": {"fixed"}, "amount": {"5"}, "currency": {"eur"}, "duration": {"forever"}}
		sees(t, w.owner, sends(t, w.owner, "/app/discounts/new", fixed), "EUR\u00a05.00 off, every payment of a subscription.")
	})
}
