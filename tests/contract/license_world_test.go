package contract

import (
	"net/http"
	"testing"
)

// sellKeys makes a licence key that is active on the device of the examples, and on another one.
func (w *world) sellKeys(t testing.TB) {
	t.Helper()
	made := w.make(t, "lic", "/v1/license_keys", map[string]any{"product": w.IDs["prod"], "customer": w.IDs["cus"]})
	w.License = made["key"].(string)
	shown := map[string]any{"key": w.License, "product": w.IDs["prod"], "fingerprint": "mac-2f6c1e0a"}
	w.Must(t, http.MethodPost, "/v1/license_keys/activate", shown)
	shown["fingerprint"] = "another device"
	w.make(t, "lact", "/v1/license_keys/activate", shown)
	w.make(t, "lsk", "/v1/license_keys/signing_keys", map[string]any{})
}
