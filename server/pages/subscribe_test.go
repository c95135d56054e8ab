package pages_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/mail"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/lead"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// eachForm runs a test in a shop whose leads have to confirm their addresses, on both engines.
func eachForm(t *testing.T, test func(t *testing.T, w *shop)) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		w := newShopOn(t, url)
		w.confirms(tenant.LeadConfirmationDoubleOptIn)
		test(t, w)
	})
}

func (w *shop) confirms(how tenant.LeadConfirmation) {
	w.t.Helper()
	_, err := w.Tenant.UpdateAccount(w.t.Context(), w.account, func(a *tenant.AccountChange) { a.LeadConfirmation = how })
	require.NoError(w.t, err)
}

// leaves sends a form in which somebody at a network address agrees to letters.
func (w *shop) leaves(email, from string) {
	w.t.Helper()
	form, err := w.Lead.NewForm(w.t.Context(), w.account)
	require.NoError(w.t, err)
	w.now = w.now.Add(3 * time.Second)
	_, err = w.Lead.Capture(w.t.Context(), lead.Captured{
		NewLead:   lead.NewLead{Email: email, Source: lead.SourceForm, Name: new("Win at https://spam.example"), UTM: &lead.UTM{Source: new("https://spam.example")}},
		FormToken: form.Token, From: from, Agrees: true,
	})
	require.NoError(w.t, err)
}

// mails sends the letters that wait, as a replica with a mailer does.
func (w *shop) mails(m mail.Mailer) error { return mail.NewPost(w.Store, m).SendDue(w.t.Context()) }

// lead is that with an address.
func (w *shop) lead(email string) *lead.Lead {
	w.t.Helper()
	leads, _, err := w.Lead.List(w.t.Context(), w.account, lead.List{Page: core.Page{Limit: 10}, Email: email})
	require.NoError(w.t, err)
	require.Len(w.t, leads, 1)
	return &leads[0]
}

func (w *shop) posts(address string, status int) string {
	w.t.Helper()
	response, err := http.PostForm(address, url.Values{})
	require.NoError(w.t, err)
	return w.read(response, status)
}

var subscribeLink = regexp.MustCompile(`http://\S+/subscribe/\S+`)

// subscribeLink is that in the last letter.
func (w *shop) subscribeLink() string {
	w.t.Helper()
	require.NotEmpty(w.t, w.letters)
	link := subscribeLink.FindString(w.letters[len(w.letters)-1].Text)
	require.NotEmpty(w.t, link)
	return link
}

func TestSubscribe_AsksTheReaderOfTheMail(t *testing.T) {
	eachForm(t, func(t *testing.T, w *shop) {
		w.leaves("Grace@example.com", "203.0.113.7")
		require.NoError(t, w.mails(mailServer{w}))
		require.Len(t, w.letters, 1)
		letter := w.letters[0]
		assert.Equal(t, "Grace@example.com", letter.To)
		assert.NotContains(t, letter.Text+letter.Subject, "spam", "what somebody typed is not sent to others")
		assert.Equal(t, 1, len(regexp.MustCompile(`https?://`).FindAllString(letter.Text, -1)), "the only link is ours")

		// A program that follows links changes nothing.
		link := w.subscribeLink()
		page := w.page(link, http.StatusOK)
		assert.Contains(t, page, "Yes, write to me")
		assert.Contains(t, page, "Ada &lt;b&gt;&amp; sons&lt;/b&gt;")
		assert.NotContains(t, page, "spam")
		page, _ = w.in("ja", link)
		assert.Contains(t, page, `<html lang="ja"`)
		assert.Contains(t, page, "メールを受け取る")
		lead := w.lead("grace@example.com")
		assert.False(t, lead.Consent.V.Marketing)
		assert.Nil(t, lead.Consent.V.ConfirmedAt)
		assert.Equal(t, "203.0.113.7", *lead.Consent.V.IP)

		w.now = w.now.Add(time.Hour)
		assert.Contains(t, w.posts(link, http.StatusOK), "may write to you now")
		confirmed := w.lead("grace@example.com")
		assert.True(t, confirmed.Consent.V.Marketing)
		assert.True(t, *confirmed.Consent.V.ConfirmedAt > *confirmed.Consent.V.At)
		assert.Equal(t, *lead.Consent.V.At, *confirmed.Consent.V.At)
		assert.Contains(t, w.page(link, http.StatusOK), "may write to you now")
		w.posts(link, http.StatusOK) // twice
		assert.Equal(t, confirmed, w.lead("grace@example.com"))

		w.leaves("grace@example.com", "203.0.113.7") // who has agreed
		require.NoError(t, w.mails(mailServer{w}))
		assert.Len(t, w.letters, 1)

		asked := w.publish(`{"id": "join", "type": "lead_form", "heading": "Join", "consent_text": "Write to me"}`).URL + "?locale=fr"
		w.fills(asked, w.visit(asked), url.Values{"email": {"alan@example.com"}, "consent": {"true"}}, http.StatusOK)
		require.NoError(t, w.mails(mailServer{w}))
		require.Len(t, w.letters, 2)
		assert.Contains(t, w.letters[1].Subject, "Confirmez que", "they are asked in the language that they read")
		page, _ = w.in("ja", w.subscribeLink())
		assert.Contains(t, page, `<html lang="fr"`, "the page is in the language of its letter")
	})
}

