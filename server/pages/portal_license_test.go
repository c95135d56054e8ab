package pages_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/activity"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/grant"
)

// licensed gives the guest a program, and activates its key on a device of this name. It returns the paths of the key's page and
// of the button that deactivates the device.
func (g *guest) licensed(name *string) (page, button string) {
	g.t.Helper()
	program := g.sell(catalog.Product{Name: "Tide calculator", Deliverables: []catalog.Deliverable{{Type: catalog.DeliverableTypeLicenseKey}}}, 1900)
	_, err := g.CreateGrant(g.t.Context(), g.account, store.NewGrant{Customer: g.customer.ID, Product: program.ID})
	require.NoError(g.t, err)
	keys, _, err := g.ListLicenseKeys(g.t.Context(), g.account, grant.ListLicenseKeys{Page: core.Page{Limit: 1}, Product: program.ID})
	require.NoError(g.t, err)
	require.Len(g.t, keys, 1)
	key, err := g.Grant.GetLicenseKey(g.t.Context(), g.account, keys[0].ID)
	require.NoError(g.t, err)
	a, err := g.ActivateLicense(g.t.Context(), g.account, grant.LicenseUse{Key: *key.Key, Product: program.ID, Fingerprint: "8f14e45fceea167a5a36", Name: name})
	require.NoError(g.t, err)
	return "/licenses/" + key.ID, "/licenses/" + key.ID + "/" + a.ID + "/remove"
}

func TestPortal_CustomerDeactivatesADevice(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		path, button := g.licensed(new("Grace's <b>laptop</b>"))
		assert.Contains(t, g.see("", http.StatusOK), path+`" aria-label="Devices: Tide calculator"`)
		page := g.see(path, http.StatusOK)
		for _, text := range []string{"Tide calculator", "Active on 1", "Deactivate: <bdi>Grace&#39;s &lt;b&gt;laptop&lt;/b&gt;</bdi>"} {
			assert.Contains(t, page, text)
		}
		other := g.shop.guest("other@example.com")
		other.see(path, http.StatusNotFound)
		other.does(button, nil, http.StatusNotFound)
		assert.Contains(t, g.see(path, http.StatusOK), "Active on 1")

		assert.Contains(t, g.does(button, nil, http.StatusOK), "The device is deactivated.")
		assert.Contains(t, g.does(button, nil, http.StatusOK), "not active on any device", "twice")
		assert.NotContains(t, g.see(path, http.StatusOK), "Active on 0", "it is said once")
		lines, _, err := g.Activity.ListActivities(t.Context(), g.account, activity.ListActivities{Page: core.Page{Limit: 10}, Actor: g.customer.ID})
		require.NoError(t, err)
		for _, line := range lines {
			assert.Equal(t, "deleteLicenseActivation", line.Operation)
		}
	})
}

func TestPortal_ALicenseGoesWithItsGrant(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		path, button := g.licensed(nil)
		assert.Contains(t, g.see(path, http.StatusOK), "Deactivate: <bdi>Device 8f14e45fceea</bdi>")
		grants, err := g.Grant.CurrentGrants(t.Context(), g.account, g.customer.ID)
		require.NoError(t, err)
		_, err = g.Grant.RevokeGrant(t.Context(), g.account, grants[0].ID)
		require.NoError(t, err)
		g.see(path, http.StatusNotFound)
		g.does(button, nil, http.StatusNotFound)
	})
}
