package dashboard_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/server/dashboard"
	"github.com/tillwright/tillwright/store/person"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// routes returns all routes of the dashboard as methods and paths, with something in place of each parameter.
func routes(t *testing.T) map[string][]string {
	t.Helper()
	d, err := dashboard.New(dashboard.Options{PublicURL: "http://shop.test", Develops: true})
	require.NoError(t, err)
	all := map[string][]string{}
	for route := range d.Routes() {
		method, path, named := strings.Cut(route, " ")
		if !named {
			method, path = http.MethodGet, route
		}
		path = strings.ReplaceAll(path, ":move", "publish")
		path = regexp.MustCompile(`:[a-z_]+`).ReplaceAllString(path, "prod_01k0000000000000000000000a")
		all[method] = append(all[method], path)
	}
	require.NotEmpty(t, all[http.MethodGet])
	require.NotEmpty(t, all[http.MethodPost])
	return all
}

// No page shows or does anything for somebody who is not signed in, or whose session is over.
func TestPages_AskWhoeverIsNotSignedIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, database.URL(t, "sqlite"))
	gone := w.Member(t, w.api.Account, person.RoleOwner)
	sends(t, gone, "/app/sign-out", nil)
	for _, p := range []*harness.Person{w.Stranger(t), gone} {
		for method, paths := range routes(t) {
			for _, path := range paths {
				if !strings.HasPrefix(path, "/app") {
					continue
				}
				status, to := p.Get(path)
				if method == http.MethodPost {
					status, to = p.Post(path, nil)
				}
				assert.Equal(t, http.StatusSeeOther, status, path)
				assert.True(t, strings.HasPrefix(to, "/sign-in"), path)
			}
		}
	}
}

// A form that another site has a browser send, with the cookie of whoever looks at that site, does nothing.
func TestForms_AreRefusedFromOtherSites(t *testing.T) {
	t.Parallel()
	w := newWorld(t, database.URL(t, "sqlite"))
	for _, path := range routes(t)[http.MethodPost] {
		for name, value := range map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"} {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.owner.URL+path, strings.NewReader("name=x"))
			require.NoError(t, err)
			request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			request.Header.Set(name, value)
			response, err := w.owner.HTTP.Do(request)
			require.NoError(t, err)
			_ = response.Body.Close()
			assert.Equal(t, http.StatusForbidden, response.StatusCode, path)
		}
	}
	sees(t, w.owner, "/app", "Home") // still signed in
}

// A proxy may ask for another host than browsers do. They name the address that the server knows as its own.
func TestForms_AreTakenBehindAProxy(t *testing.T) {
	t.Parallel()
	w := newWorld(t, database.URL(t, "sqlite"))
	for origin, isOurs := range map[string]bool{"http://shop.test": true, "https://evil.example": false} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.owner.URL+"/sign-in", strings.NewReader("email=nobody@example.com&password=wrong"))
		require.NoError(t, err)
		request.Host = "inside"
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		request.Header.Set("Origin", origin)
		response, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		_ = response.Body.Close()
		assert.Equal(t, isOurs, response.StatusCode != http.StatusForbidden, "%s %d", origin, response.StatusCode)
	}
}

// What a role may not do is refused, whatever address somebody types: each page is asked for by each role.
func TestRoles_SeeAndDoNoMoreThanTheirOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, database.URL(t, "sqlite"))
	for _, role := range []person.Role{person.RoleReadOnly, person.RoleSupport, person.RoleDeveloper} {
		p := w.Member(t, w.api.Account, role)
		for _, path := range routes(t)[http.MethodPost] {
			if !strings.HasPrefix(path, "/app/") || strings.HasPrefix(path, "/app/you") || path == "/app/sign-out" || path == "/app/confirm-identity" || path == "/app/team/leave" {
				continue
			}
			status, _ := p.Post(path, nil)
			may := mayPost(role, path)
			assert.Equal(t, !may, status == http.StatusForbidden, "%s %s %d", role, path, status)
		}
	}
	products, err := w.api.SDK().Products.List(t.Context(), &sdk.ListProductsParams{})
	require.NoError(t, err)
	require.Empty(t, products.Data)
}

