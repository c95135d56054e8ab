package dashboard_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/server/dashboard"
	"github.com/tillwright/tillwright/store/person"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/axe"
	"github.com/tillwright/tillwright/tests/harness/browser"
	"github.com/tillwright/tillwright/tests/harness/database"
	"github.com/tillwright/tillwright/tests/harness/markup"
)

// unlinked are pages to which no link leads, or none with something to show.
var unlinked = []string{"/app/search", "/app/search?q=handbook", "/app/confirm-identity"}

// filled returns a world in which every page has something to show, with names as long as anybody makes them.
func filled(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, database.URL(t, "sqlite"))
	api, long := w.api.SDK(), "Handbook "+strings.Repeat("endless", 12)
	w.sold()
	products, err := api.Products.List(t.Context(), nil)
	require.NoError(t, err)
	p, err := api.Products.Update(t.Context(), products.Data[0].ID, &sdk.ProductUpdate{Name: &long})
	require.NoError(t, err)
	status, to := upload(t, w.owner, "/app/products/"+p.ID+"/files", "file", long+".pdf", "abc")
	require.Equal(t, http.StatusSeeOther, status, to)
	_, err = api.CheckoutLinks.Create(t.Context(), &sdk.CheckoutLinkCreate{Name: &long, PriceVariants: []string{p.PriceVariants[0].ID}})
	require.NoError(t, err)
	hook, err := api.WebhookEndpoints.Create(t.Context(), &sdk.WebhookEndpointCreate{URL: w.Hooks.URL + "/" + strings.Repeat("endless", 30), Description: &long})
	require.NoError(t, err)
	_, err = api.Products.Update(t.Context(), p.ID, &sdk.ProductUpdate{Headline: sdk.Set(long)})
	require.NoError(t, err)
	_, err = api.Discounts.Create(t.Context(), &sdk.DiscountCreate{Name: &long, Code: new("AUTUMN"), Type: sdk.DiscountTypePercent, PercentBps: new(int64(1000))})
	require.NoError(t, err)
	w.Hooks.Await(t, 1, "product.updated")
	subscriber := w.subscribed().Customer.ID
	_, err = api.Customers.CreateBalanceTransaction(t.Context(), subscriber, &sdk.BalanceTransactionCreate{Amount: 900, Currency: "eur", Description: long})
	require.NoError(t, err)
	_, err = api.Customers.CreatePaymentMethod(t.Context(), subscriber, &sdk.SavedPaymentMethodCreate{PaymentMethod: sdk.PaymentMethod{Card: &sdk.Card{Number: "4242424242424242", ExpMonth: 12, ExpYear: 2034, CVC: "123"}}})
	require.NoError(t, err)
	site, err := api.AISites.Create(t.Context(), &sdk.AISiteCreate{Name: long, Subdomain: new(strings.Repeat("endless", 9)), IsLive: new(true), Domain: new("shop." + strings.Repeat("endless", 8) + ".example"), Content: new(everyBlock(t, long, p.ID))})
	require.NoError(t, err)
	require.NotEmpty(t, site.ID)
	w.Member(t, w.api.Account, person.RoleSupport)
	sends(t, w.owner, "/app/team/invite", url.Values{"email": {"grace@" + strings.Repeat("endless", 8) + ".example"}, "role": {"support"}})
	require.NotEmpty(t, hook.ID)
	channel, running := w.advertises(long)
	w.drafts(long, channel, running)
	accounts, err := api.AdAccounts.List(t.Context(), &sdk.ListAdAccountsParams{AccountID: channel.ID})
	require.NoError(t, err)
	_, err = api.AdAudiences.Create(t.Context(), &sdk.AdAudienceCreate{AccountID: channel.ID, AdAccountID: accounts.Data[0].ID, Name: long, Type: "customer_list"})
	require.NoError(t, err)
	text := "# A heading\n\n" + long + "\n\n| one | two |\n|---|---|\n| " + long + " | 2 |\n\n- a list\n\n> quoted\n"
	_, err = api.BlogPosts.Create(t.Context(), &sdk.BlogPostCreate{Title: long, Body: &text, Tags: []string{"news"}})
	require.NoError(t, err)
	lessons := []sdk.ExperienceLesson{{Title: long, Body: &text}}
	e, err := api.Experiences.Create(t.Context(), &sdk.ExperienceCreate{Name: long, Type: sdk.ExperienceTypeCourse, Description: &text, Content: &sdk.ExperienceContent{Modules: []sdk.ExperienceModule{{Title: long, Lessons: lessons}}}})
	require.NoError(t, err)
	_, err = api.Experiences.Publish(t.Context(), e.ID)
	require.NoError(t, err)
	_, err = api.Experiences.Attach(t.Context(), e.ID, &sdk.ExperienceProduct{Product: p.ID})
	require.NoError(t, err)
	legal, err := api.LegalPages.Create(t.Context(), &sdk.LegalPageCreate{Kind: sdk.LegalPageKindTerms, Title: long, Body: &text})
	require.NoError(t, err)
	_, err = api.LegalPages.Publish(t.Context(), legal.ID)
	require.NoError(t, err)
	_, err = api.Products.Get(t.Context(), "prod_01k0000000000000000000000a")
	require.Error(t, err)
	_, err = api.ProductNews.Create(t.Context(), &sdk.ProductNewsCreate{Product: p.ID, Subject: long, Body: text, Audience: sdk.ProductNewsAudienceBuyers, SendAt: new(sdk.TimeOf(time.Now().AddDate(0, 1, 0)))})
	require.NoError(t, err)
	w.wrote(p.ID)
	return w
}

