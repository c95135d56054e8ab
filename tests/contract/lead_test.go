package contract

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

func TestCreateLead_KeepsWhatIsSent(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		product := ok[*sdk.Product](t)(c.Products.Create(background, &sdk.ProductCreate{Name: "Guide", Slug: new("guide")}))
		made := ok[*sdk.Lead](t)(c.Leads.Create(background, &sdk.LeadCreate{
			Email: "Ada@Example.com", Name: new("Ada"), Phone: new("+44 20"), Product: new("guide"), Source: new(sdk.LeadSource("form")),
			Referrer: new("https://example.com/"), UTM: &sdk.LeadUTM{Source: new("newsletter"), Term: new("bread")}, Status: new(sdk.LeadStatus("qualified")),
			Consent: &sdk.LeadConsent{Marketing: true, IP: new("203.0.113.7")}, CustomFieldData: &sdk.CustomFieldData{"size": "L"},
			Tags: []string{"vip", "early"}, Metadata: &sdk.Metadata{"a": "1"},
		}))
		got := ok[*sdk.Lead](t)(c.Leads.Get(background, made.ID, sdk.Expand("customer", "product")))
		switch {
		case got.Email != "Ada@Example.com", *got.Name != "Ada", *got.Phone != "+44 20", got.Source != "form", *got.Referrer != "https://example.com/", got.Status != "qualified":
			t.Errorf("the lead is %+v", got)
		case got.Product.Object.ID != product.ID, *got.UTM.Source != "newsletter", *got.UTM.Term != "bread", got.UTM.Medium != nil:
			t.Errorf("it refers to %+v and came by %+v", got.Product, got.UTM)
		case !got.Consent.Marketing, *got.Consent.IP != "203.0.113.7", *got.Consent.At != got.CreatedAt, got.Consent.ConfirmedAt != nil:
			t.Errorf("the consent is %+v", got.Consent)
		case !slices.Equal(got.Tags, []string{"vip", "early"}), got.Metadata["a"] != "1", got.CustomFieldData["size"] != "L":
			t.Errorf("tags, metadata and answers are %v, %v and %v", got.Tags, got.Metadata, got.CustomFieldData)
		case got.Customer.Object.Email != "Ada@Example.com", got.Customer.Object.Type != "lead", *got.Customer.Object.Name != "Ada", got.Customer.Object.MarketingConsent != nil:
			t.Errorf("the customer is %+v", got.Customer.Object)
		}
	})
}

func TestCreateLead_FindsItsCustomerAndTellsOfIt(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		hooks := harness.NewReceiver(t)
		endpoint := ok[*sdk.WebhookEndpoint](t)(c.WebhookEndpoints.Create(background, &sdk.WebhookEndpointCreate{URL: hooks.URL, EnabledEvents: []string{"lead.created"}}))
		ada := ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: "ada@example.com"}))
		lead := ok[*sdk.Lead](t)(c.Leads.Create(background, &sdk.LeadCreate{Email: "ADA@example.com", Name: new("Somebody")}))
		if lead.Customer.ID != ada.ID {
			t.Errorf("the lead is of %s, not of %s", lead.Customer.ID, ada.ID)
		}
		hooks.Await(t, 1, "lead.created")
		arrived := hooks.Deliveries()[0]
		event := ok[*sdk.Event](t)(sdk.VerifyWebhook(arrived.Body, arrived.Header, *endpoint.Secret))
		customer, told := ok[*sdk.Customer](t)(event.Customer()), ok[*sdk.Lead](t)(event.Lead())
		assert.Equal(t, ada.ID, customer.ID)
		assert.Nil(t, customer.Name)
		assert.Equal(t, lead.ID, told.ID)
		assert.Equal(t, "Somebody", *told.Name)
	})
}

