package contract

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/tillwright/tillwright/tests/harness"
)

var portalKey = regexp.MustCompile(`http\S+/portal/open/\S+`)

// knock has the customer sent a link to the portal, and uses it.
func (w *world) knock(t testing.TB, s *harness.Server) {
	t.Helper()
	email := w.Must(t, http.MethodGet, "/v1/customers/"+w.IDs["cus"], nil)["email"].(string)
	submit(t, s.URL+"/portal", url.Values{"email": {email}})
	key := ""
	if !comes(func() bool {
		for _, l := range s.Mail.Letters() {
			if strings.EqualFold(l.To, email) && key == "" {
				key = portalKey.FindString(l.Text)
			}
		}
		return key != ""
	}) {
		t.Fatalf("no link to the portal was sent to %s", email)
	}
	submit(t, s.URL+strings.TrimPrefix(key, "http://shop.test"), nil)
}

// look opens the pages on which a buyer pays.
func (w *world) look(t testing.TB, s *harness.Server) {
	t.Helper()
	for _, path := range []string{"/v1/checkouts/" + w.IDs["chk"], "/v1/checkout_links/" + w.IDs["clink"]} {
		address := s.URL + strings.TrimPrefix(w.Must(t, http.MethodGet, path, nil)["url"].(string), "http://shop.test")
		response, err := http.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != http.StatusOK {
			t.Fatalf("at %s there is %s", address, response.Status)
		}
	}
}

// submit sends a form, and expects that it is done.
func submit(t testing.TB, address string, form url.Values) {
	t.Helper()
	submitted(t, address, http.StatusSeeOther, form)
}

// submitted sends a form, and expects an answer.
func submitted(t testing.TB, address string, status int, form url.Values) {
	t.Helper()
	once := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := once.PostForm(address, form)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != status {
		t.Fatalf("after a form to %s there is %s", address, response.Status)
	}
}
