package outbox

// Reason says in one word why a delivery failed. Nothing else is kept of a network error, because its text would show
// what the network behind the server looks like.
type Reason string

// Why a delivery failed.
const (
	ReasonDNSError         Reason = "dns_error"         // the host name was not found
	ReasonBlockedIP        Reason = "blocked_ip"        // the address is not one that deliveries may go to
	ReasonConnectRefused   Reason = "connect_refused"   // nothing listens, or no way leads there
	ReasonConnectReset     Reason = "connect_reset"     // the connection broke before an answer
	ReasonConnectTimeout   Reason = "connect_timeout"   // no connection in time
	ReasonTLSError         Reason = "tls_error"         // certificate or protocol refused
	ReasonTimeout          Reason = "timeout"           // connected, but no answer within 5 seconds
	ReasonRedirect         Reason = "redirect"          // 3xx: redirects are not followed
	ReasonHTTPStatus       Reason = "http_status"       // any other status but 2xx
	ReasonInvalidResponse  Reason = "invalid_response"  // the answer was not HTTP, or its headers were too large
	ReasonEndpointInactive Reason = "endpoint_inactive" // the endpoint was deactivated or deleted before sending
	ReasonAborted          Reason = "aborted"           // sending broke off again and again without a result
)
