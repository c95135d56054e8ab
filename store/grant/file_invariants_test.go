package grant

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/internal/dbtest"
)

// Every promise is broken once, behind the back of the code, and has to be missed.
func TestFileInvariants_SeeEveryBrokenPromise(t *testing.T) {
	sabotage := map[string]string{
		"an account's bytes are those of its versions and of what is to be removed": `UPDATE file_usage SET bytes = bytes + 1`,
		"a file that is ready is one of its versions":                               `UPDATE files SET status = 'ready', sha256 = 'another'`,
		"a version is pending exactly while it is its file's upload":                `DELETE FROM uploads`,
		"a version that is ready says since when, and no other":                     `UPDATE file_versions SET ready = 'now'`,
		"the files of an experience that is not archived exist":                     `INSERT INTO experience_files SELECT DISTINCT account_id, 'exp_a', 'file_a' FROM files`,
		"no bytes are removed that a version names": `
			INSERT INTO file_removals (account_id, id, file_id, version, size, due_at) SELECT account_id, id, file_id, version, 0, 0 FROM file_versions`,
	}
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, account := New(d, Limits{}), dbtest.Account(t, d)
		for range 2 {
			f, err := s.CreateFile(t.Context(), account, NewFile{Name: "a", NewVersion: NewVersion{Size: 5}})
			require.NoError(t, err)
			_, err = s.CreateFileVersion(t.Context(), account, f.ID, NewVersion{Size: 6}) // gives the first one up
			require.NoError(t, err)
		}
		check := func(ctx context.Context) (all []core.Violation, err error) {
			err = s.db.CheckAll(ctx, FileInvariants, func(_ string, broken []core.Violation) { all = append(all, broken...) })
			return all, err
		}
		sound, err := check(t.Context())
		require.NoError(t, err)
		require.Empty(t, sound)
		for _, i := range FileInvariants {
			assert.Contains(t, dbtest.BrokenBy(t, s.db, sabotage[i.Promise], check), i.Promise)
		}
	})
}
