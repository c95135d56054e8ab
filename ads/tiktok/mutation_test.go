package tiktok_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/tests/harness/tiktokfake"
)

// place is where a name stands on the wire: among the parameters or in the answer of a call.
type place struct{ operation, part, name string }

func (p place) String() string { return p.operation + " " + p.part + " " + p.name }

// recorder lets everything pass and keeps the names that it sees.
type recorder struct {
	next http.RoundTripper
	seen map[place]bool
}

func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	operation := tiktokfake.OperationOf(req)
	names(paramsOf(req), "", func(name string) { r.seen[place{operation, "param", name}] = true })
	res, err := r.next.RoundTrip(req)
	if err != nil {
		return res, err
	}
	names(answered(res), "", func(name string) { r.seen[place{operation, "answer", name}] = true })
	return res, nil
}

// mutant misspells one name, or what stands there, wherever it goes over the wire.
type mutant struct {
	next  http.RoundTripper
	at    place
	value bool // the value, not the name
}

func (m *mutant) RoundTrip(req *http.Request) (*http.Response, error) {
	operation := tiktokfake.OperationOf(req)
	if m.at.operation == operation && m.at.part == "param" {
		params := paramsOf(req)
		m.misspell(params, strings.Split(m.at.name, "."))
		send(req, params)
		m.misspellForm(req)
	}
	res, err := m.next.RoundTrip(req)
	if err != nil || m.at.part != "answer" || m.at.operation != operation {
		return res, err
	}
	answer := answered(res)
	m.misspell(answer, strings.Split(m.at.name, "."))
	text, err := json.Marshal(answer)
	res.Body = io.NopCloser(bytes.NewReader(text))
	return res, err
}

func (m *mutant) misspell(value any, path []string) {
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			m.misspell(item, path)
		}
	case map[string]any:
		inner, has := value[path[0]]
		switch {
		case !has:
		case len(path) > 1:
			m.misspell(inner, path[1:])
		case m.value:
			value[path[0]] = nonsense(inner)
		default:
			delete(value, path[0])
			value[path[0]+"z"] = inner
		}
	}
}

func nonsense(value any) any {
	if _, several := value.([]any); several {
		return []any{"NONSENSE"}
	}
	return "NONSENSE"
}

// inForm finds the names of the fields of a form.
var inForm = regexp.MustCompile(`form-data; name="([a-z_]+)"`)

func isForm(req *http.Request) bool {
	return strings.HasPrefix(req.Header.Get("Content-Type"), "multipart/")
}

func (m *mutant) misspellForm(req *http.Request) {
	if !isForm(req) {
		return
	}
	text := bodyOf(req)
	if m.value {
		text = regexp.MustCompile(`(form-data; name="`+m.at.name+`"\r\n\r\n)[^\r]*`).ReplaceAll(text, []byte("${1}NONSENSE"))
	} else {
		text = bytes.Replace(text, []byte(`name="`+m.at.name+`"`), []byte(`name="`+m.at.name+`z"`), 1)
	}
	req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
}

// names calls see with the names of all properties.
func names(value any, prefix string, see func(string)) {
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			names(item, prefix, see)
		}
	case map[string]any:
		for name, inner := range value {
			see(prefix + name)
			names(inner, prefix+name+".", see)
		}
	}
}

func decode(text []byte) (value any) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	_ = d.Decode(&value)
	return value
}

func bodyOf(req *http.Request) []byte {
	text, _ := io.ReadAll(req.Body)
	req.Body = io.NopCloser(bytes.NewReader(text))
	return text
}

// paramsOf reads the parameters of a request, wherever they stand. Of a form it has only the names.
func paramsOf(req *http.Request) any {
	params := map[string]any{}
	switch {
	case req.Method == http.MethodGet:
		for name, values := range req.URL.Query() {
			if params[name] = values[0]; strings.ContainsAny(values[0][:min(1, len(values[0]))], "[{") {
				params[name] = decode([]byte(values[0]))
			}
		}
	case isForm(req):
		for _, field := range inForm.FindAllSubmatch(bodyOf(req), -1) {
			params[string(field[1])] = ""
		}
	default:
		return decode(bodyOf(req))
	}
	return params
}

// send puts parameters back into a request. A form stays as it is.
func send(req *http.Request, params any) {
	if isForm(req) {
		return
	}
	if req.Method == http.MethodGet {
		query := url.Values{}
		for name, value := range params.(map[string]any) {
			text, plain := value.(string)
			if !plain {
				data, _ := json.Marshal(value)
				text = string(data)
			}
			query.Set(name, text)
		}
		req.URL.RawQuery = query.Encode()
		return
	}
	text, _ := json.Marshal(params)
	req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
}

// answered reads an answer, and leaves it to be read again.
func answered(res *http.Response) any {
	text, _ := io.ReadAll(res.Body)
	res.Body = io.NopCloser(bytes.NewReader(text))
	return decode(text)
}

