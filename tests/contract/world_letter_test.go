package contract

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"
)

// sentLetter returns the id of a letter that was sent, once there is one: one that is queued cannot be asked for again.
func (w *world) sentLetter() string {
	id := ""
	if !comes(func() bool {
		var list struct {
			Data []struct {
				ID string `json:"id"`
			} `json:"data"`
		}
		answer, err := w.Try(http.MethodGet, "/v1/letters?status=sent", nil)
		if err == nil && answer.Status != http.StatusOK { // the key cannot see whether one was sent
			id = w.IDs["letter"]
			return true
		}
		if err == nil && json.Unmarshal(answer.Body, &list) == nil && len(list.Data) > 0 {
			id = list.Data[len(list.Data)-1].ID
		}
		return id != ""
	}) {
		panic("no letter was sent")
	}
	return id
}

// post waits until none of the account's letters is to be sent now.
func (w *world) post(t testing.TB) {
	t.Helper()
	if !comes(func() bool {
		waits := false
		for _, l := range w.Must(t, http.MethodGet, "/v1/letters?status=queued", nil)["data"].([]any) {
			next, _ := time.Parse(time.RFC3339, l.(map[string]any)["next_attempt_at"].(string))
			waits = waits || next.Before(time.Now().Add(2*time.Minute)) // later ones wait for their day
		}
		return !waits
	}) {
		t.Fatal("letters still wait")
	}
}
