package mail

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFolder_ListsItsLettersNewestFirst(t *testing.T) {
	t.Parallel()
	f := Folder{Path: filepath.Join(t.TempDir(), "mail")}
	none, err := f.List(10)
	require.NoError(t, err)
	assert.Empty(t, none, "the folder is not there yet")

	old, now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	for subject, at := range map[string]time.Time{"Née hier": old, "Today": now} {
		l := letter
		l.Subject = subject
		before, err := filepath.Glob(filepath.Join(f.Path, "*"))
		require.NoError(t, err)
		require.NoError(t, f.Send(t.Context(), l))
		after, err := filepath.Glob(filepath.Join(f.Path, "*"))
		require.NoError(t, err)
		for _, name := range after {
			if !strings.Contains(strings.Join(before, "\n"), name) {
				require.NoError(t, os.Chtimes(name, at, at))
			}
		}
	}
	require.NoError(t, os.WriteFile(filepath.Join(f.Path, "notes.txt"), nil, 0o600))
	all, err := f.List(10)
	require.NoError(t, err)
	require.Len(t, all, 2)
	assert.Equal(t, "Today", all[0].Subject)
	assert.Equal(t, "Née hier", all[1].Subject)
	assert.Equal(t, "<grace@example.com>", all[0].To)
	assert.True(t, now.Equal(all[0].At))
	newest, err := f.List(1)
	require.NoError(t, err)
	assert.Equal(t, all[:1], newest)
}

func TestFolder_OpensAllOfALetter(t *testing.T) {
	t.Parallel()
	f := Folder{Path: t.TempDir()}
	l := letter
	l.HTML, l.Logo = `<!doctype html><html><head></head><body><img src="cid:logo"><p>Schöne Grüße = yes</p></body></html>`, []byte("picture")
	require.NoError(t, f.Send(t.Context(), l))
	all, err := f.List(1)
	require.NoError(t, err)
	o, err := f.Open(all[0].Name)
	require.NoError(t, err)
	assert.Equal(t, all[0], o.Written)
	assert.Equal(t, letter.Text, strings.ReplaceAll(o.Text, "\r\n", "\n"))
	assert.Contains(t, o.HTML, "<p>Schöne Grüße = yes</p>")
	assert.Contains(t, o.HTML, `src="data:image/png;base64,cGljdHVyZQ=="`)
	assert.Contains(t, o.Headers, "Reply-To: <help@shop.example>")
	assert.NotContains(t, o.Headers, "Hello")
}

func TestFolder_OpensNothingElsewhere(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	f := Folder{Path: filepath.Join(outside, "mail")}
	require.NoError(t, f.Send(t.Context(), letter))
	secret := filepath.Join(outside, "secret.eml")
	require.NoError(t, os.WriteFile(secret, []byte("Subject: secret\n\nsecret"), 0o600))
	require.NoError(t, os.Symlink(secret, filepath.Join(f.Path, "link.eml")))
	require.NoError(t, os.WriteFile(filepath.Join(f.Path, "key"), []byte("Subject: secret\n\nsecret"), 0o600))
	for _, name := range []string{"../secret.eml", secret, "..", ".", "", "key", "absent.eml", `..\secret.eml`, "a\x00.eml"} {
		_, err := f.Open(name)
		assert.ErrorIs(t, err, fs.ErrNotExist, "%q", name)
	}
	_, err := f.Open("link.eml")
	require.ErrorIs(t, err, fs.ErrNotExist)
	all, err := f.List(10)
	require.NoError(t, err)
	assert.Len(t, all, 1)
}
