package contract

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

// sendBytes sends the bytes of an upload, whose address names the host of another server.
func sendBytes(t testing.TB, c *harness.Client, address, bytes string) {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(background, http.MethodPut, c.URL+u.RequestURI(), strings.NewReader(bytes))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Fatalf("the bytes are answered %s", response.Status)
	}
}

// helloHash is the SHA-256 of "hello".
const helloHash = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"

func newFile(t *testing.T, c *sdk.Client, body *sdk.FileCreate) *sdk.File {
	t.Helper()
	return ok[*sdk.File](t)(c.Files.Create(background, body))
}

func TestCreateFile_IsPendingUntilItsBytesAreComplete(t *testing.T) {
	onEach(t, func(t *testing.T, _ *sdk.Client, s *harness.Server) {
		owner := s.Account(t)
		c := owner.SDK()
		made := newFile(t, c, &sdk.FileCreate{Name: "Notes.txt", Size: 5, ContentType: new("text/plain"), SHA256: new(helloHash), Metadata: &sdk.Metadata{"course": "go"}})
		if made.Status != "pending" || made.Upload == nil || made.Upload.Method != "PUT" || made.Version != 1 || *made.SHA256 != helloHash || made.DownloadsCount != 0 {
			t.Errorf("the new file is %+v", made)
		}
		_, err := c.Files.Complete(background, made.ID)
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "size")
		_, err = c.Files.Download(background, made.ID, nil)
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "status")
		sendBytes(t, owner, made.Upload.URL, "hullo")
		_, err = c.Files.Complete(background, made.ID)
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "sha256")
		sendBytes(t, owner, made.Upload.URL, "hello")
		for range 2 { // again the same
			done := ok[*sdk.File](t)(c.Files.Complete(background, made.ID))
			if done.Status != "ready" || done.Upload != nil || *done.SHA256 != helloHash || done.Size != 5 || done.ContentType != "text/plain" {
				t.Errorf("the complete file is %+v", done)
			}
		}
	})
}

func TestCreateFile_RefusesNamesAndSizes(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		for _, name := range []string{"a/b", `a\b`, "..", ".", "tab\there", "line\nbreak", "bell\x07", "\u202egpj.exe", strings.Repeat("é", 256), " "} {
			_, err := c.Files.Create(background, &sdk.FileCreate{Name: name, Size: 1})
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "name")
		}
		for _, size := range []int64{0, -1, 10<<30 + 1} {
			_, err := c.Files.Create(background, &sdk.FileCreate{Name: "x", Size: size})
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "size")
		}
		newFile(t, c, &sdk.FileCreate{Name: strings.Repeat("é", 255), Size: 10 << 30})
	})
}

func TestUpdateFile_ChangesNameAndMetadata(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		made := newFile(t, c, &sdk.FileCreate{Name: "a.zip", Size: 1, Metadata: &sdk.Metadata{"a": "1", "b": "2"}})
		changed := ok[*sdk.File](t)(c.Files.Update(background, made.ID, &sdk.FileUpdate{Name: new("b.zip"), Metadata: sdk.Set(sdk.MetadataUpdate{"a": nil})}))
		if changed.Name != "b.zip" || len(changed.Metadata) != 1 || changed.Upload == nil || changed.Upload.URL != made.Upload.URL {
			t.Errorf("the file is %+v", changed)
		}
		_, err := c.Files.Update(background, made.ID, &sdk.FileUpdate{Name: new("../b.zip")})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "name")
	})
}

