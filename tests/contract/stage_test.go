package contract

import (
	"strings"
	"testing"

	"github.com/tillwright/tillwright/tests/harness"
)

// stage is a world in which one operation after the other is tried. If those before it have used up what one needs, it is
// tried again in a new world. So each is seen to succeed, and few worlds are made.
type stage struct {
	t      *testing.T // of the walk: a world outlives the operation for which it was made
	server *harness.Server
	world  *world
}

func newStage(t *testing.T, s *harness.Server) *stage { return &stage{t: t, server: s} }

// perform tries an operation until it is done as it has to be, or is not in a world that is new. It returns the world of the last try.
func (s *stage) perform(t *testing.T, op *harness.Operation, try func(w *world) (done bool)) *world {
	t.Helper()
	for {
		isNew := s.world == nil
		if isNew {
			s.world = newWorldOfSales(s.t, s.server)
		}
		if strings.HasPrefix(op.Scope, "ads:") && s.world.IDs["ad"] == "" {
			s.world.advertise(s.t)
		}
		w := s.world.with(s.server.Key(t, s.world.Account)) // each operation has a quota of its own
		w.Client = w.For(t)
		if try(w) || isNew {
			return w
		}
		s.world = nil
	}
}
