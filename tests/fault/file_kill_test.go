package fault

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/tillwright/tillwright/store/grant"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
	"github.com/tillwright/tillwright/tests/harness/s3signed"
)

// TestKill_KeepsRowsAndBytesTogether kills the server under sellers who upload files, complete and delete them. It may die between any two of a part,
// its row, the object and the version. Afterwards every file that was complete has the bytes that were sent last, and nothing is kept that no row
// names.
func TestKill_KeepsRowsAndBytesTogether(t *testing.T) {
	t.Parallel()
	for name, settings := range map[string]func(*testing.T) []string{"disk": func(*testing.T) []string { return nil }, "s3": s3Server} {
		t.Run(name, func(t *testing.T) {
			database.Each(t, func(t *testing.T, address string) {
				b := *harness.Build(t)
				b.Env = settings(t)
				f := &fileCampaign{campaign: newCampaign(t, &b, address), kept: map[string]string{}, deleted: map[string]bool{}}
				f.run(count(2, 50), f.keep)
				report(t, f.campaign, append(f.differingReplays(), f.faults()...))
			})
		})
	}
}

// s3Server runs an S3 server that checks signatures, which no kill concerns, and returns the settings that name it.
func s3Server(t *testing.T) []string {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("files"); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(s3signed.Check(gofakes3.New(backend, gofakes3.WithTimeSkewLimit(0)).Server()))
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // killed clients do not say goodbye
	server.StartTLS()
	t.Cleanup(server.Close)
	trusted := filepath.Join(t.TempDir(), "trusted.pem")
	if err := os.WriteFile(trusted, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{
		"TILLWRIGHT_FILES_URL=s3://files/shop?region=us-east-1&path_style=true&endpoint=" + server.URL,
		"AWS_ACCESS_KEY_ID=" + s3signed.ID, "AWS_SECRET_ACCESS_KEY=" + s3signed.Secret, "SSL_CERT_FILE=" + trusted,
	}
}

// fileCampaign is a campaign with files.
type fileCampaign struct {
	*campaign
	mu      sync.Mutex
	kept    map[string]string // hash of the bytes by file, of those that are complete
	deleted map[string]bool
}

// keep makes a file. One in four is deleted when it is complete, another one before. Of one in three other bytes are sent when completing it has
// failed once. One in sixteen has two parts.
func (f *fileCampaign) keep(n int64) {
	content := bytes.Repeat(fmt.Appendf(nil, "first %9d", n), 1000)
	if n%16 == 0 {
		content = append(bytes.Repeat([]byte{byte(n)}, grant.PartSize), content...)
	}
	made := f.insist(request{key: fmt.Sprint("file ", n), path: "/v1/files", body: map[string]any{"name": fmt.Sprint("file ", n), "size": len(content)}}, http.StatusCreated)
	if made == nil {
		return
	}
	id, address := made["id"].(string), made["upload"].(map[string]any)["url"].(string)
	complete := request{key: fmt.Sprint("complete ", n), path: "/v1/files/" + id + "/complete"}
	if n%4 != 1 {
		f.send(address, 0, content)
		if first := f.post(complete); n%3 == 0 && (first == nil || first.Status != http.StatusOK) {
			if other := bytes.ReplaceAll(content, []byte("first"), []byte("other")); f.send(address, 0, other) {
				content = other
			}
		}
		if f.insist(complete, http.StatusOK) == nil {
			return
		}
	}
	if n%4 < 2 {
		f.insist(request{method: http.MethodDelete, key: fmt.Sprint("delete ", n), path: "/v1/files/" + id}, http.StatusOK)
	}
	hash := sha256.Sum256(content)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.deleted[id] = n%4 < 2; !f.deleted[id] {
		f.kept[id] = hex.EncodeToString(hash[:])
	}
}

// send sends bytes, and goes on with those that are missing after each break, until all are there. It returns false if the upload is over.
func (f *fileCampaign) send(address string, offset int, content []byte) bool {
	for begin := time.Now(); time.Since(begin) < 10*time.Minute; time.Sleep(5 * time.Millisecond) {
		switch status, _ := f.raw(http.MethodPut, fmt.Sprintf("%s?offset=%d", address, offset), content[offset:]); status {
		case http.StatusOK:
			return true
		case http.StatusGone:
			return false
		}
		status, body := f.raw(http.MethodGet, address, nil)
		if status != http.StatusOK {
			continue
		}
		var state struct{ Received int }
		if err := json.Unmarshal(body, &state); err != nil {
			f.t.Error(err)
		}
		if offset > 0 || state.Received < len(content) { // what is whole are the bytes before these
			offset = state.Received
		}
		if offset == len(content) {
			return true
		}
	}
	f.t.Errorf("%d bytes were not taken within ten minutes, though the kills are over by then", len(content))
	return false
}

// raw asks the server that lives for an address. The status is 0 if the connection broke.
func (f *fileCampaign) raw(method, address string, body []byte) (int, []byte) {
	u, err := url.Parse(address)
	if err != nil {
		f.t.Error(err)
		return 0, nil
	}
	r, err := http.NewRequestWithContext(f.t.Context(), method, f.server.Load().URL+u.RequestURI(), bytes.NewReader(body))
	if err != nil {
		f.t.Error(err)
		return 0, nil
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, nil
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, nil
	}
	return resp.StatusCode, text
}

// faults downloads what is complete, and has the program look for rows without bytes and bytes without rows.
func (f *fileCampaign) faults() (faults []string) {
	f.t.Helper()
	for id, hash := range f.kept {
		link := f.patient(request{method: http.MethodGet, path: "/v1/files/" + id + "/download"})
		if link == nil || link.Status != http.StatusOK {
			return append(faults, fmt.Sprintf("%s has no link: %+v", id, link))
		}
		status, body := f.raw(http.MethodGet, link.Object(f.t)["url"].(string), nil)
		for ; status == http.StatusTooManyRequests; status, body = f.raw(http.MethodGet, link.Object(f.t)["url"].(string), nil) { // an address has a quota, too
			time.Sleep(time.Second)
		}
		if sum := sha256.Sum256(body); status != http.StatusOK || hex.EncodeToString(sum[:]) != hash {
			faults = append(faults, fmt.Sprintf("%s was complete, and its download is answered %d with other bytes", id, status))
		}
	}
	db := harness.OpenDatabase(f.t, f.url)
	defer db.Close()
	for _, id := range db.Strings(f.t, `SELECT id FROM files`) {
		if f.deleted[id] {
			faults = append(faults, id+" was deleted and is there")
		}
	}
	if len(f.kept) == 0 || len(f.deleted) == len(f.kept) {
		faults = append(faults, "no file was kept, or none deleted")
	}
	if out, err := f.binary.Command("doctor", "--files").CombinedOutput(); err != nil || !strings.Contains(string(out), "promises hold") {
		faults = append(faults, fmt.Sprintf("doctor: %v\n%s", err, out))
	}
	f.t.Logf("%d files kept, %d deleted", len(f.kept), len(f.deleted)-len(f.kept))
	return faults
}
