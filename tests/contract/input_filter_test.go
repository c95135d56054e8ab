package contract

import (
	"net/http"
	"strings"
	"testing"

	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

func TestEveryOperation_RefusesAnUnknownQueryParameter(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		w := newWorld(t, boot(t, url))
		every(t, all, func(t *testing.T, op *harness.Operation) {
			resp := w.Do(t, op.Method, w.at(op, "surprise=1"), w.body(op))
			if f := resp.Fault(t, http.StatusBadRequest, "bad_request"); f.Param != "surprise" {
				t.Errorf("param is %q", f.Param)
			}
		})
	})
}

func TestEveryFilter_RefusesWhatIsEmptyOrNoText(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s := boot(t, url)
		w := newWorld(t, s)
		every(t, func(op *harness.Operation) bool { return len(op.QueryParameters()) > 0 }, func(t *testing.T, op *harness.Operation) {
			w.Client = w.fresh(t, s)
			queries := map[string]string{}
			for _, p := range op.QueryParameters() {
				switch {
				case p.Style == "deepObject":
					for _, key := range []string{"a%00", "%ff"} {
						queries[p.Name+"["+key+"]=1"] = ""
					}
					queries[p.Name+"[a]="+strings.Repeat("x", 501)] = p.Name + "[a]"
					queries[p.Name+"[a]=%00"] = p.Name + "[a]"
				case p.Schema.Value.Format == "date-time":
					for _, never := range []string{"2026-02-30T00:00:00Z", "2026-01-31T23:58:60Z", "2026-01-31T12:00:00%2B99:99"} {
						queries[p.Name+"="+never] = p.Name
					}
					fallthrough
				default:
					if !p.AllowEmptyValue {
						queries[p.Name+"="] = p.Name
					}
					queries[p.Name+"=%00"] = p.Name
				}
			}
			for query, param := range queries {
				f := w.Do(t, op.Method, w.at(op, query), w.body(op)).Fault(t, http.StatusBadRequest, "bad_request")
				if f.Param != param && param != "" || f.Param == "" {
					t.Errorf("?%s: param is %q", query, f.Param)
				}
			}
		})
	})
}

func hasQuery(op *harness.Operation, name string) bool {
	for _, p := range op.QueryParameters() {
		if p.Name == name {
			return true
		}
	}
	return false
}
