package program

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/ads/meta"
	"github.com/tillwright/tillwright/ads/pinterest"
	"github.com/tillwright/tillwright/ads/zernio"
	"github.com/tillwright/tillwright/server"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/webhooks"
)

func TestAdDrivers_AreTheSandboxAndWhatIsNamed(t *testing.T) {
	t.Parallel()
	guard := webhooks.NewGuard(webhooks.GuardOptions{})
	drivers, err := adDrivers(&server.Config{}, nil, guard)
	require.NoError(t, err)
	assert.Len(t, drivers[ads.DriverSandbox], len(advert.Platforms))
	assert.Empty(t, drivers["meta"])
	assert.Empty(t, drivers["pinterest"])

	drivers, err = adDrivers(&server.Config{AdsNetworks: "instagram,pinterest"}, nil, guard)
	require.NoError(t, err)
	assert.Len(t, drivers[ads.DriverSandbox], len(advert.Platforms), "a channel without access is still played")
	assert.IsType(t, &meta.Network{}, drivers["meta"][advert.PlatformInstagram])
	assert.IsType(t, &pinterest.Driver{}, drivers["pinterest"][advert.PlatformPinterest])
	assert.Nil(t, drivers["meta"][advert.PlatformFacebook])

	for _, p := range advert.Platforms {
		drivers, err = adDrivers(&server.Config{AdsNetworks: string(p)}, nil, guard)
		if slices.Contains(ads.LiveNetworks, p) {
			require.NoError(t, err)
			assert.Equal(t, 1, len(drivers["meta"])+len(drivers["pinterest"])+len(drivers["tiktok"]), p)
		} else {
			assert.ErrorContains(t, err, "TILLWRIGHT_ADS_NETWORKS")
		}
	}
}

// Nothing goes to a third party unless whoever runs the service has given it a key.
func TestAdDrivers_HaveZernioWithAKeyAlone(t *testing.T) {
	t.Parallel()
	guard := webhooks.NewGuard(webhooks.GuardOptions{})
	drivers, err := adDrivers(&server.Config{AdsNetworks: "facebook"}, nil, guard)
	require.NoError(t, err)
	assert.Empty(t, drivers[ads.DriverZernio])
	drivers, err = adDrivers(&server.Config{AdsNetworks: "facebook", ZernioKey: "key"}, nil, guard)
	require.NoError(t, err)
	assert.Len(t, drivers[ads.DriverZernio], len(advert.Platforms))
	assert.IsType(t, &zernio.Driver{}, drivers[ads.DriverZernio][advert.PlatformFacebook])
	assert.IsType(t, &meta.Network{}, drivers["meta"][advert.PlatformFacebook], "the network itself stays there")
}

func TestOutbound_GoesPastTheGuard(t *testing.T) {
	t.Parallel()
	inside := httptest.NewServer(http.NotFoundHandler())
	defer inside.Close()
	ask := func(o webhooks.GuardOptions) error {
		response, err := outbound(webhooks.NewGuard(o)).Get(inside.URL)
		if err == nil {
			err = response.Body.Close()
		}
		return err
	}
	require.Error(t, ask(webhooks.GuardOptions{}))
	require.NoError(t, ask(webhooks.GuardOptions{Development: true}))
}

// Nobody waits longer for a provider than a payment is left to whoever asks about it, also who sets no limit.
func TestOutbound_EndsEveryRequest(t *testing.T) {
	t.Parallel()
	limit := outbound(webhooks.NewGuard(webhooks.GuardOptions{})).Timeout
	assert.Positive(t, limit)
	assert.LessOrEqual(t, limit, time.Minute)
}

// What follows a switch to another protocol would end with no timeout: neither of a request nor of the client.
func TestOutbound_RefusesAnotherProtocol(t *testing.T) {
	t.Parallel()
	over := make(chan struct{})
	switching := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", "Upgrade")
		w.Header().Set("Upgrade", "chat")
		w.WriteHeader(http.StatusSwitchingProtocols)
		if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
			<-over
			_ = conn.Close()
		}
	}))
	defer switching.Close()
	defer close(over)
	response, err := outbound(webhooks.NewGuard(webhooks.GuardOptions{Development: true})).Get(switching.URL)
	if err == nil {
		_ = response.Body.Close()
	}
	require.ErrorContains(t, err, "another protocol")
}
