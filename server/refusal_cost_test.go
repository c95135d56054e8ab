//go:build unix

package server

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"
)

// What refusing a body may cost: so many times of what reading it costs, and a little for what is the same for every body.
const (
	maxTimes = 30
	maxFloor = 20 * time.Millisecond
)

// TestRefusing_CostsAMultipleOfReading sends every operation the bodies that are dearest to refuse, each nearly as large as
// the operation takes. It runs beside no other test: the processor time that it measures is that of the whole process.
func TestRefusing_CostsAMultipleOfReading(t *testing.T) { //nolint:paralleltest // see above
	operations, err := bundled()
	require.NoError(t, err)
	list := slices.Clone(operations.All())
	slices.SortStableFunc(list, func(a, b *Operation) int { return strings.Compare(b.public(), a.public()) })
	seen := map[*openapi3.Schema]bool{}
	for _, op := range list {
		if op.body == nil {
			continue
		}
		schema := op.body.Content.Get(echo.MIMEApplicationJSON).Schema.Value
		if seen[schema] {
			continue
		}
		seen[schema] = true
		for name, kind := range hostileKinds {
			h := hostile{kind: kind, bytes: int(op.MaxBody) - 1000, values: op.limits.values - 10}
			h.value(schema, 1)
			refused(t, op, name, h.String())
		}
		if op.ID == "createProduct" || op.ID == "createAd" { // one with a closed list of fields, one that takes any
			for name, body := range hostileBodies {
				refused(t, op, name, body)
			}
		}
	}
}

func (o *Operation) public() string { return fmt.Sprint(o.Public) }

// refused holds the cost of refusing a body against that of reading it. A machine that is busy makes both dearer, so the
// least of a few tries counts.
func refused(t *testing.T, op *Operation, kind, body string) {
	t.Helper()
	require.LessOrEqual(t, len(body), int(op.MaxBody), "%s, %s", op.ID, kind)
	var reading, refusing time.Duration
	for try := range 3 {
		read := processorTime(func() { var v any; _ = json.Unmarshal([]byte(body), &v) })
		refuse := processorTime(func() { requireRefusal(t, op, kind, body) })
		if try == 0 {
			reading, refusing = read, refuse
		}
		reading, refusing = min(reading, read), min(refusing, refuse)
		if refusing <= maxTimes*reading+maxFloor {
			t.Logf("%s, %s, %d bytes: read in %s, refused in %s", op.ID, kind, len(body), reading, refusing)
			return
		}
	}
	t.Fatalf("%s, %s: a body of %d bytes is read in %s, but refused in %s", op.ID, kind, len(body), reading, refusing)
}

func requireRefusal(t *testing.T, op *Operation, kind, body string) {
	t.Helper()
	r := httptest.NewRequest(op.Method, op.Pattern, strings.NewReader(body))
	r.Header.Set("Content-Type", echo.MIMEApplicationJSON)
	w := httptest.NewRecorder()
	c := echo.New().NewContext(r, w)
	err := takeBody(op, unshared)(validate(op)(func(echo.Context) error { return nil }))(c)
	require.Error(t, err, "%s, %s", op.ID, kind)
	(&Server{log: slog.New(slog.DiscardHandler)}).refuse(c, err)
	require.Less(t, w.Code, http.StatusInternalServerError, w.Body)
	require.Less(t, w.Body.Len(), 200_000, "%s, %s", op.ID, kind)
}

func processorTime(f func()) time.Duration {
	before := processorUsage()
	f()
	return processorUsage() - before
}

