package pages

import (
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/caller"
	"github.com/tillwright/tillwright/server/locale"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/payment"
	"github.com/tillwright/tillwright/store/throttle"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// Whoever reads of a card that was declined tries another one. So nobody is told of one where no card helps.
func TestDeclined_SaysWhoseFaultItIs(t *testing.T) {
	t.Parallel()
	german := locale.Find("de")
	for says, why := range map[string]*payment.Failure{
		"Die Karte wurde abgelehnt":               {Code: "card_declined", DeclineCode: new("of_tomorrow"), Message: "No."},
		"Die Karte ist nicht ausreichend gedeckt": {Code: "card_declined", DeclineCode: new("insufficient_funds"), Message: "No."},
		"Ihre Bank":          {Code: "payment_intent_authentication_failure", Message: "No."},
		"nur noch wenige da": {Code: "left_to_others", Message: "No."},
		"Der Verkäufer kann diese Zahlung derzeit nicht": {Code: "parameter_invalid_empty", Message: "No.", OfSeller: true},
	} {
		assert.Contains(t, declined(german, why), says)
		refused, ok := errors.AsType[*core.Error](why.Err())
		require.True(t, ok)
		assert.Contains(t, explain(german, refused, "payment_method"), says, "the same where it was sent")
	}
	bank := &payment.Failure{Code: "of_tomorrow", Message: "The bank says why."}
	assert.Equal(t, bank.Message, declined(locale.English, bank))
	settings := &payment.Failure{Code: "resource_missing", Message: "No such customer: cus_1", OfSeller: true}
	assert.Contains(t, declined(locale.English, settings), "The seller cannot take this payment")
}

// Whoever reads another language than English is told nothing that is for programs. What a page has said in their language stays as it is.
func TestIsInvalid_SaysNothingInEnglishToOthers(t *testing.T) {
	t.Parallel()
	const words = "Send another one instead."
	says := func(l *locale.Locale, refused error) string {
		said, invalid := isInvalid(l, refused)
		require.True(t, invalid)
		return said
	}
	refusals := []*core.Error{core.Invalid("quantity", words), core.Invalid("status", words), core.Invalid("payment_method", words).Because("code_of_tomorrow"), core.Invalid("status", words).Because("expired_card")}
	for named := range reasons {
		if field, reason, why := strings.Cut(named, "."); why {
			refusals = append(refusals, core.Invalid(field, words).Because(reason, "plan", "1", "number", int64(1)))
		}
	}
	for _, l := range locale.All()[1:] {
		for _, refused := range refusals {
			said := says(l, refused)
			assert.NotContains(t, said, "instead", "%s: %s.%s", l.Tag, refused.Param, refused.Reason)
			assert.NotContains(t, said, "error.", "%s: %s.%s", l.Tag, refused.Param, refused.Reason)
			if l.Tag == "ja" {
				assert.NotRegexp(t, `[A-Za-z]{3}`, said, "%s.%s", refused.Param, refused.Reason)
			}
		}
	}
	german := locale.Find("de")
	for _, unexplained := range refusals[:4] {
		assert.Equal(t, "Das hat nicht geklappt. Versuchen Sie es erneut oder fragen Sie den Verkäufer um Hilfe.", says(german, unexplained))
		assert.Equal(t, words, says(locale.English, unexplained))
	}
	declined := core.Invalid("payment_method", words).Because("code_of_tomorrow")
	declined.Outcome = core.Recorded
	assert.Contains(t, says(german, declined), "Die Karte wurde abgelehnt")
	assert.Equal(t, "Schon gesagt.", says(german, explanation("Schon gesagt.")))
	for reason, said := range map[string]string{
		"pays": "Mit dieser Karte wird Club bezahlt. Wählen Sie dafür zuerst eine andere Karte, oder kündigen Sie es.", "pays_last": "Mit dieser Karte wird die letzte Rechnung für Club bezahlt.",
		"many": "Sie haben 50 Karten gespeichert, mehr sind nicht möglich.", "late": "Die Karte wurde nicht rechtzeitig bestätigt.", "none": "Es gibt keine Karte, von der der Wechsel abgebucht werden kann.",
	} {
		assert.Contains(t, says(german, core.Invalid("payment_method", words).Because(reason, "plan", "Club", "number", int64(50))), said)
	}
}

// A reason that a rule gives is one that pages know.
func TestReasons_AreThoseThatRulesGive(t *testing.T) {
	t.Parallel()
	gives := regexp.MustCompile(`core\.Invalid\("([a-z_]+)".*\)\.Because\("([a-z_]+)"`)
	found := 0
	for _, room := range []string{"../../store", "../billing"} {
		require.NoError(t, filepath.WalkDir(room, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			source, err := os.ReadFile(path)
			for _, reason := range gives.FindAllStringSubmatch(string(source), -1) {
				found++
				assert.NotEmpty(t, reasons[reason[1]+"."+reason[2]], "%s: %s because of %s", path, reason[1], reason[2])
			}
			return err
		}))
	}
	assert.Greater(t, found, 10)
}

