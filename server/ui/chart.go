package ui

// Point is a value of a chart.
type Point struct {
	Name  string // such as a day
	Value int64
	Shown string // the value as people read it
}

// Chart is values in their order, drawn as bars from zero on, with all of them as a table below.
type Chart struct {
	Label         string // what it shows
	Value         string // what the values are called in the table
	Points        []Point
	Bars          []Bar
	Rules         []Rule
	Width, Height int64
}

// Bar is where a point is drawn.
type Bar struct {
	X, Y, Width, Height int64
	Text                string
}

// Rule is a line across the chart at a round value.
type Rule struct {
	Y    int64
	Text string
}

// The size of a chart, and what is left of it and below for words.
const (
	chartWidth, chartHeight = 960, 260
	chartLeft, chartFoot    = 110, 24
	chartRules              = 4
)

// NewChart returns a chart of points, of which there is one at least. Show writes a round value at a rule. What is below zero is not drawn, but stands in the
// table.
func NewChart(label, value string, points []Point, show func(int64) string) *Chart {
	c := &Chart{Label: label, Value: value, Points: points, Width: chartWidth, Height: chartHeight}
	most := int64(chartRules)
	for _, p := range points {
		most = max(most, p.Value)
	}
	step := roundUp((most + chartRules - 1) / chartRules)
	top := step * chartRules
	const tall = chartHeight - chartFoot - 8
	for i := int64(0); i <= chartRules; i++ {
		c.Rules = append(c.Rules, Rule{Y: 8 + tall - tall*i/chartRules, Text: show(step * i)})
	}
	n := int64(len(points))
	for i, p := range points {
		from, to := chartLeft+(chartWidth-chartLeft)*int64(i)/n, chartLeft+(chartWidth-chartLeft)*int64(i+1)/n
		gap := min(4, (to-from)/4)
		height := int64(float64(tall) * float64(max(0, p.Value)) / float64(top))
		if p.Value > 0 {
			height = max(1, height)
		}
		c.Bars = append(c.Bars, Bar{X: from + gap, Y: 8 + tall - height, Width: max(1, to-from-2*gap), Height: height, Text: p.Name + ": " + p.Shown})
	}
	return c
}

// Last returns the name of the last point.
func (c *Chart) Last() string { return c.Points[len(c.Points)-1].Name }

// roundUp returns the next of 1, 2, 5, 10, 20, 50 and so on.
func roundUp(n int64) int64 {
	for size := int64(1); ; size *= 10 {
		for _, round := range []int64{1, 2, 5} {
			if round*size >= n {
				return round * size
			}
		}
	}
}
