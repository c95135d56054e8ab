package answer

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

type text string

type thing struct {
	ID       string            `json:"id"`
	Kind     text              `json:"kind"`
	Note     *string           `json:"note"`
	Left     *string           `json:"left,omitempty"`
	At       *text             `json:"at"`
	Count    int64             `json:"count"`
	Rate     float64           `json:"rate"`
	Any      any               `json:"any"`
	Anys     []any             `json:"anys"`
	Map      map[string]string `json:"map"`
	Deep     map[string]any    `json:"deep"`
	Raw      json.RawMessage   `json:"raw"`
	Own      own               `json:"own"`
	Things   []thing           `json:"things"`
	Embedded `json:"embedded"`
}

type Embedded struct {
	Truth bool `json:"truth"`
}

type own struct{ n int }

func (o own) MarshalJSON() ([]byte, error) { return json.Marshal(map[string]int{"n": o.n}) }

func TestJSON_WritesWhatTheStandardLibraryWrites(t *testing.T) {
	t.Parallel()
	note := "Ünïcode \u2028 <script>&amp; \"quoted\" \\ \x07 \n 🎉 " + strings.Repeat("x", 300)
	at := text("2026-11-21T00:00:00.000Z")
	full := thing{ID: "th_1", Kind: "a", Note: &note, Left: &note, At: &at, Count: 1<<53 + 1, Rate: 0.1, Any: "th_2", Anys: []any{"a", &thing{ID: "th_3"}, nil},
		Map: map[string]string{"b": "2", "a": note, "é": ""}, Deep: map[string]any{"z": []any{1.5, true}, "a": map[string]any{}}, Raw: json.RawMessage(`{"z":1,"a":9007199254740993}`), Own: own{7}}
	full.Things = []thing{full, {}}
	for _, body := range []any{full, thing{}, []thing{}, map[string]any{"list": []string{}, "none": nil}} {
		want, err := json.Marshal(body)
		require.NoError(t, err)
		w := httptest.NewRecorder()
		require.NoError(t, JSON(w, 201, body))
		require.Equal(t, 201, w.Code)
		require.Equal(t, "application/json", w.Header().Get("Content-Type"))
		require.Equal(t, string(want)+"\n", w.Body.String())
	}
}

type page struct {
	Object string  `json:"object"`
	Data   []thing `json:"data"`
	More   bool    `json:"has_more"`
}

func TestJSON_WritesListsItemByItem(t *testing.T) {
	t.Parallel()
	for n := range 4 {
		list := page{Object: "list", Data: make([]thing, n), More: true}
		for i := range list.Data {
			list.Data[i] = thing{ID: `<"data":[]>`, Deep: map[string]any{"data": []any{}}}
		}
		want, err := json.Marshal(list)
		require.NoError(t, err)
		w := httptest.NewRecorder()
		require.NoError(t, JSON(w, 200, list))
		require.Equal(t, string(want)+"\n", w.Body.String())
		require.Len(t, list.Data, n, "the list is what it was")
	}
}

func TestJSON_WritesNothingOfAListThatIsTooLarge(t *testing.T) {
	t.Parallel()
	large := thing{ID: strings.Repeat("x", Most/2-200)}
	for items, fits := range map[int]bool{1: true, 2: true, 3: false} {
		w := httptest.NewRecorder()
		list := page{Data: make([]thing, items)}
		for i := range list.Data {
			list.Data[i] = large
		}
		err := JSON(w, 200, list)
		if fits {
			require.NoError(t, err, items)
			continue
		}
		var tooLarge *TooLargeError
		require.ErrorAs(t, err, &tooLarge)
		require.Equal(t, 2, tooLarge.Fit)
		require.Empty(t, w.Body.String())
		require.Empty(t, w.Header())
	}
	w := httptest.NewRecorder()
	require.NoError(t, JSON(w, 200, page{Data: []thing{{ID: strings.Repeat("x", Most)}}}), "one that nobody could ask for less of")
}

func TestJSON_OfWhatHasNoTextWritesNothing(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	require.Error(t, JSON(w, 200, map[string]any{"f": func() {}}))
	require.Empty(t, w.Body.String())
	require.Empty(t, w.Header())
}

func TestJSON_AnswersDoNotShareABuffer(t *testing.T) {
	t.Parallel()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			want := strings.Repeat(string(rune('a'+i)), 1<<(12+i%4))
			for range 200 {
				w := httptest.NewRecorder()
				if err := JSON(w, 200, want); err != nil || w.Body.String() != `"`+want+"\"\n" {
					t.Errorf("answer %d: %v", i, err)
					return
				}
			}
		})
	}
	all.Wait()
}