func processorUsage() time.Duration {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage) // cannot fail with these arguments
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// hostileBodies are those that no schema is needed for.
var hostileBodies = map[string]string{
	"not an object":       `[` + strings.Repeat(`{"a":1},`, 9_000) + `1]`,
	"values without end":  `[` + strings.Repeat(`0,`, 400_000) + `0]`,
	"keys without end":    manyKeys(40_000) + `}`,
	"wrapped without end": `{"a":` + manyKeys(40_000) + `}}`,
	"deep without end":    strings.Repeat(`{"a":[`, 100_000),
	"wide and deep":       strings.Repeat(`{"a":1,"b":{},"c":[`, 31) + strings.Repeat(`{"d":"e"},`, 8_000) + `1` + strings.Repeat(`]}`, 31),
	"one long key":        `{"` + strings.Repeat("k", 900_000) + `":{"name":1}}`,
	"one long escaped":    `{"` + strings.Repeat(`\u00e9`, 150_000) + `":1}`,
}

// hostileKinds are what is wrong with every value of a body that is otherwise made as its schema says.
var hostileKinds = map[string]func(h *hostile, s *openapi3.Schema, depth int){
	"unknown fields": func(h *hostile, _ *openapi3.Schema, _ int) { h.write("1", 1) },
	"nested unknown": func(h *hostile, _ *openapi3.Schema, depth int) { h.object(nil, depth, 900) },
	"wrong types":    func(h *hostile, s *openapi3.Schema, _ int) { h.write(wrongType(s), 2) },
	"null":           func(h *hostile, _ *openapi3.Schema, _ int) { h.write("null", 1) },
	"long text": func(h *hostile, _ *openapi3.Schema, _ int) {
		h.write(`"`+strings.Repeat("a-", min(100_000, h.bytes/8))+`@"`, 1)
	},
	"short text":          func(h *hostile, _ *openapi3.Schema, _ int) { h.write(`"~"`, 1) },
	"numbers of all size": func(h *hostile, _ *openapi3.Schema, _ int) { h.write("-1.7976931348623157e308", 1) },
}

func wrongType(s *openapi3.Schema) string {
	if s.Type.Is(openapi3.TypeString) {
		return `{"a":1}`
	}
	return `"a"`
}

// hostile writes a body until there is no more room. Each object has all its fields and then as many others as it may have.
// Each array is as full as it may be. In the place of each plain value stands what its kind says.
type hostile struct {
	strings.Builder
	kind          func(h *hostile, s *openapi3.Schema, depth int)
	bytes, values int
}

func (h *hostile) write(text string, values int) {
	h.WriteString(text)
	h.bytes -= len(text)
	h.values -= values
}

func (h *hostile) full() bool { return h.bytes < 1000 || h.values < 2000 }

func (h *hostile) value(s *openapi3.Schema, depth int) {
	for _, refs := range []openapi3.SchemaRefs{s.AllOf, s.OneOf, s.AnyOf} {
		if len(refs) > 0 && len(s.Properties) == 0 {
			h.value(refs[len(refs)-1].Value, depth)
			return
		}
	}
	switch {
	case depth > 8 || h.full():
		h.write("0", 1)
	case s.Type.Is(openapi3.TypeArray):
		h.array(s, depth)
	case s.Type.Is(openapi3.TypeObject) || len(s.Properties) > 0:
		h.object(s, depth, 900)
	default:
		h.kind(h, s, depth)
	}
}

func (h *hostile) array(s *openapi3.Schema, depth int) {
	most := uint64(10_000)
	if s.MaxItems != nil {
		most = *s.MaxItems
	}
	h.write("[", 1)
	for i := range most {
		if i > 0 {
			h.write(",", 0)
		}
		if h.value(s.Items.Value, depth+1); h.full() {
			break
		}
	}
	h.write("]", 0)
}

func (h *hostile) object(s *openapi3.Schema, depth, more int) {
	h.write("{", 1)
	if s != nil {
		for name, property := range s.Properties {
			h.write(`"`+name+`":`, 0)
			h.value(property.Value, depth+1)
			h.write(",", 0)
		}
	}
	for i := range more {
		if h.full() {
			break
		}
		h.write(fmt.Sprintf(`"%cunknown_field_%d":{"a":1},`, 'a'+i%26, i), 2)
	}
	h.write(`"zz":0}`, 1)
}
