package pages

import (
	"html/template"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/content"
	"github.com/tillwright/tillwright/store/core"
)

// Whoever opens a long course again and again has it from what is kept. One that is new to the server has its turn, as PDFs have.
func TestProse_IsKeptAndMadeInTurn(t *testing.T) {
	t.Parallel()
	p := &Pages{proses: newDocuments(writeProse)}
	e := &content.Experience{AccountID: "acct_1", Description: new("*All*"), Content: core.JSONOf(content.ExperienceContent{Modules: []content.ExperienceModule{
		{Lessons: []content.ExperienceLesson{{Body: new("one")}, {}, {Body: new("<script>")}}}, {Lessons: []content.ExperienceLesson{{Body: new("one")}}},
	}})}
	made, err := p.proseOf(t.Context(), e)
	require.NoError(t, err)
	require.Equal(t, map[string]template.HTML{"*All*": "<p><em>All</em></p>\n", "one": "<p>one</p>\n", "<script>": "<p>&lt;script&gt;</p>\n"}, made)

	for range documentsAtOnce {
		_, err := p.proses.turns.waitTurn(t.Context(), asker{"acct_2", "1"})
		require.NoError(t, err)
	}
	p.proses.patience = time.Millisecond
	again, err := p.proseOf(t.Context(), e)
	require.NoError(t, err)
	require.Equal(t, made, again)
	_, err = p.proseOf(t.Context(), &content.Experience{AccountID: "acct_1"})
	require.NoError(t, err, "there is nothing to be made")
	e.Description = new("*Others*")
	_, err = p.proseOf(t.Context(), e)
	require.ErrorIs(t, err, errBusy)
}
