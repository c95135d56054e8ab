package platform

import "slices"

// forms are the forms that are known, with where each is described. What the API has no field for is left out, and said.
var forms = slices.Concat(shopForms, audienceForms)

// shopForms are what shops hand out.
var shopForms = []Form{
	{
		// The columns of a variant are in each row, all others in the first row of a handle. What a spreadsheet would make a number of has an apostrophe.
		Name: "shopify", kind: "products", Source: "https://help.shopify.com/en/manual/products/import-export/using-csv",
		needs: []string{"Handle|URL handle", "Title", "Body (HTML)|Description", "Variant Price|Price"},
		columns: []column{
			{[]string{"Handle|URL handle"}, "external_id", marked("shopify")},
			{[]string{"Handle|URL handle"}, "slug", slugged},
			{[]string{"Title"}, "name", nil},
			{[]string{"Body (HTML)|Description"}, "description", markdown},
			{[]string{"Status"}, "status", oneOf(map[string]string{"active": "active", "draft": "draft", "archived": "archived"})},
			{[]string{"Published|Published on online store"}, "visibility", oneOf(map[string]string{"true": "public", "false": "unlisted"})},
			{[]string{"SEO Title|SEO title"}, "seo_title", nil},
			{[]string{"SEO Description|SEO description"}, "seo_description", nil},
			{[]string{"Vendor"}, "metadata.vendor", nil},
			{[]string{"Type"}, "metadata.type", nil},
			{[]string{"Tags"}, "metadata.tags", nil},
			{[]string{"Image Src|Product image URL"}, "images+", words},
			{[]string{"Option1 Value|Option1 value", "Option2 Value|Option2 value", "Option3 Value|Option3 value", "Variant Price|Price"}, "price_variants.*.name", options},
			{[]string{"Variant Price|Price"}, "price_variants.*.amount", money},
			{[]string{"Variant Price|Price"}, "price_variants.*.amount_type", forFree},
			{[]string{"Variant Price|Price"}, "price_variants.*.currency", inCurrency},
			{[]string{"Variant Compare At Price|Compare-at price", "Variant Price|Price"}, "price_variants.*.compare_at_amount", formerly},
			{[]string{"Variant SKU|SKU", "Variant Price|Price"}, "price_variants.*.metadata.sku", beside},
		},
		family: &family{
			names: func(cell func(string) string) []string { return []string{cell("Handle|URL handle")} },
			parent: func(cell func(string) string) string {
				if cell("Title") != "" {
					return ""
				}
				return cell("Handle|URL handle")
			},
		},
	},
	{
		Name: "shopify", kind: "customers", Source: "https://help.shopify.com/en/manual/customers/import-export-customers",
		needs: []string{"First Name", "Last Name", "Email", "Accepts Email Marketing"},
		columns: []column{
			{[]string{"Customer ID"}, "external_id", marked("shopify")},
			{[]string{"Email"}, "email", nil},
			{[]string{"First Name", "Last Name"}, "name", joined(" ")},
			{[]string{"Phone"}, "phone", unquoted},
			{[]string{"Default Address Address1"}, "billing_address.line1", unquoted},
			{[]string{"Default Address Address2"}, "billing_address.line2", unquoted},
			{[]string{"Default Address Company"}, "billing_address.company", unquoted},
			{[]string{"Default Address City"}, "billing_address.city", nil},
			{[]string{"Default Address Province Code"}, "billing_address.state", nil},
			{[]string{"Default Address Country Code"}, "billing_address.country", nil},
			{[]string{"Default Address Zip"}, "billing_address.postal_code", unquoted},
			{[]string{"Accepts Email Marketing"}, "marketing_consent.status", when("subscribed", yes...)},
			{[]string{"Tax Exempt"}, "tax_exempt", truth},
			{[]string{"Note"}, "notes", nil},
			{[]string{"Tags"}, "tags", words},
		},
	},
	{
		// Variations are rows of their own, which name their product by its SKU or as id:12.
		Name: "woocommerce", kind: "products",
		Source: "https://github.com/woocommerce/woocommerce/blob/trunk/plugins/woocommerce/includes/export/class-wc-product-csv-exporter.php",
		needs:  []string{"ID", "Type", "Name", "Published", "Regular price", "Parent"},
		columns: []column{
			{[]string{"ID"}, "external_id", marked("woocommerce")},
			{[]string{"Name"}, "name", nil},
			{[]string{"Description", "Short description"}, "description", firstMarkdown},
			{[]string{"Published"}, "status", oneOf(map[string]string{"1": "active", "0": "draft", "-1": "draft", "2": "draft"})},
			{[]string{"Visibility in catalog"}, "visibility", oneOf(map[string]string{"visible": "public", "catalog": "public", "search": "public", "hidden": "unlisted"})},
			{[]string{"Categories"}, "metadata.categories", nil},
			{[]string{"Tags"}, "metadata.tags", nil},
			{[]string{"Images"}, "images+", words},
			{[]string{"Attribute 1 value(s)", "Attribute 2 value(s)", "Attribute 3 value(s)", "Parent"}, "price_variants.*.name", options},
			{[]string{"Sale price", "Regular price", "Date sale price starts", "Date sale price ends"}, "price_variants.*.amount", onSale(money)},
			{[]string{"Sale price", "Regular price", "Date sale price starts", "Date sale price ends"}, "price_variants.*.amount_type", onSale(forFree)},
			{[]string{"Sale price", "Regular price", "Date sale price starts", "Date sale price ends"}, "price_variants.*.currency", onSale(inCurrency)},
			{[]string{"Regular price", "Sale price", "Date sale price starts", "Date sale price ends"}, "price_variants.*.compare_at_amount", unlessDated(formerly)},
			{[]string{"SKU", "Regular price"}, "price_variants.*.metadata.sku", beside},
		},
		family: &family{
			names:  func(cell func(string) string) []string { return withoutEmpty("id:"+cell("ID"), cell("SKU")) },
			parent: func(cell func(string) string) string { return cell("Parent") },
		},
	},
	{
		// A row for each sale, and a last one with the sums. Whoever may be written to did not agree to it.
		Name: "gumroad", kind: "customers", Source: "https://github.com/antiwork/gumroad/blob/main/app/services/exports/purchase_export_service.rb",
		needs: []string{"Purchase ID", "Item Name", "Buyer Name", "Purchase Email", "Do not contact?"},
		total: [2]string{"Purchase ID", "Totals"},
		columns: []column{
			{[]string{"Purchase Email"}, "email", nil},
			{[]string{"Buyer Name"}, "name", unquoted},
			{[]string{"Street Address"}, "billing_address.line1", unquoted},
			{[]string{"City"}, "billing_address.city", nil},
			{[]string{"Zip Code"}, "billing_address.postal_code", unquoted},
			{[]string{"State"}, "billing_address.state", nil},
			{[]string{"Country"}, "billing_address.country", country},
			{[]string{"Country"}, "metadata.country", unknownCountry},
			{[]string{"Do not contact?"}, "marketing_consent.status", when("unsubscribed", yes...)},
		},
	},
	{
		Name: "patreon", kind: "customers", Source: "https://github.com/ActivityWatch/stats/blob/master/analyze_sponsors.py",
		needs: []string{"Name", "Email", "Patron Status", "Lifetime Amount", "User ID"},
		columns: []column{
			{[]string{"User ID"}, "external_id", marked("patreon")},
			{[]string{"Email"}, "email", nil},
			{[]string{"Name"}, "name", nil},
			{[]string{"Phone"}, "phone", unquoted},
			{[]string{"Street"}, "billing_address.line1", nil},
			{[]string{"Addressee"}, "billing_address.line2", nil},
			{[]string{"City"}, "billing_address.city", nil},
			{[]string{"Zip"}, "billing_address.postal_code", unquoted},
			{[]string{"State"}, "billing_address.state", nil},
			{[]string{"Country"}, "billing_address.country", country},
			{[]string{"Country"}, "metadata.country", unknownCountry},
			{[]string{"Additional Details"}, "notes", nil},
			{[]string{"Patron Status"}, "metadata.patron_status", nil},
			{[]string{"Tier"}, "metadata.tier", nil},
		},
	},
	{
		// A product without a choice is one row. Of another one, each row below the first has a variant alone, and names no product.
		Name: "squarespace", kind: "products", Source: "https://github.com/ohiobarn/flowerfarm/blob/1dd696435ef7a295cc8fb9f1bf602441e6f4b01f/exports/squarespace/export/products_Jun-20_10-34-41PM.csv",
		needs: []string{"Product ID [Non Editable]", "Title", "Description", "Price", "Sale Price", "On Sale", "Visible"},
		columns: []column{
			{[]string{"Product ID [Non Editable]"}, "external_id", marked("squarespace")},
			{[]string{"Product URL"}, "slug", slugged},
			{[]string{"Title"}, "name", nil},
			{[]string{"Description"}, "description", markdown},
			{[]string{"Visible"}, "status", oneOf(map[string]string{"yes": "active", "no": "draft"})},
			{[]string{"Product Type [Non Editable]"}, "metadata.type", nil},
			{[]string{"Categories"}, "metadata.categories", nil},
			{[]string{"Tags"}, "metadata.tags", nil},
			{[]string{"Hosted Image URLs"}, "images+", addresses},
			{[]string{"Option Value 1", "Option Value 2", "Option Value 3", "Option Value 4", "Option Value 5", "Option Value 6", "Price"}, "price_variants.*.name", options},
			{[]string{"Sale Price", "Price", "On Sale"}, "price_variants.*.amount", markedDown(money)},
			{[]string{"Sale Price", "Price", "On Sale"}, "price_variants.*.amount_type", markedDown(forFree)},
			{[]string{"Sale Price", "Price", "On Sale"}, "price_variants.*.currency", markedDown(inCurrency)},
			{[]string{"Price", "Sale Price", "On Sale"}, "price_variants.*.compare_at_amount", beforeSale},
			{[]string{"SKU", "Price"}, "price_variants.*.metadata.sku", beside},
		},
		family: &family{
			names:  func(cell func(string) string) []string { return withoutEmpty(cell("Product ID [Non Editable]")) },
			parent: func(func(string) string) string { return "" },
			follows: func(cell func(string) string) bool {
				return cell("Product ID [Non Editable]") == "" && cell("Title") == "" && cell("Price") != ""
			},
		},
	},
	{
		// Which columns there are, the seller chooses. It says nothing of consent.
		Name: "stripe", kind: "customers", Source: "https://github.com/vjpixel/diaria-studio/blob/3d386403693c20e42272c9dfef0d7b3c92aea0ac/scripts/clarice-stripe-delta.ts",
		needs: []string{"id", "Email", "Name", "Created (UTC)", "Delinquent"},
		columns: []column{
			{[]string{"id"}, "external_id", marked("stripe")},
			{[]string{"Email"}, "email", nil},
			{[]string{"Name"}, "name", nil},
			{[]string{"Description"}, "notes", nil},
			{[]string{"Plan"}, "metadata.plan", nil},
			{[]string{"Status"}, "metadata.status", nil},
		},
	},
	{
		Name: "ghost", kind: "customers", Source: ghostSource, needs: ghostNeeds,
		columns: []column{
			{[]string{"id"}, "external_id", marked("ghost")},
			{[]string{"email"}, "email", nil},
			{[]string{"name"}, "name", nil},
			{[]string{"note"}, "notes", nil},
			{[]string{"labels"}, "tags", words},
			{[]string{"subscribed_to_emails"}, "marketing_consent.status", when("subscribed", yes...)},
			{[]string{"created_at", "subscribed_to_emails"}, "marketing_consent.at", given(moment)},
		},
	},
}

