package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness/browser"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// verify is JavaScript that checks a compact JWS by a published key with the browser's own WebCrypto. It says in the page's title what it found.
const verify = `(async () => {
	const [head, payload, signature] = %[1]q.split('.')
	const bytes = text => Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), c => c.charCodeAt(0))
	const key = await crypto.subtle.importKey('jwk', %[2]s, {name: 'Ed25519'}, false, ['verify'])
	const good = await crypto.subtle.verify('Ed25519', key, bytes(signature), new TextEncoder().encode(head + '.' + payload))
	const says = text => JSON.parse(new TextDecoder().decode(bytes(text)))
	document.title = good ? says(head).alg + ' of ' + says(payload).sub + ' on ' + says(payload).fpr : 'refused'
})().catch(problem => { document.title = String(problem) }), ''`

// TestLicenseToken_IsCheckedByABrowser checks tokens in another language, with what the server publishes: one that was made before the signing keys were
// rotated, and one after. Each is good to its own key alone.
func TestLicenseToken_IsCheckedByABrowser(t *testing.T) {
	t.Parallel()
	s := newSite(t, database.URL(t, "sqlite"))
	server := s.binary.Serve(t, "")
	plain := s.client(server)
	c := plain.SDK()
	product, err := c.Products.Create(t.Context(), &sdk.ProductCreate{Name: "Tide tables"})
	require.NoError(t, err)
	key, err := c.LicenseKeys.Create(t.Context(), &sdk.LicenseKeyCreate{Product: product.ID})
	require.NoError(t, err)
	before, err := c.LicenseKeys.Activate(t.Context(), &sdk.LicenseKeyActivate{Key: *key.Key, Product: product.ID, Fingerprint: "gerät 1"})
	require.NoError(t, err)
	_, err = c.LicenseKeys.CreateSigningKey(t.Context())
	require.NoError(t, err)
	after, err := c.LicenseKeys.Activate(t.Context(), &sdk.LicenseKeyActivate{Key: *key.Key, Product: product.ID, Fingerprint: "gerät 1"})
	require.NoError(t, err)
	var published struct {
		Data []struct{ JWK json.RawMessage }
	}
	require.NoError(t, json.Unmarshal(plain.Do(t, http.MethodGet, "/v1/license_keys/signing_keys", nil).Body, &published))
	require.Len(t, published.Data, 2)

	page := browser.Open(t, nil)
	page.Go(server.URL + "/docs") // WebCrypto wants an origin that can be trusted, as this machine is
	page.Wait(`document.readyState === 'complete' && location.pathname === '/docs'`)
	check := func(token string, jwk json.RawMessage, want string) {
		t.Helper()
		page.Value(`document.title = 'checking'`)
		page.Value(fmt.Sprintf(verify, token, jwk))
		page.Wait(`document.title !== 'checking'`)
		require.Equal(t, want, page.Value(`document.title`))
	}
	good := "EdDSA of " + key.ID + " on gerät 1"
	check(*after.Token, published.Data[0].JWK, good)
	check(*before.Token, published.Data[1].JWK, good)
	check(*before.Token, published.Data[0].JWK, "refused")
	altered := []byte(*after.Token)
	if at := &altered[len(altered)-20]; *at == 'A' {
		*at = 'B'
	} else {
		*at = 'A'
	}
	check(string(altered), published.Data[0].JWK, "refused")
}