func TestCreateLead_HasOneOfAnAddressAndProduct(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		ok[*sdk.Product](t)(c.Products.Create(background, &sdk.ProductCreate{Name: "Guide", Slug: new("guide")}))
		ok[*sdk.Lead](t)(c.Leads.Create(background, &sdk.LeadCreate{Email: "ada@example.com"}))
		ok[*sdk.Lead](t)(c.Leads.Create(background, &sdk.LeadCreate{Email: "ada@example.com", Product: new("guide")}))
		for _, product := range []*string{nil, new("guide")} {
			_, err := c.Leads.Create(background, &sdk.LeadCreate{Email: "ADA@example.com", Product: product})
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "email")
		}
		_, err := c.Leads.Create(background, &sdk.LeadCreate{Email: "grace@example.com", Product: new("none")})
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "product")
		_, err = c.Leads.Create(background, &sdk.LeadCreate{Email: "grace@example.com", AISite: new("none")})
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "ai_site")
		_, err = c.Leads.Create(background, &sdk.LeadCreate{Email: "grace@example.com", Status: new(sdk.LeadStatus("converted"))})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "status")
		_, err = c.Leads.Create(background, &sdk.LeadCreate{Email: "two@at@example.com"})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "email")
		ok[*sdk.Lead](t)(s.SDK(t).Leads.Create(background, &sdk.LeadCreate{Email: "ada@example.com"})) // another account
		if all := ok[*sdk.LeadList](t)(c.Leads.List(background, nil)); len(all.Data) != 2 {
			t.Errorf("there are %d leads", len(all.Data))
		}
	})
}

func TestCreateLead_UpsertAddsToWhatIsThere(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		first := ok[*sdk.Lead](t)(c.Leads.Create(background, &sdk.LeadCreate{
			Email: "ada@example.com", Name: new("Ada"), Phone: new("1"), Tags: []string{"a"}, Metadata: &sdk.Metadata{"a": "1", "b": "1"},
			Consent: &sdk.LeadConsent{Marketing: true, IP: new("203.0.113.7")},
		}))
		upsert := &sdk.LeadCreate{
			Email: "Ada@example.com", Upsert: new(true), Name: new("Ada L."), Tags: []string{"b", "a"}, Metadata: &sdk.Metadata{"b": "2"},
			Consent: &sdk.LeadConsent{Marketing: false, IP: new("198.51.100.1")},
		}
		var answer sdk.Response
		got := ok[*sdk.Lead](t)(c.Leads.Create(background, upsert, sdk.WithResponse(&answer)))
		switch {
		case answer.Status != http.StatusOK, got.ID != first.ID, got.Email != "ada@example.com", *got.Name != "Ada L.", *got.Phone != "1":
			t.Errorf("%d: the lead is %+v", answer.Status, got)
		case !slices.Equal(got.Tags, []string{"a", "b"}), got.Metadata["a"] != "1", got.Metadata["b"] != "2":
			t.Errorf("tags and metadata are %v and %v", got.Tags, got.Metadata)
		case !got.Consent.Marketing, *got.Consent.IP != "203.0.113.7":
			t.Errorf("the consent is %+v", got.Consent)
		}
		if again := ok[*sdk.Lead](t)(c.Leads.Create(background, upsert)); again.UpdatedAt != got.UpdatedAt {
			t.Error("an upsert that changes nothing touched updated_at")
		}
		made := ok[*sdk.Lead](t)(c.Leads.Create(background, &sdk.LeadCreate{Email: "grace@example.com", Upsert: new(true)}, sdk.WithResponse(&answer)))
		assert.Equal(t, http.StatusCreated, answer.Status)
		assert.NotEqual(t, first.ID, made.ID)
	})
}