const ghostSource = "https://github.com/TryGhost/Ghost/blob/1c0c29a226ab7c89798e05c54b8960af363be5c0/ghost/members-csv/lib/unparse.js"

var ghostNeeds = []string{"email", "name", "note", "subscribed_to_emails", "created_at", "labels"}

// audienceForms are what newsletters hand out: those who are written to. Consent is what the platform says that they gave, and no more.
var audienceForms = []Form{
	{
		Name: "ghost", kind: "leads", Source: ghostSource, needs: ghostNeeds,
		columns: []column{
			{[]string{"email"}, "email", nil},
			{[]string{"name"}, "name", nil},
			{[]string{"labels"}, "tags", words},
			{[]string{"subscribed_to_emails"}, "consent.marketing", truth},
			{[]string{"created_at", "subscribed_to_emails"}, "consent.at", given(moment)},
		},
	},
	{
		Name: "substack", kind: "leads", Source: "https://github.com/TryGhost/migrate/tree/main/packages/mg-substack-members-csv",
		needs: []string{"email", "active_subscription", "expiry", "email_disabled", "created_at"},
		columns: []column{
			{[]string{"email"}, "email", nil},
			{[]string{"email_disabled"}, "consent.marketing", oneOf(map[string]string{"true": "false", "false": "true"})},
			{[]string{"created_at", "email_disabled"}, "consent.at", refused(moment)},
			{[]string{"active_subscription"}, "metadata.active_subscription", nil},
			{[]string{"plan"}, "metadata.plan", nil},
			{[]string{"expiry"}, "metadata.expiry", nil},
		},
	},
	{
		// A file for those who are subscribed, one for those who were, and one for addresses that do not work. OPTIN_TIME is when somebody filled in
		// a form; those who were imported there have none.
		Name: "mailchimp", kind: "leads", Source: "https://github.com/buren/honey_format/blob/master/spec/honey_format/csv_spec.rb",
		needs: []string{"Email Address", "MEMBER_RATING", "OPTIN_TIME", "CONFIRM_TIME"},
		columns: []column{
			{[]string{"Email Address"}, "email", nil},
			{[]string{"First Name", "Last Name"}, "name", joined(" ")},
			{[]string{"Phone Number"}, "phone", unquoted},
			{[]string{"TAGS"}, "tags", words},
			{[]string{"UNSUB_TIME"}, "status", whether("unsubscribed")},
			{[]string{"OPTIN_TIME", "UNSUB_TIME", "CLEAN_TIME"}, "consent.marketing", unless(whether("true"))},
			{[]string{"OPTIN_TIME", "UNSUB_TIME", "CLEAN_TIME"}, "consent.at", unless(moment)},
			{[]string{"OPTIN_IP", "UNSUB_TIME", "CLEAN_TIME"}, "consent.ip", unless(joined(""))},
			{[]string{"NOTES"}, "metadata.notes", nil},
		},
	},
	{
		Name: "lemonsqueezy", kind: "leads", Source: "https://docs.lemonsqueezy.com/help/email/exporting-subscribers",
		needs: []string{"identifier", "name", "email", "status", "created_at"},
		columns: []column{
			{[]string{"identifier"}, "metadata.lemonsqueezy", nil},
			{[]string{"email"}, "email", nil},
			{[]string{"name"}, "name", nil},
			{[]string{"status"}, "status", when("unsubscribed", "unsubscribed")},
			{[]string{"status"}, "consent.marketing", when("true", "subscribed")},
			{[]string{"country"}, "metadata.country", nil},
		},
	},
	{
		// Followers, customers and affiliates alike, so that it says nothing of consent.
		Name: "gumroad", kind: "leads", Source: "https://github.com/antiwork/gumroad/blob/main/app/services/exports/audience_export_service.rb",
		needs: []string{"Subscriber Email", "Subscribed Time"},
		columns: []column{
			{[]string{"Subscriber Email"}, "email", nil},
			{[]string{"Subscribed Time"}, "metadata.subscribed_at", nil},
		},
	},
	{
		// Who is pending did not confirm, who is inactive is written to no more. Names are fields that the seller made.
		Name: "beehiiv", kind: "leads", Source: "https://github.com/TryGhost/migrate/blob/131ed5d84eb4215e36928fc5b093811ee3168e4b/packages/mg-beehiiv-members/src/test/fixtures/members.csv",
		needs: []string{"email", "status", "tier", "created_at"},
		columns: []column{
			{[]string{"email"}, "email", nil},
			{[]string{"First Name", "Last Name"}, "name", joined(" ")},
			{[]string{"unsubscribed_at"}, "status", whether("unsubscribed")},
			{[]string{"status"}, "status", when("unsubscribed", "inactive")},
			{[]string{"status", "unsubscribed_at"}, "consent.marketing", unless(when("true", "active"))},
			{[]string{"created_at", "status", "unsubscribed_at"}, "consent.at", provided(moment, "active")},
			{[]string{"tier"}, "metadata.tier", nil},
		},
	},
}
