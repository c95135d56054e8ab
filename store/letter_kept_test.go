package store

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
)

// A connection keeps the plan that it made while there were few letters. It looks for those of one subscription.
func TestReadTold_LooksForTheLettersOfItsSubscription(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		s.keepsPlans(t)
		s.waitingLetters(t, s.account, 20)
		if s.db.Engine == core.PostgreSQL {
			_, err := s.db.Write.DB.ExecContext(t.Context(), `ANALYZE letters`)
			require.NoError(t, err)
		}
		l := &Letter{AccountID: s.account, ObjectID: core.NewID(core.KindSubscription)}
		for range 3 { // what is asked more than once is kept
			require.NoError(t, s.readTold(t.Context(), l, &LetterContent{}))
		}
		looked := 0
		for _, text := range s.said("FROM letters") {
			if !strings.Contains(text, "subscription_kept") {
				continue
			}
			looked++
			plan := s.planOf(t, text)
			assert.Regexp(t, `letters_cause.*\n?.*object_id`, plan)
			assert.NotContains(t, plan, "Seq Scan")
		}
		assert.Positive(t, looked)
	})
}
