package contract

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

// delivering is a product on sale that delivers a link.
func delivering(t *testing.T, c *sdk.Client) *sdk.Product {
	t.Helper()
	in := sellable("Guide")
	in.Status = new(sdk.ProductStatus("active"))
	in.Deliverables = []sdk.Deliverable{{Type: "link", Ref: new("https://example.com/chat"), Name: new("Chat")}}
	return ok[*sdk.Product](t)(c.Products.Create(background, in))
}

func TestCreateGrant_OpensWhatTheProductDelivers(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		guide := delivering(t, c)
		ada := ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: "ada@example.com"}))
		given := ok[*sdk.Grant](t)(c.Grants.Create(background, &sdk.GrantCreate{Customer: ada.ID, Product: guide.Slug}, sdk.Expand("customer", "product")))
		switch {
		case given.Status != "active", given.Quantity != 1, given.Source.Type != "manual", given.Source.ID != nil, given.Reason != nil, given.PriceVariant.ID != "":
			t.Errorf("the grant is %+v", given)
		case given.Customer.Object.ID != ada.ID, given.Product.Object.ID != guide.ID:
			t.Errorf("it expands to %+v and %+v", given.Customer, given.Product)
		case len(given.Deliverables) != 1, *given.Deliverables[0].URL != "https://example.com/chat", *given.Deliverables[0].Name != "Chat":
			t.Errorf("it opens %+v", given.Deliverables)
		}
		twice := ok[*sdk.Grant](t)(c.Grants.Create(background, &sdk.GrantCreate{Customer: ada.ID, Product: guide.ID}))
		if twice.ID == given.ID {
			t.Error("the second grant is the first one")
		}
		_, err := c.Products.Delete(background, guide.ID)
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "base")
	})
}

func TestCreateGrant_Refuses(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		guide := delivering(t, c)
		ada := ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: "ada@example.com"}))
		past := sdk.Time(time.Now().Add(-time.Hour).UTC().Format("2006-01-02T15:04:05.000Z"))
		_, err := c.Grants.Create(background, &sdk.GrantCreate{Customer: ada.ID, Product: guide.ID, ExpiresAt: &past})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "expires_at")
		_, err = c.Grants.Create(background, &sdk.GrantCreate{Customer: randomID("cus"), Product: guide.ID})
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "customer")
		_, err = c.Grants.Create(background, &sdk.GrantCreate{Customer: ada.ID, Product: "nothing"})
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "product")
		tip := ok[*sdk.Product](t)(c.Products.Create(background, &sdk.ProductCreate{Name: "Tip", Type: new(sdk.ProductType("tip"))}))
		_, err = c.Grants.Create(background, &sdk.GrantCreate{Customer: ada.ID, Product: tip.ID})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "product")
	})
}

func TestRevokeGrant_ClosesUntilItIsReinstated(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		guide := delivering(t, c)
		ada := ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: "ada@example.com"}))
		given := ok[*sdk.Grant](t)(c.Grants.Create(background, &sdk.GrantCreate{Customer: ada.ID, Product: guide.ID}))
		revoked := ok[*sdk.Grant](t)(c.Grants.Revoke(background, given.ID))
		assert.EqualValues(t, "revoked", revoked.Status, "the revoked grant")
		assert.EqualValues(t, "manual", *revoked.Reason, "the revoked grant")
		require.NotNil(t, revoked.RevokedAt, "the revoked grant")
		assert.Nil(t, revoked.Deliverables[0].URL, "the revoked grant")
		again := ok[*sdk.Grant](t)(c.Grants.Revoke(background, given.ID))
		if *again.RevokedAt != *revoked.RevokedAt {
			t.Errorf("revoking it twice moves %s to %s", *revoked.RevokedAt, *again.RevokedAt)
		}
		back := ok[*sdk.Grant](t)(c.Grants.Reinstate(background, given.ID))
		assert.EqualValues(t, "active", back.Status, "the reinstated grant")
		require.Nil(t, back.Reason, "the reinstated grant")
		require.Nil(t, back.RevokedAt, "the reinstated grant")
		assert.NotNil(t, back.Deliverables[0].URL, "the reinstated grant")
	})
}