func TestSubscribe_LinksEnd(t *testing.T) {
	eachForm(t, func(t *testing.T, w *shop) {
		w.leaves("grace@example.com", "203.0.113.7")
		require.NoError(t, w.mails(mailServer{w}))
		link := w.subscribeLink()
		for _, other := range []string{link + "A", link[:len(link)-1], w.server.URL + "/subscribe/" + w.lead("grace@example.com").ID} {
			w.page(other, http.StatusNotFound)
			w.posts(other, http.StatusNotFound)
		}
		_, _, err := w.Tenant.DisableAccount(t.Context(), w.account)
		require.NoError(t, err)
		w.page(link, http.StatusNotFound)
		_, _, err = w.Tenant.EnableAccount(t.Context(), w.account)
		require.NoError(t, err)
		began := w.now
		w.now = began.Add(7*24*time.Hour + time.Minute)
		w.page(link, http.StatusGone)
		w.posts(link, http.StatusGone)
		w.now = began
		_, err = w.Lead.Update(t.Context(), w.account, w.lead("grace@example.com").ID, func(l *lead.Lead) { l.Status = lead.StatusUnsubscribed })
		require.NoError(t, err)
		w.posts(link, http.StatusNotFound) // who wants no letters says so for good
		assert.False(t, w.lead("grace@example.com").Consent.V.Marketing)
		_, err = w.Lead.Delete(t.Context(), w.account, w.lead("grace@example.com").ID)
		require.NoError(t, err)
		w.page(link, http.StatusNotFound)
	})
}

// countingMailer takes letters from many, and fails the first ones.
type countingMailer struct {
	mu           sync.Mutex
	fails, taken int
}

func (m *countingMailer) Send(context.Context, mail.Letter) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fails > 0 {
		m.fails--
		return errors.New("the mail server is away")
	}
	m.taken++
	return nil
}

func TestLeadLetter_IsSentOnceByManyReplicas(t *testing.T) {
	eachForm(t, func(t *testing.T, w *shop) {
		for _, email := range []string{"a@example.com", "b@example.com", "c@example.com"} {
			w.leaves(email, "203.0.113.7")
		}
		m := &countingMailer{}
		var replicas sync.WaitGroup
		for range 4 {
			replicas.Go(func() { assert.NoError(t, w.mails(m)) })
		}
		replicas.Wait()
		assert.Equal(t, 3, m.taken)
		w.now = w.now.Add(24 * time.Hour)
		require.NoError(t, w.mails(m))
		assert.Equal(t, 3, m.taken, "what was sent is not sent again")
	})
}

func TestLeadLetter_IsTriedAgainAfterAFailure(t *testing.T) {
	eachForm(t, func(t *testing.T, w *shop) {
		w.leaves("grace@example.com", "203.0.113.7")
		m := &countingMailer{fails: 2}
		require.ErrorContains(t, w.mails(m), "the mail server is away")
		require.NoError(t, w.mails(m), "not before its lease ends")
		assert.Equal(t, 1, m.fails)
		w.now = w.now.Add(6 * time.Minute)
		require.Error(t, w.mails(m))
		w.now = w.now.Add(6 * time.Minute) // the second pause is longer
		require.NoError(t, w.mails(m))
		assert.Zero(t, m.taken)
		w.now = w.now.Add(5 * time.Minute)
		require.NoError(t, w.mails(m))
		assert.Equal(t, 1, m.taken)

		m.fails = 100
		w.leaves("ada@example.com", "203.0.113.7")
		for range 40 {
			_ = w.mails(m)
			w.now = w.now.Add(6 * time.Hour)
		}
		assert.Equal(t, 92, m.fails, "there are eight attempts")
	})
}

// Nobody writes to people here by typing their addresses.
func TestLeadLetter_IsSentSeldom(t *testing.T) {
	eachForm(t, func(t *testing.T, w *shop) {
		for range 6 {
			w.leaves("grace@example.com", "203.0.113.7")
			require.NoError(t, w.mails(mailServer{w}))
		}
		assert.Len(t, w.letters, 3, "to one lead a day")
		for i := range 12 {
			w.leaves(string(rune('a'+i))+"@example.com", "198.51.100.7")
		}
		require.NoError(t, w.mails(mailServer{w}))
		assert.Len(t, w.letters, 13, "because of one network address an hour")
		w.now = w.now.Add(25 * time.Hour)
		require.NoError(t, w.mails(mailServer{w}))
		assert.Len(t, w.letters, 13, "what was refused does not wait")
	})
}

func TestLeadLetter_WaitsForNobodyWhoNeedsNone(t *testing.T) {
	eachForm(t, func(t *testing.T, w *shop) {
		w.confirms(tenant.LeadConfirmationNone)
		w.leaves("at-once@example.com", "203.0.113.7")
		assert.True(t, w.lead("at-once@example.com").Consent.V.Marketing)
		w.confirms(tenant.LeadConfirmationDoubleOptIn)
		w.leaves("left@example.com", "203.0.113.7")
		_, err := w.Lead.Update(t.Context(), w.account, w.lead("left@example.com").ID, func(l *lead.Lead) { l.Status = lead.StatusUnsubscribed })
		require.NoError(t, err)
		w.leaves("disabled@example.com", "203.0.113.7")
		_, _, err = w.Tenant.DisableAccount(t.Context(), w.account)
		require.NoError(t, err)
		require.NoError(t, w.mails(mailServer{w}))
		assert.Empty(t, w.letters)
	})
}
