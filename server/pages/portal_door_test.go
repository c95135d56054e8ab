package pages_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/mail"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// knocks asks for links with an address, at one shop or, with an empty query, at all, and waits until they are to be sent.
func (w *shop) knocks(query, email string, status int) string {
	w.t.Helper()
	defer w.pages.Wait()
	response, err := http.PostForm(w.server.URL+"/portal"+query, url.Values{"email": {email}})
	require.NoError(w.t, err)
	return w.read(response, status)
}

var keyInLetter = regexp.MustCompile(`http://\S+/portal/open/\S+`)

// keyOf returns a new link of a customer's, as the letter has it.
func (w *shop) keyOf(email string) string {
	w.t.Helper()
	w.knocks("", email, http.StatusOK)
	require.NoError(w.t, w.mails(mailServer{w}))
	require.NotEmpty(w.t, w.letters)
	key := keyInLetter.FindString(w.letters[len(w.letters)-1].Text)
	require.NotEmpty(w.t, key)
	return key
}

func TestPortalDoor_ALetterOpensItOnce(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		page := g.page(g.server.URL+"/portal", http.StatusOK)
		for _, text := range []string{"<h1>Your purchases</h1>", `<label for="email">E-mail address</label>`, ">Send me a link</button>"} {
			assert.Contains(t, page, text)
		}
		sent := g.knocks("", "GRACE@example.com", http.StatusOK)
		assert.Contains(t, sent, "<h1>Check your e-mail</h1>")
		require.NoError(t, g.mails(mailServer{g.shop}))
		require.Len(t, g.letters, 1)
		assert.Equal(t, "grace@example.com", g.letters[0].To, "not the one that was typed")
		key := keyInLetter.FindString(g.letters[0].Text)
		require.NoError(t, g.mails(mailServer{g.shop}))
		assert.Len(t, g.letters, 1, "it is sent once")

		for range 2 { // programs that look into mail follow links
			page = g.page(key, http.StatusOK)
			assert.Contains(t, page, ">Open my purchases</button>")
			assert.NotContains(t, page, "grace@example.com")
		}
		page = g.posts(key, http.StatusOK)
		assert.Contains(t, page, "<h1>Your purchases</h1>")
		assert.Contains(t, page, "grace@example.com")
		for _, over := range []string{g.posts(key, http.StatusGone), g.page(key, http.StatusGone)} {
			assert.Contains(t, over, "This link cannot be used any more")
			assert.Contains(t, over, `href="../../portal?shop=`)
			assert.NotContains(t, over, "grace@example.com")
		}
	})
}

func TestPortalDoor_TellsNobodyWhoIsKnown(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		known, unknown := g.knocks("", "grace@example.com", http.StatusOK), g.knocks("", "nobody@example.com", http.StatusOK)
		assert.Equal(t, known, unknown)
		for range 4 {
			g.knocks("", "grace@example.com", http.StatusOK)
			g.knocks("", "nobody@example.com", http.StatusOK)
		}
		mark := regexp.MustCompile(`value="[^"]*"`)
		known, unknown = g.knocks("", "grace@example.com", http.StatusTooManyRequests), g.knocks("", "nobody@example.com", http.StatusTooManyRequests)
		assert.Equal(t, mark.ReplaceAllString(known, ""), mark.ReplaceAllString(unknown, ""))
		assert.Contains(t, known, "You can ask for another one in")
		require.NoError(t, g.mails(mailServer{g.shop}))
		assert.Len(t, g.letters, 5)
		for wrong, says := range map[string]string{
			"": "Write an e-mail address", "grace": "Write an e-mail address", "grace@example.com\nBcc: ada@example.com": "An e-mail address has no spaces",
		} {
			assert.Contains(t, g.knocks("", wrong, http.StatusUnprocessableEntity), says)
		}
		assert.Contains(t, g.knocks("?locale=ja", "grace @example.com", http.StatusUnprocessableEntity), "メールアドレスに空白は使えません。")
	})
}

// One network address asks for few letters, whoever they are for.
func TestPortalDoor_CountsWhoAsks(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		for i := range 12 {
			request, err := http.NewRequest(http.MethodPost, g.server.URL+"/portal", strings.NewReader("email="+string(rune('a'+i))+"@example.com"))
			require.NoError(t, err)
			request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			request.Header.Set("X-Forwarded-For", "198.51.100.7")
			response, err := http.DefaultClient.Do(request)
			require.NoError(t, err)
			if i < 10 {
				g.read(response, http.StatusOK)
				continue
			}
			assert.NotEmpty(t, response.Header.Get("Retry-After"))
			g.read(response, http.StatusTooManyRequests)
		}
		g.pages.Wait()
	})
}

