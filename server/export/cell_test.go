package export

import (
	"encoding/json"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk/wire"
	"github.com/tillwright/tillwright/store"
)

type inner struct {
	Country *string `json:"country"`
}

type thing struct {
	ID      string            `json:"id"`
	Object  string            `json:"object"`
	Name    string            `json:"name"`
	Owner   wire.Reference    `json:"owner"`
	Nobody  wire.Reference    `json:"nobody"`
	Amount  *int64            `json:"amount"`
	Spend   *json.Number      `json:"spend"`
	Live    bool              `json:"live"`
	At      *wire.Time        `json:"at"`
	Address *inner            `json:"address"`
	Tags    []string          `json:"tags"`
	Lines   []wire.Reference  `json:"lines"`
	Meta    json.RawMessage   `json:"metadata"`
	Data    map[string]string `json:"data"`
	Secret  string            `json:"secret"`
}

func TestCells_AreTheFieldsOfTheAPI(t *testing.T) {
	t.Parallel()
	columns := columnsOf[thing]([]string{"secret"})
	require.Equal(t, []string{"id", "name", "owner", "nobody", "amount", "spend", "live", "at", "address.country", "tags", "lines", "metadata", "data"}, names(columns))
	full := thing{
		ID: "a", Name: "=1+1", Owner: "cus_1", Amount: new(int64(-1900)), Spend: new(json.Number("-2.5")), Live: true, At: new(wire.Time("2026-01-31T12:00:00.000Z")),
		Address: &inner{new("+DE")}, Tags: []string{"=x", "a,b"}, Lines: []wire.Reference{"li_1"}, Meta: json.RawMessage(`{"k":"v"}`), Data: map[string]string{"a": "b"}, Secret: "s",
	}
	assert.Equal(t, []string{
		"a", "'=1+1", "cus_1", "", "-1900", "-2.5", "true", "2026-01-31T12:00:00.000Z", "'+DE", `["=x","a,b"]`, `["li_1"]`, `{"k":"v"}`, `{"a":"b"}`,
	}, cells(columns, full), "numbers are numbers, texts are harmless")
	assert.Equal(t, []string{"", "", "", "", "", "", "false", "", "", "", "", "", ""}, cells(columns, thing{Tags: []string{}, Meta: json.RawMessage("{}")}))
}

func TestHarmless_IsNoFormula(t *testing.T) {
	t.Parallel()
	for _, typed := range []string{"=1", "+1", "-1", "@SUM(1)", "\t=1", "\tx", "\rx", "\nx", " =1", "\u00a0=1", "\ufeff=1", "\u200b@x", "＝1", "\u3164=1"} {
		assert.Equal(t, "'"+typed, Harmless(typed))
	}
	for _, plain := range []string{"", "Grace", "a=1", "'=1", "1-2", "https://example.com/?a=1"} {
		assert.Equal(t, plain, Harmless(plain))
	}
}

// Whoever sends a file to their accountant sends no key with it. The first column is the id, behind which the next page is read.
func TestLists_BeginWithAnIDAndHaveNoSecrets(t *testing.T) {
	t.Parallel()
	secret := regexp.MustCompile(`(^|[._])(secret|access_token|password|sealed)$|^key$`)
	for name, list := range lists {
		head := list(&store.Store{}).Head
		assert.Equal(t, "id", head[0], name)
		for _, column := range head {
			assert.NotRegexp(t, secret, column, name)
			assert.NotEqual(t, "object", column, name)
		}
	}
}
