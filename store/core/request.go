package core

// Strangers stands for the account of a request of which no account is known, such as that of a buyer on a page.
const Strangers = "*"

// Key is the Idempotency-Key of a request.
type Key struct {
	Account     string   // within which the key is unique: the account, or the object that a public secret opens
	Key         string   // as sent
	Fingerprint [32]byte // of method, path, query and validated body
	External    bool     // the operation has an effect outside: only then may it commit in steps
	Keyless     bool     // the request came without an API key
	Sent        int      // bytes of the body
}

// Answer is the answer to a write request.
type Answer struct {
	Status int
	Body   []byte
}

// SealContext returns the context under which the answer is sealed, so that it opens for no other key.
func (k *Key) SealContext() string { return "answer\x00" + k.Account + "\x00" + k.Key }
