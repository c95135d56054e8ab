package grant

import "github.com/tillwright/tillwright/store/internal/db"

// LicenseInvariants hold after every transaction.
var LicenseInvariants = []db.Invariant{
	{Promise: "a licence key counts its activations", Query: `
		SELECT k.account_id, k.id FROM license_keys k LEFT JOIN (
			SELECT account_id, license_key_id, COUNT(*) AS active FROM license_activations GROUP BY account_id, license_key_id
		) AS a ON a.account_id = k.account_id AND a.license_key_id = k.id WHERE k.activations_count <> COALESCE(a.active, 0)`},
	{Promise: "no licence key is active on more devices than it allows", Query: `
		SELECT k.account_id, k.id FROM license_keys k JOIN license_activations a ON a.account_id = k.account_id AND a.license_key_id = k.id
		GROUP BY k.account_id, k.id, k.activation_limit HAVING COUNT(*) > k.activation_limit`},
	{Promise: "a licence key ends and comes back with its grant", Query: `
		SELECT k.account_id, k.id FROM license_keys k JOIN grants g ON g.account_id = k.account_id AND g.id = k.grant_id
		WHERE (g.status = 'revoked' OR g.keyless) AND k.ended_by IS NULL OR g.status <> 'revoked' AND NOT g.keyless AND k.ended_by = 'grant'`},
	{Promise: "a grant has one licence key at most that has not ended", Query: `
		SELECT account_id, MIN(id) AS id FROM license_keys WHERE grant_id IS NOT NULL AND ended_by IS NULL GROUP BY account_id, grant_id HAVING COUNT(*) > 1`},
	{Promise: "a licence key is of its grant's product and customer", Query: `
		SELECT k.account_id, k.id FROM license_keys k JOIN grants g ON g.account_id = k.account_id AND g.id = k.grant_id
		WHERE k.product_id <> g.product_id OR COALESCE(k.customer_id, '') <> g.customer_id`},
	{Promise: "a licence key that is in stock is nobody's, and can be sold", Query: `
		SELECT account_id, id FROM license_keys WHERE in_stock AND (status = 'revoked' OR customer_id IS NOT NULL OR grant_id IS NOT NULL)`},
	{Promise: "who waits for a licence key has none, and waits while their grant is not revoked", Query: `
		SELECT w.account_id, w.id FROM license_waits w WHERE EXISTS (SELECT 1 FROM license_keys k WHERE k.account_id = w.account_id AND k.grant_id = w.id)
			OR NOT EXISTS (SELECT 1 FROM grants g WHERE g.account_id = w.account_id AND g.id = w.id AND (g.status = 'revoked') = w.paused)`},
}
