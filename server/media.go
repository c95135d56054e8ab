package server

import (
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/server/caller"
	"github.com/tillwright/tillwright/store/core"
)

// Files of pages, such as pictures, are counted by their bytes: a page may show many. A request counts as leastMedia, whatever it is answered.
const (
	addressMediaBytes  = 8 << 20 // being sent at once to an address that may be slow
	allMediaBytes      = 64 << 20
	addressMediaMinute = 128 << 20 // in a minute
	leastMedia         = 16 << 10
)

// A file is held until it is read, so that slow readers would keep others from pictures. None may take much longer than a slow network does.
const (
	mediaPatience = 20 * time.Second // for a file of any size
	slowestMedia  = 16 << 10         // bytes of it for each second more
)

// mediaTime returns how long the client may take to read a file of n bytes.
func mediaTime(n int64) time.Duration {
	return mediaPatience + time.Duration(n)*time.Second/slowestMedia
}

// spending counts by the minute what addresses, and the networks around them, have spent.
type spending struct {
	each, network int64
	now           func() time.Time

	mu     sync.Mutex
	minute int64
	of     map[string]int64
}

func newSpending(each int64) *spending {
	return &spending{each: each, network: 8 * each, now: time.Now, of: map[string]int64{}}
}

// spend counts n more of a holder, unless that is too much for this minute: then it returns how long that lasts.
func (s *spending) spend(h holder, n int64) (wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now().Unix()
	if minute := now / quotaWindow; minute != s.minute {
		s.minute, s.of = minute, map[string]int64{}
	}
	if s.of[h.name]+n > s.each || h.around != "" && s.of[h.around]+n > s.network {
		return time.Duration(quotaWindow-now%quotaWindow) * time.Second
	}
	s.of[h.name] += n
	if h.around != "" {
		s.of[h.around] += n
	}
	return 0
}

// countMedia counts a request for a file of pages, and gives its handler what caller.Hold asks.
func (s *Server) countMedia(next echo.HandlerFunc) echo.HandlerFunc {
	return s.boundRequests(func(c echo.Context) error {
		h := holderOf(caller.Address(c.Request().Context()))
		spend := func(n int64) error {
			wait := s.media.spend(h, n)
			if wait == 0 {
				return nil
			}
			c.Response().Header().Set("Retry-After", strconv.Itoa(int(wait/time.Second)))
			return &core.Error{Code: core.CodeRateLimit, Message: "This address has had as many pictures as it may in a minute. Wait " + strconv.Itoa(int(wait/time.Second)) + " seconds."}
		}
		if err := spend(leastMedia); err != nil {
			return err
		}
		who := caller.Of(c.Request().Context())
		who.Stranger = true
		who.Bytes = func(n int64) (release func(), err error) {
			if err := spend(max(0, n-leastMedia)); err != nil {
				return nil, err
			}
			if err := refusalFor(s.underWay.media.take(h, n)); err != nil {
				return nil, err
			}
			_ = http.NewResponseController(c.Response()).SetWriteDeadline(time.Now().Add(mediaTime(n))) // a connection without deadlines needs none
			return func() { s.underWay.media.give(h, n) }, nil
		}
		return next(c)
	})
}
