package transfer_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/blob"
	"github.com/tillwright/tillwright/server/transfer"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/grant"
)

// slow is a bucket that puts nothing together until it may, and may lose its caller after that.
type slow struct {
	blob.Bucket
	may  chan struct{}
	dies bool
}

func (s *slow) Complete(ctx context.Context, key, upload string, size int64, tags []string) error {
	<-s.may
	err := s.Bucket.Complete(ctx, key, upload, size, tags)
	if s.dies {
		err = errors.Join(err, errors.New("the process dies"))
	}
	return err
}

func requireCode(t *testing.T, err error, code core.Code) {
	t.Helper()
	var e *core.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, code, e.Code)
}

func TestComplete_GoesOnWithoutItsRequest(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		f := w.create("a", 5)
		require.Equal(t, http.StatusOK, w.send(f.UploadURL, strings.NewReader("hello")).StatusCode)
		bucket := &slow{w.bucket, make(chan struct{}), false}
		files := transfer.New(t.Context(), w.Grant, bucket, w.log())
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second+50*time.Millisecond) // ten seconds are kept for the answer
		defer cancel()
		_, err := files.Complete(ctx, w.account, f.ID)
		requireCode(t, err, core.CodeInProgress)
		cancel()
		_, err = w.files.Complete(t.Context(), w.account, f.ID) // of another replica
		requireCode(t, err, core.CodeInProgress)
		close(bucket.may)
		require.Eventually(t, func() bool {
			still, err := w.Grant.GetFile(t.Context(), w.account, f.ID)
			return err == nil && still.Status == grant.FileStatusReady
		}, time.Minute, 10*time.Millisecond)
		done, err := files.Complete(t.Context(), w.account, f.ID)
		require.NoError(t, err)
		require.Equal(t, grant.FileStatusReady, done.Status)
	})
}

func TestComplete_TakesTheBytesThatWereSentLast(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		f := w.create("a", 5)
		require.Equal(t, http.StatusOK, w.send(f.UploadURL, strings.NewReader("hello")).StatusCode)
		bucket := &slow{w.bucket, make(chan struct{}), true}
		close(bucket.may)
		_, err := transfer.New(t.Context(), w.Grant, bucket, w.log()).Complete(t.Context(), w.account, f.ID)
		require.ErrorContains(t, err, "dies")
		require.Equal(t, http.StatusOK, w.send(f.UploadURL, strings.NewReader("HELLO")).StatusCode)
		done, err := w.files.Complete(t.Context(), w.account, f.ID)
		require.NoError(t, err)
		body, err := io.ReadAll(w.ask(http.MethodGet, w.link(done), nil).Body)
		require.NoError(t, err)
		require.Equal(t, "HELLO", string(body))
	})
}

func TestComplete_FindsWhatIsStillBeingPutTogether(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		content, hash := some(part + 10)
		f := w.create("a", int64(len(content)))
		require.Equal(t, http.StatusOK, w.send(f.UploadURL, bytes.NewReader(content)).StatusCode)
		w.behind.Store(true)
		defer w.behind.Store(false)
		done, err := w.files.Complete(t.Context(), w.account, f.ID)
		require.NoError(t, err)
		require.Equal(t, hash, *done.SHA256)
	})
}

func TestComplete_AsksAgainForBytesThatTheBucketHasLost(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		f := w.create("a", 5)
		require.Equal(t, http.StatusOK, w.send(f.UploadURL, strings.NewReader("hello")).StatusCode)
		require.NoError(t, w.bucket.Remove(t.Context(), w.entries()[0].Key))
		_, err := w.files.Complete(t.Context(), w.account, f.ID)
		requireInvalid(t, err, "size")
		require.Zero(t, w.received(f.UploadURL))
		require.Equal(t, http.StatusOK, w.send(f.UploadURL, strings.NewReader("hello")).StatusCode)
		_, err = w.files.Complete(t.Context(), w.account, f.ID)
		require.NoError(t, err)
	})
}
