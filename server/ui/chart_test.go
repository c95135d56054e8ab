package ui

import (
	"math"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestChart_DrawsInProportionAndInside(t *testing.T) {
	t.Parallel()
	show := func(n int64) string { return strconv.FormatInt(n, 10) }
	for name, values := range map[string][]int64{"usual": {0, 10, 20, 100, -5}, "nothing": {0, 0}, "one": {7}, "huge": {math.MaxInt64 / 100, 1}, "many": make([]int64, 400)} {
		var points []Point
		for i, v := range values {
			points = append(points, Point{Name: show(int64(i)), Value: v, Shown: show(v)})
		}
		c := NewChart("Revenue", "Revenue", points, show)
		require.Len(t, c.Bars, len(values), name)
		require.Len(t, c.Rules, 5, name)
		for i, b := range c.Bars {
			assert.GreaterOrEqual(t, b.X, int64(chartLeft), "%s %d %+v", name, i, b)
			assert.LessOrEqual(t, b.X+b.Width, int64(chartWidth), "%s %d %+v", name, i, b)
			assert.GreaterOrEqual(t, b.Y, int64(0), "%s %d %+v", name, i, b)
			assert.GreaterOrEqual(t, b.Height, int64(0), "%s %d %+v", name, i, b)
			assert.LessOrEqual(t, b.Y+b.Height, int64(chartHeight), "%s %d %+v", name, i, b)
			assert.Equal(t, values[i] > 0, b.Height > 0, "%s %d", name, i)
		}
	}
	c := NewChart("", "", []Point{{Value: 50}, {Value: 100}}, show)
	assert.InDelta(t, c.Bars[1].Height, 2*c.Bars[0].Height, 2)
	assert.Equal(t, []string{"0", "50", "100", "150", "200"}, []string{c.Rules[0].Text, c.Rules[1].Text, c.Rules[2].Text, c.Rules[3].Text, c.Rules[4].Text})
}
