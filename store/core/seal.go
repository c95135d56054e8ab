package core

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Sealer encrypts secrets at rest with AES-256-GCM. Every sealed text names its key, so keys can be rotated.
type Sealer struct {
	seal sealKey
	open []sealKey
}

type sealKey struct {
	id   []byte
	aead cipher.AEAD
	mac  []byte // the key that signs
}

// sealKeyID is how many bytes of a sealed text name its key.
const sealKeyID = 4

// ErrSealed says that a sealed text cannot be opened: its key is not among ours, or it was tampered with.
var ErrSealed = errors.New("store: sealed text cannot be opened with the configured secret keys")

// NewSealer takes 32-byte keys. The first one seals, all of them open.
func NewSealer(keys ...[]byte) (*Sealer, error) {
	if len(keys) == 0 {
		return nil, errors.New("store: a sealer needs a key")
	}
	s := &Sealer{}
	for _, key := range keys {
		if len(key) != 32 {
			return nil, fmt.Errorf("store: a secret key has 32 bytes, this one %d", len(key))
		}
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, err
		}
		aead, err := cipher.NewGCM(block)
		if err != nil {
			return nil, err
		}
		id := sha256.Sum256(append([]byte("tillwright key id\x00"), key...))
		s.open = append(s.open, sealKey{id: id[:sealKeyID], aead: aead, mac: macOf(key, "tillwright signing key")})
	}
	s.seal = s.open[0]
	return s, nil
}

// Seal encrypts text. The context, such as the owner's id, must be given again to open it. So a sealed text is of no use in another row.
func (s *Sealer) Seal(text []byte, context string) []byte {
	nonceSize := s.seal.aead.NonceSize()
	sealed := make([]byte, sealKeyID+nonceSize, sealKeyID+nonceSize+len(text)+s.seal.aead.Overhead())
	copy(sealed, s.seal.id)
	if _, err := rand.Read(sealed[sealKeyID:]); err != nil {
		panic(err) // crypto/rand does not fail on a supported system
	}
	return s.seal.aead.Seal(sealed, sealed[sealKeyID:], text, []byte(context))
}

// Open decrypts what Seal made, or returns ErrSealed.
func (s *Sealer) Open(sealed []byte, context string) ([]byte, error) {
	for _, key := range s.open {
		start := sealKeyID + key.aead.NonceSize()
		if len(sealed) < start || !key.sealed(sealed) {
			continue
		}
		if text, err := key.aead.Open(nil, sealed[sealKeyID:start], sealed[start:], []byte(context)); err == nil {
			return text, nil
		}
	}
	return nil, ErrSealed
}

// sealed reports whether a sealed text says that it was sealed with this key.
func (k sealKey) sealed(text []byte) bool {
	return len(text) >= sealKeyID && bytes.Equal(text[:sealKeyID], k.id)
}

// SignatureSize is the length of a signature in bytes: enough that nobody guesses one.
const SignatureSize = 16

// Sign returns the signature of a text with the newest key. The same text has the same signature.
func (s *Sealer) Sign(text string) []byte { return macOf(s.seal.mac, text)[:SignatureSize] }

// Signed reports whether one of the keys made the signature of the text.
func (s *Sealer) Signed(text string, signature []byte) bool {
	for _, key := range s.open {
		if hmac.Equal(signature, macOf(key.mac, text)[:SignatureSize]) {
			return true
		}
	}
	return false
}

// macOf returns the HMAC-SHA-256 of a text.
func macOf(key []byte, text string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}

// Ours returns the key ids with which sealed texts begin that we can open, as arguments of a query. It also returns the placeholders for them in
// brackets.
func (s *Sealer) Ours() (keys []any, parameters string) {
	keys = make([]any, len(s.open))
	for i, key := range s.open {
		keys[i] = key.id
	}
	return keys, `(?` + strings.Repeat(`, ?`, len(keys)-1) + `)`
}

// Knows reports whether a text says that it was sealed with one of the keys.
func (s *Sealer) Knows(sealed []byte) bool {
	return slices.ContainsFunc(s.open, func(key sealKey) bool { return key.sealed(sealed) })
}

// IsNewest reports whether a text says that it was sealed with the newest key, which is the one that seals.
func (s *Sealer) IsNewest(sealed []byte) bool { return s.seal.sealed(sealed) }

// NotOurs returns the error for a database that was sealed with another key. It names keys by their ids, which tell nothing
// about them.
func (s *Sealer) NotOurs(sealed []byte) *SecretKeyError {
	e := &SecretKeyError{}
	for _, key := range s.open {
		e.Have = append(e.Have, hex.EncodeToString(key.id))
	}
	if len(sealed) >= sealKeyID {
		e.Want = hex.EncodeToString(sealed[:sealKeyID])
	}
	return e
}

// SecretKeyError says that our secret keys are not those of the database, because its contents were sealed with another one.
// Nobody may serve it like that. Webhooks could not be signed, and what is sealed from now on could not be opened by any other server.
type SecretKeyError struct {
	Have []string // the ids of our keys
	Want string   // the id of the key that opens the database, empty if it is not known
	File string   // the file that our key was read from, empty if it was configured
}

// Error says which key is missing and what to do about it.
func (e *SecretKeyError) Error() string {
	want, have := "another key", "TILLWRIGHT_SECRET_KEY holds "+strings.Join(e.Have, ", ")
	advice := "Set it to the key that the database was served with before, which a new one may stand in front of: new,old."
	if e.Want != "" {
		want = "the key " + e.Want
	}
	if e.File != "" {
		have = e.File + ", which is made where it is missing, holds " + strings.Join(e.Have, ", ")
		advice = "Put the file back that was there when the database was served before, or set TILLWRIGHT_SECRET_KEY to what was in it."
	}
	return fmt.Sprintf("the secret key is not the one of this database, which is sealed with %s, while %s. %s "+
		"If that key was a mistake and nothing is sealed with it yet, stop all servers and run `tillwright secret adopt`; if it is lost, `tillwright secret adopt --help` says what is lost with it",
		want, have, advice)
}
