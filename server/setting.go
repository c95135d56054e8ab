package server

import (
	"bufio"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// Setting describes one setting, which is a field of Config.
type Setting struct {
	Env     string // TILLWRIGHT_ADDR
	Flag    string // addr; empty for what does not belong on a command line
	Default string
	Help    string
	// Otherwise says in words what the default is, if it depends on other settings.
	Otherwise string
}

// Settings lists every setting in the order of Config's fields.
func Settings() []Setting {
	var list []Setting
	for field := range reflect.TypeFor[Config]().Fields() {
		list = append(list, Setting{
			Env: field.Tag.Get("env"), Flag: field.Tag.Get("flag"),
			Default: field.Tag.Get("envDefault"), Help: field.Tag.Get("help"), Otherwise: field.Tag.Get("otherwise"),
		})
	}
	return list
}

// ReadConfigFile reads lines of NAME=VALUE. Empty lines and lines that begin with # are skipped. A name that is no setting is
// an error: it is probably mistyped.
func ReadConfigFile(path string) (map[string]string, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("config file: %w", err)
	}
	defer file.Close()
	values := map[string]string{}
	lines := bufio.NewScanner(file)
	for number := 1; lines.Scan(); number++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		if name = strings.TrimSpace(name); !ok || !isSetting(name) {
			return nil, fmt.Errorf("%s line %d: %q is no setting%s; lines are TILLWRIGHT_NAME=value, see `tillwright serve --help`", path, number, name, nearest(name))
		}
		values[name] = strings.Trim(strings.TrimSpace(value), `"`)
	}
	return values, lines.Err()
}

// others are environment variables of ours that are not settings of the server.
var others = []string{
	"TILLWRIGHT_CONFIG", "TILLWRIGHT_API_KEY", "TILLWRIGHT_BASE_URL", "TILLWRIGHT_WEBHOOK_SECRET",
	"TILLWRIGHT_TEST_POSTGRES_URL", "TILLWRIGHT_TEST_ENGINES", "TILLWRIGHT_TEST_PREPARED", "TILLWRIGHT_TEST_BUILT", "TILLWRIGHT_TEST_SEED", "TILLWRIGHT_SOAK",
}

// serviceLink matches variables that Kubernetes and Docker set because a service is called tillwright, and names that people
// give to the image that they run.
var serviceLink = regexp.MustCompile(`^TILLWRIGHT_((\w+_)?(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT_\d+_(TCP|UDP|SCTP)(_PROTO|_PORT|_ADDR)?)|ENV_\w+|NAME|IMAGE|IMAGE_TAG|TAG|VERSION)$`)

// CheckNames refuses environment variables that look like settings and are none. They are probably mistyped, and the setting
// that was meant would silently keep its default.
func CheckNames(environment map[string]string) error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(environment)) {
		value := environment[name]
		linked := serviceLink.MatchString(name) || strings.HasSuffix(name, "_PORT") && strings.Contains(value, "://")
		if value == "" || isSetting(name) || slices.Contains(others, name) || linked {
			continue
		}
		errs = append(errs, fmt.Errorf("%s is no setting%s; see `tillwright serve --help`", name, nearest(name)))
	}
	return errors.Join(errs...)
}

// nearest returns the setting that a wrong name was most likely meant to be, empty if none is like it.
func nearest(name string) string {
	best, least := "", len(name)/4
	for _, known := range names() {
		if d := distance(name, known); d < least {
			best, least = known, d
		}
	}
	if best == "" {
		return ""
	}
	return " (did you mean " + best + "?)"
}

// names returns every name by which a setting can be given.
func names() []string {
	var all []string
	for _, s := range Settings() {
		all = append(all, s.Env)
	}
	for _, name := range fileVariants {
		all = append(all, name+"_FILE")
	}
	return all
}

// distance returns how many letters must be added, dropped or replaced to turn one name into another.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := before
			if a[i] != b[j] {
				replaced++
			}
			before = row[j+1]
			row[j+1] = min(replaced, row[j]+1, before+1)
		}
	}
	return row[len(b)]
}

func isSetting(name string) bool {
	plain, isFile := strings.CutSuffix(name, "_FILE")
	if isFile {
		return slices.Contains(fileVariants, plain)
	}
	return slices.ContainsFunc(Settings(), func(s Setting) bool { return s.Env == name })
}

// resolveFiles reads the files that TILLWRIGHT_..._FILE name in one layer, and puts what they hold in the place of those names.
func resolveFiles(layer map[string]string) error {
	for _, name := range fileVariants {
		path := layer[name+"_FILE"]
		switch {
		case path == "":
			continue
		case layer[name] != "":
			return fmt.Errorf("set %s or %s_FILE, not both", name, name)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("%s_FILE: %w", name, err)
		}
		layer[name] = strings.TrimSpace(string(content))
	}
	return nil
}

// SecretKeyFile returns the file in which a development server keeps its secret key, empty if a key is configured.
func (c *Config) SecretKeyFile() string {
	if c.SecretKey != "" {
		return ""
	}
	return filepath.Join(c.DataDir, "secret.key")
}

// SealKeys returns the keys that encrypt secrets in the database, the newest first. In development the first start makes one,
// and keeps it in the data directory.
func (c *Config) SealKeys() ([][]byte, error) {
	file := c.SecretKeyFile()
	if file == "" {
		return sealKeys(c.SecretKey)
	}
	text, err := KeptSecret(file)
	if err != nil {
		return nil, fmt.Errorf("development secret key: %w", err)
	}
	return sealKeys(text)
}

// KeptSecret returns the text of a file. If the file does not exist, it is made of 32 random bytes in base64, readable by its
// owner only. Of two processes that start at once, one makes it and both read it.
func KeptSecret(path string) (string, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		if err := makeSecret(path); err != nil && !errors.Is(err, fs.ErrExist) {
			return "", err
		}
	}
	content, err := os.ReadFile(path)
	return strings.TrimSpace(string(content)), err
}

// makeSecret writes the file whole or not at all. It is an error if it exists, because linking fails then.
func makeSecret(path string) error {
	var key [32]byte
	_, _ = rand.Read(key[:])                                     // never fails
	draft, err := os.CreateTemp(filepath.Dir(path), ".secret-*") // 0600
	if err != nil {
		return err
	}
	defer os.Remove(draft.Name())
	_, err = draft.WriteString(base64.StdEncoding.EncodeToString(key[:]) + "\n")
	if err = errors.Join(err, draft.Close()); err != nil {
		return err
	}
	return os.Link(draft.Name(), path)
}
