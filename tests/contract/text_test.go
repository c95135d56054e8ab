package contract

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// fragments are texts that end or change an SQL statement into which they are pasted.
var fragments = []string{
	"'", `"`, `\'`, "' OR '1'='1", "') OR 1=1 --", "'; DROP TABLE webhook_endpoints; --", "' UNION SELECT secret FROM webhook_endpoints --",
	"'||pg_sleep(9)||'", "?", "$98765", "%' OR id LIKE '%", "*/ OR /*",
}

// TestEveryText_IsNoSQL puts fragments of SQL wherever a request takes a text. They are texts like others: refused where
// there are rules, found nowhere, and never an error of ours.
func TestEveryText_IsNoSQL(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s := boot(t, url)
		w := newWorld(t, s)
		w.post(t)           // the server counts what it sends
		defer s.RestAds()() // they mirror what the network has
		before := rows(t, s.Database)
		every(t, all, func(t *testing.T, op *harness.Operation) {
			w.Client = w.fresh(t, s)
			for i, fragment := range fragments {
				for name, resp := range w.inject(t, op, fragment, i == 0) {
					if resp.Status >= 500 {
						t.Errorf("%s is %s: %d %s", name, fragment, resp.Status, resp.Body)
					}
					if isList := op.Method == http.MethodGet && resp.Status == http.StatusOK && listed(op) != ""; isList && strings.Contains(string(resp.Body), w.IDs[listed(op)]) {
						t.Errorf("%s is %s: it finds %s", name, fragment, resp.Body)
					}
				}
			}
		})
		if after := rows(t, s.Database); !maps.Equal(before, after) {
			t.Errorf("something was made or deleted: %v became %v", before, after)
		}
	})
}

// rows counts the rows of every table that a request without an effect leaves alone. What an object is found by follows its texts, and each change, as each request, leaves a line.
func rows(t *testing.T, db *harness.Database) map[string]int {
	t.Helper()
	counts := map[string]int{}
	for _, table := range db.Tables(t) {
		if !slices.Contains([]string{"api_keys", "rate_windows", "filter_entries", "activities", "requests", "request_gaps"}, table) {
			counts[table] = db.Count(t, table)
		}
	}
	return counts
}

// inject sends the operation once for every place of a text in its path and its query, with the fragment there. Where no free text may stand, it is
// sent if it is the first: the rules refuse all of them before anybody else reads them.
func (w *world) inject(t *testing.T, op *harness.Operation, fragment string, isFirst bool) map[string]*harness.Response {
	t.Helper()
	answers := map[string]*harness.Response{}
	for _, name := range op.PathParameters() {
		answers[name] = w.Do(t, op.Method, w.at(op, "", name, url.PathEscape(fragment)), w.body(op))
	}
	if op.Method != http.MethodGet {
		return answers
	}
	for _, p := range op.QueryParameters() {
		name := p.Name
		if p.Schema != nil && p.Schema.Value.Type.Is(openapi3.TypeObject) {
			name += "[key]"
		}
		ruled := isRuled(p)
		if ruled && !isFirst {
			continue
		}
		resp := w.Do(t, op.Method, w.at(op, url.Values{name: {fragment}}.Encode()), nil)
		if ruled {
			f, err := harness.ParseFault(resp.Body)
			require.NoError(t, err, "%s is taken to be free of texts, but its rule does not refuse %s", name, fragment)
			assert.Equal(t, http.StatusBadRequest, resp.Status, "%s is taken to be free of texts, but its rule does not refuse %s", name, fragment)
			assert.True(t, strings.HasPrefix(f.Param, p.Name), "%s is taken to be free of texts, but its rule does not refuse %s", name, fragment)
		}
		answers[name] = resp
	}
	return answers
}

// isRuled reports whether the type of a parameter leaves no room for a free text.
func isRuled(p *openapi3.Parameter) bool {
	if p.Schema == nil {
		return false
	}
	schema := p.Schema.Value
	if schema.Type.Is(openapi3.TypeArray) && schema.Items != nil {
		schema = schema.Items.Value
	}
	return len(schema.Enum) > 0 || schema.Format == "date" || schema.Format == "date-time" ||
		schema.Type.Is(openapi3.TypeInteger) || schema.Type.Is(openapi3.TypeNumber) || schema.Type.Is(openapi3.TypeBoolean)
}

// TestEveryID_IsOfItsKind puts other things than an id of the right kind into every path that takes one.
func TestEveryID_IsOfItsKind(t *testing.T) {
	t.Parallel()
	takesID := func(op *harness.Operation) bool { return !op.Public && slices.Contains(op.PathParameters(), "id") }
	onShared(t, func(t *testing.T, s *harness.Server) {
		w := newWorld(t, s)
		of := map[string]int{} // how many operations take an id of a kind
		for _, op := range harness.Operations() {
			if takesID(op) {
				of[prefixOf(op)]++
			}
		}
		nth := map[string]int{}
		every(t, takesID, func(t *testing.T, op *harness.Operation) {
			w.Client = w.fresh(t, s)
			kind := prefixOf(op)
			place, share := nth[kind], min(of[kind], 4)
			nth[kind]++
			_, digits, _ := strings.Cut(w.IDs[kind], "_")
			wrong := []string{"1", "0", "-1", digits, kind, kind + "_", kind + "_1", w.IDs[kind] + "0", "null", "..%2f" + w.IDs[kind]}
			if upper := strings.ToUpper(w.IDs[kind]); upper != w.IDs[kind] {
				wrong = append(wrong, upper)
			}
			kinds := map[string]bool{}
			for _, id := range slices.Sorted(maps.Values(w.IDs)) {
				other, _, _ := strings.Cut(id, "_")
				if id != w.IDs[kind] && other != kind && !kinds[other] { // one of a kind says what the others would
					kinds[other] = true
					if len(kinds)%share == place%share { // the operations on a kind share the others, of which each has a quarter at least
						wrong = append(wrong, id)
					}
				}
			}
			for _, other := range slices.Sorted(maps.Keys(kinds))[:3] { // a server that looks at the digits alone takes any of them
				wrong = append(wrong, other+"_"+digits)
			}
			body := w.body(op)
			for _, id := range wrong {
				if resp := w.Do(t, op.Method, w.at(op, "", "id", id), body); resp.Status != http.StatusNotFound {
					t.Errorf("%s is answered %d %s", id, resp.Status, resp.Body)
				}
			}
		})
	})
}

// TestEveryAddress_NamesAHost is about the addresses of others that we keep and show as links.
func TestEveryAddress_NamesAHost(t *testing.T) {
	t.Parallel()
	onShared(t, func(t *testing.T, s *harness.Server) {
		w := newWorld(t, s)
		withAddress := func(op *harness.Operation) bool { return withBody(op) && len(addresses(op)) > 0 }
		every(t, withAddress, func(t *testing.T, op *harness.Operation) {
			for _, field := range addresses(op) {
				for _, address := range []string{"https://", "https:///path", "https://?a=b", "https://two words.example", "https://shop.example\r\nX: y", "javascript:alert(1)", "//shop.example"} {
					body := w.body(op).(map[string]any)
					body[field] = address
					w.Do(t, op.Method, w.path(op), body).Fault(t, http.StatusUnprocessableEntity, "validation_failed")
				}
			}
		})
	})
}

// addresses are the fields of an operation's body that take the address of a page.
func addresses(op *harness.Operation) []string {
	var names []string
	for name, property := range op.BodySchema().Properties {
		if strings.HasPrefix(property.Value.Pattern, "^https?://") {
			names = append(names, name)
		}
	}
	return names
}
