package tenant

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// serving is the room of an embedded database in the one process that serves it.
type serving struct {
	*Store
	stop func()
}

// openServing opens an embedded database as the one process that serves it does, at a time that stands still.
func openServing(t *testing.T, path string, now time.Time) *serving {
	t.Helper()
	sealer, err := core.NewSealer(make([]byte, 32))
	require.NoError(t, err)
	d, err := db.Open(t.Context(), db.Options{URL: "sqlite://" + path, Sealer: sealer, Exclusive: true, Now: func() time.Time { return now }})
	require.NoError(t, err)
	s := New(d, false)
	return &serving{s, func() { require.NoError(t, errors.Join(s.Close(t.Context()), d.Close(t.Context()))) }}
}

func used(t *testing.T, s *serving) int {
	t.Helper()
	grant, err := s.CountAddress(t.Context(), "192.0.2.1")
	require.NoError(t, err)
	return grant.Used
}

func TestLocalQuota_SurvivesARestart(t *testing.T) {
	t.Parallel()
	path, now := filepath.Join(t.TempDir(), "shop.db"), time.Date(2026, 1, 31, 12, 0, 30, 0, time.UTC)
	s := openServing(t, path, now)
	for n := range 5 {
		require.Equal(t, n+1, used(t, s))
	}
	s.stop()
	s = openServing(t, path, now)
	require.Equal(t, 6, used(t, s), "an ordinary stop forgets nothing")
	s.stop()
	s = openServing(t, path, now.Add(time.Minute))
	require.Equal(t, 1, used(t, s), "the next minute begins anew")
	s.stop()
	require.NoError(t, os.WriteFile(path+"-quota", []byte(`{"minute":`), 0o600))
	s = openServing(t, path, now)
	require.Equal(t, 1, used(t, s), "a file that cannot be read is none")
	s.stop()
}

func TestLocalQuota_IsWrittenForThoseWhoAreKilled(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "shop.db")
	s := openServing(t, path, time.Date(2026, 1, 31, 12, 0, 30, 0, time.UTC))
	for range 5 {
		used(t, s)
	}
	require.Eventually(t, func() bool {
		var kept keptWindows
		content, err := os.ReadFile(path + "-quota")
		return err == nil && json.Unmarshal(content, &kept) == nil && kept.Used["addr_192.0.2.1"] == 5
	}, time.Minute, 10*time.Millisecond, "without being stopped")
	info, err := os.Stat(path + "-quota")
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	s.stop()
}

func TestLocalQuota_KeepsThoseWhoAskedMost(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "shop.db")
	s := openServing(t, path, time.Date(2026, 1, 31, 12, 0, 30, 0, time.UTC))
	for range 3 {
		used(t, s)
	}
	for n := range maxKeptWindows {
		_, err := s.CountAddress(t.Context(), fmt.Sprint("somebody ", n))
		require.NoError(t, err)
	}
	s.stop()
	var kept keptWindows
	content, err := os.ReadFile(path + "-quota")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(content, &kept))
	require.Equal(t, map[string]int{"addr_192.0.2.1": 3}, kept.Used)
}
