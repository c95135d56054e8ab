package postgres

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"

	"github.com/tillwright/tillwright/tests/harness/debian"
)

// binaries returns the folder with initdb and postgres, of the newest version. If there is none it installs Debian's package;
// if it may not, its error says what to do.
func binaries() (string, error) {
	if dir := find(); dir != "" {
		return dir, nil
	}
	if err := debian.Install("postgresql"); err != nil {
		return "", fmt.Errorf("PostgreSQL is needed for the tests and could not be installed (%w): install its server package and run again", err)
	}
	if dir := find(); dir != "" {
		return dir, nil
	}
	return "", errors.New("PostgreSQL was installed, but initdb is in neither /usr/lib/postgresql/*/bin nor PATH")
}

// find returns the folder with initdb and postgres, of the newest version, empty if there is none.
func find() string {
	dirs, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	sort.Slice(dirs, func(i, j int) bool { // "9.6" is older than "15": compare the lengths first
		if len(dirs[i]) != len(dirs[j]) {
			return len(dirs[i]) > len(dirs[j])
		}
		return dirs[i] > dirs[j]
	})
	for _, dir := range dirs {
		if executable(filepath.Join(dir, "initdb")) && executable(filepath.Join(dir, "postgres")) {
			return dir
		}
	}
	if path, err := exec.LookPath("initdb"); err == nil {
		if real, err := filepath.EvalSymlinks(path); err == nil && executable(filepath.Join(filepath.Dir(real), "postgres")) {
			return filepath.Dir(real)
		}
	}
	return ""
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir() && info.Mode()&0o111 != 0
}