// mayPost says what each role may send. All that stands nowhere is for owners and admins.
func mayPost(role person.Role, path string) bool {
	may := map[person.Role][]string{
		person.RoleDeveloper: {"/app/developers/tokens", "/app/developers/webhooks"},
		person.RoleSupport:   {"/app/orders", "/app/customers", "/app/subscriptions", "/app/licenses", "/app/emails"},
	}
	for _, prefix := range may[role] {
		if strings.HasPrefix(path, prefix) {
			return true
		}
	}
	return false
}

// Objects of another account are answered as if they did not exist.
func TestPages_ShowNothingOfOtherAccounts(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		other := w.Account(t).SDK()
		key, err := other.APIKeys.Create(t.Context(), &sdk.APIKeyCreate{Name: new("theirs")})
		require.NoError(t, err)
		p, err := other.Products.Create(t.Context(), &sdk.ProductCreate{Name: "theirs"})
		require.NoError(t, err)
		hook, err := other.WebhookEndpoints.Create(t.Context(), &sdk.WebhookEndpointCreate{URL: w.Hooks.URL})
		require.NoError(t, err)
		customer, err := other.Customers.Create(t.Context(), &sdk.CustomerCreate{Email: "theirs@example.com"})
		require.NoError(t, err)
		site, err := other.AISites.Create(t.Context(), &sdk.AISiteCreate{Name: "theirs"})
		require.NoError(t, err)
		theirs := map[string]string{"/app/sites/": site.ID, "/app/customers/": customer.ID, "/app/developers/tokens/": key.ID, "/app/developers/webhooks/": hook.ID, "/app/products/": p.ID}
		for path, id := range theirs {
			for method, paths := range routes(t) {
				for _, route := range paths {
					if !strings.HasPrefix(route, path+"prod_") {
						continue
					}
					var answers [2]string
					for i, named := range []string{id, "prod_01k0000000000000000000000a"} {
						at := strings.Replace(route, "prod_01k0000000000000000000000a", named, 1)
						status, text := w.owner.Get(at)
						if method == http.MethodPost {
							status, text = w.owner.Post(at, url.Values{"name": {"mine"}, "amount": {"5"}, "currency": {"usd"}, "status": {"inactive"}})
						}
						assert.Equal(t, http.StatusNotFound, status, at)
						answers[i] = text
					}
					assert.Equal(t, answers[0], answers[1], route)
				}
			}
		}
		_, err = other.APIKeys.Get(t.Context(), key.ID)
		require.NoError(t, err)
	})
}

// Somebody who comes by an address of their own finds a page. It is that of the form that the address belongs to, or says that there
// is nothing.
func TestPages_AnswerBrowsersWithPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t, database.URL(t, "sqlite"))
	status, to := w.owner.Get("/app/orders/order_01k0000000000000000000000a/receipt")
	require.Equal(t, []any{http.StatusSeeOther, "/app/orders/order_01k0000000000000000000000a"}, []any{status, to})
	status, to = w.owner.Get("/app/you/sessions?x=1")
	require.Equal(t, []any{http.StatusSeeOther, "/app/you"}, []any{status, to})
	for path, want := range map[string]int{"/nothing": http.StatusNotFound, "/app/nothing/here": http.StatusNotFound} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.URL+path, nil)
		require.NoError(t, err)
		request.Header.Set("Accept", "text/html,application/xhtml+xml,*/*;q=0.8")
		response, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		_ = response.Body.Close()
		require.Equal(t, want, response.StatusCode)
		require.Contains(t, response.Header.Get("Content-Type"), "text/html", path)
	}
	for _, path := range []string{"/v1/nothing", "/public/nothing"} { // programs
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.URL+path, nil)
		require.NoError(t, err)
		request.Header.Set("Accept", "text/html")
		response, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		_ = response.Body.Close()
		require.Contains(t, response.Header.Get("Content-Type"), "application/json", path)
	}
}
