package view

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/store/advert"
)

func TestNewAd_NamesWhateverIsNoFieldOfIt(t *testing.T) {
	t.Parallel()
	const kept, ignored = " is no field of a new ad: it is kept and shown with it, and not sent to the network.", " was ignored: an ad has a field "
	for name, said := range map[string]string{
		"utm_source": kept, "-": kept, "": kept, "$x": kept, "Größe": kept, "AdditionalProperties": kept,
		"link-url": kept + " It does not set link_url.", "dailyBudget": kept, "budgetAmount": kept + " It does not set budget_amount.",
		"id": ignored + "id itself.", "ID": ignored + "id itself.", "metrics": ignored + "metrics itself.",
		"Status": ignored + "status itself. It does not set status.", "ſtatus": ignored + "status itself. It does not set status.",
	} {
		in := NewAd(&api.AdCreate{}, map[string]any{name: nil}, nil)
		assert.Equal(t, []string{`"` + name + `"` + said}, in.Warnings)
		_, isKept := in.Extra[name]
		assert.Equal(t, strings.HasPrefix(said, kept), isKept, name)
	}
	in := NewAd(&api.AdCreate{}, map[string]any{strings.Repeat("é", 200): 1, "a": 2}, nil)
	assert.Equal(t, []string{`"a"` + kept, `"` + strings.Repeat("é", 100) + `…"` + kept}, in.Warnings, "sorted, and shortened")
	assert.Len(t, in.Extra, 2)
	assert.Empty(t, NewAd(&api.AdCreate{}, nil, nil).Warnings)
}

// TestExtras_HideNoFieldOfAnAd is of what was stored before an ad had a field of its name.
func TestExtras_HideNoFieldOfAnAd(t *testing.T) {
	t.Parallel()
	shown := extras(advert.NewObject(map[string]any{"id": 1, "Metrics": 2, "-": nil, "x": json.Number("1.50")}))
	assert.Equal(t, map[string]json.RawMessage{"-": json.RawMessage("null"), "x": json.RawMessage("1.50")}, shown)
}

// A network may tell of an ad without its ad group, and of an ad group without its campaign.
func TestAd_IsShownWithoutWhatItIsIn(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "a", Ad(&ads.ShownAd{Row: advert.Ad{PlatformID: "a"}}).ID)
	assert.Equal(t, "g", AdGroup(&ads.ShownAdGroup{Row: advert.Group{PlatformID: "g"}}).ID)
	assert.Equal(t, "c", AdCampaign(&ads.ShownCampaign{Row: advert.Campaign{PlatformID: "c"}}).ID)
	alone := &advert.Group{PlatformID: "g", BudgetAmount: advert.AmountUnit}
	assert.Nil(t, Ad(&ads.ShownAd{Row: advert.Ad{PlatformID: "a", Group: alone}}).Schedule.EndDate)
}
