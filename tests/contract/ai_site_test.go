package contract

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

func site(t *testing.T, c *sdk.Client, body *sdk.AISiteCreate) *sdk.AISite {
	t.Helper()
	return ok[*sdk.AISite](t)(c.AISites.Create(background, body))
}

func TestCreateAISite_MakesTheSubdomainFromTheName(t *testing.T) {
	onEachAlone(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		first := site(t, c, &sdk.AISiteCreate{Name: "Ada's Bücher"})
		assert.Equal(t, "ada-s-bucher", first.Subdomain, "the site")
		assert.True(t, first.Default, "the site")
		assert.Equal(t, "ai_site", first.Object, "the site")
		assert.True(t, strings.HasPrefix(first.ID, "site_"), "the site")
		require.Nil(t, first.Domain, "the new site")
		require.Nil(t, first.DomainStatus, "the new site")
		assert.False(t, first.DomainVerified, "the new site")
		require.Nil(t, first.DomainVerifiedAt, "the new site")
		assert.False(t, first.IsLive, "the new site")
		elsewhere := site(t, s.SDK(t), &sdk.AISiteCreate{Name: "Ada's Bücher"})
		if elsewhere.Subdomain != "ada-s-bucher-2" {
			t.Errorf("the second subdomain, of another account, is %s", elsewhere.Subdomain)
		}
		for _, name := range []string{"www", "日本", "x", strings.Repeat("long ", 30)} {
			made := site(t, c, &sdk.AISiteCreate{Name: name})
			n := len(made.Subdomain)
			assert.GreaterOrEqual(t, n, 3)
			assert.LessOrEqual(t, n, 63)
			assert.NotEqual(t, name, made.Subdomain)
		}
	})
}

func TestSubdomain_IsUniqueOnTheServerAndNotReserved(t *testing.T) {
	onEachAlone(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		taken := site(t, c, &sdk.AISiteCreate{Name: "a", Subdomain: new("taken")})
		other := site(t, s.SDK(t), &sdk.AISiteCreate{Name: "b", Subdomain: new("other")})
		for _, subdomain := range []string{"taken", "www", "api", "ab", "Upper", "two--hyphens", "xn--80ak6aa92e", "-a-", strings.Repeat("a", 64)} {
			_, err := c.AISites.Create(background, &sdk.AISiteCreate{Name: "x", Subdomain: &subdomain})
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "subdomain")
		}
		_, err := c.AISites.Update(background, taken.ID, &sdk.AISiteUpdate{Subdomain: &other.Subdomain})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "subdomain")
	})
}

func TestGetAISite_BySubdomainAlsoAFormerOne(t *testing.T) {
	onEachAlone(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		made := site(t, c, &sdk.AISiteCreate{Name: "a", Subdomain: new("before")})
		ok[*sdk.AISite](t)(c.AISites.Update(background, "before", &sdk.AISiteUpdate{Subdomain: new("after")}))
		for _, ref := range []string{made.ID, "before", "after"} {
			got := ok[*sdk.AISite](t)(c.AISites.Get(background, ref))
			assert.Equal(t, made.ID, got.ID, ref)
			assert.Equal(t, "after", got.Subdomain, ref)
		}
		foreign := s.SDK(t)
		_, err := foreign.AISites.Get(background, "after")
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")
		site(t, foreign, &sdk.AISiteCreate{Name: "b", Subdomain: new("before")})
		_, err = c.AISites.Get(background, "before")
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")
		back := ok[*sdk.AISite](t)(c.AISites.Update(background, made.ID, &sdk.AISiteUpdate{Name: new("renamed")}))
		assert.Equal(t, "after", back.Subdomain, "the renamed site")
		assert.Equal(t, "renamed", back.Name, "the renamed site")
	})
}

func TestDefaultAISite_IsAlwaysOne(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		first := site(t, c, &sdk.AISiteCreate{Name: "first"})
		second := site(t, c, &sdk.AISiteCreate{Name: "second", Default: new(true)})
		third := site(t, c, &sdk.AISiteCreate{Name: "third"})
		defaults := func(want string) {
			t.Helper()
			var found []string
			for s, err := range sdk.All(background, c.AISites.List, &sdk.ListAISitesParams{}) {
				if err != nil {
					t.Fatal(err)
				}
				if s.Default {
					found = append(found, s.ID)
				}
			}
			if !slices.Equal(found, []string{want}) {
				t.Errorf("the defaults are %v, %s is expected", found, want)
			}
		}
		defaults(second.ID)
		_, err := c.AISites.Delete(background, second.ID)
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "default")
		_, err = c.AISites.Update(background, second.ID, &sdk.AISiteUpdate{Default: new(false)})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "default")
		ok[*sdk.AISite](t)(c.AISites.Update(background, third.ID, &sdk.AISiteUpdate{Default: new(true)}))
		defaults(third.ID)
		for _, id := range []string{first.ID, second.ID} {
			gone := ok[*sdk.Deleted](t)(c.AISites.Delete(background, id))
			assert.Equal(t, id, gone.ID, "the confirmation")
			assert.Equal(t, "ai_site", gone.Object, "the confirmation")
			_, err := c.AISites.Get(background, id)
			refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")
		}
		site(t, c, &sdk.AISiteCreate{Name: "again", Subdomain: &first.Subdomain})
	})
}

