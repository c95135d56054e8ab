package picture

import "github.com/tillwright/tillwright/store/internal/db"

// The promises of pictures. Triggers keep the first one: only who changes rows past them breaks it. Repair mends all three.
const (
	PromiseOwner = "each address of a picture has its row, and no other has one"
	PromiseFiles = "a picture that was had has its files, and no other file is there"
	PromiseUsage = "what an account keeps of pictures is counted"
)

// counted are the pictures that the usage of an account has: those that are kept, and those that were removed since the last claim.
const counted = `SELECT account_id, bytes FROM pictures WHERE name IS NOT NULL UNION ALL SELECT account_id, bytes FROM picture_removed`

// Invariants hold after every transaction.
func Invariants(d *db.DB) []db.Invariant {
	return []db.Invariant{
		{Promise: PromiseOwner, Query: `
			SELECT p.account_id, p.owner_id AS id FROM pictures p LEFT JOIN (` + db.PictureOwners(d.Engine) + `) AS o ON o.account_id = p.account_id AND o.id = p.owner_id
			WHERE o.address IS NULL OR o.address <> p.address
			UNION ALL SELECT o.account_id, o.id FROM (` + db.PictureOwners(d.Engine) + `) AS o LEFT JOIN pictures p ON p.account_id = o.account_id AND p.owner_id = o.id
			WHERE o.address IS NOT NULL AND p.owner_id IS NULL`},
		{Promise: PromiseFiles, Query: `
			SELECT f.account_id, f.name AS id FROM picture_files f LEFT JOIN pictures p ON p.account_id = f.account_id AND p.name = f.name WHERE p.name IS NULL
			UNION ALL SELECT p.account_id, p.owner_id FROM pictures p LEFT JOIN picture_files f ON f.account_id = p.account_id AND f.name = p.name
			WHERE p.name IS NOT NULL AND f.name IS NULL`},
		{Promise: PromiseUsage, Query: `
			SELECT k.account_id, k.account_id AS id FROM (
				SELECT account_id, count(*) AS pictures, SUM(bytes) AS bytes FROM (` + counted + `) AS c GROUP BY account_id) AS k
			LEFT JOIN picture_usage u ON u.account_id = k.account_id WHERE COALESCE(u.pictures, 0) <> k.pictures OR COALESCE(u.bytes, 0) <> k.bytes
			UNION ALL SELECT u.account_id, u.account_id FROM picture_usage u WHERE (u.pictures <> 0 OR u.bytes <> 0)
				AND NOT EXISTS (SELECT 1 FROM (` + counted + `) AS c WHERE c.account_id = u.account_id)`},
	}
}
