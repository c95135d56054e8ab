package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/encoding/unicode"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/server/cmd/tillwright/platform"
	"github.com/tillwright/tillwright/server/view"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// fixture copies a file of a platform, as another one whose last line is empty if again is true.
func fixture(t *testing.T, from, kind string, again bool) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "from", from+"-"+kind+".csv"))
	require.NoError(t, err)
	if again {
		text = append(text, '\n')
	}
	return written(t, kind+".csv", string(text))
}

// handout is a file of a platform: what becomes of its rows, what is left out of it, and what is there afterwards, newest first.
type handout struct {
	from, kind, currency string
	counts               [4]int64
	left                 string
	want                 []string
}

var handedOut = []handout{
	{"shopify", "customers", "", [4]int64{2, 0, 0, 1}, "Default Address Phone Accepts SMS Marketing Total Spent Total Orders", []string{
		"grace@example.com|Grace||shopify:7210448301123|1 Navy Yard|Building 3|Washington|DC|US|20374||true|||",
		"ada@example.com|Ada Lovelace|+442079460000|shopify:7210448301122|12 St James's Square|company=Analytical Ltd|London|ENG|GB|SW1Y 4JH|subscribed|false|Writes in the margins.\nTwice.|vip,early|",
	}},
	{"gumroad", "customers", "", [4]int64{2, 0, 1, 0}, "Purchase ID Item Name Buyer Email Purchase Date Purchase Time (UTC timezone) Subtotal ($) Taxes ($)", []string{
		"grace@example.com|Grace|||1 Navy Yard||Washington|DC||20374|unsubscribed|false|||country=Freedonia",
		"ada@example.com|Ada Lovelace|||||London|England|GB|||false|||",
	}},
	{"patreon", "customers", "", [4]int64{2, 0, 0, 0}, "Discord Follows You Free Member Free Trial Lifetime Amount Pledge Amount Charge Frequency Patronage Since Date Last Charge Date Last Charge Status Last Updated Currency Max Posts Access Expiration Next Charge Date", []string{
		"grace@example.com|Grace||patreon:4712||||||||false|||patron_status=Former patron",
		"ada@example.com|Ada Lovelace||patreon:4711|12 St James's Square|A. Lovelace|London||GB|SW1Y 4JH||false|Met at the fair||patron_status=Active patron,tier=Baker",
	}},
	{"ghost", "customers", "", [4]int64{2, 0, 0, 0}, "complimentary_plan stripe_customer_id deleted_at tiers", []string{
		"grace@example.com|||ghost:65b||||||||false|||",
		"ada@example.com|Ada Lovelace||ghost:65a|||||||subscribed at 2024-01-15T10:00:00.000Z|false|Early, and \"loud\"\nsince 2020|vip,early|",
	}},
	{"ghost", "leads", "", [4]int64{2, 0, 0, 0}, "id note complimentary_plan stripe_customer_id deleted_at tiers", []string{
		"grace@example.com|||new|false|||", "ada@example.com|Ada Lovelace||new|true at 2024-01-15T10:00:00.000Z||vip,early|",
	}},
	{"substack", "leads", "", [4]int64{2, 0, 0, 0}, "first_payment_at", []string{
		"grace@example.com|||new|false|||active_subscription=false,plan=other",
		"ada@example.com|||new|true at 2024-02-01T10:00:00.000Z|||active_subscription=true,expiry=2026-12-01T00:00:00.000Z,plan=yearly",
	}},
	{"mailchimp", "leads", "", [4]int64{3, 0, 0, 0}, "MEMBER_RATING CONFIRM_TIME CONFIRM_IP LATITUDE LONGITUDE GMTOFF DSTOFF TIMEZONE CC REGION LAST_CHANGED LEID EUID", []string{
		"mary@example.com|Mary||unsubscribed|false|||notes=Moved on", "grace@example.com|Grace||new|false|||",
		"ada@example.com|Ada Lovelace|+44 20 7946 0000|new|true at 2024-03-14T09:12:31.000Z|203.0.113.7|VIP,Blog, news|",
	}},
	{"lemonsqueezy", "leads", "", [4]int64{3, 0, 0, 0}, "status_formatted country_formatted email_sends email_opens email_clicks unsubscribed_at created_at", []string{
		"mary@example.com|Mary||new|false|||lemonsqueezy=ls-3", "grace@example.com|Grace||unsubscribed|false|||lemonsqueezy=ls-2",
		"ada@example.com|Ada Lovelace||new|true at now|||country=GB,lemonsqueezy=ls-1",
	}},
	{"gumroad", "leads", "", [4]int64{2, 0, 0, 0}, "", []string{
		"grace@example.com|||new|false|||subscribed_at=2025-01-03 03:04:05 UTC", "ada@example.com|||new|false|||subscribed_at=2025-01-02 03:04:05 UTC",
	}},
	{"stripe", "customers", "", [4]int64{2, 0, 1, 1}, "Created (UTC) Delinquent Total Spend Payment Count Refunded Volume Dispute Losses tag (metadata)", []string{
		"grace@example.com|||stripe:cus_4712||||||||false|||status=canceled",
		"ada@example.com|Ada Lövelace||stripe:cus_4711||||||||false|Met at \"the fair\", twice||plan=price_1Pro,status=active",
	}},
	{"beehiiv", "leads", "", [4]int64{4, 0, 0, 0}, "stripe_customer_id Free Tier Premium Tier Subscription Date (Substack)", []string{
		"joan@example.com|||unsubscribed|false|||tier=premium", "mary@example.com|Mary||new|false|||tier=free", "grace@example.com|Hopper||unsubscribed|false|||tier=free",
		"ada@example.com|Ada Lövelace \"A.\"||new|true at 2023-03-24T10:23:10.000Z|||tier=premium",
	}},
	{"squarespace", "products", "eur", [4]int64{3, 0, 0, 2}, "Variant ID [Non Editable] Product Page Option Name 1 Option Name 2 Option Name 3 Stock Weight Length Width Height", []string{
		"Sampler|sampler|squarespace:5e04|active|public|||type=SERVICE: free 0 eur was 300",
		"Old atlas|old-atlas|squarespace:5e02|draft|public|Plain * text||type=DIGITAL: fixed 800 eur sku=AT",
		"Pinsel \"Größe 1\"|brush-pack|squarespace:5e01|active|public|Soft & *wet*|https://images.example.com/1.png https://images.example.com/2.png https://images.example.com/3.png|" +
			"categories=/brushes,tags=art, ink,type=DIGITAL: One / PNG, SVG fixed 1250 eur was 2000 sku=BR-1: Ten / PNG, SVG fixed 9000 eur sku=BR-10",
	}},
	{"shopify", "products", "eur", [4]int64{2, 0, 0, 1}, "Product Category Option1 Name Option2 Name Option3 Name Variant Grams Variant Inventory Tracker Variant Inventory Policy Variant Fulfillment Service Variant Requires Shipping Variant Taxable Variant Barcode Image Position Image Alt Text Gift Card", []string{
		"Free sampler|free-sampler|shopify:free-sampler|draft|unlisted|Plain text||type=Book,vendor=Bread Ltd: free 0 eur",
		"Sourdough guide|sourdough-guide|shopify:sourdough-guide|active|public|Flour, **water** & salt.\n\n- Day one\n- Day two\n\nSee [more](https://example.com/more).|" +
			"https://cdn.example.com/1.png https://cdn.example.com/2.png https://cdn.example.com/3.png|tags=baking, bread,type=Book,vendor=Bread Ltd" +
			": PDF fixed 1250 eur was 2000 sku=SG-PDF: EPUB fixed 900 eur sku=SG-EPUB",
	}},
	{"shopify-new", "products", "jpy", [4]int64{1, 0, 0, 0}, "Product category Barcode Option1 name Option1 Linked To Option2 name Option2 Linked To Option3 name Option3 Linked To Cost per item Charge tax Inventory quantity Requires shipping Image position Gift card", []string{
		"Mug|mug|shopify:mug|active|public|Holds tea|https://cdn.example.com/mug.png|type=Kitchen,vendor=Acme: S fixed 1900 jpy sku=MUG-S: L fixed 2500 jpy was 2900 sku=MUG-L",
	}},
	{"woocommerce", "products", "eur", [4]int64{3, 0, 0, 1}, "Type GTIN, UPC, EAN, or ISBN Is featured? Tax status Position Attribute 1 name", []string{
		"Summer only|summer-only|woocommerce:20|draft|public|||: fixed 800 eur",
		"Kurs|kurs|woocommerce:13|active|unlisted|Nur kurz||categories=Courses: One fixed 10000 eur sku=course-1: Ten fixed 90000 eur",
		"E-Book|e-book|woocommerce:12|active|public|Long|https://shop.example/1.png https://shop.example/2.png|categories=Books,tags=a, b: fixed 999 eur was 1250",
	}},
}

