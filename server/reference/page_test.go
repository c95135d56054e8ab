package reference

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tillwright/tillwright/tests/harness/markup"
)

func TestPages_HaveEveryOperationOnce(t *testing.T) {
	t.Parallel()
	r := whole(t)
	found, locked := map[string]string{}, map[string]bool{}
	for path, page := range drawnPages(t, r) {
		for _, node := range markup.Elements(t, page) {
			if node.Data == "article" {
				id := markup.Attribute(node, "id")
				assert.NotContains(t, found, id, "on two pages: %s", path)
				found[id] = textOf(node)
				for inner := range node.Descendants() {
					locked[id] = locked[id] || markup.Attribute(inner, "class") == "badge bad" && strings.TrimSpace(textOf(inner)) == "locked"
				}
			}
		}
	}
	var document struct {
		Paths map[string]map[string]json.RawMessage
	}
	require.NoError(t, json.Unmarshal(r.text, &document))
	count := 0
	for path, item := range document.Paths {
		for method, text := range item {
			var op struct {
				ID        string                     `json:"operationId"`
				Approval  string                     `json:"x-approval"`
				Scope     string                     `json:"x-scope"`
				More      []string                   `json:"x-more-scopes"`
				Locked    bool                       `json:"x-locked"`
				Responses map[string]json.RawMessage `json:"responses"`
			}
			if !slices.Contains([]string{"get", "put", "post", "delete", "patch"}, method) {
				continue
			}
			require.NoError(t, json.Unmarshal(text, &op))
			said := found[op.ID]
			count++
			assert.Contains(t, said, strings.ToUpper(method)+" ", op.ID)
			assert.Contains(t, said, path, op.ID)
			assert.Contains(t, said, "approval: "+op.Approval, op.ID)
			assert.Equal(t, op.Locked, locked[op.ID], op.ID)
			if op.Scope != "none" {
				for _, scope := range append(op.More, op.Scope) {
					assert.Contains(t, said, scope, op.ID)
				}
			}
			for status := range op.Responses {
				assert.Contains(t, said, status+" ", op.ID)
			}
			for _, language := range []string{"curl", "Go", "TypeScript"} {
				assert.Contains(t, said, language, op.ID)
			}
		}
	}
	assert.Len(t, found, count)
	assert.Greater(t, count, 200)
}

// Whoever follows a link within the reference arrives at what it names.
func TestPages_LinkToWhatIsThere(t *testing.T) {
	t.Parallel()
	r := whole(t)
	pages, ids := drawnPages(t, r), map[string]map[string]bool{}
	for path, page := range pages {
		ids[path] = map[string]bool{}
		h1 := 0
		for _, node := range markup.Elements(t, page) {
			if id := markup.Attribute(node, "id"); id != "" {
				assert.False(t, ids[path][id], "%s has the id %s twice", path, id)
				ids[path][id] = true
			}
			if node.Data == "h1" {
				h1++
			}
			assert.Empty(t, markup.Attribute(node, "style"), "the policy lets no such style in")
		}
		assert.Equal(t, 1, h1, path)
	}
	arrives := func(from, address string) {
		path, id, _ := strings.Cut(address, "#")
		if path == "" {
			path = from
		}
		if path == "/docs" || strings.HasPrefix(path, "/docs/") {
			assert.Contains(t, ids, path, "%s on %s", address, from)
			assert.True(t, id == "" || ids[path][id], "%s on %s", address, from)
		}
	}
	for path, page := range pages {
		for _, node := range markup.Elements(t, page) {
			if node.Data == "a" {
				arrives(path, markup.Attribute(node, "href"))
			}
			for _, refers := range []string{"for", "aria-describedby", "aria-labelledby"} {
				for id := range strings.FieldsSeq(markup.Attribute(node, refers)) {
					assert.True(t, ids[path][id], "%s: %s leads nowhere: %s", path, refers, id)
				}
			}
		}
	}
	var index [][]string
	require.NoError(t, json.Unmarshal([]byte(drawnAt(t, r, searchName)), &index))
	assert.Greater(t, len(index), 200)
	for _, found := range index {
		arrives("the search", found[4])
	}
	llms := drawnAt(t, r, llmsName)
	for path := range pages {
		assert.Contains(t, llms, "(https://shop.example"+path+")")
	}
}