func TestUpdateLead_KnowsAbsentNullAndValue(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		made := ok[*sdk.Lead](t)(c.Leads.Create(background, &sdk.LeadCreate{Email: "ada@example.com", Name: new("Ada"), Phone: new("1"), UTM: &sdk.LeadUTM{Source: new("x")}}))
		got := ok[*sdk.Lead](t)(c.Leads.Update(background, made.ID, &sdk.LeadUpdate{Name: sdk.Set("Ada L."), Phone: sdk.Null[string](), Tags: []string{"vip"}, Status: new(sdk.LeadStatus("qualified"))}))
		assert.Equal(t, "Ada L.", *got.Name, "the lead")
		require.Nil(t, got.Phone, "the lead")
		require.Len(t, got.Tags, 1, "the lead")
		assert.EqualValues(t, "qualified", got.Status, "the lead")
		assert.Equal(t, "x", *got.UTM.Source, "the lead")
		same := ok[*sdk.Lead](t)(c.Leads.Update(background, made.ID, &sdk.LeadUpdate{Name: sdk.Set("Ada L.")}))
		if same.UpdatedAt != got.UpdatedAt {
			t.Error("a change that changes nothing touched updated_at")
		}
	})
}

func TestUpdateLead_UnsubscribedIsFinal(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		made := ok[*sdk.Lead](t)(c.Leads.Create(background, &sdk.LeadCreate{Email: "ada@example.com", Consent: &sdk.LeadConsent{Marketing: true}}))
		other := ok[*sdk.Lead](t)(c.Leads.Create(background, &sdk.LeadCreate{Email: "Ada@example.com", Product: &onSale(t, c, 1900).Product.ID, Consent: &sdk.LeadConsent{Marketing: true}}))
		_, err := c.Leads.Update(background, made.ID, &sdk.LeadUpdate{Status: new(sdk.LeadStatus("converted"))})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "status")
		left := ok[*sdk.Lead](t)(c.Leads.Update(background, made.ID, &sdk.LeadUpdate{Status: new(sdk.LeadStatus("unsubscribed"))}, sdk.Expand("customer")))
		assert.False(t, left.Consent.Marketing)
		assert.EqualValues(t, "unsubscribed", left.Customer.Object.MarketingConsent.Status)
		other = ok[*sdk.Lead](t)(c.Leads.Get(background, other.ID))
		assert.EqualValues(t, "unsubscribed", other.Status)
		assert.False(t, other.Consent.Marketing)
		for field, change := range map[string]*sdk.LeadUpdate{
			"status": {Status: new(sdk.LeadStatus("new"))}, "consent.marketing": {Consent: &sdk.LeadConsent{Marketing: true}},
		} {
			_, err := c.Leads.Update(background, made.ID, change)
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, field)
		}
		again := ok[*sdk.Lead](t)(c.Leads.Create(background, &sdk.LeadCreate{
			Email: "ada@example.com", Upsert: new(true), Name: new("Ada"), Status: new(sdk.LeadStatus("new")), Consent: &sdk.LeadConsent{Marketing: true},
		}))
		assert.EqualValues(t, "unsubscribed", again.Status)
		assert.False(t, again.Consent.Marketing)
		assert.Equal(t, "Ada", *again.Name)
	})
}

func TestLeadConsent_IsOfThisWorld(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		later := sdk.Time("2099-01-01T00:00:00.000Z")
		lead := ok[*sdk.Lead](t)(c.Leads.Create(background, &sdk.LeadCreate{Email: "grace@example.com"}))
		for field, consent := range map[string]*sdk.LeadConsent{
			"consent.at": {Marketing: true, At: &later}, "consent.ip": {Marketing: true, IP: new("not an ip")}, "consent.confirmed_at": {Marketing: true, ConfirmedAt: &later},
		} {
			_, err := c.Leads.Create(background, &sdk.LeadCreate{Email: "ada@example.com", Consent: consent})
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, field)
			_, err = c.Leads.Update(background, lead.ID, &sdk.LeadUpdate{Consent: consent})
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, field)
		}
		before := sdk.Time("2026-01-01T00:00:00.000Z")
		_, err := c.Leads.Create(background, &sdk.LeadCreate{Email: "ada@example.com", Consent: &sdk.LeadConsent{ConfirmedAt: &before}})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "consent.confirmed_at")
	})
}