// handed imports the file of a platform, and returns what became of its rows and what was left out.
func (s *shop) handed(t *testing.T, url, from, kind, path string, flags ...string) (counts [4]int64, left []string, err error) {
	t.Helper()
	out, err := tillwright(t, t.TempDir(), append([]string{"import", kind, path, "--from", from, "--account", s.account.Account, "--database-url", url, "--json"}, flags...)...)
	var sum importSummary
	if out != "" {
		require.NoError(t, json.Unmarshal([]byte(out), &sum), out)
	}
	return [4]int64{sum.Created, sum.Updated, sum.Unchanged, sum.Failed}, sum.LeftOut, err
}

func TestImportFrom_TakesWhatAPlatformHandsOut(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		shop := newShop(t, url)
		sealer, err := core.NewSealer(make([]byte, 32))
		require.NoError(t, err)
		s, err := store.Open(t.Context(), store.Options{URL: url, Sealer: sealer, Render: view.Event})
		require.NoError(t, err)
		defer s.Close()
		for _, f := range handedOut {
			t.Run(f.from+" "+f.kind, func(t *testing.T) { f.check(t, s, shop.of(shop.Account(t))) })
		}
	})
}

// of is the shop of another account.
func (s *shop) of(account *harness.Client) *shop {
	return &shop{Server: s.Server, account: account, apiClient: &apiClient{account.SDK(), account.URL + "/v1", "webhooks"}}
}

