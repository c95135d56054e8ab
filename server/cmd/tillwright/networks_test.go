package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/ads/meta"
	"github.com/tillwright/tillwright/ads/pinterest"
	"github.com/tillwright/tillwright/server"
	"github.com/tillwright/tillwright/store"
)

func TestAdDrivers_AreTheSandboxAndWhatIsNamed(t *testing.T) {
	t.Parallel()
	drivers, err := adDrivers(&server.Config{}, nil)
	require.NoError(t, err)
	assert.Len(t, drivers[ads.DriverSandbox], len(store.Platforms))
	assert.Empty(t, drivers["meta"])
	assert.Empty(t, drivers["pinterest"])

	drivers, err = adDrivers(&server.Config{AdsNetworks: "instagram,pinterest"}, nil)
	require.NoError(t, err)
	assert.Len(t, drivers[ads.DriverSandbox], len(store.Platforms), "a channel without access is still played")
	assert.IsType(t, &meta.Network{}, drivers["meta"][store.PlatformInstagram])
	assert.IsType(t, &pinterest.Driver{}, drivers["pinterest"][store.PlatformPinterest])
	assert.Nil(t, drivers["meta"][store.PlatformFacebook])

	_, err = adDrivers(&server.Config{AdsNetworks: "google"}, nil)
	assert.ErrorContains(t, err, "TILLWRIGHT_ADS_NETWORKS")
}