// A day is no number of minutes.
func TestWait_IsSaidAsPeopleDo(t *testing.T) {
	t.Parallel()
	waits := []time.Duration{0, time.Second, 90 * time.Second, 91 * time.Second, 90 * time.Minute, 90*time.Minute + time.Second, 24 * time.Hour}
	for tag, says := range map[string][]string{
		"en": {"1 second", "1 second", "90 seconds", "2 minutes", "90 minutes", "2 hours", "24 hours"}, "de": {"1 Sekunde", "1 Sekunde", "90 Sekunden", "2 Minuten", "90 Minuten", "2 Stunden", "24 Stunden"},
		"fr": {"1 seconde", "1 seconde", "90 secondes", "2 minutes", "90 minutes", "2 heures", "24 heures"}, "es": {"1 segundo", "1 segundo", "90 segundos", "2 minutos", "90 minutos", "2 horas", "24 horas"},
		"pt-BR": {"1 segundo", "1 segundo", "90 segundos", "2 minutos", "90 minutos", "2 horas", "24 horas"}, "ja": {"1秒", "1秒", "90秒", "2分", "90分", "2時間", "24時間"},
	} {
		for n, after := range waits {
			assert.Equal(t, says[n], wait(locale.Find(tag), after), tag)
			if tag == "en" && after > 0 {
				assert.Equal(t, throttle.Spoken(after), says[n], "as the API says it")
			}
		}
	}
	refused := &core.Error{Code: core.CodeRateLimit, After: 24 * time.Hour}
	assert.Equal(t, "Zu viele Versuche. Versuchen Sie es in 24 Stunden erneut.", tooMany(locale.Find("de"), refused))
}

func TestRefused_SaysWhatToDo(t *testing.T) {
	t.Parallel()
	p := bare(t)
	for _, c := range []struct {
		method    string
		status    int
		isCrowded bool
		text      string
	}{
		{"GET", 429, false, "Wait a minute"}, {"POST", 413, false, "too large"}, {"GET", 500, false, "our fault"}, {"GET", 503, false, "our fault"},
		{"POST", 500, false, "not known whether what you sent was done"}, {"POST", 503, false, "not known whether what you sent was done"},
		{"POST", 429, true, "Nothing was done. Wait a few seconds, then reload this page: what you typed is sent again."},
		{"POST", 503, true, "Nothing was done. Wait a few seconds, then reload this page: what you typed is sent again."},
		{"GET", 503, true, "Wait a few seconds, then reload this page."},
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(c.method, "/checkout/x", nil)
		r = r.WithContext(caller.With(r.Context(), &caller.Caller{RequestID: "req_01"}))
		require.NoError(t, p.Refused(echo.New().NewContext(r, w), c.status, c.isCrowded))
		assert.Equal(t, c.status, w.Code)
		assert.Contains(t, w.Body.String(), c.text)
		assert.Contains(t, w.Body.String(), "name this request: req_01")
		assert.Equal(t, "no-store", w.Header().Get("Cache-Control"))
		assert.Contains(t, w.Header().Get("Content-Security-Policy"), "default-src 'none'")
	}
}

// bare returns pages of a store that has no tables.
func bare(t *testing.T) *Pages {
	t.Helper()
	sealer, err := core.NewSealer(make([]byte, 32))
	require.NoError(t, err)
	s, err := store.Open(t.Context(), store.Options{URL: database.URL(t, "sqlite"), Sealer: sealer, PublicURL: "http://shop.test"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	p, err := New(s, nil, nil, nil, nil, nil, nil)
	require.NoError(t, err)
	return p
}

// No page does anything with a form that did not come whole: the server says why, whichever form it is.
func TestRoutes_LeaveAFormThatDidNotComeWholeToTheServer(t *testing.T) {
	t.Parallel()
	p := bare(t)
	forms := 0
	for route, serve := range p.Routes() {
		if !strings.HasPrefix(route, "POST ") {
			continue
		}
		forms++
		for _, refusal := range []error{&core.CrowdedError{}, &core.CrowdedError{ByAll: true}, &core.Error{Code: core.CodeBadRequest}, &http.MaxBytesError{Limit: 1}} {
			r := httptest.NewRequest(http.MethodPost, "/", io.MultiReader(strings.NewReader("email=ada"), iotest.ErrReader(refusal)))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			w := httptest.NewRecorder()
			require.Equal(t, refusal, serve(echo.New().NewContext(r, w)), route)
			require.Zero(t, w.Body.Len(), route)
		}
	}
	require.Greater(t, forms, 20)
}
