package view

import (
	"time"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/grant"
)

// File renders a file.
func File(f *grant.File) api.File {
	out := api.File{
		ID:             f.ID,
		Object:         "file",
		Name:           f.Name,
		Size:           f.Size,
		ContentType:    f.ContentType,
		SHA256:         f.SHA256,
		Version:        f.Version,
		Status:         api.FileStatus(f.Status),
		Upload:         nil,
		DownloadsCount: f.DownloadsCount,
		Metadata:       api.Metadata(f.Metadata.Text()),
		CreatedAt:      at(f.CreatedAt),
		UpdatedAt:      at(f.UpdatedAt),
	}
	if f.IsPending() && f.UploadID != nil {
		out.Upload = fileUpload(f.UploadURL, *f.UploadExpiresAt)
	}
	return out
}

// FileVersion renders a version of a file.
func FileVersion(v *grant.FileVersion) api.FileVersion {
	out := api.FileVersion{
		ID:          v.ID,
		Object:      "file_version",
		File:        v.FileID,
		Version:     v.Version,
		Size:        v.Size,
		ContentType: v.ContentType,
		SHA256:      v.SHA256,
		Status:      api.FileStatus(v.Status),
		Upload:      nil,
		TellBuyers:  v.TellBuyers,
		CreatedAt:   at(v.CreatedAt),
		UpdatedAt:   at(v.UpdatedAt),
	}
	if v.UploadExpiresAt != nil {
		out.Upload = fileUpload(v.UploadURL, *v.UploadExpiresAt)
	}
	return out
}

func fileUpload(url string, expiresAt core.Time) *api.FileUpload {
	return &api.FileUpload{
		Object: "file_upload", URL: url, Method: "PUT", Headers: map[string]string{"Content-Type": "application/octet-stream"}, ExpiresAt: at(expiresAt),
	}
}

// ListFiles reads the query of a list.
func ListFiles(q api.ListFilesParams) grant.ListFiles {
	return grant.ListFiles{
		Page:       Page(q.Limit, q.StartingAfter, q.EndingBefore),
		ListFilter: Filter(q.CreatedAfter, q.CreatedBefore, q.Q, q.Metadata),
		Status:     grant.FileStatus(value(q.Status)),
	}
}

// NewFile reads the body of a create.
func NewFile(b *api.FileCreate) grant.NewFile {
	return grant.NewFile{
		Name: b.Name, Metadata: metadata(b.Metadata),
		NewVersion: grant.NewVersion{Size: b.Size, ContentType: value(b.ContentType), SHA256: b.SHA256},
	}
}

// NewFileVersion reads the body of a create.
func NewFileVersion(b *api.FileVersionCreate) grant.NewVersion {
	return grant.NewVersion{Size: b.Size, ContentType: value(b.ContentType), SHA256: b.SHA256, TellBuyers: value(b.TellBuyers)}
}

// FileChange reads the body of a PATCH.
func FileChange(b *api.FileUpdate) func(*grant.File) {
	return func(f *grant.File) {
		set(&f.Name, b.Name)
		setMetadata(&f.Metadata, b.Metadata)
	}
}

// ExpiresIn reads for how long a URL shall open a file: an hour when it is absent.
func ExpiresIn(seconds *int64) time.Duration {
	if seconds == nil {
		return time.Hour
	}
	return time.Duration(*seconds) * time.Second
}
