package pages_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/content"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/lead"
	"github.com/tillwright/tillwright/tests/harness/database"
)

func (w *shop) request(method, address string) *http.Request {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), method, address, nil)
	require.NoError(w.t, err)
	return r
}

var siteFormAction, siteFormToken = regexp.MustCompile(`<form method="post" action="([^"]*)"`), regexp.MustCompile(`name="form_token" value="([^"]+)"`)

// fills sends the form on a page three seconds after it was shown, and returns the answer.
func (w *shop) fills(address, page string, fields url.Values, status int) string {
	w.t.Helper()
	action, token := siteFormAction.FindStringSubmatch(page), siteFormToken.FindStringSubmatch(page)
	require.NotNil(w.t, action, page)
	base, err := url.Parse(address)
	require.NoError(w.t, err)
	to, err := base.Parse(html.UnescapeString(action[1]))
	require.NoError(w.t, err)
	w.now = w.now.Add(3 * time.Second)
	fields.Set("form_token", token[1])
	response, err := http.PostForm(to.String(), fields)
	require.NoError(w.t, err)
	return w.readStrange(response, status)
}

func (w *shop) allLeads() []lead.Lead {
	w.t.Helper()
	leads, _, err := w.Lead.List(w.t.Context(), w.account, lead.List{Page: core.Page{Limit: 10}})
	require.NoError(w.t, err)
	return leads
}

func TestLeadForm_MakesALeadOfTheSite(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, dbURL string) {
		w := newShopOn(t, dbURL)
		product := w.sell(catalog.Product{Name: "Handbook"}, 1900)
		site := w.publish(`{"id": "join", "type": "lead_form", "heading": "Join <b>", "text": "Now", "product": "` + product.ID + `", "consent_text": "Write to me"}`)
		page := w.visit(site.URL)
		assert.Contains(t, page, "Join &lt;b&gt;")
		assert.Contains(t, page, "Write to me")
		again := w.visit(site.URL)
		w.now = w.now.Add(time.Second)
		assert.NotEqual(t, siteFormToken.FindString(again), siteFormToken.FindString(w.visit(site.URL)), "each has a token of its own")

		answer := w.fills(site.URL, page, url.Values{"email": {" grace@example.com "}, "name": {"Grace\x00 H"}, "consent": {"true"}, "product": {"another"}}, http.StatusOK)
		assert.Contains(t, answer, "this has arrived")
		l := w.lead("grace@example.com")
		assert.Equal(t, lead.SourceAISite, l.Source)
		assert.Equal(t, site.ID, core.Deref(l.AISiteID))
		assert.Equal(t, product.ID, core.Deref(l.ProductID))
		assert.Equal(t, "Grace H", core.Deref(l.Name))
		assert.True(t, l.Consent.V.Marketing)
		known := w.fills(site.URL, page, url.Values{"email": {"grace@example.com"}, "name": {"Mallory"}}, http.StatusOK)
		assert.Equal(t, answer, known, "whoever is known is answered alike")
		assert.Equal(t, "Grace H", core.Deref(w.lead("grace@example.com").Name))

		bio, err := w.Content.UpdateAISite(t.Context(), w.account, site.ID, func(d *content.AISiteDraft) { d.Type = content.AISiteTypeLinkInBio })
		require.NoError(t, err)
		w.fills(bio.URL, w.visit(bio.URL), url.Values{"email": {"ada@example.com"}}, http.StatusOK)
		l = w.lead("ada@example.com")
		assert.Equal(t, lead.SourceLinkInBio, l.Source)
		assert.False(t, l.Consent.V.Marketing, "nobody agrees who does not say so")
	})
}

