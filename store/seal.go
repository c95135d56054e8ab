package store

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
)

// Sealer encrypts secrets at rest with AES-256-GCM. Every sealed text names its key, so keys can be rotated.
type Sealer struct {
	seal sealKey
	open []sealKey
}

type sealKey struct {
	id   []byte
	aead cipher.AEAD
	mac  []byte // signs
}

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

// Seal encrypts text. The context, such as the owner's id, must be given again to open it, so that a sealed
// text is of no use in another row.
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

// sealed says whether a text names the key.
func (k sealKey) sealed(text []byte) bool {
	return len(text) >= sealKeyID && bytes.Equal(text[:sealKeyID], k.id)
}

// signatureSize is enough that nobody guesses one.
const signatureSize = 16

// Sign returns the signature of a text, always the same one.
func (s *Sealer) Sign(text string) []byte { return macOf(s.seal.mac, text)[:signatureSize] }

// Signed says whether a signature of the text was made with one of the keys.
func (s *Sealer) Signed(text string, signature []byte) bool {
	for _, key := range s.open {
		if hmac.Equal(signature, macOf(key.mac, text)[:signatureSize]) {
			return true
		}
	}
	return false
}

func macOf(key []byte, text string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}
