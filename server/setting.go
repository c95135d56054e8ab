package server

import (
	"bufio"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

// Setting describes one field of Config.
type Setting struct {
	Env     string // TILLWRIGHT_ADDR
	Flag    string // addr; empty for what does not belong on a command line
	Default string
	Help    string
	// Otherwise says in words what the default is where it depends on other things.
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

// ReadConfigFile reads lines of NAME=VALUE; empty lines and those that begin with
// # do not count. A name that is no setting is an error: it would be a typing mistake.
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
			return nil, fmt.Errorf("%s line %d: %q is no setting; lines are TILLWRIGHT_NAME=value, see `tillwright serve --help`", path, number, name)
		}
		values[name] = strings.Trim(strings.TrimSpace(value), `"`)
	}
	return values, lines.Err()
}

func isSetting(name string) bool {
	plain, isFile := strings.CutSuffix(name, "_FILE")
	if isFile {
		return slices.Contains(fileVariants, plain)
	}
	return slices.ContainsFunc(Settings(), func(s Setting) bool { return s.Env == name })
}

// resolveFiles replaces TILLWRIGHT_..._FILE in one layer by what the file holds.
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

// SealKeys returns the keys that seal secrets at rest, the newest first. In
// development the first start makes one and keeps it in the data directory.
func (c *Config) SealKeys() ([][]byte, error) {
	if c.SecretKey == "" {
		text, err := KeptSecret(filepath.Join(c.DataDir, "secret.key"))
		if err != nil {
			return nil, fmt.Errorf("development secret key: %w", err)
		}
		c.SecretKey = text
	}
	return c.sealKeys()
}

// KeptSecret returns the text of a file, which it makes of 32 random bytes in base64,
// readable for its owner only, if it is not there. Of two processes that start at once,
// one makes it and both read it.
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

// makeSecret writes the file whole or not at all: linking fails if it is there.
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
