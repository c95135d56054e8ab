package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
)

func (a *advertiser) audience(t *testing.T) string {
	t.Helper()
	made, err := a.AdAudiences.Create(t.Context(), &sdk.AdAudienceCreate{AccountID: a.channel, AdAccountID: a.adAccount, Name: "Buyers", Type: "customer_list"})
	require.NoError(t, err)
	return made.ID
}

func csvFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "people.csv")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// people is a CSV of so many, with a line each.
func people(n int) string {
	var b strings.Builder
	b.WriteString("name,email\n")
	for i := range n {
		fmt.Fprintf(&b, "Person %[1]d,Person%[1]d@Example.com\n", i)
	}
	return b.String()
}

func hexHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// sentUpload is an upload that came through the gate.
type sentUpload struct {
	key   string
	users []map[string]string
}

// gate stands between a client and the server, and sees what leaves the machine.
type gate struct {
	URL    string
	before func(n int) bool // whether the n-th upload, from 1, reaches the server
	after  func(n int) bool // whether its answer reaches the client

	mu      sync.Mutex
	uploads []sentUpload
	bodies  strings.Builder
}

func newGate(t *testing.T, target string) *gate {
	t.Helper()
	to, err := url.Parse(target)
	require.NoError(t, err)
	pass := func(int) bool { return true }
	g := &gate{before: pass, after: pass}
	proxy := httputil.NewSingleHostReverseProxy(to)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/users") {
			proxy.ServeHTTP(w, r)
			return
		}
		n := g.record(r)
		if !g.before(n) {
			panic(http.ErrAbortHandler)
		}
		answer := httptest.NewRecorder()
		proxy.ServeHTTP(answer, r.WithContext(context.WithoutCancel(r.Context())))
		if !g.after(n) {
			panic(http.ErrAbortHandler)
		}
		w.WriteHeader(answer.Code)
		_, _ = io.Copy(w, answer.Body)
	}))
	t.Cleanup(server.Close)
	g.URL = server.URL + "/v1"
	return g
}

func (g *gate) record(r *http.Request) int {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	var sent struct{ Users []map[string]string }
	_ = json.Unmarshal(body, &sent)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.uploads = append(g.uploads, sentUpload{r.Header.Get("Idempotency-Key"), sent.Users})
	g.bodies.Write(body)
	return len(g.uploads)
}

// through is the same client by way of the gate, which does not repeat by itself.
func (a *advertiser) through(g *gate) *apiClient {
	return &apiClient{sdk.New(a.account.Key, sdk.WithBaseURL(g.URL), sdk.WithRetries(0)), g.URL, "ads"}
}

func quiet() *uploadMeter { return newUploadMeter(io.Discard) }

func TestAdsUpload_SendsHashesAlone(t *testing.T) {
	t.Parallel()
	for platform, phone := range map[sdk.AdPlatform]string{sdk.AdPlatformFacebook: "16169547888", sdk.AdPlatformTikTok: "+16169547888"} {
		a := newAdvertiser(t, platform)
		g := newGate(t, a.Server.URL)
		hashed := hexHash("grace@example.com")
		file := csvFile(t, "\xef\xbb\xbfE-Mail Opt-In;Email;City; PHONE ;email_sha256\r\nyes; Ada@Example.com ;Paris;+1 (616) 954-78 88;\r\nno;;Rome;;"+hashed+"\r\n")
		var notes safeText
		summary, err := a.through(g).upload(t.Context(), a.audience(t), file, rowsPerRequest, newUploadMeter(&notes))
		require.NoError(t, err)
		require.Equal(t, uploadCounts{Received: 2, Accepted: 2, Errors: []rowError{}, Ignored: []string{}}, summary.uploadCounts)
		require.Equal(t, []map[string]string{
			{"email_sha256": hexHash("ada@example.com"), "phone_sha256": hexHash(phone)}, {"email_sha256": hashed},
		}, g.uploads[0].users, platform)
		for _, plain := range []string{"da@", "616", "Paris", "xample"} {
			require.NotContains(t, strings.ToLower(g.bodies.String()), strings.ToLower(plain))
		}
		require.Contains(t, notes.String(), "Not sent: E-Mail Opt-In, City\n")
		require.Contains(t, notes.String(), "2 rows, ")
		left, err := filepath.Glob(file + "*")
		require.NoError(t, err)
		require.Equal(t, []string{file}, left, "the progress goes with the end")
	}
}

