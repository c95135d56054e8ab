package harness

import (
	"context"
	"slices"
	"sync"

	"github.com/tillwright/tillwright/server/mail"
)

// Mailbox takes the mail of a server.
type Mailbox struct {
	mu      sync.Mutex
	letters []mail.Letter
}

// Send implements mail.Mailer.
func (m *Mailbox) Send(_ context.Context, l mail.Letter) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.letters = append(m.letters, l)
	return nil
}

// Letters returns what was sent so far.
func (m *Mailbox) Letters() []mail.Letter {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.letters)
}