func (f *handout) check(t *testing.T, s *store.Store, shop *shop) {
	t.Helper()
	form, err := platform.Find(strings.TrimSuffix(f.from, "-new"), f.kind)
	require.NoError(t, err)
	kind := importKinds[slices.IndexFunc(importKinds, func(k importKind) bool { return k.name == f.kind })]
	run := func(path string, trial bool) (i *importer, counts [4]int64) {
		i = &importer{store: s, kind: kind, form: importForm{form, f.currency}, path: path, trial: trial, meter: newUploadMeter(io.Discard)}
		done, err := i.run(t.Context(), shop.account.Account)
		require.NoError(t, err)
		return i, [4]int64{done.Created, done.Updated, done.Unchanged, done.Failed}
	}
	path := fixture(t, f.from, f.kind, false)
	_, counts := run(path, true)
	require.Equal(t, f.counts[3], counts[3])
	require.Empty(t, shop.shown(t, f.kind), "a trial changes nothing")
	i, counts := run(path, false)
	require.Equal(t, f.counts, counts)
	require.Equal(t, f.left, strings.Join(i.leftOut(), " "))
	require.Equal(t, f.want, shop.shown(t, f.kind))
	if counts[3] > 0 {
		failed, err := os.ReadFile(i.errorPath())
		require.NoError(t, err)
		r := csv.NewReader(strings.NewReader(string(failed)))
		r.Comma = i.rows.csv.Comma
		head, err := r.Read()
		require.NoError(t, err)
		require.Equal(t, append(slices.Clone(i.rows.header), reasonColumn), head, "their columns, and the reason")
		_, counts = run(i.errorPath(), false)
		require.Equal(t, [4]int64{0, 0, 0, f.counts[3]}, counts)
	}
	_, counts = run(fixture(t, f.from, f.kind, true), false)
	require.Equal(t, [4]int64{0, 0, f.counts[0] + f.counts[1] + f.counts[2], f.counts[3]}, counts, "once more, nothing is made or changed")
	require.Equal(t, f.want, shop.shown(t, f.kind))
}

// shown returns the objects of a kind as lines of text.
func (s *shop) shown(t *testing.T, kind string) (lines []string) {
	t.Helper()
	switch kind {
	case "customers":
		for _, c := range s.people(t) {
			a, consent := sdk.Address{}, ""
			if c.BillingAddress != nil {
				a = *c.BillingAddress
			}
			if m := c.MarketingConsent; m != nil {
				if consent = string(m.Status); m.At != nil {
					consent += " at " + m.At.String()
				}
			}
			floor := plainText(a.Line2)
			if a.Company != nil {
				floor += "company=" + *a.Company
			}
			lines = append(lines, strings.Join([]string{
				plainText(&c.Email), plainText(c.Name), plainText(c.Phone), plainText(c.ExternalID), plainText(a.Line1), floor, plainText(a.City), plainText(a.State),
				plainText(a.Country), plainText(a.PostalCode), consent, fmt.Sprint(c.TaxExempt), plainText(c.Notes), strings.Join(c.Tags, ","), pairs(c.Metadata),
			}, "|"))
		}
	case "leads":
		list, err := s.Leads.List(t.Context(), nil)
		require.NoError(t, err)
		for _, l := range list.Data {
			consent := fmt.Sprint(l.Consent.Marketing)
			if at := l.Consent.At; at != nil && at.Time().Year() < 2026 {
				consent += " at " + at.String()
			} else if at != nil {
				consent += " at now"
			}
			lines = append(lines, strings.Join([]string{l.Email, plainText(l.Name), plainText(l.Phone), string(l.Status), consent, plainText(l.Consent.IP), strings.Join(l.Tags, ","), pairs(l.Metadata)}, "|"))
		}
	case "products":
		list, err := s.Products.List(t.Context(), &sdk.ListProductsParams{Expand: []string{"price_variants"}})
		require.NoError(t, err)
		for _, p := range list.Data {
			line := strings.Join([]string{p.Name, p.Slug, plainText(p.ExternalID), string(p.Status), string(p.Visibility), plainText(p.Description), strings.Join(p.Images, " "), pairs(p.Metadata)}, "|")
			for _, v := range p.PriceVariants {
				price := strings.TrimSpace(fmt.Sprint(plainText(v.Object.Name), " ", v.Object.AmountType, " ", v.Object.Amount, " ", v.Object.Currency))
				if was := v.Object.CompareAtAmount; was != nil {
					price += fmt.Sprint(" was ", *was)
				}
				line += ": " + strings.TrimSpace(price+" "+pairs(v.Object.Metadata))
			}
			lines = append(lines, line)
		}
	}
	return lines
}