func TestCreateFileVersion_ReplacesTheBytesOnceComplete(t *testing.T) {
	onEach(t, func(t *testing.T, _ *sdk.Client, s *harness.Server) {
		owner := s.Account(t)
		c := owner.SDK()
		made := newFile(t, c, &sdk.FileCreate{Name: "a", Size: 5})
		sendBytes(t, owner, made.Upload.URL, "hello")
		ok[*sdk.File](t)(c.Files.Complete(background, made.ID))
		given := ok[*sdk.FileVersion](t)(c.Files.CreateVersion(background, made.ID, &sdk.FileVersionCreate{Size: 3}))
		second := ok[*sdk.FileVersion](t)(c.Files.CreateVersion(background, made.ID, &sdk.FileVersionCreate{Size: 2}))
		if given.Version != 2 || second.Version != 3 || second.Status != "pending" || second.Upload == nil {
			t.Errorf("the versions are %+v and %+v", given, second)
		}
		if still := ok[*sdk.File](t)(c.Files.Get(background, made.ID)); still.Version != 1 || still.Size != 5 || still.Upload != nil || still.Status != "ready" {
			t.Errorf("before it is complete the file is %+v", still)
		}
		sendBytes(t, owner, second.Upload.URL, "hi")
		if now := ok[*sdk.File](t)(c.Files.Complete(background, made.ID)); now.Version != 3 || now.Size != 2 {
			t.Errorf("the file is %+v", now)
		}
		var numbers []int64
		list := ok[*sdk.FileVersionList](t)(c.Files.ListVersions(background, made.ID, nil))
		for _, v := range list.Data {
			numbers = append(numbers, v.Version)
		}
		if !slices.Equal(numbers, []int64{3, 1}) {
			t.Errorf("the versions are %v", numbers)
		}
		ok[*sdk.SignedURL](t)(c.Files.Download(background, made.ID, &sdk.GetFileDownloadParams{Version: new(int64(1))}))
		_, err := c.Files.Download(background, made.ID, &sdk.GetFileDownloadParams{Version: new(int64(2))})
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "version")
	})
}

func TestDeleteFile_EndsItsUpload(t *testing.T) {
	onEach(t, func(t *testing.T, _ *sdk.Client, s *harness.Server) {
		owner := s.Account(t)
		c := owner.SDK()
		made := newFile(t, c, &sdk.FileCreate{Name: "a", Size: 5})
		if gone := ok[*sdk.Deleted](t)(c.Files.Delete(background, made.ID)); gone.ID != made.ID || gone.Object != "file" {
			t.Errorf("the confirmation is %+v", gone)
		}
		_, err := c.Files.Get(background, made.ID)
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")
		u, _ := url.Parse(made.Upload.URL)
		response, err := http.Get(owner.URL + u.Path)
		if err != nil || response.StatusCode != http.StatusGone {
			t.Errorf("the upload is answered %v, %v", response, err)
		}
	})
}

func TestListFiles_Filters(t *testing.T) {
	onEach(t, func(t *testing.T, _ *sdk.Client, s *harness.Server) {
		owner := s.Account(t)
		c := owner.SDK()
		ready := newFile(t, c, &sdk.FileCreate{Name: "Course part one.zip", Size: 5})
		sendBytes(t, owner, ready.Upload.URL, "hello")
		ok[*sdk.File](t)(c.Files.Complete(background, ready.ID))
		pending := newFile(t, c, &sdk.FileCreate{Name: "Book.pdf", Size: 5, Metadata: &sdk.Metadata{"kind": "book"}})
		for name, want := range map[string]struct {
			params sdk.ListFilesParams
			ids    []string
		}{
			"all, newest first": {sdk.ListFilesParams{}, []string{pending.ID, ready.ID}},
			"by status":         {sdk.ListFilesParams{Status: new(sdk.FileStatusReady)}, []string{ready.ID}},
			"by name":           {sdk.ListFilesParams{Q: new("course")}, []string{ready.ID}},
			"by metadata":       {sdk.ListFilesParams{Metadata: sdk.MetadataFilter{"kind": "book"}}, []string{pending.ID}},
		} {
			var found []string
			for f, err := range sdk.All(background, c.Files.List, &want.params) {
				if err != nil {
					t.Fatal(err)
				}
				found = append(found, f.ID)
			}
			if !slices.Equal(found, want.ids) {
				t.Errorf("%s: %v is found, %v is expected", name, found, want.ids)
			}
		}
	})
}
