package main

import (
	"cmp"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/tillwright/tillwright/server"
)

// settings are the flags that every command has, which are those of server.Config.
type settings struct {
	flags  *pflag.FlagSet
	config string
}

func (s *settings) register(flags *pflag.FlagSet) {
	s.flags = flags
	flags.StringVar(&s.config, "config", "", "file of TILLWRIGHT_NAME=value lines")
	for _, setting := range server.Settings() {
		if setting.Flag != "" {
			flags.String(setting.Flag, setting.Default, setting.Help)
		}
	}
}

// load returns the configuration. A flag is preferred to the environment, that to the file, and that to the default.
func (s *settings) load() (*server.Config, error) {
	flags, environment := s.given(), environ()
	if err := server.CheckNames(environment); err != nil {
		return nil, err
	}
	file := map[string]string{}
	if s.config == "" {
		s.config = environment["TILLWRIGHT_CONFIG"]
	}
	if s.config != "" {
		var err error
		if file, err = server.ReadConfigFile(s.config); err != nil {
			return nil, err
		}
	}
	return server.LoadConfig(flags, environment, file)
}

// given returns the flags that were set, by the names of their environment variables.
func (s *settings) given() map[string]string {
	values := map[string]string{}
	for _, setting := range server.Settings() {
		if f := s.flags.Lookup(setting.Flag); f != nil && f.Changed {
			values[setting.Env] = f.Value.String()
		}
	}
	return values
}

func environ() map[string]string {
	values := map[string]string{}
	for _, entry := range os.Environ() {
		if name, value, _ := strings.Cut(entry, "="); strings.HasPrefix(name, "TILLWRIGHT_") {
			values[name] = value
		}
	}
	return values
}

// describeSettings returns the table in `serve --help`, with every setting whether it has a flag or not.
func describeSettings() string {
	var b strings.Builder
	b.WriteString("Settings come from flags, then the environment, then the file of --config, then these defaults:\n\n")
	for _, setting := range server.Settings() {
		fmt.Fprintf(&b, "  %-35s %s\n", setting.Env, cmp.Or(setting.Default, setting.Otherwise))
	}
	b.WriteString("\nTILLWRIGHT_SECRET_KEY is base64 of 32 bytes; to rotate it, several, the newest first, separated by commas.\n")
	b.WriteString("It and TILLWRIGHT_SMTP_URL have no flag, because command lines are visible to others. TILLWRIGHT_SECRET_KEY_FILE,\n")
	b.WriteString("TILLWRIGHT_DATABASE_URL_FILE and TILLWRIGHT_SMTP_URL_FILE name files that hold the value. TILLWRIGHT_CONFIG names\nthe file of --config.")
	return b.String()
}
