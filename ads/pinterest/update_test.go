package pinterest_test

import (
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// deaf loses the reads of a path that come after a change, once it is on.
type deaf struct {
	next http.RoundTripper
	path string
	on   atomic.Bool
	late atomic.Bool // something was changed
}

func (d *deaf) RoundTrip(r *http.Request) (*http.Response, error) {
	switch {
	case !d.on.Load():
	case r.Method == http.MethodPatch:
		d.late.Store(true)
	case d.late.Load() && strings.Contains(r.URL.Path, d.path):
		return nil, errors.New("connection reset")
	}
	return d.next.RoundTrip(r)
}

// deafWorld is a network whose answers about a path can get lost.
func deafWorld(path string) (*world, *deaf) {
	d := &deaf{path: path}
	w := newWorld("USD", func(n http.RoundTripper) http.RoundTripper {
		d.next = n
		return d
	})
	return w, d
}

func TestUpdate_IsNotDeniedWhenItCannotBeReadAfterwards(t *testing.T) {
	t.Parallel()
	w, wire := deafWorld("/campaigns")
	made := w.create(t, w.boost("Spring"))
	wire.on.Store(true)
	ref := ads.Ref{AdAccount: w.account.ID, Level: advert.LevelGroup, ID: made.Group.PlatformID, CampaignID: made.Campaign.PlatformID}
	patch := ads.Patch{Budget: &ads.Budget{Amount: 900 * advert.AmountUnit, Type: advert.BudgetTypeDaily}, Currency: "usd"}
	_, err := w.driver.Update(t.Context(), w.conn, ref, patch)
	require.ErrorIs(t, err, ads.ErrIndeterminate)
	assert.EqualValues(t, 900_000_000, w.net.Groups(w.account)[0].Number("budget_in_micro_currency"), "it was changed")
}

func TestUploadUsers_IsNotDeniedWhenItCannotBeReadAfterwards(t *testing.T) {
	t.Parallel()
	w, wire := deafWorld("/audiences")
	first, err := w.driver.UploadUsers(t.Context(), w.conn, w.buyers(1))
	require.NoError(t, err)
	more := w.buyers(3)
	more.Audience.PlatformID = first.Audience.PlatformID
	wire.on.Store(true)
	_, err = w.driver.UploadUsers(t.Context(), w.conn, more)
	require.ErrorIs(t, err, ads.ErrIndeterminate)
}
