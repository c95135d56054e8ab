package sdk_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"time"

	"github.com/tillwright/tillwright/sdk"
)

// null clears a field. What is left out stays.
func ExampleAccountService_Update() {
	account, err := client.Account.Update(ctx, &sdk.AccountUpdate{
		SupportEmail: sdk.Set("help@shop.example"),
		TaxID:        sdk.Null[string](),
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(account.Name, account.UpdatedAt.Time())
}

// Who changed a product, and when.
func ExampleActivityService_List() {
	page, err := client.Activity.List(ctx, &sdk.ListActivityParams{Target: new("prod_01k0000000000000000000000a")})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(page.Data), page.HasMore)
}

// The ad accounts that a connected profile may spend from.
func ExampleAdAccountsService_List() {
	page, err := client.AdAccounts.List(ctx, &sdk.ListAdAccountsParams{AccountID: "sacct_01k0000000000000000000000a"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(page.Data))
}

// What a network did not confirm: look there before you do it again.
func ExampleAdActionsService_List() {
	page, err := client.AdActions.List(ctx, &sdk.ListAdActionsParams{State: new(sdk.AdActionStateUnknown)})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(page.Data))
}

// Addresses leave this server as hashes alone, as the networks ask for.
func ExampleAdAudiencesService_UploadUsers() {
	upload, err := client.AdAudiences.UploadUsers(ctx, "aud_01k0000000000000000000000a", &sdk.AdAudienceUsers{
		Users: []sdk.AdAudienceUser{{Email: new("grace@example.com")}},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(upload.Accepted, upload.Invalid)
}

// A plan says what would be sent to the network, and sends nothing.
func ExampleAdCampaignsService_PlanBulkPause() {
	plan, err := client.AdCampaigns.PlanBulkPause(ctx, &sdk.AdCampaignBulk{
		Campaigns: []sdk.AdCampaignRef{{ID: "23850000000000001"}},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(plan.Calls), plan.Warnings)
}

// Tells a network of a sale. The same event_id is counted once.
func ExampleAdConversionsService_Create() {
	result, err := client.AdConversions.Create(ctx, &sdk.ConversionsCreate{
		DestinationID: "cdest_01k0000000000000000000000a",
		Events: []sdk.ConversionInput{{
			EventID: new("order-4711"), Event: new("Purchase"), AdsConsent: new(true),
			Value: new(json.Number("19.00")), Currency: new("USD"),
			User: &sdk.ConversionPerson{Email: new("grace@example.com")},
		}},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Queued, result.Duplicates)
}

// What is paused already is left as it is, and the answer says so.
func ExampleAdGroupsService_Pause() {
	result, err := client.AdGroups.Pause(ctx, "23850000000000002", &sdk.AdPlatformBody{Platform: new(sdk.AdPlatformFacebook)})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Status, result.Changed, result.Message)
}

// No key may then spend more than 50.00 a day on one campaign in dollars.
func ExampleAdLimitsService_Update() {
	limits, err := client.AdLimits.Update(ctx, &sdk.AdLimitsUpdate{
		Currencies: map[string]*sdk.AdLimitUpdate{"usd": {MaxDailyBudgetPerCampaign: new(sdk.AdAmount("50"))}},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(limits.Currencies))
}

// An ad begins paused. Resume its campaign to spend.
func ExampleAdsService_Create() {
	ad, err := client.Ads.Create(ctx, &sdk.AdCreate{
		AccountID: "sacct_01k0000000000000000000000a", AdAccountID: "act_1000", Name: "Field guide",
		Goal: new(sdk.AdGoalTraffic), BudgetAmount: new(sdk.AdAmount("15")), BudgetType: new(sdk.AdBudgetTypeDaily), Currency: new("USD"),
		Headline: new("Forty pages"), Body: new("All tides of the year."), LinkURL: new("https://shop.example/guide"),
		ImageURL: new("https://shop.example/guide.jpg"),
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ad.ID, ad.Status)
}

// Makes a version of the site. Publish shows it.
func ExampleAISitesService_Generate() {
	version, err := client.AISites.Generate(ctx, "site_01k0000000000000000000000a", &sdk.AISiteGeneration{
		Prompt: "A page for a guide to tides, with three questions and answers.",
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(version.Version, version.PreviewURL)
}

// The token is in this answer alone. A key without scopes may do everything.
func ExampleAPIKeysService_Create() {
	key, err := client.APIKeys.Create(ctx, &sdk.APIKeyCreate{
		Name: new("reports"), Scopes: []sdk.APIKeyScope{sdk.APIKeyScopeOrdersRead}, ExpiresAt: sdk.Set(sdk.TimeOf(time.Now().AddDate(1, 0, 0))),
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(key.ID, key.Token != nil)
}

// Published by itself tomorrow, and read by customers alone.
func ExampleBlogPostsService_Create() {
	post, err := client.BlogPosts.Create(ctx, &sdk.BlogPostCreate{
		Title: "Spring tides", Body: new("The **highest** ones are ..."),
		Status: new(sdk.BlogPostStatusScheduled), ScheduledFor: new(sdk.TimeOf(time.Now().AddDate(0, 0, 1))),
		Access: new(sdk.BlogPostAccessCustomers),
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(post.Slug, post.Status)
}

// The business centers that a connected profile belongs to.
func ExampleBusinessCentersService_List() {
	page, err := client.BusinessCenters.List(ctx, &sdk.ListBusinessCentersParams{AccountID: "sacct_01k0000000000000000000000a"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(page.Data))
}

// An address to share: each visitor gets a checkout of their own.
func ExampleCheckoutLinksService_Create() {
	link, err := client.CheckoutLinks.Create(ctx, &sdk.CheckoutLinkCreate{
		PriceVariants: []string{"price_01k0000000000000000000000a"}, MaxUses: new(int64(100)),
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(link.URL)
}

// Your shop opens a checkout, and sends the buyer on to its page.
func ExampleCheckoutsService_Create() {
	http.HandleFunc("POST /buy", func(w http.ResponseWriter, r *http.Request) {
		checkout, err := client.Checkouts.Create(r.Context(), &sdk.CheckoutCreate{
			LineItems:         []sdk.CheckoutLine{{PriceVariant: "price_01k0000000000000000000000a", Quantity: new(int64(2))}},
			ClientReferenceID: new("cart-4711"),
			SuccessURL:        new("https://shop.example/thanks?checkout={CHECKOUT_ID}"),
		}, sdk.WithIdempotencyKey("cart-4711-checkout"))
		if err != nil {
			http.Error(w, "Try again later.", http.StatusBadGateway)
			return
		}
		http.Redirect(w, r, checkout.URL, http.StatusSeeOther)
	})
}

// A tenth off the first three months.
func ExampleDiscountsService_Create() {
	discount, err := client.Discounts.Create(ctx, &sdk.DiscountCreate{
		Code: new("SPRING"), Type: sdk.DiscountTypePercent, PercentBps: new(int64(1000)),
		Duration: new(sdk.DiscountDurationRepeating), DurationInMonths: new(int64(3)),
		EndsAt: new(sdk.TimeOf(time.Date(2027, 5, 31, 22, 0, 0, 0, time.UTC))),
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(discount.ID, discount.Status)
}

// What buyers of a product get to see. Attach says which product.
func ExampleExperiencesService_Create() {
	experience, err := client.Experiences.Create(ctx, &sdk.ExperienceCreate{
		Name: "Tide club", Type: sdk.ExperienceTypeLink, Content: &sdk.ExperienceContent{URL: new("https://club.example.com")},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(experience.Slug, experience.Status)
}

// A file of a product. Its bytes go to the upload's address, without a key.
func ExampleFilesService_Create() {
	content := []byte("%PDF-1.7 ...")
	file, err := client.Files.Create(ctx, &sdk.FileCreate{Name: "guide.pdf", Size: int64(len(content)), ContentType: new("application/pdf")})
	if err != nil {
		log.Fatal(err)
	}
	put, err := http.NewRequestWithContext(ctx, http.MethodPut, file.Upload.URL, bytes.NewReader(content))
	if err != nil {
		log.Fatal(err)
	}
	sent, err := http.DefaultClient.Do(put)
	if err != nil {
		log.Fatal(err)
	}
	_ = sent.Body.Close()
	if file, err = client.Files.Complete(ctx, file.ID); err != nil {
		log.Fatal(err)
	}
	fmt.Println(file.Status, file.Version)
}

// Gives a customer a product that they did not pay for here.
func ExampleGrantsService_Create() {
	grant, err := client.Grants.Create(ctx, &sdk.GrantCreate{
		Customer: "cus_01k0000000000000000000000a", Product: "field-guide", ExpiresAt: new(sdk.TimeOf(time.Now().AddDate(1, 0, 0))),
	}, sdk.Expand("customer"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(grant.ID, grant.Status)
}

// A draft can be changed. Once it is final it can be sent and paid.
func ExampleInvoicesService_Create() {
	invoice, err := client.Invoices.Create(ctx, &sdk.InvoiceCreate{
		Customer: "cus_01k0000000000000000000000a",
		Lines:    []sdk.InvoiceLineCreate{{Description: new("A day at sea"), UnitAmount: new(int64(45000)), Quantity: new(int64(1))}},
		DueAt:    new(sdk.TimeOf(time.Now().AddDate(0, 0, 14))),
	})
	if err != nil {
		log.Fatal(err)
	}
	if invoice, err = client.Invoices.Finalize(ctx, invoice.ID); err != nil {
		log.Fatal(err)
	}
	if invoice, err = client.Invoices.Send(ctx, invoice.ID); err != nil {
		log.Fatal(err)
	}
	fmt.Println(invoice.Status, invoice.TotalAmount)
}

// With upsert a lead who is known already is changed, and nothing is refused.
func ExampleLeadsService_Create() {
	lead, err := client.Leads.Create(ctx, &sdk.LeadCreate{
		Email: "grace@example.com", Upsert: new(true), Tags: []string{"fair"},
		Consent: &sdk.LeadConsent{Marketing: true, At: new(sdk.TimeOf(time.Now()))},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(lead.ID, lead.Status)
}

// A page that buyers must accept before they pay.
func ExampleLegalPagesService_Create() {
	page, err := client.LegalPages.Create(ctx, &sdk.LegalPageCreate{
		Kind: sdk.LegalPageKindTerms, Title: "Terms", Body: new("..."), RequiresAcceptance: new(true),
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(page.Slug, page.Status)
}

// Letters that no mail server took are sent again.
func ExampleLettersService_Resend() {
	failed := &sdk.ListLettersParams{Status: new(sdk.LetterStatusFailed)}
	for letter, err := range sdk.All(ctx, client.Letters.List, failed) {
		if err != nil {
			log.Fatal(err)
		}
		if _, err := client.Letters.Resend(ctx, letter.ID); err != nil {
			log.Fatal(err)
		}
	}
}

// What was sold in each month of a year, in the account's timezone.
func ExampleMetricsService_Get() {
	metrics, err := client.Metrics.Get(ctx, &sdk.GetMetricsParams{From: new("2027-01-01"), To: new("2027-12-31"), Interval: new(sdk.MetricsIntervalMonth)})
	if err != nil {
		log.Fatal(err)
	}
	for _, month := range metrics.Periods {
		fmt.Println(month.Start, month.NetRevenue, metrics.Currency, month.Orders)
	}
}

// 9.00 a month, after two weeks that cost nothing.
func ExamplePriceVariantsService_Create() {
	variant, err := client.PriceVariants.Create(ctx, &sdk.PriceVariantCreate{
		Product: "field-guide", Name: new("Monthly"), Amount: new(int64(900)), Currency: new("usd"),
		Type: new(sdk.PriceVariantTypeRecurring), Interval: new(sdk.PriceVariantIntervalMonth), TrialDays: new(int64(14)),
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(variant.ID)
}

// A letter to those who bought a product and agreed to news.
func ExampleProductNewsService_Create() {
	news, err := client.ProductNews.Create(ctx, &sdk.ProductNewsCreate{
		Product: "camera-course", Subject: "Three new lessons", Body: "They are in your course **now**.", Audience: sdk.ProductNewsAudienceBuyers,
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(news.Status) // sending: they are counted as they are sent
}

// A form on a page of yours. Its token is fetched when the form is shown.
func ExamplePublicLeadsService_Create() {
	visitor := sdk.New("", sdk.WithBaseURL("https://shop.example/v1"))
	form, err := visitor.PublicLeads.GetForm(ctx, "acct_01k0000000000000000000000a")
	if err != nil {
		log.Fatal(err)
	}
	receipt, err := visitor.PublicLeads.Create(ctx, &sdk.PublicLeadCreate{
		FormToken: form.Token, Email: "grace@example.com", Consent: new(true), // ticked by the visitor
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(receipt.Status)
}

// Finds customers and orders by the beginnings of words.
func ExampleSearchService_Do() {
	found, err := client.Search.Do(ctx, &sdk.SearchParams{Q: "grace", Types: []sdk.SearchType{sdk.SearchTypeCustomer, sdk.SearchTypeOrder}})
	if err != nil {
		log.Fatal(err)
	}
	for _, hit := range found.Data {
		fmt.Println(hit.Type, hit.ID, hit.Title)
	}
}

// The seller consents on the network's page, and comes back to yours.
func ExampleSocialsService_CreateConnection() {
	connection, err := client.Socials.CreateConnection(ctx, &sdk.SocialConnectionCreate{
		Platform: sdk.AdPlatformPinterest, ReturnURL: "https://shop.example/connected",
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(connection.Status, *connection.URL)
}

// In development a month passes at once, and subscriptions renew.
func ExampleTestHelpersService_AdvanceClock() {
	clock, err := client.TestHelpers.AdvanceClock(ctx, &sdk.TestClockCreate{AdvanceSeconds: new(int64(31 * 24 * 3600))})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(clock.Now.Time(), clock.Done)
}
