package store

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/tests/harness/database"
)

func TestOpen_ExclusiveSeesThroughLinks(t *testing.T) {
	t.Parallel()
	sealer, err := core.NewSealer(make([]byte, 32))
	require.NoError(t, err)
	url := database.URL(t, core.SQLite)
	serving, err := Open(t.Context(), Options{URL: url, Sealer: sealer, Exclusive: true})
	require.NoError(t, err)
	t.Cleanup(func() { _ = serving.Close() })

	link := filepath.Join(t.TempDir(), "link.db")
	require.NoError(t, os.Symlink(strings.TrimPrefix(url, "sqlite://"), link))
	_, err = Open(t.Context(), Options{URL: "sqlite://" + link, Sealer: sealer, Exclusive: true})
	require.ErrorContains(t, err, "another process serves this database")
}

func TestOpen_MakesAFileForItsOwnerOnly(t *testing.T) {
	t.Parallel()
	sealer, err := core.NewSealer(make([]byte, 32))
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "shop.db")
	s, err := Open(t.Context(), Options{URL: "sqlite://" + path, Sealer: sealer})
	require.NoError(t, err)
	require.NoError(t, s.db.Migrate(t.Context()))
	t.Cleanup(func() { _ = s.Close() })
	for _, file := range []string{path, path + "-wal"} {
		info, err := os.Stat(file)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), file)
	}
}
