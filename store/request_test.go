package store

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/request"
)

// Of the requests of programs the newest are kept, and none for longer than it is said.
func TestRequests_EndByNumberAndByAge(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		var trimmer request.Trimmer
		write := func(n int, at core.Time) {
			batch := make([]request.Request, n)
			for i := range batch {
				batch[i] = request.Request{AccountID: s.account, ID: core.NewID(core.KindRequest), Status: 200, CreatedAt: at}
			}
			require.NoError(t, s.Store.Requests.Write(t.Context(), batch, nil))
			trimmer.Note(batch)
		}
		write(600, s.Store.Now().Add(-request.Keep-time.Hour))
		write(request.Most, s.Store.Now())
		write(5_000, s.Store.Now())
		require.NoError(t, s.Store.Requests.Trim(t.Context(), &trimmer))
		require.Equal(t, request.Most, s.count(t, `SELECT count(*) FROM requests`))
		require.Zero(t, s.count(t, `SELECT count(*) FROM requests WHERE created_at < ?`, s.Store.Now().Add(-request.Keep)), "the oldest went first")

		write(600, s.Store.Now().Add(-request.Keep-time.Hour))
		deleted := int64(1)
		for deleted > 0 {
			var err error
			deleted, err = s.Store.Requests.DeleteOld(t.Context(), 500)
			require.NoError(t, err)
		}
		require.Equal(t, request.Most, s.count(t, `SELECT count(*) FROM requests`))
	})
}