func TestImportLeads_SaysWhatBecameOfEach(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		hooks := harness.NewReceiver(t)
		ok[*sdk.WebhookEndpoint](t)(c.WebhookEndpoints.Create(background, &sdk.WebhookEndpointCreate{URL: hooks.URL, EnabledEvents: []string{"lead.created"}}))
		there := ok[*sdk.Lead](t)(c.Leads.Create(background, &sdk.LeadCreate{Email: "there@example.com", Name: new("There")}))
		result := ok[*sdk.LeadImport](t)(c.Leads.Import(background, &sdk.LeadImportCreate{Leads: []sdk.LeadRow{
			{Email: new("new@example.com"), Consent: &sdk.LeadRowConsent{Marketing: new(true), At: new("2026-01-02T03:04:05Z")}, Metadata: map[string]string{"a": "1"}},
			{Email: new("nowhere")},
			{Email: new("THERE@example.com"), Tags: []string{"x"}},
			{Email: new("there@example.com"), Name: new("There")},
			{Email: new("NEW@example.com"), Name: new("Again")},
			{Email: new("lost@example.com"), Product: new("none")},
			{Email: new("odd@example.com"), Status: new("converted"), Name: new(strings.Repeat("x", 256))},
			{Email: new("late@example.com"), Consent: &sdk.LeadRowConsent{Marketing: new(true), At: new("yesterday")}},
			{},
		}}))
		assert.EqualValues(t, 1, result.Created, "the import")
		assert.EqualValues(t, 2, result.Updated, "the import")
		assert.EqualValues(t, 1, result.Unchanged, "the import")
		assert.EqualValues(t, 5, result.Failed, "the import")
		for i, want := range []struct{ status, field string }{
			{"created", ""}, {"failed", "email"}, {"updated", ""}, {"unchanged", ""}, {"updated", ""}, {"failed", "product"}, {"failed", "status"}, {"failed", "consent.at"}, {"failed", "email"},
		} {
			got := result.Results[i]
			assert.Equal(t, int64(i), got.Index)
			assert.Equal(t, want.status, string(got.Status))
			assert.NotEqual(t, want.status == "failed", got.ID != nil)
			assert.Equal(t, want.field == "", got.Errors[want.field] == nil)
		}
		assert.Equal(t, there.ID, *result.Results[2].ID, "a row that is there is another lead")
		assert.Equal(t, *result.Results[0].ID, *result.Results[4].ID, "a row that is there is another lead")
		made := ok[*sdk.Lead](t)(c.Leads.Get(background, *result.Results[0].ID))
		assert.Equal(t, "Again", *made.Name, "the lead")
		assert.EqualValues(t, "import", made.Source, "the lead")
		assert.EqualValues(t, "2026-01-02T03:04:05.000Z", *made.Consent.At, "the lead")
		assert.Equal(t, "1", made.Metadata["a"], "the lead")
		hooks.Await(t, 2, "lead.created")
		all := ok[*sdk.LeadList](t)(c.Leads.List(background, nil))
		assert.Len(t, all.Data, 2)
		assert.Len(t, hooks.Deliveries(), 2)
	})
}

// Whichever of them comes first, whoever wants no letters gets none by another spelling of their address.
func TestImportLeads_UnsubscribesTheMailbox(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		agrees, product := &sdk.LeadRowConsent{Marketing: new(true)}, onSale(t, c, 1900).Product.ID
		ok[*sdk.Lead](t)(c.Leads.Create(background, &sdk.LeadCreate{Email: "ada@example.com", Product: &product, Consent: &sdk.LeadConsent{Marketing: true}}))
		result := ok[*sdk.LeadImport](t)(c.Leads.Import(background, &sdk.LeadImportCreate{Leads: []sdk.LeadRow{
			{Email: new("ada+1@example.com"), Consent: agrees},
			{Email: new("ada@example.com"), Product: &product, Consent: agrees},
			{Email: new("ada@example.com"), Status: new("unsubscribed")},
			{Email: new("ada+2@example.com"), Consent: agrees},
			{Email: new("grace@example.com"), Consent: agrees},
		}}))
		for i, want := range []struct {
			outcome, status string
			refused, agrees bool
		}{
			{"created", "new", true, false}, {"updated", "unsubscribed", true, false}, {"created", "unsubscribed", false, false}, {"created", "new", true, false}, {"created", "new", false, true},
		} {
			got := result.Results[i]
			l := ok[*sdk.Lead](t)(c.Leads.Get(background, *got.ID))
			assert.Equal(t, want.outcome, string(got.Status), i)
			assert.Equal(t, want.refused, got.ConsentRefused, i)
			assert.Equal(t, want.status, string(l.Status), i)
			assert.Equal(t, want.agrees, l.Consent.Marketing, i)
		}
	})
}

