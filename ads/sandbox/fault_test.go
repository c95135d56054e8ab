package sandbox

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

func TestParseFault_ReadsWhatItDocumentsAndNothingElse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Fault{
		"":                           {},
		"rate_limit":                 {kind: faultRateLimit, after: time.Second},
		"rate_limit;after=7":         {kind: faultRateLimit, after: 7 * time.Second},
		"rate_limit;after=7;calls=3": {kind: faultRateLimit, after: 7 * time.Second, n: 3},
		"timeout_after_commit":       {kind: faultLost},
		"hang_after_commit":          {kind: faultHang},
		"timeout":                    {kind: faultTimeout},
		"reject":                     {kind: faultReject},
		"reject_all":                 {kind: faultRejectAll},
		"unauthorized":               {kind: faultUnauthorized},
		"5xx":                        {kind: faultUnavailable},
		"partial:3":                  {kind: faultPartial, n: 3},
		"partial:0":                  {kind: faultPartial},
	} {
		got, err := ParseFault(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{
		"4xx", "reject;after=7", "rate_limit;", "rate_limit;after", "rate_limit;after=-1", "rate_limit;after=7;", "rate_limit;before=7",
		"partial", "partial:", "partial:-1", "partial:x", "partial:3;calls=2", "reject:1", "rate_limit:7", " reject", ";", "99999999999",
		"rate_limit;after=99999999999",
	} {
		got, err := ParseFault(text)
		assert.Error(t, err, text)
		assert.Zero(t, got, text)
	}
}

// failing returns a context whose calls have a fault.
func (n *network) failing(text string) context.Context {
	n.t.Helper()
	f, err := ParseFault(text)
	require.NoError(n.t, err)
	return WithFault(n.t.Context(), f)
}

// found returns what was made for a token.
func (n *network) found(token string) (ads.Created, bool) {
	n.t.Helper()
	created, found, err := n.Find(n.t.Context(), n.conn, n.mine().PlatformID, token)
	require.NoError(n.t, err)
	return created, found
}

func TestFind_ReturnsWhatAnUnansweredCreateMade(t *testing.T) {
	each(t, advert.PlatformFacebook, Options{}, func(t *testing.T, n *network) {
		_, err := n.Create(n.failing("timeout_after_commit"), n.conn, n.plan("adact_1"))
		require.ErrorIs(t, err, ads.ErrIndeterminate)
		created, found := n.found("adact_1")
		require.True(t, found)
		all := n.walk(n.mine().PlatformID)
		assert.Equal(t, all.Campaigns[3], *created.Campaign)
		assert.Equal(t, all.Groups[6], *created.Group)
		assert.Equal(t, all.Ads[12], *created.Ad)

		impatient, giveUp := context.WithCancel(n.failing("hang_after_commit"))
		defer giveUp()
		answer := make(chan error, 1)
		go func() {
			_, err := n.Create(impatient, n.conn, n.plan("adact_3"))
			answer <- err
		}()
		require.Eventually(t, func() bool {
			_, found := n.found("adact_3")
			return found
		}, time.Minute, 10*time.Millisecond)
		require.Empty(t, answer, "the answer came early")
		giveUp()
		require.ErrorIs(t, <-answer, ads.ErrIndeterminate)

		_, err = n.Create(n.failing("timeout"), n.conn, n.plan("adact_2"))
		require.ErrorIs(t, err, ads.ErrIndeterminate)
		for _, token := range []string{"adact_2", "adact", ""} {
			_, found = n.found(token)
			assert.False(t, found, token)
		}
		_, _, err = n.Find(n.failing("timeout_after_commit"), n.conn, n.mine().PlatformID, "adact_1")
		assert.NoError(t, err, "only writes are lost")
	})
}

func TestFaults_LeaveNothingBehindButTheOneAfterCommit(t *testing.T) {
	each(t, advert.PlatformFacebook, Options{}, func(t *testing.T, n *network) {
		made := n.create(n.plan("adact_1"))
		before := n.everything()
		for text, check := range map[string]func(error){
			"reject":             func(err error) { requireRejected(t, err, "") },
			"unauthorized":       func(err error) { require.ErrorIs(t, err, ads.ErrUnauthorized) },
			"5xx":                func(err error) { require.ErrorIs(t, err, ads.ErrUnavailable) },
			"timeout":            func(err error) { require.ErrorIs(t, err, ads.ErrIndeterminate) },
			"rate_limit;after=7": func(err error) { require.Equal(t, &ads.RateLimited{After: 7 * time.Second}, err) },
		} {
			_, err := n.Create(n.failing(text), n.conn, n.plan("adact_2"))
			check(err)
			_, err = n.SetStatus(n.failing(text), n.conn, []ads.Ref{n.groupRef(made.Group)}, advert.ConfiguredPaused)
			check(err)
			_, err = n.Update(n.failing(text), n.conn, n.groupRef(made.Group), ads.Patch{BidStrategy: ref(advert.BidStrategyCostCap)})
			check(err)
			_, err = n.Delete(n.failing(text), n.conn, n.campaignRef(made.Campaign.PlatformID))
			check(err)
		}
		assert.Equal(t, before, n.everything())

		_, err := n.Delete(n.failing("timeout_after_commit"), n.conn, n.campaignRef(made.Campaign.PlatformID))
		require.ErrorIs(t, err, ads.ErrIndeterminate)
		assert.Equal(t, advert.StatusCancelled, n.report(advert.LevelCampaign, made.Campaign.PlatformID).Status)
	})
}

func TestCreate_ThatFailsHalfwayIsCleanedUp(t *testing.T) {
	each(t, advert.PlatformFacebook, Options{}, func(t *testing.T, n *network) {
		before := n.everything()
		for _, text := range []string{"partial:0", "partial:1", "partial:2"} {
			_, err := n.Create(n.failing(text), n.conn, n.plan("adact_"+text))
			require.ErrorIs(t, err, ads.ErrUnavailable)
		}
		var limited *ads.RateLimited
		_, err := n.Create(n.failing("rate_limit;calls=2"), n.conn, n.plan("adact_2"))
		require.ErrorAs(t, err, &limited)
		assert.Equal(t, before, n.everything())
		_, err = n.Create(n.failing("partial:3"), n.conn, n.plan("adact_3"))
		assert.NoError(t, err)
	})
}

func TestSetStatus_FailsItemByItem(t *testing.T) {
	each(t, advert.PlatformPinterest, Options{}, func(t *testing.T, n *network) {
		var refs []ads.Ref
		for i := range 5 {
			refs = append(refs, n.campaignRef(n.create(n.plan(fmt.Sprint("adact_", i))).Campaign.PlatformID))
		}
		for text, check := range map[string]func(error) bool{
			"partial:3":                  func(err error) bool { return assert.ErrorIs(t, err, ads.ErrUnavailable) },
			"rate_limit;after=9;calls=3": func(err error) bool { return assert.Equal(t, &ads.RateLimited{After: 9 * time.Second}, err) },
		} {
			results, err := n.SetStatus(n.failing(text), n.conn, refs, advert.ConfiguredPaused)
			require.NoError(t, err)
			for i, result := range results {
				assert.Equal(t, refs[i], result.Ref)
				status := n.report(advert.LevelCampaign, refs[i].ID).Configured
				if i < 3 {
					require.NoError(t, result.Err)
					assert.Equal(t, advert.ConfiguredPaused, status)
				} else {
					check(result.Err)
					assert.Equal(t, advert.ConfiguredActive, status)
				}
			}
		}
		results, err := n.SetStatus(n.failing("timeout_after_commit"), n.conn, refs, advert.ConfiguredPaused)
		require.NoError(t, err)
		for i, result := range results {
			assert.ErrorIs(t, result.Err, ads.ErrIndeterminate)
			assert.Equal(t, advert.ConfiguredPaused, n.report(advert.LevelCampaign, refs[i].ID).Configured)
		}
	})
}

func TestFault_OfTheConfigurationIsOneOfEveryCallWithoutItsOwn(t *testing.T) {
	fault, err := ParseFault("5xx")
	require.NoError(t, err)
	each(t, advert.PlatformGoogle, Options{Fault: fault}, func(t *testing.T, n *network) {
		_, err := n.AdAccounts(t.Context(), n.conn)
		require.ErrorIs(t, err, ads.ErrUnavailable)
		_, err = n.AdAccounts(WithFault(t.Context(), Fault{}), n.conn)
		require.NoError(t, err)
	})
}

func TestBucket_IsOneForAllReplicas(t *testing.T) {
	limit := Options{CallInterval: 10 * time.Second, CallBurst: 3}
	each(t, advert.PlatformTwitter, limit, func(t *testing.T, n *network) {
		other := connect(t, n.url, n.platform, limit)
		call := func(n *network) error {
			_, err := n.Posts(t.Context(), n.conn)
			return err
		}
		for i := range 3 {
			require.NoError(t, call([]*network{n, other}[i%2]))
		}
		for range 3 {
			require.Equal(t, &ads.RateLimited{After: 10 * time.Second}, call(n))
		}
		other.now = other.now.Add(9 * time.Second)
		require.Equal(t, &ads.RateLimited{After: time.Second}, call(other))
		n.now = n.now.Add(10 * time.Second)
		require.NoError(t, call(n))
		require.Error(t, call(n))
		n.now = n.now.Add(time.Hour)
		for range 3 {
			require.NoError(t, call(n))
		}
		require.Error(t, call(n), "it does not hold more than it can")
		n.conn.Channel = "sacct_another"
		require.NoError(t, call(n), "each channel has its own")
	})
}

func TestCreate_WithoutItsDatabaseIsUnknownOrNotDone(t *testing.T) {
	each(t, advert.PlatformFacebook, Options{}, func(t *testing.T, n *network) {
		n.create(n.plan("adact_1"))
		ended, end := context.WithCancel(t.Context())
		end()
		_, err := n.Create(ended, n.conn, n.plan("adact_2"))
		require.ErrorIs(t, err, ads.ErrIndeterminate)
		_, found := n.found("adact_2")
		assert.False(t, found)
		gone := connect(t, n.url, n.platform, n.options)
		require.NoError(t, gone.store.Close())
		_, err = gone.Create(t.Context(), n.conn, n.plan("adact_3"))
		require.ErrorIs(t, err, ads.ErrUnavailable)
	})
}