// tourThrough takes a driver through everything, with its requests passing wire.
func tourThrough(t *testing.T, wire func(http.RoundTripper) http.RoundTripper, right []string) []string {
	t.Helper()
	tour := &tour{world: newWorld(wire), ctx: t.Context(), right: right}
	return tour.run()
}

// notices reports whether a tour differs from the right one when something is misspelled.
func notices(t *testing.T, right []string, m mutant) bool {
	t.Helper()
	wrong := tourThrough(t, func(next http.RoundTripper) http.RoundTripper {
		m.next = next
		return &m
	}, right)
	return !slices.Equal(right, wrong)
}

// undisturbed returns what a tour is when nothing is misspelled, and every name that goes over the wire in it.
func undisturbed(t *testing.T) ([]string, map[place]bool) {
	t.Helper()
	seen := map[place]bool{}
	lines := tourThrough(t, func(next http.RoundTripper) http.RoundTripper { return &recorder{next, seen} }, nil)
	require.False(t, strings.HasPrefix(lines[len(lines)-1], "stopped"), lines[len(lines)-1])
	return lines, seen
}

func TestTour_IsTheSameEachTime(t *testing.T) {
	t.Parallel()
	first, _ := undisturbed(t)
	assert.Equal(t, first, tourThrough(t, nil, nil))
	assert.False(t, notices(t, first, mutant{at: place{"POST campaign/create", "param", "no such name"}}))
}

func TestTour_IsRefusedOnlyWhatIsNotThere(t *testing.T) {
	t.Parallel()
	lines, _ := undisturbed(t)
	for _, line := range lines {
		if strings.HasPrefix(line, "refused \"") {
			assert.Regexp(t, ` 404 does not exist|No permission to the business center`, line)
		}
	}
}

func TestTour_FailsOnEveryMisspelledParameter(t *testing.T) {
	t.Parallel()
	right, seen := undisturbed(t)
	checked := 0
	for p := range seen {
		if p.part != "param" {
			continue
		}
		checked++
		assert.True(t, notices(t, right, mutant{at: p}), "%s can be misspelled", p)
	}
	assert.Greater(t, checked, 100)
}

func TestTour_FailsOnEveryWordThatIsNoneOfItsEnum(t *testing.T) {
	t.Parallel()
	right, seen := undisturbed(t)
	checked := 0
	for p := range seen {
		if p.part != "param" || !tiktokfake.HasEnum(p.operation, p.name) {
			continue
		}
		checked++
		assert.True(t, notices(t, right, mutant{at: p, value: true}), "%s can be any word", p)
	}
	assert.Greater(t, checked, 20)
}

func TestTour_FailsOnEveryMisspelledNameOfAnAnswer(t *testing.T) {
	t.Parallel()
	right, seen := undisturbed(t)
	for p := range seen {
		if p.part == "answer" && !isUnread(p) {
			assert.True(t, notices(t, right, mutant{at: p}), "%s can be misspelled", p)
		}
	}
}

// unread are the names of answers that nobody reads, because nothing here is for them or because a request says the same.
var unread = strings.Fields(`message request_id page_info.page page_info.page_size modify_time advertiser_id advertiser_name timezone file_name user_role level
	ad_format identity_id identity_type identity_authorized_bc_id image_ids video_id bid_display_mode network_types operating_systems pacing promotion_target_type
	promotion_type spending_power asset_id asset_name asset_type app_promotion_type budget_optimize_on special_industries audience_history lookalike_spec.include_source
	lookalike_spec.mobile_os lookalike_spec.placements lookalike_spec.source_audience_id item_type status preview_url targeting_type geo_type`)

// told are the names that are read of the answers to changes: the ids of what was made, and where a file is.
var told = strings.Fields("code data data.campaign_id data.adgroup_id data.ad_ids data.video_id data.image_id data.custom_audience_id data.file_path")

// isUnread reports whether nobody reads a name of an answer.
func isUnread(p place) bool {
	switch {
	case p.operation == "GET identity/get" && strings.HasPrefix(p.name, "data.identity_list"), p.operation == "GET oauth2/advertiser/get" && p.name == "data.list.advertiser_id",
		p.operation == "GET advertiser/info" && strings.HasSuffix(p.name, "r_id"), p.operation == "GET advertiser/info" && p.name == "data.list.status":
		return false
	case p.operation == "GET bc/asset/get" && p.name == "data.page_info.total_number":
		return false
	case strings.HasPrefix(p.operation, "POST") && p.operation != "POST tool/targeting/search":
		made := strings.Contains(p.operation, "create") || strings.Contains(p.operation, "upload")
		return p.name != "code" && (!made || !slices.Contains(told, p.name) || p.operation == "POST adgroup/create" && p.name == "data.campaign_id")
	case p.operation == "GET bc/asset/get" && (strings.HasPrefix(p.name, "data.list") || strings.HasSuffix(p.name, "total_page")),
		strings.HasSuffix(p.name, "page_info.total_number"):
		return true
	}
	return slices.ContainsFunc(unread, func(word string) bool { return p.name == word || strings.HasSuffix(p.name, "."+word) })
}
