package pages_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/store/lead"
)

func TestLeadsFile_HasARowForEveryLeadThatTheFiltersLetThrough(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	made, err := w.Lead.Create(t.Context(), w.account, lead.NewLead{
		Email: "ada@example.com", Name: new("=1+1"), Source: lead.SourceForm, Tags: []string{"vip", "early"}, UTM: &lead.UTM{Source: new("@mail")},
		Consent: &lead.NewConsent{Marketing: true, At: new("2026-01-02T03:04:05Z"), IP: new("203.0.113.7")},
	}, false)
	require.NoError(t, err)
	_, err = w.Lead.Create(t.Context(), w.account, lead.NewLead{Email: "grace@example.com", Source: lead.SourceAPI}, false)
	require.NoError(t, err)
	read := func(query any) (rows []map[string]string) {
		lines := w.exported("leads", query)
		for _, line := range lines[1:] {
			row := map[string]string{}
			for i, name := range lines[0] {
				row[name] = line[i]
			}
			rows = append(rows, row)
		}
		return rows
	}
	require.Len(t, read(nil), 2)
	rows := read(api.ExportLeadsParams{Source: new(api.LeadSource("form"))})
	require.Len(t, rows, 1)
	for column, want := range map[string]string{
		"id": made.Lead.ID, "status": "new", "email": "ada@example.com", "name": "'=1+1", "customer": made.Lead.CustomerID, "tags": "vip; early", "utm_source": "'@mail",
		"marketing_consent": "true", "consent_at": "2026-01-02T03:04:05.000Z", "consent_ip": "203.0.113.7", "converted_at": "", "product": "", "ads_consent": "false",
	} {
		assert.Equal(t, want, rows[0][column], column)
	}
}
