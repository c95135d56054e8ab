package contract

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/tillwright/tillwright/tests/harness"
)

// unlogged are the writes that leave no line: they change nothing that anybody could ask about, or only ask and send.
var unlogged = []string{
	"validateLicenseKey", "validatePublicLicenseKey", "previewAd", "previewNewAd", "estimateAdReach", "previewSubscriptionChange", "previewProductNews", "testWebhookEndpoint", "redeliverWebhookEndpoint",
}

// idle are the operations whose example finds all as it is to be, so that a line would be wrong. Each has the operation that must come first for it
// to change something. For some there is none: they concern a sandbox alone, or a file that its bytes alone make complete.
var idle = map[string]string{
	"activateSocialAccount": "deactivateSocialAccount", "resumeAdCampaigns": "pauseAdCampaigns", "resumeAd": "pauseAd", "resumeAdGroup": "pauseAdGroup",
	"unpublishProduct": "publishProduct", "unarchiveProduct": "archiveProduct", "publishLegalPage": "unpublishLegalPage", "publishExperience": "unpublishExperience",
	"publishBlogPost": "unpublishBlogPost", "unpublishAISite": "publishAISite", "enableLicenseKey": "disableLicenseKey", "enableDiscount": "disableDiscount",
	"reinstateGrant": "revokeGrant", "detachExperience": "attachExperience",
	"authenticateTestPayment": "", "driftAds": "", "completeFile": "",
}

// leavesALine tells the writes whose example changes something that somebody could ask about.
func leavesALine(op *harness.Operation) bool {
	_, changesNothing := idle[op.ID]
	return !changesNothing && !slices.Contains(unlogged, op.ID)
}

// isLogged checks that a write that was answered, and repeated, has left one line in a list. The line agrees with the answer and has no secret in it.
func isLogged(t *testing.T, w *world, op *harness.Operation, list, first, again *harness.Response) {
	t.Helper()
	lines := linesIn(t, list, first)
	if repeated := linesIn(t, list, again); len(repeated) > 0 {
		t.Errorf("the repeated request has a line: %v", repeated)
	}
	if !leavesALine(op) {
		if len(lines) > 0 {
			t.Errorf("it has a line: %v", lines)
		}
		return
	}
	if len(lines) != 1 {
		t.Fatalf("%d lines instead of one: %v", len(lines), lines)
	}
	answer := map[string]any{}
	_ = json.Unmarshal(first.Body, &answer)
	line, target := lines[0], lines[0]["target"].(map[string]any)
	if line["operation"] != op.ID {
		t.Errorf("the operation is %v", line["operation"])
	}
	if op.ID == "createPublicLead" { // whose answer says nothing of the lead
		if lead := w.Must(t, http.MethodGet, "/v1/leads/"+target["id"].(string), nil); lead["email"] != w.body(op).(map[string]any)["email"] {
			t.Errorf("the target %v is not the lead that was made", target)
		}
	} else if path := w.path(op); target["id"] != nil && target["id"] != answer["id"] && !strings.Contains(path, target["id"].(string)) {
		t.Errorf("the target %v is neither what %s names nor what was answered: %s", target, path, first.Body)
	}
	if made := first.Status == http.StatusCreated; made && (target["id"] != answer["id"] || target["object"] != answer["object"] || line["changes"] != nil) {
		t.Errorf("of what was made it says %v", line)
	}
	actor := "api_key"
	if op.Public {
		actor = "customer"
	}
	if line["actor"].(map[string]any)["type"] != actor {
		t.Errorf("the actor is %v", line["actor"])
	}
	if op.Method == http.MethodPatch && !strings.HasPrefix(op.Path, "/v1/ads/") && line["changes"] == nil {
		t.Errorf("it does not say what became different: %v", line)
	}
	for _, secret := range w.secrets(op, first) {
		if strings.Contains(string(list.Body), secret) {
			t.Errorf("%q stands in %s", secret, list.Body)
		}
	}
}

// linesIn returns the lines of a list that are of the request with this answer.
func linesIn(t *testing.T, list, answer *harness.Response) (lines []map[string]any) {
	t.Helper()
	for _, each := range list.Object(t)["data"].([]any) {
		if line := each.(map[string]any); line["request_id"] == answer.Header.Get("X-Request-Id") {
			lines = append(lines, line)
		}
	}
	return lines
}

func TestIdleWrites_LeaveALineOnceTheyChangeSomething(t *testing.T) {
	t.Parallel()
	onShared(t, func(t *testing.T, s *harness.Server) {
		operations := map[string]*harness.Operation{}
		for _, op := range harness.Operations() {
			operations[op.ID] = op
		}
		w := newWorld(t, s)
		every(t, func(op *harness.Operation) bool { return idle[op.ID] != "" }, func(t *testing.T, op *harness.Operation) {
			for _, op := range []*harness.Operation{operations[idle[op.ID]], op} {
				answer := w.send(t, op)
				answered(t, op, answer)
				lines := linesIn(t, w.Do(t, http.MethodGet, "/v1/activity?limit=5&operation="+op.ID, nil), answer)
				if len(lines) != 1 {
					t.Errorf("%s has %d lines instead of one: %v", op.ID, len(lines), lines)
				}
			}
		})
	})
}

// secrets are those that the request and its answer have, and those of the world.
func (w *world) secrets(op *harness.Operation, answer *harness.Response) []string {
	all := []string{w.Key, w.Secret, w.License, w.Form}
	var answered any
	_ = json.Unmarshal(answer.Body, &answered)
	for _, v := range []any{w.body(op), answered} {
		visit(v, func(o map[string]any) {
			for _, field := range []string{"token", "secret", "client_secret", "key", "stripe_secret_key", "stripe_webhook_secret", "form_token", "html_url"} {
				if text, ok := o[field].(string); ok {
					all = append(all, text)
				}
			}
		})
	}
	return slices.DeleteFunc(all, func(s string) bool { return s == "" })
}