func TestPortalDoor_EachShopWritesItself(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		other, err := g.Tenant.CreateAccount(t.Context(), tenant.NewAccount{Name: "Kestrel", Email: "kestrel@example.com"})
		require.NoError(t, err)
		_, err = g.Customer.Create(t.Context(), other.ID, customer.Customer{Email: new("grace@example.com")})
		require.NoError(t, err)
		g.knocks("", "grace@example.com", http.StatusOK)
		require.NoError(t, g.mails(mailServer{g.shop}))
		require.Len(t, g.letters, 2)
		assert.ElementsMatch(t, []string{"Kestrel", "Ada <b>& sons</b>"}, []string{g.letters[0].From, g.letters[1].From})

		for _, query := range []string{"?shop=kestrel", "?shop=" + other.ID} {
			assert.Contains(t, g.page(g.server.URL+"/portal"+query, http.StatusOK), "from Kestrel")
			g.letters = nil
			g.knocks(query, "grace@example.com", http.StatusOK)
			require.NoError(t, g.mails(mailServer{g.shop}))
			require.Len(t, g.letters, 1)
			assert.Equal(t, "Kestrel", g.letters[0].From)
		}
		g.page(g.server.URL+"/portal?shop=nobody", http.StatusNotFound)
		g.knocks("?shop=nobody", "grace@example.com", http.StatusNotFound)
	})
}

func TestPortalDoor_LinksEnd(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		key := g.keyOf("grace@example.com")
		for _, other := range []string{key + "a", key[:len(key)-1], strings.Replace(g.session.URL, "/portal/", "/portal/open/", 1)} {
			g.page(other, http.StatusNotFound)
			g.posts(other, http.StatusNotFound)
		}
		g.page(strings.Replace(key, "/portal/open/", "/portal/", 1), http.StatusNotFound)
		g.now = g.now.Add(30*time.Minute + time.Second)
		g.page(key, http.StatusGone)
		g.posts(key, http.StatusGone)
		g.now = g.now.Add(25 * time.Hour)
		deleted, err := g.Portal.DeleteExpiredLinks(t.Context(), 10)
		require.NoError(t, err)
		assert.EqualValues(t, 1, deleted)

		key = g.keyOf("grace@example.com")
		_, err = g.DeleteCustomer(t.Context(), g.account, g.customer.ID, false)
		require.NoError(t, err)
		g.posts(key, http.StatusNotFound)
		letters := len(g.letters)
		g.knocks("", "grace@example.com", http.StatusOK)
		require.NoError(t, g.mails(mailServer{g.shop}))
		assert.Len(t, g.letters, letters, "nobody has the address now")
	})
}

// Whoever posts a link, and however often at once, there is one session of it.
func TestPortalDoor_OneSessionOfALink(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, address string) {
		g := newShopOn(t, address).guest("grace@example.com")
		db := harness.OpenDatabase(t, address)
		for round := range 6 { // in the first one connections are made, and callers come one after the other
			require.NoError(t, g.Portal.AskLinks(t.Context(), "grace@example.com", ""))
			require.NoError(t, g.mails(mailServer{g.shop}))
			token := keyInLetter.FindString(g.letters[round].Text)
			token = token[strings.LastIndexByte(token, '/')+1:]
			opened := make(chan string, 8)
			var group sync.WaitGroup
			for range cap(opened) {
				group.Go(func() {
					_, session, err := g.Portal.UseLink(t.Context(), token)
					assert.NoError(t, err)
					if session != nil {
						opened <- session.URL
					}
				})
			}
			group.Wait()
			require.Len(t, opened, 1)
			g.page(<-opened, http.StatusOK)
			require.Len(t, db.Strings(t, "SELECT id FROM portal_sessions"), 2+round, "with the one that the guest had")
			for _, hash := range db.Strings(t, "SELECT token_hash FROM portal_links") {
				assert.NotContains(t, token, hash)
			}
		}
	})
}

