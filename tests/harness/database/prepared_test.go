package database

import "testing"

func TestGiven_MayStandInAFolderWithASpace(t *testing.T) {
	t.Setenv(PreparedEnv, "sqlite:///tmp/a folder/tillwright.db\npostgres://postgres@127.0.0.1:1/test_a?sslmode=disable")
	for engine, want := range map[string]string{"sqlite": "sqlite:///tmp/a folder/tillwright.db", "postgres": "postgres://postgres@127.0.0.1:1/test_a?sslmode=disable", "other": ""} {
		if got := given(engine); got != want {
			t.Errorf("of %s %q is given, not %q", engine, got, want)
		}
	}
}
