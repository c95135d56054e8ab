package grant

import "github.com/tillwright/tillwright/store/internal/db"

// FileInvariants hold after every transaction. Whether the bytes are there is asked of the bucket: see CheckFiles in package transfer.
var FileInvariants = []db.Invariant{
	{Promise: "an account's bytes are those of its versions and of what is to be removed", Query: `
		SELECT u.account_id, u.account_id AS id FROM file_usage u WHERE u.bytes <>
			(SELECT COALESCE(SUM(v.size), 0) FROM file_versions v WHERE v.account_id = u.account_id)
			+ (SELECT COALESCE(SUM(r.size), 0) FROM file_removals r WHERE r.account_id = u.account_id)
		UNION ALL SELECT v.account_id, v.id FROM file_versions v WHERE NOT EXISTS (SELECT 1 FROM file_usage u WHERE u.account_id = v.account_id)`},
	{Promise: "a file that is ready is one of its versions", Query: `
		SELECT f.account_id, f.id FROM files f WHERE f.status = 'ready' AND NOT EXISTS (
			SELECT 1 FROM file_versions v WHERE v.account_id = f.account_id AND v.file_id = f.id AND v.version = f.version AND v.status = 'ready'
				AND v.size = f.size AND v.sha256 = f.sha256)`},
	{Promise: "a version is pending exactly while it is its file's upload", Query: `
		SELECT v.account_id, v.id FROM file_versions v JOIN files f ON f.account_id = v.account_id AND f.id = v.file_id
			LEFT JOIN uploads p ON p.account_id = v.account_id AND p.id = v.id
		WHERE (v.status = 'pending') <> (p.id IS NOT NULL) OR (v.status = 'pending') <> (COALESCE(f.upload_id, '') = v.id)
		UNION ALL SELECT p.account_id, p.id FROM uploads p WHERE NOT EXISTS (SELECT 1 FROM file_versions v WHERE v.account_id = p.account_id AND v.id = p.id)
		UNION ALL SELECT v.account_id, v.id FROM file_versions v WHERE NOT EXISTS (SELECT 1 FROM files f WHERE f.account_id = v.account_id AND f.id = v.file_id)`},
	{Promise: "a version that is ready says since when, and no other", Query: `
		SELECT account_id, id FROM file_versions WHERE (status = 'ready') <> (ready IS NOT NULL)`},
	{Promise: "the files of an experience that is not archived exist", Query: `
		SELECT x.account_id, x.file_id AS id FROM experience_files x LEFT JOIN experiences e ON e.account_id = x.account_id AND e.id = x.experience_id
		WHERE COALESCE(e.status, '') <> 'archived' AND NOT EXISTS (SELECT 1 FROM files f WHERE f.account_id = x.account_id AND f.id = x.file_id)`},
	{Promise: "no bytes are removed that a version names", Query: `
		SELECT r.account_id, r.id FROM file_removals r JOIN file_versions v ON v.account_id = r.account_id AND v.file_id = r.file_id AND v.version = r.version`},
}
