package contract

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
		assert.EqualValues(t, "pending", made.Status, "the new file")
		require.NotNil(t, made.Upload, "the new file")
		assert.EqualValues(t, "PUT", made.Upload.Method, "the new file")
		assert.EqualValues(t, 1, made.Version, "the new file")
		assert.Equal(t, helloHash, *made.SHA256, "the new file")
		assert.Zero(t, made.DownloadsCount, "the new file")
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
			assert.EqualValues(t, "ready", done.Status, "the complete file")
			require.Nil(t, done.Upload, "the complete file")
			assert.Equal(t, helloHash, *done.SHA256, "the complete file")
			assert.EqualValues(t, 5, done.Size, "the complete file")
			assert.Equal(t, "text/plain", done.ContentType, "the complete file")
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
		assert.Equal(t, "b.zip", changed.Name, "the file")
		require.Len(t, changed.Metadata, 1, "the file")
		require.NotNil(t, changed.Upload, "the file")
		assert.Equal(t, made.Upload.URL, changed.Upload.URL, "the file")
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
		assert.EqualValues(t, 2, given.Version)
		assert.EqualValues(t, 3, second.Version)
		assert.EqualValues(t, "pending", second.Status)
		assert.NotNil(t, second.Upload)
		still := ok[*sdk.File](t)(c.Files.Get(background, made.ID))
		assert.EqualValues(t, 1, still.Version, "before it is complete the file")
		assert.EqualValues(t, 5, still.Size, "before it is complete the file")
		require.Nil(t, still.Upload, "before it is complete the file")
		assert.EqualValues(t, "ready", still.Status, "before it is complete the file")
		sendBytes(t, owner, second.Upload.URL, "hi")
		now := ok[*sdk.File](t)(c.Files.Complete(background, made.ID))
		assert.EqualValues(t, 3, now.Version, "the file")
		assert.EqualValues(t, 2, now.Size, "the file")
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
		gone := ok[*sdk.Deleted](t)(c.Files.Delete(background, made.ID))
		assert.Equal(t, made.ID, gone.ID, "the confirmation")
		assert.Equal(t, "file", gone.Object, "the confirmation")
		_, err := c.Files.Get(background, made.ID)
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")
		u, _ := url.Parse(made.Upload.URL)
		response, err := http.Get(owner.URL + u.Path)
		require.NoError(t, err)
		assert.Equal(t, http.StatusGone, response.StatusCode)
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
