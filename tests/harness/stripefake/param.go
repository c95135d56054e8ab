package stripefake

import "slices"

// params are the parameters of the calls in Stripe's specification, as far as they concern cards. It is never changed.
var params = map[string][]string{
	"POST /v1/customers": {
		"address", "balance", "business_name", "cash_balance", "description", "email", "expand", "individual_name", "invoice_prefix",
		"invoice_settings", "metadata", "name", "next_invoice_sequence", "payment_method", "phone", "preferred_locales", "shipping", "source",
		"tax", "tax_exempt", "tax_id_data", "test_clock",
	},
	"POST /v1/payment_methods/{id}/attach": {"customer", "customer_account", "expand"},
	"POST /v1/payment_methods/{id}/detach": {"expand"},
	"POST /v1/payment_intents": {
		"amount", "amount_details", "application_fee_amount", "automatic_payment_methods", "capture_method", "confirm", "confirmation_method",
		"confirmation_token", "currency", "customer", "customer_account", "description", "error_on_requires_action",
		"excluded_payment_method_types", "expand", "hooks", "mandate", "mandate_data", "metadata", "off_session", "on_behalf_of",
		"payment_details", "payment_method", "payment_method_configuration", "payment_method_data", "payment_method_options",
		"payment_method_types", "radar_options", "receipt_email", "return_url", "setup_future_usage", "shipping", "statement_descriptor",
		"statement_descriptor_suffix", "transfer_data", "transfer_group", "use_stripe_sdk",
	},
	"POST /v1/payment_intents/{id}/confirm": {
		"amount_details", "amount_to_confirm", "capture_method", "client_secret", "confirmation_token", "error_on_requires_action",
		"excluded_payment_method_types", "expand", "hooks", "mandate", "mandate_data", "off_session", "payment_details", "payment_method",
		"payment_method_data", "payment_method_options", "payment_method_types", "radar_options", "receipt_email", "return_url",
		"setup_future_usage", "shipping", "use_stripe_sdk",
	},
	"POST /v1/payment_intents/{id}/cancel": {"cancellation_reason", "expand"},
	"POST /v1/setup_intents": {
		"allowed_payment_method_types", "attach_to_self", "automatic_payment_methods", "confirm", "confirmation_token", "customer",
		"customer_account", "description", "excluded_payment_method_types", "expand", "flow_directions", "mandate_data", "metadata",
		"on_behalf_of", "payment_method", "payment_method_configuration", "payment_method_data", "payment_method_options",
		"payment_method_types", "return_url", "single_use", "usage", "use_stripe_sdk",
	},
	"POST /v1/setup_intents/{id}/confirm": {
		"allowed_payment_method_types", "client_secret", "confirmation_token", "expand", "mandate_data", "payment_method",
		"payment_method_data", "payment_method_options", "return_url", "use_stripe_sdk",
	},
	"POST /v1/setup_intents/{id}/cancel": {"cancellation_reason", "expand"},
	"POST /v1/refunds": {
		"amount", "charge", "currency", "customer", "expand", "instructions_email", "metadata", "origin", "payment_intent", "reason",
		"refund_application_fee", "reverse_transfer",
	},
	"GET /v1/refunds":              {"charge", "created", "ending_before", "expand", "limit", "payment_intent", "starting_after"},
	"POST /v1/refunds/{id}/cancel": {"expand"},
}

func allowed(pattern, name string) bool { return slices.Contains(params[pattern], name) }