func TestPortalDoor_TriesItsLetterAgain(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		g.knocks("", "grace@example.com", http.StatusOK)
		m := &countingMailer{fails: 1}
		require.ErrorContains(t, g.mails(m), "the mail server is away")
		require.NoError(t, g.mails(m), "not before its lease ends")
		assert.Zero(t, m.taken)
		g.now = g.now.Add(2 * time.Minute)
		require.NoError(t, g.mails(m))
		assert.Equal(t, 1, m.taken)

		g.knocks("", "grace@example.com", http.StatusOK)
		m.fails = 100
		for range 8 {
			_ = g.mails(m)
			g.now = g.now.Add(time.Hour)
		}
		assert.Equal(t, 96, m.fails, "there are four attempts")
	})
}

func TestPortalDoor_RefusesFormsOfOtherSites(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		key := g.keyOf("grace@example.com")
		for _, address := range []string{g.server.URL + "/portal", key} {
			for header, value := range map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://mallory.example"} {
				request, err := http.NewRequest(http.MethodPost, address, strings.NewReader("email=grace@example.com"))
				require.NoError(t, err)
				request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
				request.Header.Set(header, value)
				response, err := http.DefaultClient.Do(request)
				require.NoError(t, err)
				assert.Contains(t, g.read(response, http.StatusForbidden), "<h1>Not allowed</h1>")
			}
		}
		require.NoError(t, g.mails(mailServer{g.shop}))
		assert.Len(t, g.letters, 1, "none but that of the link")
		g.posts(key, http.StatusOK)
	})
}

func TestPortalDoor_SaysThatNoMailIsSent(t *testing.T) {
	t.Parallel()
	w := newShopThat(t, database.URL(t, "sqlite"), func(*shop) mail.Mailer { return nil })
	for _, page := range []string{w.page(w.server.URL+"/portal", http.StatusOK), w.knocks("", "grace@example.com", http.StatusServiceUnavailable)} {
		assert.Contains(t, page, "This server sends no e-mail")
		assert.NotContains(t, page, "<form")
	}
}

func TestPortalDoor_IsOnThePageOfAPurchase(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	c := w.checkout(catalog.PriceVariant{Amount: 1900})
	link := regexp.MustCompile(`<a class="button" href="([^"]+)">Your purchases</a>`)
	for _, at := range []struct{ page, address string }{
		{w.post(c, http.StatusOK, card("4242424242424242", "3800")), c.URL}, {w.posts(c.URL+"/pay", http.StatusOK), c.URL},
	} {
		href := link.FindStringSubmatch(at.page)
		require.NotNil(t, href)
		base, err := url.Parse(at.address)
		require.NoError(t, err)
		door, err := base.Parse(href[1])
		require.NoError(t, err)
		assert.Contains(t, w.page(door.String(), http.StatusOK), "Ada &lt;b&gt;&amp; sons&lt;/b&gt;")
	}
	require.NoError(t, w.mails(mailServer{w}))
	require.Len(t, w.letters, 1)
	door := regexp.MustCompile(`http\S+/portal\S+`).FindString(w.letters[0].Text)
	assert.Contains(t, w.page(door, http.StatusOK), "Ada &lt;b&gt;&amp; sons&lt;/b&gt;")
}

func TestPortalDoor_IsOfNoShopWithoutAName(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		for _, shop := range []string{"%00", "%ff", "x", ".."} {
			assert.Contains(t, g.page(g.server.URL+"/portal?shop="+shop, http.StatusNotFound), "<h1", shop)
		}
	})
}

// A customer whose address is refused today is sent a link, as everybody is.
func TestPortalDoor_OpensForAnAddressThatIsRefusedToday(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, address string) {
		g := newShopOn(t, address).guest("grace@example.com")
		harness.OpenDatabase(t, address).Must(t, "UPDATE customers SET email = 'grace@corp', email_key = 'grace@corp'")
		known, unknown := g.knocks("", "Grace@corp", http.StatusOK), g.knocks("", "nobody@corp", http.StatusOK)
		assert.Equal(t, unknown, known, "nobody is told who is known")
		require.NoError(t, g.mails(mailServer{g.shop}))
		require.Len(t, g.letters, 1)
		assert.Equal(t, "grace@corp", g.letters[0].To)
		assert.Contains(t, g.posts(keyInLetter.FindString(g.letters[0].Text), http.StatusOK), "grace@corp")
	})
}
