package server

import (
	"cmp"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const settingsGuide = "reference/guide/settings.md"

// The table of the guide is the one that Config makes. If it differs, put the one that is printed there.
func TestSettings_StandInTheirGuide(t *testing.T) {
	t.Parallel()
	var table strings.Builder
	table.WriteString("| variable, and flag | what it is | default |\n|---|---|---|\n")
	for _, s := range Settings() {
		name, otherwise := "`"+s.Env+"`", s.Otherwise
		if s.Flag != "" {
			name += ", `--" + s.Flag + "`"
		}
		if s.Default != "" {
			otherwise = "`" + s.Default + "`"
		}
		table.WriteString("| " + name + " | " + strings.ReplaceAll(s.Help, "<", `\<`) + " | " + cmp.Or(otherwise, "none") + " |\n")
	}
	guide, err := os.ReadFile(settingsGuide)
	require.NoError(t, err)
	assert.True(t, strings.Contains(string(guide), "\n"+table.String()+"\n"), "its table has to be\n%s", table.String())
	for _, name := range fileVariants {
		assert.Contains(t, string(guide), "`"+name+"_FILE`")
	}
}
