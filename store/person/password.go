package person

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"

	"github.com/tillwright/tillwright/store/core"
)

// What hashing a password takes, after OWASP's Password Storage Cheat Sheet: 19 MiB of memory and two passes.
const (
	passwordMemory = 19 << 10 // KiB
	passwordPasses = 2
	passwordLength = 32
	passwordWait   = 2 * time.Second
)

// Hasher hashes passwords, only so many at a time: each takes memory, and anybody may ask. It is safe for concurrent use.
type Hasher struct {
	places chan struct{}
	memory uint32 // KiB
}

// NewHasher returns a Hasher that hashes four passwords at a time.
func NewHasher() *Hasher { return &Hasher{make(chan struct{}, 4), passwordMemory} }

// NewQuickHasher returns a Hasher for tests: who has its hashes guesses the passwords soon.
func NewQuickHasher() *Hasher { return &Hasher{make(chan struct{}, 4), 64} }

// CheckPassword returns CodeInvalid for a password that is too short, or too easily guessed, for somebody with that address.
func CheckPassword(password, email string) error {
	name, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(email)), "@")
	lower := strings.ToLower(password)
	switch {
	case !utf8.ValidString(password) || utf8.RuneCountInString(password) < 10:
		return core.Invalid("password", "Choose a password of at least 10 characters.")
	case len(password) > 1000:
		return core.Invalid("password", "Choose a password of at most 1000 bytes.")
	case isEasy(lower), len(name) > 3 && len(strings.Replace(lower, name, "", 1)) < 6 && strings.Contains(lower, name):
		return core.Invalid("password", "This password is easily guessed. Choose another one, such as four words that do not belong together.")
	}
	return nil
}

// isEasy reports whether a password consists of little but one of the runs and words with which guessing begins. One of few characters again and
// again is easy too.
func isEasy(password string) bool {
	for _, run := range []string{"01234567890", "09876543210", "1234567890", "qwertyuiop", "qwertzuiop", "azertyuiop", "asdfghjkl", "zxcvbnm", "1q2w3e4r5t", "1qaz2wsx3edc", "abcdefghijklmnopqrstuvwxyz",
		"password", "passwort", "passw0rd", "p@ssword", "letmein", "iloveyou", "welcome", "changeme", "football", "baseball", "sunshine", "superman", "tillwright", "princess", "trustno1", "dragon", "monkey", "master", "administrator"} {
		rest := password
		for size := len(run); size >= 4; size-- {
			rest = strings.ReplaceAll(rest, run[:size], "")
		}
		if len(rest) < 5 {
			return true
		}
	}
	distinct := map[rune]bool{}
	for _, r := range password {
		distinct[r] = true
	}
	return len(distinct) < 5
}

// Hash returns the hash of a password in PHC format. It returns CodeRateLimit if no place comes free within two seconds.
func (h *Hasher) Hash(ctx context.Context, password string) (string, error) {
	var salt [16]byte
	if _, err := rand.Read(salt[:]); err != nil {
		return "", err
	}
	key, err := h.key(ctx, password, salt[:])
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=1$%s$%s", argon2.Version, h.memory, passwordPasses,
		base64.RawStdEncoding.EncodeToString(salt[:]), base64.RawStdEncoding.EncodeToString(key)), nil
}

// Matches reports whether a password has a hash. For an empty hash, of somebody who does not exist, it takes as long and says no.
func (h *Hasher) Matches(ctx context.Context, password, hash string) (bool, error) {
	parts := strings.Split(hash, "$")
	salt, want := make([]byte, 16), make([]byte, passwordLength)
	if len(parts) == 6 {
		var errs [2]error
		salt, errs[0] = base64.RawStdEncoding.DecodeString(parts[4])
		want, errs[1] = base64.RawStdEncoding.DecodeString(parts[5])
		if errs[0] != nil || errs[1] != nil {
			return false, fmt.Errorf("the stored hash of a password cannot be read")
		}
	}
	key, err := h.key(ctx, password, salt)
	return err == nil && len(parts) == 6 && subtle.ConstantTimeCompare(key, want) == 1, err
}

func (h *Hasher) key(ctx context.Context, password string, salt []byte) ([]byte, error) {
	wait := time.NewTimer(passwordWait)
	defer wait.Stop()
	select {
	case h.places <- struct{}{}:
		defer func() { <-h.places }()
		return argon2.IDKey([]byte(password), salt, passwordPasses, h.memory, 1, passwordLength), nil
	case <-wait.C:
		return nil, &core.Error{Code: core.CodeRateLimit, After: passwordWait, Message: "Too many people sign in at the moment. Try again in a few seconds."}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
