package harness

import (
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"testing"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/person"
)

// Person is somebody in a browser without scripts. Without an account they are not signed in.
type Person struct {
	URL   string // of the server
	Email string
	ID    string
	HTTP  *http.Client // with their cookies; it follows no redirects

	t testing.TB
}

// Stranger returns somebody who is not signed in.
func (s *Server) Stranger(t testing.TB) *Person {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &Person{URL: s.URL, t: t, HTTP: &http.Client{
		Jar: jar, Timeout: time.Minute, Transport: s.transport(t, s.address()), CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Member makes a member of an account with a confirmed address, and signs them in. They have no password: hashing one takes time.
func (s *Server) Member(t testing.TB, account string, role person.Role) *Person {
	t.Helper()
	p := s.Stranger(t)
	p.Email = fmt.Sprintf("%s@example.com", core.NewULID())
	made, err := s.store.Person.CreatePerson(t.Context(), person.NewPerson{Email: p.Email})
	if err == nil {
		p.ID, err = made.ID, s.store.Person.AddMember(t.Context(), account, made.ID, role)
	}
	token := ""
	if err == nil {
		err = s.store.Person.ConfirmEmail(t.Context(), made.ID)
	}
	if err == nil {
		token, err = s.store.Person.StartSession(t.Context(), made.ID, "a browser", "127.0.0.1", true)
	}
	if err != nil {
		t.Fatal(err)
	}
	at, _ := url.Parse(s.URL)
	p.HTTP.Jar.SetCookies(at, []*http.Cookie{{Name: "tillwright", Value: token, Path: "/"}})
	return p
}

// People is the store of those who sign in.
func (s *Server) People() *person.Store { return s.store.Person }

// Get opens a page, and returns its status and text. Of a redirect the text is where it leads.
func (p *Person) Get(path string) (int, string) {
	p.t.Helper()
	response, err := p.HTTP.Get(p.URL + path)
	return p.read(response, err)
}

// Post sends a form as the page's own button does.
func (p *Person) Post(path string, form url.Values) (int, string) {
	p.t.Helper()
	response, err := p.HTTP.PostForm(p.URL+path, form)
	return p.read(response, err)
}

func (p *Person) read(response *http.Response, err error) (int, string) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	if to := response.Header.Get("Location"); to != "" {
		return response.StatusCode, to
	}
	return response.StatusCode, string(text)
}
