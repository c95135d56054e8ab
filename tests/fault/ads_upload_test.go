package fault

import (
	"net/http"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// TestAdUpload_OfTenThousandTakesTwoSeconds uploads to every network as many users as one call may have, with an address
// and a number each. On PostgreSQL it may take longer. What is wrong with others, and what the server writes into its
// log, never names anybody.
func TestAdUpload_OfTenThousandTakesTwoSeconds(t *testing.T) {
	limits := map[string]time.Duration{"sqlite": 2 * time.Second, "postgres": 5 * time.Second}
	private := regexp.MustCompile(`(?i)private|\+49`)
	for _, engine := range database.Engines() {
		t.Run(engine, func(t *testing.T) {
			s := newSite(t, harness.Build(t), database.URL(t, engine), 1)
			server := s.binary.Serve(t, "")
			c := s.client(server, 0)
			for _, platform := range adNetworks {
				a := advertise(t, c, platform)
				list := c.Must(t, http.MethodPost, "/v1/ads/audiences", map[string]any{"account_id": a.channel, "ad_account_id": a.account, "name": "All", "type": "customer_list"})
				path, begin := "/v1/ads/audiences/"+list["id"].(string)+"/users", time.Now()
				result := c.Must(t, http.MethodPost, path, people(10_000))
				took := time.Since(begin)
				harness.Within(t, limits[engine], took, platform+": 10,000 users")
				assert.Equal(t, 10_000.0, result["accepted"], "%s: the upload", platform)
				assert.Equal(t, 10_000.0, result["received"], "%s: the upload", platform)
				for _, wrong := range []struct {
					body  any
					fault string
				}{
					{people(10_001), ""},
					{`{"users":[{"email":"one.private at example.com"}]}`, ""},
					{`{"users":[{"email":"one@private.example","e_mail":"two@private.example"}]}`, ""},
					{`{"users":["three@private.example"]}`, ""},
					{people(2), "reject"}, {people(2), "5xx"}, {people(2), "timeout"}, {people(2), "unauthorized"},
				} {
					resp := c.Do(t, http.MethodPost, path, wrong.body, "X-Sandbox-Fault", wrong.fault)
					if found := private.Find(resp.Body); found != nil {
						t.Errorf("%s: an answer names %s: %s", platform, found, resp.Body)
					}
				}
			}
			found := private.FindString(server.Log())
			assert.Empty(t, found)
			assert.NotEmpty(t, server.Log())
		})
	}
}
