package transfer_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/blob"
	"github.com/tillwright/tillwright/server/transfer"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/grant"
)

// check returns what CheckFiles finds, and requires that it says of both promises whether they hold.
func (w *world) check() (found []string) {
	w.t.Helper()
	var promises int
	require.NoError(w.t, transfer.CheckFiles(w.t.Context(), w.Grant, w.bucket, func(_ string, broken []core.Violation) {
		promises++
		for _, v := range broken {
			found = append(found, v.Account+"/"+v.Object)
		}
	}))
	require.Equal(w.t, 2, promises)
	return found
}

func TestCheckFiles_MissesBytesAndRows(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		f := w.whole("a", []byte("hello"))
		begun := w.create("b", 2*part)
		content, _ := some(part)
		require.Equal(t, http.StatusOK, w.send(begun.UploadURL, strings.NewReader(string(content))).StatusCode)
		deleted := w.whole("c", []byte("hello"))
		_, err := w.Grant.DeleteFile(t.Context(), w.account, deleted.ID)
		require.NoError(t, err)
		require.Len(t, w.entries(), 3)
		require.Empty(t, w.check())

		stray := func(key string) {
			upload, err := w.bucket.Begin(t.Context(), key)
			require.NoError(t, err)
			tag, err := w.bucket.Put(t.Context(), key, upload, blob.Part{Number: 1, Size: 3}, strings.NewReader("abc"))
			require.NoError(t, err)
			require.NoError(t, w.bucket.Complete(t.Context(), key, upload, 3, []string{tag}))
		}
		stray("alien")
		stray(w.account + "/file_01k0000000000000000000000a/1")
		_, err = w.bucket.Begin(t.Context(), w.account+"/"+f.ID+"/1") // of a version that is complete
		require.NoError(t, err)
		require.ElementsMatch(t, []string{"alien/", w.account + "/file_01k0000000000000000000000a/1", w.account + "/" + f.ID + "/1"}, w.check())

		for _, e := range w.entries() {
			require.NoError(t, w.bucket.Remove(t.Context(), e.Key))
		}
		_, v, err := w.Grant.GetFileVersion(t.Context(), w.account, f.ID, 0)
		require.NoError(t, err)
		require.Equal(t, []string{w.account + "/" + v.ID}, w.check())
		_, err = w.Grant.CreateFileVersion(t.Context(), w.account, f.ID, grant.NewVersion{Size: 1}) // nothing is wrong with what has no bytes yet
		require.NoError(t, err)
		require.Len(t, w.check(), 1)
		_, err = w.Grant.DeleteFile(t.Context(), w.account, f.ID) // for the next bucket
		require.NoError(t, err)
	})
}
