package contract

import (
	"net/http"
	"slices"
	"strings"
	"testing"

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
		if first.Subdomain != "ada-s-bucher" || !first.Default || first.Object != "ai_site" || !strings.HasPrefix(first.ID, "site_") {
			t.Errorf("the site is %+v", first)
		}
		if first.Domain != nil || first.DomainStatus != nil || first.DomainVerified || first.DomainVerifiedAt != nil || first.IsLive {
			t.Errorf("the new site is %+v", first)
		}
		elsewhere := site(t, s.SDK(t), &sdk.AISiteCreate{Name: "Ada's Bücher"})
		if elsewhere.Subdomain != "ada-s-bucher-2" {
			t.Errorf("the second subdomain, of another account, is %s", elsewhere.Subdomain)
		}
		for _, name := range []string{"www", "日本", "x", strings.Repeat("long ", 30)} {
			made := site(t, c, &sdk.AISiteCreate{Name: name})
			if n := len(made.Subdomain); n < 3 || n > 63 || made.Subdomain == name {
				t.Errorf("%q has the subdomain %q", name, made.Subdomain)
			}
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
			if got := ok[*sdk.AISite](t)(c.AISites.Get(background, ref)); got.ID != made.ID || got.Subdomain != "after" {
				t.Errorf("%s is %+v", ref, got)
			}
		}
		foreign := s.SDK(t)
		_, err := foreign.AISites.Get(background, "after")
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")
		site(t, foreign, &sdk.AISiteCreate{Name: "b", Subdomain: new("before")})
		_, err = c.AISites.Get(background, "before")
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")
		back := ok[*sdk.AISite](t)(c.AISites.Update(background, made.ID, &sdk.AISiteUpdate{Name: new("renamed")}))
		if back.Subdomain != "after" || back.Name != "renamed" {
			t.Errorf("the renamed site is %+v", back)
		}
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
			if gone := ok[*sdk.Deleted](t)(c.AISites.Delete(background, id)); gone.ID != id || gone.Object != "ai_site" {
				t.Errorf("the confirmation is %+v", gone)
			}
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
			if *s.Domain != domain || *s.DomainStatus != "pending" || s.DomainVerified || s.DomainVerifiedAt != nil {
				t.Errorf("the site is %+v", s)
			}
		}
		pending(made, "shop.ada.example")
		pending(ok[*sdk.AISite](t)(c.AISites.Update(background, made.ID, &sdk.AISiteUpdate{Domain: sdk.Set("www.ada.example")})), "www.ada.example")
		cleared := ok[*sdk.AISite](t)(c.AISites.Update(background, made.ID, &sdk.AISiteUpdate{Domain: sdk.Null[string]()}))
		if cleared.Domain != nil || cleared.DomainStatus != nil {
			t.Errorf("without a domain the site is %+v", cleared)
		}
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
		if txt.Type != "TXT" || txt.Name != "_tillwright.shop.ada.example" || !strings.HasPrefix(txt.Value, "tillwright-site=") {
			t.Errorf("the TXT record is %+v", txt)
		}
		if cname.Type != "CNAME" || cname.Name != "shop.ada.example" || cname.Value != strings.TrimPrefix(made.ID, "site_")+".shop.test" {
			t.Errorf("the CNAME record is %+v", cname)
		}
		looked := ok[*sdk.AISite](t)(c.AISites.VerifyDomain(background, made.ID))
		if *looked.DomainStatus != "pending" || looked.DomainError == nil || looked.DomainCheckedAt == nil || looked.DomainVerified {
			t.Errorf("nothing was found, and the site is %+v", looked)
		}
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
