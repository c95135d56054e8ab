package sdk

// service is what every service is made of: a group of methods on the client.
type service struct{ client *Client }

// AccountService reads and changes the account that the key belongs to.
type AccountService service

// AdAccountsService reads the accounts with networks that pay for ads.
type AdAccountsService service

// AdActionsService reads what was done to ads, by whom.
type AdActionsService service

// AdAudiencesService manages people that ads can be shown to.
type AdAudiencesService service

// AdCampaignsService manages campaigns, which hold ad groups. They are made with their first ad.
type AdCampaignsService service

// AdGroupsService manages ad groups (ad sets), which hold ads. Pausing and resuming is done here.
type AdGroupsService service

// AdLimitsService manages what the account's keys may commit to spend.
type AdLimitsService service

// AdsService makes and reads ads. Their amounts are whole currency units: "20" is 20.00. Each method that may spend has one
// beside it that only plans.
type AdsService service

// AISitesService manages sites built for the account. A site is addressed by id or subdomain.
type AISitesService service

// APIKeysService manages keys. A key's token is shown once, in the answer to its creation.
type APIKeysService service

// BusinessCentersService reads what agencies keep ad accounts in.
type BusinessCentersService service

// CheckoutLinksService manages addresses to publish, which make a checkout for whoever opens them.
type CheckoutLinksService service

// CheckoutsService manages purchases in progress.
type CheckoutsService service

// CustomersService manages the people who buy.
type CustomersService service

// DiscountsService manages what is taken off, by code or given by you.
type DiscountsService service

// InvoicesService reads the invoice of every order, and drafts and issues further ones.
type InvoicesService service

// OrdersService reads completed purchases. Orders are made by confirming a checkout.
type OrdersService service

// PriceVariantsService manages the ways to pay for a product.
type PriceVariantsService service

// ProductsService manages what is sold. A product is addressed by id or slug.
type ProductsService service

// PublicCheckoutsService is a checkout as its buyer sees it, addressed by its client secret. It sends no API key, so it may
// run on a buyer's device.
type PublicCheckoutsService service

// RefundsService gives money of orders back.
type RefundsService service

// SocialsService connects channels, which are profiles and pages on networks, and activates them for ads.
type SocialsService service

// SubscriptionsService bills customers period after period.
type SubscriptionsService service

// TestHelpersService makes things happen that otherwise take time or other people. Only a development server has them:
// another one answers 404.
type TestHelpersService service

// WebhookEndpointsService manages the URLs that receive events.
type WebhookEndpointsService service

// WebhookEventsService reads what happened, as endpoints were told, and sends it again.
type WebhookEventsService service