func TestUpdateGrant_SetsWhenItExpires(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		guide := delivering(t, c)
		ada := ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: "ada@example.com"}))
		given := ok[*sdk.Grant](t)(c.Grants.Create(background, &sdk.GrantCreate{Customer: ada.ID, Product: guide.ID}))
		soon := sdk.Time(time.Now().Add(time.Hour).UTC().Format("2006-01-02T15:04:05.000Z"))
		changed := ok[*sdk.Grant](t)(c.Grants.Update(background, given.ID, &sdk.GrantUpdate{ExpiresAt: sdk.Set(soon)}))
		assert.Equal(t, soon, *changed.ExpiresAt, "the changed grant")
		assert.EqualValues(t, "active", changed.Status, "the changed grant")
		advance(t, c, 66*time.Minute)
		over := ok[*sdk.Grant](t)(c.Grants.Get(background, given.ID))
		assert.EqualValues(t, "expired", over.Status, "when it is over the grant")
		assert.Nil(t, over.Deliverables[0].URL, "when it is over the grant")
		_, err := c.Grants.Update(background, given.ID, &sdk.GrantUpdate{ExpiresAt: sdk.Set(sdk.Time(time.Now().UTC().Format("2006-01-02T15:04:05.000Z")))})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "expires_at")
		if open := ok[*sdk.Grant](t)(c.Grants.Update(background, given.ID, &sdk.GrantUpdate{ExpiresAt: sdk.Null[sdk.Time]()})); open.Status != "active" {
			t.Errorf("without an end the grant is %+v", open)
		}
	})
}

func TestListGrants_Filters(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		guide, other := delivering(t, c), delivering(t, c)
		ada := ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: "ada@example.com"}))
		bob := ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: "bob@example.com"}))
		first := ok[*sdk.Grant](t)(c.Grants.Create(background, &sdk.GrantCreate{Customer: ada.ID, Product: guide.ID}))
		second := ok[*sdk.Grant](t)(c.Grants.Create(background, &sdk.GrantCreate{Customer: bob.ID, Product: other.ID}))
		ok[*sdk.Grant](t)(c.Grants.Revoke(background, second.ID))
		soon := sdk.Time(time.Now().Add(time.Hour).UTC().Format("2006-01-02T15:04:05.000Z"))
		third := ok[*sdk.Grant](t)(c.Grants.Create(background, &sdk.GrantCreate{Customer: bob.ID, Product: guide.ID, ExpiresAt: &soon}))
		advance(t, c, 66*time.Minute)
		for name, wanted := range map[string]struct {
			in  sdk.ListGrantsParams
			ids []string
		}{
			"all":      {sdk.ListGrantsParams{}, []string{third.ID, second.ID, first.ID}},
			"customer": {sdk.ListGrantsParams{Customer: &bob.ID}, []string{third.ID, second.ID}},
			"product":  {sdk.ListGrantsParams{Product: &guide.Slug}, []string{third.ID, first.ID}},
			"active":   {sdk.ListGrantsParams{Status: new(sdk.GrantStatus("active"))}, []string{first.ID}},
			"revoked":  {sdk.ListGrantsParams{Status: new(sdk.GrantStatus("revoked"))}, []string{second.ID}},
			"expired":  {sdk.ListGrantsParams{Status: new(sdk.GrantStatus("expired"))}, []string{third.ID}},
			"manual":   {sdk.ListGrantsParams{Source: new("manual")}, []string{third.ID, second.ID, first.ID}},
			"order":    {sdk.ListGrantsParams{Source: new("order")}, nil},
		} {
			list := ok[*sdk.GrantList](t)(c.Grants.List(background, &wanted.in))
			var ids []string
			for _, g := range list.Data {
				ids = append(ids, g.ID)
			}
			if !slices.Equal(ids, wanted.ids) {
				t.Errorf("by %s there are %v instead of %v", name, ids, wanted.ids)
			}
		}
		for _, unknown := range []string{"refund", randomID("order"), randomID("sub"), randomID("prod")} {
			_, err := c.Grants.List(background, &sdk.ListGrantsParams{Source: &unknown})
			refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "source")
		}
	})
}

