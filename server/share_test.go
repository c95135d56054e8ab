package server

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/assert"

	"github.com/tillwright/tillwright/server/caller"
	"github.com/tillwright/tillwright/store/core"
)

func TestInShare_RefusesWhoWaitedForTooLong(t *testing.T) {
	t.Parallel()
	computes, free := make(chan struct{}), make(chan struct{})
	f := newFixture(t, map[string]echo.HandlerFunc{"listWidgets": func(c echo.Context) error {
		computes <- struct{}{}
		<-free
		return c.JSON(http.StatusOK, "done")
	}})
	f.server.shares = caller.NewShares(2, time.Nanosecond, &core.CrowdedError{})
	_, another := makeKey(t, f.store)

	// One of the account computes. On a machine that stands still for a second it is thought to wait.
	compute := func(during func()) {
		var all sync.WaitGroup
		defer all.Wait()
		all.Go(func() {
			for { // the one before may have its place still
				if a := f.send(http.MethodGet, "/v1/widgets", ""); a.StatusCode != http.StatusTooManyRequests {
					assert.Equal(t, http.StatusOK, a.StatusCode)
					return
				}
			}
		})
		<-computes
		defer func() { free <- struct{}{} }()
		f.server.shares.See("")
		during()
	}
	var refused *answer
	assert.Eventually(t, func() bool {
		compute(func() { refused = f.send(http.MethodGet, "/v1/widgets/7", "") })
		return refused.StatusCode == http.StatusTooManyRequests
	}, time.Minute, time.Millisecond)
	assert.Equal(t, "1", refused.Header.Get("Retry-After"))
	assert.Equal(t, core.CodeRateLimit, refused.problem(t).Code)

	compute(func() {
		for _, send := range []func() *answer{
			func() *answer { return f.send(http.MethodGet, "/v1/widgets/7", "", "Authorization", "Bearer "+another) },
			func() *answer { return f.send(http.MethodPost, "/hooks/stripe", `{}`) },
			func() *answer { return f.send(http.MethodGet, "/shop/7", "") },
		} {
			assert.Less(t, send().StatusCode, http.StatusBadRequest, "only the account that computes waits")
		}
	})
}

// unshared has a request begin at once.
func unshared(next echo.HandlerFunc) echo.HandlerFunc { return next }
