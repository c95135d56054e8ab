package store

import (
	"context"
	"fmt"
	"testing"

	"github.com/lib/pq"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/tests/harness/database"
)

func TestRequest_RunsAgainOnSerializationFailure(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		for failures, wantRuns := range map[int]int{0: 1, db.MaxRetries: db.MaxRetries + 1, db.MaxRetries + 1: db.MaxRetries + 1} {
			runs, before := 0, s.products(t)
			_, _, err := s.db.Request(t.Context(), s.key(fmt.Sprint(failures), "create"), func(ctx context.Context) (*core.Answer, error) {
				runs++
				answer, err := s.create(s.Store)(ctx)
				if runs <= failures {
					err = fmt.Errorf("update: %w", &pq.Error{Code: db.SerializationFailure})
				}
				return answer, err
			})
			require.Equal(t, wantRuns, runs)
			require.Equal(t, failures <= db.MaxRetries, err == nil)
			require.Equal(t, before+wantRuns-min(failures, db.MaxRetries+1), s.products(t))
		}
	})
}

func TestRequest_LooksUpALostCommit(t *testing.T) {
	t.Parallel()
	url := database.URL(t, core.PostgreSQL)
	s := newShop(t, url)
	proxy := &cuttingProxy{t: t, url: url}
	through := openStore(t, proxy.start())
	require.NoError(t, through.Ping(t.Context()))
	proxy.arm()
	answer, replayed, err := through.db.Request(t.Context(), s.key("k", "create"), s.create(through))
	require.NoError(t, err)
	require.False(t, replayed)
	require.True(t, proxy.cut(), "the connection was not cut: this test shows nothing")
	require.Equal(t, 1, s.products(t))
	again, replayed, err := s.db.Request(t.Context(), s.key("k", "create"), s.create(s.Store))
	require.NoError(t, err)
	require.True(t, replayed)
	require.Equal(t, answer, again)
}
