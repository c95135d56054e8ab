package advert

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMetrics_RatiosComeFromSums(t *testing.T) {
	t.Parallel()
	m := Metrics{Spend: new(10 * AmountUnit), Impressions: new(int64(1000)), Reach: new(int64(10)), Clicks: new(int64(10)), Conversions: new(int64(500)),
		PurchaseValue: new(25 * AmountUnit), Actions: map[string]int64{"like": 1}}
	m.Add(Metrics{Spend: new(5 * AmountUnit), Impressions: new(int64(9000)), Reach: new(int64(10)), Clicks: new(int64(20)), Conversions: new(int64(1000)),
		PurchaseValue: new(Amount(0)), Actions: map[string]int64{"like": 2}})
	assert.Equal(t, "0.3", m.CTR().String(), "not the average of 1 and 0.22")
	assert.Equal(t, "0.50", m.CPC().String())
	assert.Equal(t, "1.50", m.CPM().String())
	assert.Equal(t, "10.00", m.CostPerConversion().String())
	assert.Equal(t, "1.666667", m.ROAS().String())
	assert.Equal(t, int64(3), m.Actions["like"])
	assert.Nil(t, m.Reach, "the people of two ads may be the same")
	assert.Nil(t, (&Metrics{Spend: new(Amount(1)), Clicks: new(int64(0))}).CPC(), "of nothing")
}

func TestMetrics_KnowNothingOfWhatOneLacks(t *testing.T) {
	t.Parallel()
	m := NoMetrics()
	m.Add(Metrics{Spend: new(AmountUnit), Clicks: new(int64(2))})
	assert.Equal(t, Metrics{Spend: new(AmountUnit), Clicks: new(int64(2))}, m)
	assert.Nil(t, m.CPM())
	assert.Nil(t, m.ROAS())
}

func TestMetrics_RatiosOfLargeAmountsDoNotOverflow(t *testing.T) {
	t.Parallel()
	m := Metrics{Spend: new(Amount(math.MaxInt64 / 2)), Impressions: new(int64(math.MaxInt64 / 2)), PurchaseValue: new(Amount(math.MaxInt64))}
	assert.Equal(t, Amount(1000), *m.CPM())
	assert.Equal(t, 2*RatioOne, *m.ROAS())
	m.Spend = new(Amount(1))
	assert.Equal(t, Ratio(math.MaxInt64), *m.ROAS())
}

func TestRatio_IsReadAndWrittenExactly(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"2.5", "0.01", "3", "0.000001", "0"} {
		r, err := ParseRatio(text)
		require.NoError(t, err, text)
		assert.Equal(t, text, r.String())
	}
	for _, wrong := range []string{"-1", "1e3", "0.0000001", "NaN", "", "1."} {
		_, err := ParseRatio(wrong)
		assert.Error(t, err, wrong)
	}
	assert.Equal(t, "-0.5", (-RatioOne / 2).String())
}

func TestObject_KeepsEveryDigit(t *testing.T) {
	t.Parallel()
	var row struct{ Targeting Object }
	require.NoError(t, json.Unmarshal([]byte(`{"Targeting": {"id": 23851234567890123456, "age": {"min": 18}}}`), &row))
	assert.Equal(t, Object(`{"id":23851234567890123456,"age":{"min":18}}`), row.Targeting)
	var content map[string]any
	require.NoError(t, row.Targeting.Decode(&content))
	assert.Equal(t, json.Number("23851234567890123456"), content["id"])
	assert.Equal(t, Object(`{"age":{"min":18},"id":23851234567890123456}`), NewObject(content))
	require.Error(t, json.Unmarshal([]byte(`{"Targeting": [1]}`), &row))
	require.NoError(t, json.Unmarshal([]byte(`{"Targeting": null}`), &row))
	assert.Equal(t, Object(""), row.Targeting)
	assert.Equal(t, "{}", row.Targeting.Text())
}
