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

	var all sync.WaitGroup
	defer all.Wait()
	defer close(free)
	f.server.shares.See("")
	all.Go(func() { assert.Equal(t, http.StatusOK, f.send(http.MethodGet, "/v1/widgets", "").StatusCode) })
	<-computes

	f.server.shares.See("")
	a := f.send(http.MethodGet, "/v1/widgets/7", "")
	assert.Equal(t, http.StatusTooManyRequests, a.StatusCode)
	assert.Equal(t, "1", a.Header.Get("Retry-After"))
	assert.Equal(t, core.CodeRateLimit, a.problem(t).Code)

	for _, send := range []func() *answer{
		func() *answer { return f.send(http.MethodGet, "/v1/widgets/7", "", "Authorization", "Bearer "+another) },
		func() *answer { return f.send(http.MethodPost, "/hooks/stripe", `{}`) },
		func() *answer { return f.send(http.MethodGet, "/shop/7", "") },
	} {
		assert.Less(t, send().StatusCode, http.StatusBadRequest, "only the account that computes waits")
	}
}

// unshared has a request begin at once.
func unshared(next echo.HandlerFunc) echo.HandlerFunc { return next }