// What a seller wrote stays as it is.
func TestLeadForm_SpeaksTheLanguageOfItsVisitor(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	site := w.publish(`{"id": "join", "type": "lead_form", "heading": "Join", "consent_text": "Write to me"}`)
	request := w.request(http.MethodGet, site.URL)
	request.Header.Set("Accept-Language", "de-AT")
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	page := w.readStrange(response, http.StatusOK)
	assert.Contains(t, page, `<html lang="en"`, "the page is the seller's")
	assert.Contains(t, page, `lang="de" dir="ltr"`)
	assert.Contains(t, page, ">Absenden</button>")
	assert.Contains(t, page, ` dir="auto" lang="en">Write to me</label>`, "the seller's words say their language")
	assert.Contains(t, response.Header.Values("Vary"), "Accept-Language")
	assert.Contains(t, w.visit(site.URL), ">Send</button>", "who names no language reads the seller's")

	asked := site.URL + "?locale=fr"
	page = w.visit(asked)
	assert.Contains(t, page, ">Envoyer</button>")
	answer := w.fills(asked, page, url.Values{"email": {"grace @example.com"}}, http.StatusUnprocessableEntity)
	assert.Contains(t, answer, `name="consent" value="true">`, "nobody agrees who does not tick")
	assert.Contains(t, answer, `<html lang="fr" dir="ltr"`, "the answer is in the language that was asked for")
	assert.Contains(t, answer, `<h2 dir="auto" lang="en">Join</h2>`)
	assert.Contains(t, answer, "Une adresse e-mail ne contient pas d’espaces.")
	answer = w.fills(asked, page, url.Values{"email": {"grace@example.com"}, "name": {strings.Repeat("é", 256)}, "consent": {"true"}}, http.StatusUnprocessableEntity)
	assert.Contains(t, answer, "255 caractères au plus.")
	assert.Contains(t, answer, `name="consent" value="true">`, "another site may have sent the tick, and the visitor would send it on")
	response, err = http.PostForm(w.server.URL+"/leads/"+site.AccountID+"/"+site.ID+"/join?consent=true", url.Values{})
	require.NoError(t, err)
	assert.NotContains(t, w.readStrange(response, http.StatusUnprocessableEntity), " checked><label", "an address ticks no box, to which the form would be sent again")
	answer = w.fills(asked, page, url.Values{"email": {"grace@example.com"}}, http.StatusOK)
	assert.Contains(t, answer, "Merci, c’est bien arrivé.")
	assert.Contains(t, answer, `<h1 dir="auto" lang="en">Join</h1>`)
	assert.Contains(t, answer, `href="`+asked+`"`)
}

func TestLeadForm_SaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, dbURL string) {
		w := newShopOn(t, dbURL)
		site := w.publish(`{"id": "join", "type": "lead_form", "heading": "Join"}, {"id": "later", "type": "lead_form", "heading": "Later", "hidden": true}`)
		page := w.visit(site.URL)
		answer := w.fills(site.URL, page, url.Values{"email": {`"><script>alert(1)</script>`}, "name": {"Grace"}}, http.StatusUnprocessableEntity)
		assert.Contains(t, answer, "Write your e-mail address, such as ada@example.com.")
		assert.Contains(t, answer, `value="Grace"`, "what was typed is kept")
		assert.NotContains(t, answer, "<script")
		assert.Empty(t, w.allLeads())

		to := strings.Replace(site.URL, "/sites/"+site.Subdomain, "/leads/"+site.AccountID+"/"+site.ID+"/join", 1)
		response, err := http.PostForm(to, url.Values{"email": {"early@example.com"}, "form_token": siteFormToken.FindStringSubmatch(w.visit(site.URL))[1:]})
		require.NoError(t, err)
		answer = w.readStrange(response, http.StatusUnprocessableEntity)
		assert.Contains(t, answer, "once more", "programs send at once")
		assert.Empty(t, w.allLeads())
		answer = w.fills(to, answer, url.Values{"email": {"early@example.com"}}, http.StatusOK) // the form of the answer works
		assert.Contains(t, answer, "arrived")
		trapped := w.fills(site.URL, page, url.Values{"email": {"bot@example.com"}, "website": {"https://spam.example"}}, http.StatusOK)
		assert.Equal(t, answer, trapped, "a trapped program is answered alike")
		assert.Len(t, w.allLeads(), 1)

		for _, gone := range []string{"/leads/" + site.AccountID + "/" + site.ID + "/later", "/leads/" + site.AccountID + "/" + core.NewID(core.KindAISite) + "/join",
			"/leads/" + core.NewID(core.KindAccount) + "/" + site.ID + "/join"} {
			response, err := http.PostForm(w.server.URL+gone, url.Values{})
			require.NoError(t, err)
			w.read(response, http.StatusNotFound)
		}
		refused := 0
		for range 21 { // a minute may end in between
			response, err := http.PostForm(to, url.Values{})
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
			if response.StatusCode == http.StatusTooManyRequests {
				refused++
			}
		}
		assert.Positive(t, refused, "ten a minute")
	})
}