func TestImportLeads_TakesAThousand(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		rows := make([]sdk.LeadRow, 1001)
		for i := range rows {
			rows[i].Email = new(fmt.Sprintf("lead%d@example.com", i))
		}
		_, err := c.Leads.Import(background, &sdk.LeadImportCreate{Leads: rows})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "leads")
		first := ok[*sdk.LeadImport](t)(c.Leads.Import(background, &sdk.LeadImportCreate{Leads: rows[:1000]}))
		again := ok[*sdk.LeadImport](t)(c.Leads.Import(background, &sdk.LeadImportCreate{Leads: rows[:1000], Upsert: new(false), Source: new(sdk.LeadSource("form"))}))
		assert.EqualValues(t, 1000, first.Created)
		assert.EqualValues(t, 1000, again.Failed)
		assert.NotNil(t, again.Results[999].Errors["email"])
		for i := range rows {
			if rows[i].Email = new(fmt.Sprintf("other%d@example.com", i)); i%10 == 3 {
				rows[i].Email = new("nowhere")
			}
		}
		some := ok[*sdk.LeadImport](t)(c.Leads.Import(background, &sdk.LeadImportCreate{Leads: rows[:1000]}))
		assert.EqualValues(t, 900, some.Created)
		assert.EqualValues(t, 100, some.Failed)
		for i, r := range some.Results {
			isWrong := i%10 == 3
			assert.Equal(t, isWrong, r.Status == "failed", "row %d", i)
			assert.Equal(t, isWrong, r.Errors["email"] != nil, "row %d", i)
			assert.Equal(t, isWrong, r.ID == nil, "row %d", i)
		}
	})
}

func TestListLeads_Filters(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		product := ok[*sdk.Product](t)(c.Products.Create(background, &sdk.ProductCreate{Name: "Guide", Slug: new("guide")}))
		ada := ok[*sdk.Lead](t)(c.Leads.Create(background, &sdk.LeadCreate{
			Email: "Ada@example.com", Name: new("Ada Lovelace"), Product: new(product.ID), Source: new(sdk.LeadSource("form")), Status: new(sdk.LeadStatus("qualified")),
			Tags: []string{"vip"}, Metadata: &sdk.Metadata{"plan": "pro"},
		}))
		ok[*sdk.Lead](t)(c.Leads.Create(background, &sdk.LeadCreate{Email: "grace@example.com", Tags: []string{"vips"}}))
		for name, filter := range map[string]sdk.ListLeadsParams{
			"email":    {Email: new("ADA@example.com")},
			"status":   {Status: new(sdk.LeadStatus("qualified"))},
			"source":   {Source: new(sdk.LeadSource("form"))},
			"product":  {Product: new("guide")},
			"customer": {Customer: new(ada.Customer.ID)},
			"tag":      {Tag: new("vip")},
			"q":        {Q: new("lovel")},
			"metadata": {Metadata: map[string]string{"plan": "pro"}},
		} {
			list := ok[*sdk.LeadList](t)(c.Leads.List(background, &filter))
			require.Len(t, list.Data, 1, "the filter %s", name)
			assert.Equal(t, ada.ID, list.Data[0].ID, "the filter %s", name)
		}
		isSigned(t, ok[*sdk.SignedURL](t)(c.Leads.Export(background, &sdk.ExportLeadsParams{Status: new(sdk.LeadStatus("new"))})))
	})
}