var ids = regexp.MustCompile(`/([a-z]+_[0-9a-z]{26}|[0-9]+\b|[A-Za-z0-9_-]{43,})`)

// crawl opens all pages that links of the dashboard lead to, each kind once, and returns their addresses by the kind.
func crawl(t *testing.T, p *harness.Person) map[string]string {
	t.Helper()
	kinds := map[string]string{}
	for next := append([]string{"/app"}, unlinked...); len(next) > 0; next = next[1:] {
		at, _ := url.Parse(next[0])
		kind := ids.ReplaceAllString(at.Path, "/:id")
		if strings.Contains(next[0], "?q=") {
			kind += "?q"
		}
		if kinds[kind] != "" || !strings.HasPrefix(at.Path, "/app") {
			continue
		}
		kinds[kind] = next[0]
		for _, node := range markup.Elements(t, sees(t, p, next[0])) {
			if href := markup.Attribute(node, "href"); node.Data == "a" && href != "" {
				to, err := at.Parse(href)
				require.NoError(t, err, href)
				if to.Host == "" {
					next = append(next, to.String())
				}
			}
		}
	}
	return kinds
}

// Every page can be reached by links alone, every link leads somewhere, and each page has one heading and names its parts.
func TestEveryPage_IsReachedByLinks(t *testing.T) {
	t.Parallel()
	w := filled(t)
	kinds := crawl(t, w.owner)
	for kind, address := range kinds {
		page := sees(t, w.owner, address)
		count := map[string]int{}
		for _, node := range markup.Elements(t, page) {
			count[node.Data]++
			if id := markup.Attribute(node, "id"); id != "" {
				count["#"+id]++
				assert.Equal(t, 1, count["#"+id], "%s has the id %s twice", kind, id)
			}
			assert.Empty(t, markup.Attribute(node, "style"), "the policy lets no such style in")
			for _, refers := range []string{"for", "aria-describedby", "aria-labelledby"} {
				for id := range strings.FieldsSeq(markup.Attribute(node, refers)) {
					assert.Contains(t, page, `id="`+id+`"`, "%s: %s leads nowhere", kind, refers)
				}
			}
		}
		assert.Equal(t, []int{1, 1}, []int{count["h1"], count["main"]}, kind)
	}
	d, err := dashboard.New(dashboard.Options{PublicURL: "http://shop.test", Develops: true})
	require.NoError(t, err)
	for route := range d.Routes() {
		kind := regexp.MustCompile(`:[a-z_]+`).ReplaceAllString(route, ":id")
		if strings.HasPrefix(route, "/app") {
			assert.NotEmpty(t, kinds[kind], "no link leads to %s", route)
		}
	}
}

// Nothing stands beside a page on a narrow phone, nothing keeps people from using it, and the browser refuses nothing. It draws them too: see make screenshots.
func TestEveryPage_FitsANarrowPhone(t *testing.T) {
	t.Parallel()
	w := filled(t)
	empty := w.Member(t, w.Account(t).Account, person.RoleOwner)
	for name, p := range map[string]*harness.Person{"full": w.owner, "empty": empty} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kinds, window, at := crawl(t, p), browser.Open(t, nil), mustParse(t, p.URL)
			window.Go(p.URL + "/sign-in")
			window.Wait("document.readyState === 'complete' && location.pathname === '/sign-in'")
			for _, cookie := range p.HTTP.Jar.Cookies(at) {
				window.Value("document.cookie = '" + cookie.String() + "; path=/'")
			}
			for kind, address := range kinds {
				window.Width(360)
				window.Go(p.URL + address)
				window.Wait("location.pathname + location.search === '" + address + "' && document.readyState === 'complete' && document.querySelector('h1')")
				assert.Equal(t, "0", window.Value(`document.documentElement.scrollWidth - document.documentElement.clientWidth`), "%s %s", name, address)
				if name == "full" {
					window.Width(1440) // with the menu
					axe.Check(t, window, kind)
				}
				drawn := name + strings.NewReplacer("/", "-", ":", "", "?", "-").Replace(kind)
				window.Draw(drawn)
				if browser.Draws() { // from right to left too
					window.Value("document.documentElement.dir = 'rtl'")
					window.Draw("rtl-" + drawn)
				}
			}
			assert.Empty(t, window.Refused())
		})
	}
}

func mustParse(t *testing.T, address string) *url.URL {
	t.Helper()
	at, err := url.Parse(address)
	require.NoError(t, err)
	return at
}

// A page that is no page, and one that may not be seen, stand beside the menu too.
func TestEveryPage_HasAWayOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, database.URL(t, "sqlite"))
	status, page := w.owner.Get("/app/orders/order_01k0000000000000000000000a")
	require.Equal(t, http.StatusNotFound, status)
	require.Contains(t, page, `aria-label="Main"`)
}