func plainText(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func pairs(metadata map[string]string) string {
	var all []string
	for key, value := range metadata {
		all = append(all, key+"="+value)
	}
	slices.Sort(all)
	return strings.Join(all, ",")
}

// What somebody said here, and how the seller knows them, is theirs.
func TestImportFrom_KeepsWhatIsKnownOfACustomer(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s := newShop(t, url)
		_, err := s.Customers.Create(t.Context(), &sdk.CustomerCreate{
			Email: "ada@example.com", ExternalID: new("own"), MarketingConsent: &sdk.MarketingConsent{Status: "unsubscribed"},
		})
		require.NoError(t, err)
		_, err = s.Customers.Create(t.Context(), &sdk.CustomerCreate{Email: "grace@example.com", MarketingConsent: &sdk.MarketingConsent{Status: "subscribed"}})
		require.NoError(t, err)
		counts, _, err := s.handed(t, url, "ghost", "customers", fixture(t, "ghost", "customers", false))
		require.NoError(t, err)
		require.Equal(t, [4]int64{0, 2, 0, 0}, counts)
		_, _, err = s.handed(t, url, "gumroad", "customers", fixture(t, "gumroad", "customers", false))
		require.NoError(t, err)
		people := s.people(t)
		require.Equal(t, "ghost:65b unsubscribed", fmt.Sprint(*people[0].ExternalID, " ", people[0].MarketingConsent.Status), "she does not want to be written to")
		require.Equal(t, "own unsubscribed Ada Lovelace", fmt.Sprint(*people[1].ExternalID, " ", people[1].MarketingConsent.Status, " ", *people[1].Name))
	})
}

func TestImportFrom_RefusesAFileOfAnotherForm(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s := newShop(t, url)
		for _, c := range []struct {
			from, kind, file string
			flags            []string
			want             string
		}{
			{"shopify", "customers", fixture(t, "ghost", "customers", false), nil, "there is no column First Name, Last Name, Email, Accepts Email Marketing"},
			{"shopify", "products", fixture(t, "shopify", "products", false), nil, "--currency usd"},
			{"shopify", "products", fixture(t, "shopify", "products", false), []string{"--currency", "xxx"}, "--currency usd"},
			{"myspace", "leads", fixture(t, "ghost", "leads", false), nil, "--from takes ghost, substack, mailchimp, lemonsqueezy, gumroad, beehiiv"},
			{"ghost", "leads", written(t, "leads.jsonl", "{}"), nil, "is a CSV"},
		} {
			_, _, err := s.handed(t, url, c.from, c.kind, c.file, c.flags...)
			require.ErrorContains(t, err, c.want)
		}
		require.Empty(t, s.people(t))
	})
}

// Spreadsheets write UTF-16, and so do some programs.
func TestImportFrom_ReadsUTF16(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s := newShop(t, url)
		text, err := os.ReadFile(fixture(t, "mailchimp", "leads", false))
		require.NoError(t, err)
		wide, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String(strings.ReplaceAll(string(text), "Ada,Lovelace", "Ada,Lövelace"))
		require.NoError(t, err)
		counts, _, err := s.handed(t, url, "mailchimp", "leads", written(t, "leads.csv", wide))
		require.NoError(t, err)
		require.Equal(t, [4]int64{3, 0, 0, 0}, counts)
		require.Contains(t, s.shown(t, "leads")[2], "Ada Lövelace")
	})
}

// The API has each field that a form names, and each form has a file above.
func TestImportFrom_NamesFieldsOfTheAPI(t *testing.T) {
	t.Parallel()
	for _, kind := range importKinds {
		fields, err := readImportFields(kind)
		require.NoError(t, err)
		for _, form := range platform.Of(kind.name) {
			for _, field := range form.Fields() {
				require.NoError(t, fields.check(strings.NewReplacer("*", "0", "+", "").Replace(field)), form.Name)
			}
			require.True(t, slices.ContainsFunc(handedOut, func(f handout) bool {
				return f.from == form.Name && f.kind == kind.name
			}), "%s of %s", kind.name, form.Name)
		}
	}
}