func TestLead_IsConvertedByThePurchaseOfItsAddress(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		price := onSale(t, c, 1900)
		lead := func(email, status string, product *string) *sdk.Lead {
			return ok[*sdk.Lead](t)(c.Leads.Create(background, &sdk.LeadCreate{Email: email, Status: new(sdk.LeadStatus(status)), Product: product}))
		}
		other := ok[*sdk.Product](t)(c.Products.Create(background, &sdk.ProductCreate{Name: "Guide"}))
		fresh, qualified, left := lead("Ada@example.com", "new", nil), lead("ada@example.com", "qualified", new(other.ID)), lead("grace@example.com", "unsubscribed", nil)
		stranger := lead("else@example.com", "new", nil)
		order := purchase(t, c, "ADA@example.com", price)
		purchase(t, c, "grace@example.com", price)
		for _, made := range []*sdk.Lead{fresh, qualified} {
			got := ok[*sdk.Lead](t)(c.Leads.Get(background, made.ID))
			assert.EqualValues(t, "converted", got.Status, "the lead")
			assert.Equal(t, order.ID, *got.ConvertedOrder, "the lead")
			assert.Equal(t, *order.PaidAt, *got.ConvertedAt, "the lead")
			assert.Equal(t, order.Customer.ID, got.Customer.ID, "the lead")
		}
		purchase(t, c, "ada@example.com", price)
		if got := ok[*sdk.Lead](t)(c.Leads.Get(background, fresh.ID)); *got.ConvertedOrder != order.ID {
			t.Error("a later order converted it again")
		}
		for _, made := range []*sdk.Lead{left, stranger} {
			got := ok[*sdk.Lead](t)(c.Leads.Get(background, made.ID))
			assert.Equal(t, made.Status, got.Status, "the lead")
			assert.Nil(t, got.ConvertedAt, "the lead")
		}
		ok[*sdk.Lead](t)(c.Leads.Update(background, fresh.ID, &sdk.LeadUpdate{Status: new(sdk.LeadStatus("unsubscribed"))}))
		_, err := c.Leads.Update(background, qualified.ID, &sdk.LeadUpdate{Status: new(sdk.LeadStatus("new"))})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "status")
	})
}

func TestLead_GoesWithItsCustomer(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		lead := func(email string) *sdk.Lead {
			return ok[*sdk.Lead](t)(c.Leads.Create(background, &sdk.LeadCreate{Email: email}))
		}
		gone := func(l *sdk.Lead) {
			t.Helper()
			_, err := c.Leads.Get(background, l.ID)
			refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")
		}
		ada, grace := lead("ada@example.com"), lead("grace@example.com")
		ok[*sdk.Customer](t)(c.Customers.Merge(background, ada.Customer.ID, &sdk.CustomerMerge{From: grace.Customer.ID}))
		got := ok[*sdk.Lead](t)(c.Leads.Get(background, grace.ID))
		assert.Equal(t, ada.Customer.ID, got.Customer.ID, "after the merge the lead")
		assert.Equal(t, "grace@example.com", got.Email, "after the merge the lead")
		ok[*sdk.Deleted](t)(c.Leads.Delete(background, grace.ID))
		gone(grace)
		ok[*sdk.Customer](t)(c.Customers.Get(background, ada.Customer.ID))
		ok[*sdk.Deleted](t)(c.Customers.Delete(background, ada.Customer.ID, nil))
		gone(ada)
		buyer := lead("buyer@example.com")
		purchase(t, c, "buyer@example.com", onSale(t, c, 1900))
		ok[*sdk.Deleted](t)(c.Customers.Delete(background, buyer.Customer.ID, nil)) // kept for the order, without a personal detail
		gone(buyer)
	})
}
