package core

// Key is an Idempotency-Key as a request carries it.
type Key struct {
	Account     string   // its scope: the account, or the object of a public secret
	Key         string   // as sent
	Fingerprint [32]byte // of method, path, query and validated body
	External    bool     // the operation has an effect outside: only then may it commit in steps
}

// Answer is what a write request answered.
type Answer struct {
	Status int
	Body   []byte
}

// SealContext binds the sealed answer to its key.
func (k *Key) SealContext() string { return "answer\x00" + k.Account + "\x00" + k.Key }