// The page of a tag shows all of its description. Where all tags stand only the first paragraph does.
func TestPages_ShowTheFirstParagraphWhereAllTagsStand(t *testing.T) {
	t.Parallel()
	r := whole(t)
	const rule = "an unpaid bill is void"
	assert.Contains(t, drawnAt(t, r, "subscriptions"), rule)
	for _, name := range []string{"", llmsName} {
		assert.NotContains(t, drawnAt(t, r, name), rule)
		assert.Contains(t, drawnAt(t, r, name), "Products that a customer pays for period after period.")
	}
}

// hostile is what a document could say.
const hostile = `"><img src=x onerror=alert(1)></style></script><script>alert(2)</script>{{.}}` + "\u202E"

// strange is a document of two operations and what the real one has none of yet: something deprecated.
func strange(word string) []byte {
	quoted := quoted(word)
	return []byte(`{"info": {"title": "T", "version": "v1", "description": ` + quoted + `}, "tags": [{"name": "Account", "description": ` + quoted + `}, {"name": "TestHelpers", "x-displayName": "Test helpers", "description": "a"}],
	"paths": {"/account": {"get": {"operationId": "getAccount", "summary": ` + quoted + `, "description": ` + quoted + `, "tags": ["Account"], "x-sdk": "Get", "x-approval": "allow", "x-scope": "account:read",
		"deprecated": true, "x-deprecated-at": "2026-11-22", "x-sunset-at": "2027-06-01", "x-deprecation-link": "https://shop.example/instead",
		"parameters": [{"name": "kind", "in": "query", "description": ` + quoted + `, "example": ` + quoted + `, "required": true, "schema": {"type": "string", "enum": ["a", ` + quoted + `], "x-deprecated-values": {"a": {"x-sunset-at": "2027-07-02"}}}}],
		"responses": {"200": {"description": ` + quoted + `, "content": {"application/json": {"schema": {"type": "object", "properties": {"id": {"type": "string", "description": ` + quoted + `, "deprecated": true, "x-sunset-at": "2027-08-03"}}}, "example": {"id": ` + quoted + `}}}}}}},
		"/test_helpers/clock": {"post": {"operationId": "advanceClock", "summary": "a", "tags": ["TestHelpers"], "x-sdk": "AdvanceClock", "x-approval": "allow", "x-scope": "none", "x-development": true, "responses": {}}}}}`)
}

func TestPages_EscapeWhatTheDocumentSays(t *testing.T) {
	t.Parallel()
	tags := func(word string) (all []string) {
		r := newReference(t, Options{Document: strange(word)})
		for _, name := range []string{"", "account"} {
			for _, node := range markup.Elements(t, drawnAt(t, r, name)) {
				tag := node.Data
				for _, a := range node.Attr {
					tag += " " + a.Key
				}
				all = append(all, tag)
			}
		}
		return all
	}
	assert.Equal(t, tags("word"), tags(hostile))
}

func TestPages_SayUntilWhenWhatIsDeprecatedWorks(t *testing.T) {
	t.Parallel()
	r := newReference(t, Options{Document: strange("word")})
	assert.Contains(t, drawnAt(t, r, ""), `href="/docs/account#getAccount"`)
	page := drawnAt(t, r, "account")
	for _, day := range []string{"Deprecated since 2026-11-22, removed on 2027-06-01", "Deprecated, removed on 2027-07-02", "Deprecated, removed on 2027-08-03", `href="https://shop.example/instead"`, "<s>word</s>"} {
		assert.Contains(t, page, day)
	}
}

func TestPages_HaveTheOperationsOfTheServer(t *testing.T) {
	t.Parallel()
	for _, develops := range []bool{true, false} {
		at := serve(t, newReference(t, Options{Document: strange("word"), Develops: develops}), nil)
		response, err := http.Get(at + "/docs/test-helpers")
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		assert.Equal(t, develops, response.StatusCode == http.StatusOK, response.StatusCode)
	}
}