func TestAdsUpload_NamesTheLinesOfBadRows(t *testing.T) {
	t.Parallel()
	a := newAdvertiser(t, sdk.AdPlatformPinterest)
	file := csvFile(t, strings.Join([]string{
		"email,phone,email_sha256",
		"ada@example.com,,",
		"nonsense,,",
		"too,many,columns,here",
		`"quo"ted@example.com,,`,
		"",
		`"grace@`, `example.com",,`, // one row on two lines
		"ADA@example.com,,",
		",+4930123456,",
		`linus@example.com,,`,
		`,,abc`,
		`"open,,`, `"middle@example.com,,`,
		"last@example.com,+4930123456,",
	}, "\n"))
	id := a.audience(t)
	p := a.run(t, "upload", id, file)
	require.Empty(t, p.failure)
	require.Contains(t, p.out, "received    11\naccepted    3\ninvalid     7\nduplicates  1\n")
	require.Contains(t, p.out, "The audience "+id+" on pinterest is ")
	require.Contains(t, p.out, "pinterest does not match people by phone.\n")
	for _, line := range []string{
		`3 +email +Send an e-mail address`, `4 +- +The row has more or fewer columns`, `5 +- +The row cannot be read`,
		`7 +email +Send an e-mail address`, `10 +email +Send email`, `12 +email_sha256 +A SHA-256 has 64`, `13 +- +Lines 13 to 14 are read as one row`,
	} {
		require.Regexp(t, `(?m)^`+line, p.out)
	}

	p = a.run(t, "upload", id, file, "--json")
	var summary map[string]any
	require.NoError(t, json.Unmarshal([]byte(p.out), &summary), p.out)
	require.Subset(t, summary, map[string]any{"object": "audience_upload", "audience_id": id, "received": 11.0, "accepted": 0.0, "invalid": 7.0, "duplicates": 4.0})
	require.Equal(t, map[string]any{"line": 3.0, "param": "email", "message": "Send an e-mail address, such as ada@example.com."}, summary["errors"].([]any)[0])
	require.Contains(t, p.notes, "11 rows, 100 %")
}

// TestAdsUpload_GoesOnWhereItWasInterrupted loses a request, and an answer, in the middle.
func TestAdsUpload_GoesOnWhereItWasInterrupted(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(g *gate, cut func(n int) bool){
		"the request": func(g *gate, cut func(int) bool) { g.before = cut },
		"the answer":  func(g *gate, cut func(int) bool) { g.after = cut },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAdvertiser(t, sdk.AdPlatformFacebook)
			g, id := newGate(t, a.Server.URL), a.audience(t)
			file := csvFile(t, people(45)+"Nobody,none\n")
			ctx, interrupt := context.WithCancel(t.Context())
			lose(g, func(n int) bool {
				if n == 3 {
					interrupt()
				}
				return n != 3
			})
			var notes safeText
			_, err := a.through(g).upload(ctx, id, file, 10, newUploadMeter(&notes))
			require.EqualError(t, err, "interrupted")
			require.Contains(t, notes.String(), "Uploaded so far: 20 rows. The same command goes on after them.")

			notes = safeText{}
			summary, err := a.through(g).upload(t.Context(), id, file, 10, newUploadMeter(&notes))
			require.NoError(t, err)
			require.Contains(t, notes.String(), "Going on after the 20 rows of the run before.")
			require.Len(t, g.uploads, 6)
			require.Equal(t, g.uploads[2], g.uploads[3], "the request under way is sent again as it was")
			keys := map[string]bool{}
			var all []map[string]string
			for _, upload := range g.uploads {
				if !keys[upload.key] {
					all = append(all, upload.users...)
				}
				keys[upload.key] = true
			}
			require.Len(t, keys, 5)
			require.Len(t, all, 45)
			for i, user := range all {
				require.Equal(t, hexHash(fmt.Sprintf("person%d@example.com", i)), user["email_sha256"])
			}
			require.Equal(t, int64(46), summary.Received)
			require.Equal(t, int64(45), summary.Accepted, "who was sent twice with one key is no duplicate")
			require.Equal(t, int64(1), summary.Invalid)
			require.Equal(t, 47, summary.Errors[0].Line)
			require.NoFileExists(t, file+"."+id+".progress")
		})
	}
}

func TestAdsUpload_TriesAnewWhatWasRefused(t *testing.T) {
	t.Parallel()
	a := newAdvertiser(t, sdk.AdPlatformFacebook)
	g, id, file := newGate(t, a.Server.URL), a.audience(t), csvFile(t, people(25))
	g.before = func(n int) bool {
		if n == 2 {
			_, err := a.Socials.Deactivate(context.Background(), a.channel)
			return err == nil
		}
		return true
	}
	_, err := a.through(g).upload(t.Context(), id, file, 10, quiet())
	require.ErrorContains(t, err, "/socials/activate")
	_, err = a.Socials.Activate(t.Context(), &sdk.SocialAccountActivate{AccountID: a.channel})
	require.NoError(t, err)
	summary, err := a.through(g).upload(t.Context(), id, file, 10, quiet())
	require.NoError(t, err)
	require.Equal(t, int64(25), summary.Accepted)
	require.Len(t, g.uploads, 4)
	require.Equal(t, g.uploads[1].users, g.uploads[2].users)
	require.NotEqual(t, g.uploads[1].key, g.uploads[2].key, "a refusal is not to be replayed")
}

