package tenant

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/tillwright/tillwright/store/core"
)

func TestDunning_CountsFromTheFirstFailure(t *testing.T) {
	t.Parallel()
	d := Dunning{IntervalsDays: []int64{2, 5, 7, 7}}
	for failed, days := range map[int64]int64{1: 2, 2: 7, 3: 14, 4: 21} {
		assert.Equal(t, core.Time(0).Add(24*time.Hour*time.Duration(days)), *d.next(0, failed))
	}
	assert.Nil(t, d.next(0, 5))
}