func TestPages_AreSentOnceAndGuarded(t *testing.T) {
	t.Parallel()
	r := newReference(t, Options{})
	at := serve(t, r, nil)
	for path, status := range map[string]int{"/docs": 200, "/docs/products": 200, "/docs/events": 200, "/llms.txt": 200, "/docs/search.json": 200, r.sheet.Address: 200, r.script.Address: 200, "/docs/guide": 200, "/docs/guide/start": 200, "/docs/guide/nothing": 404, "/docs/nothing": 404, "/docs/test-helpers": 404, "/docs/%2Fsearch.json": 404} {
		response, err := http.Get(at + path)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		assert.Equal(t, status, response.StatusCode, path)
		if strings.HasPrefix(path, "/assets/") {
			continue
		}
		policy := response.Header.Get("Content-Security-Policy")
		assert.Contains(t, policy, "default-src 'none'", path)
		assert.NotContains(t, policy, "unsafe", path)
		if status != http.StatusOK {
			continue
		}
		again := httptest.NewRequest(http.MethodGet, path, nil)
		again.Header.Set("If-None-Match", response.Header.Get("ETag"))
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at+path, nil)
		require.NoError(t, err)
		request.Header = again.Header
		second, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		require.NoError(t, second.Body.Close())
		assert.Equal(t, http.StatusNotModified, second.StatusCode, path)
	}
}

// The first page comes with its sheet and script; the next one has them. All of it has to come within 120 kB, the next page within 40.
func TestPages_AreLight(t *testing.T) {
	t.Parallel()
	r := whole(t)
	for path := range drawnPages(t, r) {
		w, request := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, path, nil)
		request.Header.Set("Accept-Encoding", "gzip")
		page, _, err := r.page(strings.TrimPrefix(strings.TrimPrefix(path, "/docs"), "/"))
		require.NoError(t, err)
		require.NoError(t, page.Write(w, request, http.StatusOK))
		assert.Less(t, w.Body.Len(), 40_000, path)
	}
	assert.Less(t, len(script), 6_000)
	assert.Less(t, len(sheet), 9_000)
}

// What no page has is not sent with every page.
func TestPages_UseAllOfTheirSheet(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for _, page := range drawnPages(t, whole(t)) {
		for _, node := range markup.Elements(t, page) {
			for class := range strings.FieldsSeq(markup.Attribute(node, "class")) {
				used[class] = true
			}
		}
	}
	for _, word := range strings.FieldsFunc(string(sheet), func(c rune) bool { return strings.ContainsRune(" ,:{}>()", c) }) {
		if class, found := strings.CutPrefix(word, "."); found && class != "" && (class[0] < '0' || class[0] > '9') {
			name, second, both := strings.Cut(class, ".")
			assert.True(t, used[name] || name == "PUT", "nothing has the class %s", name)
			assert.True(t, !both || used[second] || second == "PUT", "nothing has the class %s", second)
		}
	}
}

// Reading the document takes a thousand times longer than sending a page, so nobody can have it read for every request.
func TestPages_ReadTheDocumentOnceForNamesThatDoNotExist(t *testing.T) {
	t.Parallel()
	r := newReference(t, Options{Document: strange("word")})
	first, status, err := r.page("nothing")
	require.NoError(t, err)
	assert.Equal(t, http.StatusNotFound, status)
	r.text = nil
	for _, name := range []string{"nothing", "other", "", "/missing"} {
		again, status, err := r.page(name)
		if name == "" {
			assert.Error(t, err, "the test sees that the document is read")
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, http.StatusNotFound, status)
		assert.Same(t, first, again)
	}
}

func TestPages_SayWhichFieldsGoTogether(t *testing.T) {
	t.Parallel()
	page := drawnAt(t, whole(t), "ads")
	assert.Contains(t, page, "needs goal with budget_amount with budget_type, or ad_group_id")
	assert.NotContains(t, page, "any JSON or")
}
