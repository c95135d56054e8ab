package fault

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// TestAds_AreOneNetworkForEveryProcess writes through one server and reads through each: two over one PostgreSQL, and on
// both databases one that was started later. The figures are of days that are over, so that they stand still.
func TestAds_AreOneNetworkForEveryProcess(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s := newSite(t, harness.Build(t), url, 1)
		first := s.binary.Serve(t, "")
		servers := []*harness.Process{first}
		if strings.HasPrefix(url, "postgres") {
			servers = append(servers, s.binary.Serve(t, ""))
		}
		var paths []string
		for i, platform := range adNetworks {
			writer := s.client(servers[i%len(servers)], 0)
			a := advertise(t, writer, platform)
			ad := a.creates(t, writer, a.ad("Shared", 20))
			writer.Must(t, http.MethodPost, "/v1/ads/campaigns/bulk-pause", map[string]any{"campaigns": []any{ad["campaign_id"]}})
			paths = append(paths, a.reads()...)
		}
		answers := map[string]string{}
		for _, path := range paths {
			still(t, s.client(first, 0), path) // what is new about a state is stored by the first read
			answers[path] = still(t, s.client(first, 0), path)
		}
		if _, code := first.Terminate(t); code != 0 {
			t.Errorf("the first server ended with %d", code)
		}
		for _, server := range append(servers[1:], s.binary.Serve(t, "")) {
			for _, path := range paths {
				if again := still(t, s.client(server, 0), path); again != answers[path] {
					t.Errorf("%s was answered\n%s\nand is answered\n%s", path, answers[path], again)
				}
			}
		}
	})
}

// reads are the lists of a channel.
func (a advertiser) reads() []string {
	day := func(days int) string { return time.Now().UTC().AddDate(0, 0, days).Format(time.DateOnly) }
	window := fmt.Sprintf("account_id=%s&limit=100&from=%s&to=%s", a.channel, day(-40), day(-2))
	return []string{"/v1/ads?" + window, "/v1/ads/campaigns?" + window, "/v1/ads/ad-accounts?account_id=" + a.channel, "/v1/socials/" + a.channel + "/posts"}
}

var asked = regexp.MustCompile(`"last_synced_at":"[^"]*"`)

// still is an answer without the moment at which the network was asked.
func still(t *testing.T, c *harness.Client, path string) string {
	t.Helper()
	resp := c.Do(t, http.MethodGet, path, nil)
	assert.Equal(t, http.StatusOK, resp.Status, path)
	assert.Contains(t, string(resp.Body), `"id"`, path)
	return asked.ReplaceAllString(string(resp.Body), "")
}