func TestAdsUpload_DoesNotGoOnWithAnotherFile(t *testing.T) {
	t.Parallel()
	a := newAdvertiser(t, sdk.AdPlatformFacebook)
	g, id, file := newGate(t, a.Server.URL), a.audience(t), csvFile(t, people(25))
	var down atomic.Bool
	g.before = func(n int) bool { return n == 1 || !down.Load() }
	down.Store(true)
	_, err := a.through(g).upload(t.Context(), id, file, 10, quiet())
	require.ErrorContains(t, err, "no answer from")
	down.Store(false)
	require.NoError(t, os.WriteFile(file, []byte(people(26)), 0o600))
	progress := file + "." + id + ".progress"
	info, err := os.Stat(progress)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	_, err = a.through(g).upload(t.Context(), id, file, 10, quiet())
	require.ErrorContains(t, err, "was changed since its upload stopped after 10 rows: delete "+progress)
	require.NoError(t, os.WriteFile(progress, []byte("{"), 0o600))
	_, err = a.through(g).upload(t.Context(), id, file, 10, quiet())
	require.ErrorContains(t, err, "is spoiled: delete it")
	require.NoError(t, os.Remove(progress))
	summary, err := a.through(g).upload(t.Context(), id, file, 10, quiet())
	require.NoError(t, err)
	require.Equal(t, []int64{26, 16, 10}, []int64{summary.Received, summary.Accepted, summary.Duplicates})
}

func TestAdsUpload_RefusesWhatItCannotUpload(t *testing.T) {
	t.Parallel()
	a := newAdvertiser(t, sdk.AdPlatformFacebook)
	id := a.audience(t)
	for text, reason := range map[string]string{
		"":                            "the file is empty",
		"name,city\nAda,Paris\n":      "the first line must name the columns",
		"email,Email\na@b.example,\n": "two columns email",
		"email\nnobody\nnone\n":       "none of the rows can be used",
		"email\na@b.example\n\"" + strings.Repeat("x@y.example\n", 200_000): "the row after line 2: it does not end within 1 MiB",
	} {
		require.Contains(t, a.run(t, "upload", id, csvFile(t, text)).failure, reason)
	}
	require.Contains(t, a.run(t, "upload", id, t.TempDir()).failure, "is a directory")
	require.Contains(t, a.run(t, "upload", id, filepath.Join(t.TempDir(), "none.csv")).failure, "no such file")
	visitors, err := a.AdAudiences.Create(t.Context(), &sdk.AdAudienceCreate{AccountID: a.channel, AdAccountID: a.adAccount, Name: "Visitors", Type: "retargeting", PixelID: new("1")})
	require.NoError(t, err)
	require.Contains(t, a.run(t, "upload", visitors.ID, csvFile(t, people(1))).failure, "is of type retargeting: people can be added to a customer_list only")
}

func TestUploadMeter_DrawsABarOnATerminal(t *testing.T) {
	t.Parallel()
	var out safeText
	m := &uploadMeter{out: &out, isBar: true}
	m.start(1000, 0)
	m.show(1234, 500)
	m.note("done")
	require.Regexp(t, `^\r\x1b\[K\[#{15}\.{15}\]  50 %  1,234 rows, [\d,]+ a second\r\x1b\[Kdone\n$`, out.String())
}

func TestUploadCounts_NameTheFirstHundred(t *testing.T) {
	t.Parallel()
	var all, later uploadCounts
	for line := 150; line > 0; line-- {
		later.refuse(line, "", "no")
	}
	all.add(later)
	all.add(uploadCounts{Invalid: 1, Errors: []rowError{{Line: 900}}})
	require.Equal(t, int64(151), all.Invalid)
	require.Len(t, all.Errors, 100)
	require.Equal(t, []int{1, 100}, []int{all.Errors[0].Line, all.Errors[99].Line})
}

func TestUserRows_AreBoundedEachByItself(t *testing.T) {
	t.Parallel()
	rows, err := readUsers(strings.NewReader("email\n" + strings.Repeat("somebody.with.a.name@example.com\n", 2*longestRow/32)))
	require.NoError(t, err)
	n := 0
	for ; err == nil; n++ {
		_, err = rows.next()
	}
	require.Equal(t, io.EOF, err)
	require.Equal(t, 2*longestRow/32, n-1)
	require.Equal(t, n, rows.line)
}
