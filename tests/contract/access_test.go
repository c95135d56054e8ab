package contract

import (
	"net/http"
	"testing"

	"github.com/oapi-codegen/nullable"
	"github.com/stretchr/testify/assert"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

// hasAccess fails the test if the answer is not that somebody may come in this way, by this grant. No way is no access.
func hasAccess(t *testing.T, a *sdk.Access, err error, via sdk.AccessVia, grant string) {
	t.Helper()
	ok[*sdk.Access](t)(a, err)
	shown := func(p *string) string {
		if p == nil {
			return ""
		}
		return *p
	}
	assert.Equal(t, "access", a.Object)
	assert.Equal(t, via != "", a.HasAccess)
	assert.Equal(t, string(via), shown((*string)(a.Via)))
	assert.Equal(t, grant, shown(a.Grant))
}

func TestGetExperienceAccess_IsByAnyActiveGrant(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		club := experience(t, c, &sdk.ExperienceCreate{
			Name: "Club", Type: sdk.ExperienceTypeLink, Content: &sdk.ExperienceContent{URL: new("https://example.com")}, Status: new(sdk.ExperienceStatusPublished),
		})
		var products [2]*sdk.Product
		for i := range products {
			in := sellable("Guide")
			in.Deliverables = []sdk.Deliverable{{Type: "experience", Ref: &club.Slug}}
			products[i] = ok[*sdk.Product](t)(c.Products.Create(background, in))
		}
		ada := ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: "ada@example.com"}))
		bob := ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: "bob@example.com"}))
		is := func(customer *sdk.Customer, via sdk.AccessVia, grant string) {
			t.Helper()
			a, err := c.Experiences.Access(background, club.Slug, &sdk.GetExperienceAccessParams{Customer: customer.ID})
			hasAccess(t, a, err, via, grant)
		}
		is(ada, "", "")
		first := ok[*sdk.Grant](t)(c.Grants.Create(background, &sdk.GrantCreate{Customer: ada.ID, Product: products[0].ID}))
		second := ok[*sdk.Grant](t)(c.Grants.Create(background, &sdk.GrantCreate{Customer: ada.ID, Product: products[1].ID}))
		is(ada, sdk.AccessViaGrant, first.ID)
		is(bob, "", "")
		ok[*sdk.Grant](t)(c.Grants.Revoke(background, first.ID))
		is(ada, sdk.AccessViaGrant, second.ID)
		ok[*sdk.Experience](t)(c.Experiences.Unpublish(background, club.ID))
		is(ada, "", "")
		ok[*sdk.Experience](t)(c.Experiences.Publish(background, club.ID))
		ok[*sdk.Grant](t)(c.Grants.Revoke(background, second.ID))
		is(ada, "", "")
		ok[*sdk.Experience](t)(c.Experiences.Update(background, club.ID, &sdk.ExperienceUpdate{Access: new(sdk.ExperienceAccessPublic)}))
		is(bob, sdk.AccessViaPublic, "")

		_, err := c.Experiences.Access(background, club.ID, &sdk.GetExperienceAccessParams{Customer: randomID("cus")})
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "customer")
		_, err = c.Experiences.Access(background, "nothing", &sdk.GetExperienceAccessParams{Customer: ada.ID})
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")
	})
}

func TestGetExperienceAccess_IsByTheGrantThatLastsLongest(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		club := experience(t, c, &sdk.ExperienceCreate{
			Name: "Club", Type: sdk.ExperienceTypeLink, Content: &sdk.ExperienceContent{URL: new("https://example.com")}, Status: new(sdk.ExperienceStatusPublished),
		})
		in := sellable("Guide")
		in.Deliverables = []sdk.Deliverable{{Type: "experience", Ref: &club.ID}}
		product := ok[*sdk.Product](t)(c.Products.Create(background, in))
		ada := ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: "ada@example.com"}))
		var grants [4]*sdk.Grant
		for i := range grants {
			grants[i] = ok[*sdk.Grant](t)(c.Grants.Create(background, &sdk.GrantCreate{Customer: ada.ID, Product: product.ID}))
		}
		limit := func(g *sdk.Grant) {
			ok[*sdk.Grant](t)(c.Grants.Update(background, g.ID, &sdk.GrantUpdate{DownloadLimit: nullable.NewNullableWithValue(int64(1))}))
		}
		is := func(g *sdk.Grant) {
			t.Helper()
			a, err := c.Experiences.Access(background, club.ID, &sdk.GetExperienceAccessParams{Customer: ada.ID})
			hasAccess(t, a, err, sdk.AccessViaGrant, g.ID)
		}
		limit(grants[0])
		limit(grants[3])
		is(grants[1]) // the oldest without a limit
		limit(grants[1])
		is(grants[2])
		limit(grants[2])
		is(grants[3]) // the newest, of which least is used up
	})
}

func TestGetBlogPostAccess_IsOfWhomThePostIsFor(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		guide := onSale(t, c, 1900)
		sold := purchase(t, c, "ada@example.com", guide)
		buyer := &sdk.Customer{ID: sold.Customer.ID}
		lead := ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: "bob@example.com"}))
		for access, want := range map[sdk.BlogPostAccess]struct {
			buyer, lead sdk.AccessVia
			grant       string
		}{
			sdk.BlogPostAccessPublic:    {sdk.AccessViaPublic, sdk.AccessViaPublic, ""},
			sdk.BlogPostAccessCustomers: {sdk.AccessViaCustomer, "", ""},
			sdk.BlogPostAccessProduct:   {sdk.AccessViaGrant, "", had(t, c, buyer.ID)[0].ID},
		} {
			post := ok[*sdk.BlogPost](t)(c.BlogPosts.Create(background, &sdk.BlogPostCreate{Title: "How", Body: new("So."), Access: new(access), Product: &guide.Product.ID}))
			is := func(customer *sdk.Customer, via sdk.AccessVia, grant string) {
				t.Helper()
				a, err := c.BlogPosts.Access(background, post.Slug, &sdk.GetBlogPostAccessParams{Customer: customer.ID})
				hasAccess(t, a, err, via, grant)
			}
			is(buyer, "", "")
			ok[*sdk.BlogPost](t)(c.BlogPosts.Publish(background, post.ID))
			is(buyer, want.buyer, want.grant)
			is(lead, want.lead, "")
		}
		_, err := c.BlogPosts.Access(background, "nothing", &sdk.GetBlogPostAccessParams{Customer: buyer.ID})
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")
	})
}
