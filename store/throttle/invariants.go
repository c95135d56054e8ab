package throttle

import "github.com/tillwright/tillwright/store/internal/db"

// Invariants hold after every transaction.
var Invariants = []db.Invariant{
	{Promise: "what has a limit is counted for an account that there is, or for all together", Query: `
		SELECT t.account_id, t.subject AS id FROM throttles t
		WHERE t.account_id <> '' AND NOT EXISTS (SELECT 1 FROM accounts a WHERE a.id = t.account_id)`},
}
