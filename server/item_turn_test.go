package server

import (
	"context"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/caller"
	"github.com/tillwright/tillwright/store/core"
)

func TestInTurn_LetsOneBulkWriteOfAnAccountInAtATime(t *testing.T) {
	t.Parallel()
	s := &Server{itemTurns: newItemTurns(time.Minute)}
	began, goOn := make(chan struct{}), make(chan struct{})
	send := func(ctx context.Context, account string, h echo.HandlerFunc) error {
		r := httptest.NewRequest("POST", "/", nil).WithContext(caller.With(ctx, &caller.Caller{Account: account}))
		return s.inTurn(h)(echo.New().NewContext(r, httptest.NewRecorder()))
	}
	none := func(echo.Context) error { return nil }
	done := make(chan error)
	go func() {
		done <- send(t.Context(), "acct_1", func(echo.Context) error { close(began); <-goOn; return nil })
	}()
	<-began
	require.NoError(t, send(t.Context(), "acct_2", none), "another account does not wait")
	s.itemTurns.patience = time.Millisecond
	var crowded *core.CrowdedError
	require.ErrorAs(t, send(t.Context(), "acct_1", none), &crowded)
	s.itemTurns.patience = time.Minute
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, send(gone, "acct_1", none), context.Canceled)
	close(goOn)
	require.NoError(t, <-done)
	require.NoError(t, send(t.Context(), "acct_1", none))
	require.Empty(t, s.itemTurns.of, "nothing is kept of an account that sends none")
}
