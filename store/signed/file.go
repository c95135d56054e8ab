package signed

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	"github.com/tillwright/tillwright/store/core"
)

// urlLifetime is how long a signed URL opens what it was made for.
const urlLifetime = time.Hour

// FileKind says what a signed URL opens.
type FileKind string

// The kinds of files.
const (
	FileKindInvoice FileKind = "invoice" // the one with the id, as PDF
	FileKindReceipt FileKind = "receipt" // of the order with the id, as PDF
	FileKindList    FileKind = "list"    // the one with the name, as CSV
	FileKindStored  FileKind = "stored"  // the version with the number of the stored file with the id
)

// File says what a signed URL opens. Nothing is stored for it: a document is written when it is fetched, as things stand then.
type File struct {
	Kind        FileKind `json:"kind"`
	Account     string   `json:"account"`
	ID          string   `json:"id,omitempty"`
	LinkVersion int64    `json:"link_version,omitempty"` // of the order or invoice: another one ends the URL
	Version     int64    `json:"version,omitempty"`      // of the stored file
	Grant       string   `json:"grant,omitempty"`        // by which a buyer has it; empty for the seller

	List      string          `json:"list,omitempty"`
	Key       string          `json:"key,omitempty"`    // which asked for the list, and has to serve still
	Scopes    []string        `json:"scopes,omitempty"` // and to have these
	Query     json.RawMessage `json:"query,omitempty"`  // the parameters of that list, as its operation has them
	ExpiresAt core.Time       `json:"expires_at"`
}

// IsBuyers reports whether a buyer was given the URL, and not only the seller.
func (f *File) IsBuyers() bool {
	return f.Kind == FileKindInvoice || f.Kind == FileKindReceipt || f.Grant != ""
}

// URL opens a file to whoever has it, without a key, until it expires.
type URL struct {
	URL       string
	ExpiresAt core.Time
}

// fileContext is the context under which the tokens of files are sealed, so that nothing else that is sealed can serve as one.
const fileContext = "file"

// Encoding encodes tokens. Being strict it accepts one text for each token, apart from line breaks in it.
var Encoding = base64.RawURLEncoding.Strict()

// Sign returns a URL that opens a file for urlLifetime. The caller has checked that the account may see the file.
func (s *Store) Sign(f File) (*URL, error) { return s.SignFor(f, urlLifetime) }

// SignFor returns a URL that opens a file for some time. The URL contains the whole File, sealed, so that nobody else can read it, change
// it or make one.
func (s *Store) SignFor(f File, lifetime time.Duration) (*URL, error) {
	f.ExpiresAt = s.db.Now().Add(lifetime)
	text, err := json.Marshal(f)
	if err != nil {
		return nil, fmt.Errorf("sign file: %w", err)
	}
	token := Encoding.EncodeToString(s.db.Options.Sealer.Seal(text, fileContext))
	return &URL{URL: s.db.Options.PublicURL + "/files/" + token, ExpiresAt: f.ExpiresAt}, nil
}

// Open returns the file that the token of a signed URL opens. A token that was not made here is CodeMissing. If its time is
// over, expired is true.
func (s *Store) Open(token string) (file *File, expired bool, err error) {
	sealed, err := Encoding.DecodeString(token)
	if err != nil || Encoding.EncodeToString(sealed) != token { // decoding steps over line breaks
		return nil, false, core.Missing("file", "", "")
	}
	text, err := s.db.Options.Sealer.Open(sealed, fileContext)
	if err != nil {
		return nil, false, core.Missing("file", "", "")
	}
	file = &File{}
	if err := json.Unmarshal(text, file); err != nil {
		return nil, false, fmt.Errorf("read file token: %w", err)
	}
	return file, file.ExpiresAt <= s.db.Now(), nil
}