func TestAISiteDomain_IsPendingWheneverItIsNew(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		made := site(t, c, &sdk.AISiteCreate{Name: "shop", Domain: new("shop.ada.example")})
		pending := func(s *sdk.AISite, domain string) {
			t.Helper()
			assert.Equal(t, domain, *s.Domain, "the site")
			assert.EqualValues(t, "pending", *s.DomainStatus, "the site")
			assert.False(t, s.DomainVerified, "the site")
			assert.Nil(t, s.DomainVerifiedAt, "the site")
		}
		pending(made, "shop.ada.example")
		pending(ok[*sdk.AISite](t)(c.AISites.Update(background, made.ID, &sdk.AISiteUpdate{Domain: sdk.Set("www.ada.example")})), "www.ada.example")
		cleared := ok[*sdk.AISite](t)(c.AISites.Update(background, made.ID, &sdk.AISiteUpdate{Domain: sdk.Null[string]()}))
		require.Nil(t, cleared.Domain, "without a domain the site")
		assert.Nil(t, cleared.DomainStatus, "without a domain the site")
		_, err := c.AISites.Create(background, &sdk.AISiteCreate{Name: "x", Domain: new("not a domain")})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "domain")
	})
}

func TestVerifyAISiteDomain_SaysWhatIsMissing(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		made := site(t, c, &sdk.AISiteCreate{Name: "shop"})
		_, err := c.AISites.VerifyDomain(background, made.ID)
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "domain")
		if len(made.DomainRecords) != 0 {
			t.Errorf("without a domain the records are %v", made.DomainRecords)
		}
		named := ok[*sdk.AISite](t)(c.AISites.Update(background, made.ID, &sdk.AISiteUpdate{Domain: sdk.Set("shop.ada.example")}))
		txt, cname := named.DomainRecords[0], named.DomainRecords[1]
		assert.EqualValues(t, "TXT", txt.Type, "the TXT record")
		assert.Equal(t, "_tillwright.shop.ada.example", txt.Name, "the TXT record")
		assert.True(t, strings.HasPrefix(txt.Value, "tillwright-site="), "the TXT record")
		assert.EqualValues(t, "CNAME", cname.Type, "the CNAME record")
		assert.Equal(t, "shop.ada.example", cname.Name, "the CNAME record")
		assert.Equal(t, strings.TrimPrefix(made.ID, "site_")+".shop.test", cname.Value, "the CNAME record")
		looked := ok[*sdk.AISite](t)(c.AISites.VerifyDomain(background, made.ID))
		assert.EqualValues(t, "pending", *looked.DomainStatus, "nothing was found, and the site")
		require.NotNil(t, looked.DomainError, "nothing was found, and the site")
		require.NotNil(t, looked.DomainCheckedAt, "nothing was found, and the site")
		assert.False(t, looked.DomainVerified, "nothing was found, and the site")
		_, err = s.SDK(t).AISites.VerifyDomain(background, made.ID)
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")
		_, err = c.AISites.Update(background, made.ID, &sdk.AISiteUpdate{Domain: sdk.Set("a.shop.test")})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "domain")
	})
}

func TestListAISites_Filters(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		links := site(t, c, &sdk.AISiteCreate{Name: "Links", Type: new(sdk.AISiteTypeLinkInBio), IsLive: new(true)})
		shop := site(t, c, &sdk.AISiteCreate{Name: "Shop front", Type: new(sdk.AISiteTypeAIBuilder), Metadata: &sdk.Metadata{"lang": "de"}})
		for name, want := range map[string]struct {
			params sdk.ListAISitesParams
			ids    []string
		}{
			"all, newest first": {sdk.ListAISitesParams{}, []string{shop.ID, links.ID}},
			"by type":           {sdk.ListAISitesParams{Type: new(sdk.AISiteTypeLinkInBio)}, []string{links.ID}},
			"live":              {sdk.ListAISitesParams{IsLive: new(true)}, []string{links.ID}},
			"not live":          {sdk.ListAISitesParams{IsLive: new(false)}, []string{shop.ID}},
			"by name":           {sdk.ListAISitesParams{Q: new("FRONT")}, []string{shop.ID}},
			"by metadata":       {sdk.ListAISitesParams{Metadata: sdk.MetadataFilter{"lang": "de"}}, []string{shop.ID}},
		} {
			var found []string
			for s, err := range sdk.All(background, c.AISites.List, &want.params) {
				if err != nil {
					t.Fatal(err)
				}
				found = append(found, s.ID)
			}
			if !slices.Equal(found, want.ids) {
				t.Errorf("%s: %v is found, %v is expected", name, found, want.ids)
			}
		}
	})
}
