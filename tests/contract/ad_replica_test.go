package contract

import (
	"bytes"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// reads are all that can be read of ads on a network.
func (n onNetwork) reads(t *testing.T) []string {
	t.Helper()
	account, of := "account_id="+n.channel, "&ad_account_id="+url.QueryEscape(n.account)
	paths := []string{
		"/v1/socials", "/v1/socials/" + n.channel, "/v1/socials/" + n.channel + "/posts", "/v1/ads/actions", "/v1/ads/limits", "/v1/ads/capabilities",
		"/v1/ads?limit=100", "/v1/ads?status=active,rejected&" + account, "/v1/ads/campaigns?limit=100", "/v1/ads/ad-accounts?" + account, "/v1/ads/audiences?" + account + of,
	}
	for _, campaign := range n.campaigns(t) {
		paths = append(paths, "/v1/ads/campaigns/"+percentEncoded(campaign.ID), "/v1/ads/campaigns/"+percentEncoded(campaign.ID)+"/ad-groups")
	}
	if n.can.BusinessCenters {
		paths = append(paths, "/v1/ads/business-centers?"+account)
	}
	return paths
}

// TestAds_AreAlikeOnReplicasAndAfterARestart stops the clock, and with it every answer about ads. Each is the same to the
// byte on every server over one database, and on the one that is started after them.
func TestAds_AreAlikeOnReplicasAndAfterARestart(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		at := time.Now().Truncate(time.Minute).Add(30 * time.Second)
		start := func(t *testing.T) *harness.Server { return boot(t, url, harness.StoppedAt(at)) }
		answers, keys := map[string][]byte{}, map[string]string{}
		t.Run("first", func(t *testing.T) {
			s := start(t)
			for _, platform := range adNetworks {
				n := newOnNetwork(t, s, platform)
				list := n.audience(t, "Kept")
				ok[*sdk.AdAudienceUpload](t)(n.upload(list.ID, people(200)))
				n.budgeted(t, "Kept")
				n.ad(t, "Kept")
				for _, path := range n.reads(t) { // whatever is new about a state is stored by the first read
					n.raw.Do(t, http.MethodGet, path, nil)
				}
				for _, path := range n.reads(t) {
					answers[n.raw.Key+" "+path], keys[n.raw.Key+" "+path] = n.raw.Do(t, http.MethodGet, path, nil).Body, n.raw.Key
				}
			}
			if s.Engine == "postgres" {
				alike(t, start(t), answers, keys)
			}
		})
		t.Run("restarted", func(t *testing.T) { alike(t, start(t), answers, keys) })
	})
}

// alike asks a server the same again.
func alike(t *testing.T, s *harness.Server, answers map[string][]byte, keys map[string]string) {
	t.Helper()
	if len(answers) < 7*17 {
		t.Errorf("there are only %d answers", len(answers))
	}
	for what, first := range answers {
		key := keys[what]
		again := s.From(t, "127.0.0.1").As(key).Do(t, http.MethodGet, what[len(key)+1:], nil)
		assert.Equal(t, http.StatusOK, again.Status)
		assert.True(t, bytes.Equal(again.Body, first))
	}
}
