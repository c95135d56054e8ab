package sdk

// service is what every service is made of: a group of methods on the client.
type service struct{ client *Client }

// AccountService reads and changes the account that the key belongs to.
type AccountService service

// AISitesService manages sites built for the account. A site is addressed by id or subdomain.
type AISitesService service

// APIKeysService manages keys. A key's token is shown once, in the answer to its creation.
type APIKeysService service

// CheckoutsService manages purchases in progress.
type CheckoutsService service

// CustomersService manages the people who buy.
type CustomersService service

// OrdersService reads completed purchases. Orders are made by confirming a checkout.
type OrdersService service

// PriceVariantsService manages the ways to pay for a product.
type PriceVariantsService service

// ProductsService manages what is sold. A product is addressed by id or slug.
type ProductsService service

// PublicCheckoutsService is a checkout as its buyer sees it, addressed by its client secret. It sends no API key, so it may
// run on a buyer's device.
type PublicCheckoutsService service

// WebhookEndpointsService manages the URLs that receive events.
type WebhookEndpointsService service

// WebhookEventsService reads what happened, as endpoints were told, and sends it again.
type WebhookEventsService service