func TestUpdateProduct_ChangesWhatItsBuyersReceive(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		guide := delivering(t, c)
		ada := ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: "ada@example.com"}))
		early := ok[*sdk.Grant](t)(c.Grants.Create(background, &sdk.GrantCreate{Customer: ada.ID, Product: guide.ID}))
		names := func(id string) (names []string) {
			for _, d := range ok[*sdk.Grant](t)(c.Grants.Get(background, id)).Deliverables {
				names = append(names, *d.Name)
			}
			return names
		}
		link := func(name string) sdk.Deliverable {
			return sdk.Deliverable{Type: "link", Ref: new("https://example.com/" + name), Name: new(name)}
		}
		put := func(list ...sdk.Deliverable) {
			changed := ok[*sdk.Product](t)(c.Products.Update(background, guide.ID, &sdk.ProductUpdate{Deliverables: list}))
			if len(changed.Deliverables) != len(list) {
				t.Errorf("the product has %+v", changed.Deliverables)
			}
		}
		put(guide.Deliverables[0], link("Forum"))
		if got := names(early.ID); !slices.Equal(got, []string{"Chat", "Forum"}) {
			t.Errorf("of a product for all buyers the early one has %v", got)
		}
		ok[*sdk.Product](t)(c.Products.Update(background, guide.ID, &sdk.ProductUpdate{DeliveryUpdates: new(sdk.DeliveryUpdates("new_buyers"))}))
		late := ok[*sdk.Grant](t)(c.Grants.Create(background, &sdk.GrantCreate{Customer: ada.ID, Product: guide.ID}))
		put(link("Forum"), link("Wiki"))
		last := ok[*sdk.Grant](t)(c.Grants.Create(background, &sdk.GrantCreate{Customer: ada.ID, Product: guide.ID}))
		for id, wanted := range map[string][]string{early.ID: {"Chat"}, late.ID: {"Chat", "Forum"}, last.ID: {"Forum", "Wiki"}} {
			if got := names(id); !slices.Equal(got, wanted) {
				t.Errorf("of a product for new buyers a grant has %v instead of %v", got, wanted)
			}
		}
		ok[*sdk.Product](t)(c.Products.Update(background, guide.ID, &sdk.ProductUpdate{Deliverables: []sdk.Deliverable{}}))
		if p := ok[*sdk.Product](t)(c.Products.Get(background, guide.ID)); len(p.Deliverables) != 0 {
			t.Errorf("without any the product has %+v", p.Deliverables)
		}
	})
}

func TestCreateProduct_RefusesWhatNobodyCouldGet(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		for name, d := range map[string]sdk.Deliverable{
			"no URL": {Type: "link"}, "a word": {Type: "link", Ref: new("chat")}, "a script": {Type: "link", Ref: new("javascript:alert(1)")},
			"no host": {Type: "link", Ref: new("https:///chat")}, "keys of a file": {Type: "license_key", Ref: new("keys.csv")},
			"no file": {Type: "file"}, "no experience": {Type: "experience"},
		} {
			in := sellable(name)
			in.Deliverables = []sdk.Deliverable{{Type: "license_key"}, d}
			_, err := c.Products.Create(background, in)
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "deliverables.1.ref")
		}
		for kind, ref := range map[string]string{"file": randomID("file"), "experience": "no-such-course"} {
			in := sellable(kind)
			in.Deliverables = []sdk.Deliverable{{Type: "license_key", Ref: new("imported")}, {Type: sdk.DeliverableType(kind), Ref: &ref}}
			_, err := c.Products.Create(background, in)
			refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "deliverables.1.ref")
		}
	})
}

func TestPublishProduct_RefusesWhatNobodyCouldGet(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		course := ok[*sdk.Experience](t)(c.Experiences.Create(background, &sdk.ExperienceCreate{
			Name: "Course", Type: "link", Content: &sdk.ExperienceContent{URL: new("https://example.com/course")},
		}))
		in := sellable("Guide")
		in.Deliverables = []sdk.Deliverable{{Type: "link", Ref: new("https://example.com")}, {Type: "experience", Ref: &course.Slug}}
		guide := ok[*sdk.Product](t)(c.Products.Create(background, in))
		if *guide.Deliverables[1].Ref != course.ID {
			t.Errorf("the ref of the experience is %s", *guide.Deliverables[1].Ref)
		}
		_, err := c.Products.Publish(background, guide.ID)
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "deliverables")
		ok[*sdk.Experience](t)(c.Experiences.Publish(background, course.ID))
		ok[*sdk.Product](t)(c.Products.Publish(background, guide.ID))
		for name, call := range map[string]func() error{
			"unpublish": func() error { _, err := c.Experiences.Unpublish(background, course.ID); return err },
			"archive":   func() error { _, err := c.Experiences.Archive(background, course.ID); return err },
			"delete":    func() error { _, err := c.Experiences.Delete(background, course.ID); return err },
		} {
			if err := call(); err == nil {
				t.Errorf("%s is not refused while an active product delivers it", name)
			} else {
				refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "base")
			}
		}
		file := ok[*sdk.File](t)(c.Files.Create(background, &sdk.FileCreate{Name: "guide.pdf", Size: 5}))
		_, err = c.Products.Update(background, guide.ID, &sdk.ProductUpdate{Deliverables: []sdk.Deliverable{{Type: "file", Ref: &file.ID}}})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "deliverables")
		ok[*sdk.Product](t)(c.Products.Unpublish(background, guide.ID))
		ok[*sdk.Product](t)(c.Products.Update(background, guide.ID, &sdk.ProductUpdate{Deliverables: []sdk.Deliverable{{Type: "file", Ref: &file.ID}}}))
		ok[*sdk.Experience](t)(c.Experiences.Unpublish(background, course.ID))
		ok[*sdk.Deleted](t)(c.Files.Delete(background, file.ID))
		_, err = c.Products.Publish(background, guide.ID)
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "deliverables")
	})
}
