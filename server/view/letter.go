package view

import (
	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/sdk/wire"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/tenant"
)

// Letter renders a letter.
func Letter(l *store.Letter) api.Letter {
	return api.Letter{
		ID:            l.ID,
		Object:        "letter",
		Kind:          api.LetterKind(l.Kind),
		Status:        api.LetterStatus(l.Status),
		Customer:      wire.RefTo(l.CustomerID),
		To:            l.Recipient,
		About:         api.LetterSubject{Object: string(l.Object()), ID: l.ObjectID},
		Subject:       l.Subject,
		Attempts:      l.Attempts,
		Resends:       l.Resends,
		LastError:     l.LastError,
		NextAttemptAt: atOrNull(l.NextAt()),
		SentAt:        atOrNull(l.SentAt),
		CreatedAt:     at(l.CreatedAt),
		UpdatedAt:     at(l.UpdatedAt),
	}
}

// ListLetters reads the query of a list.
func ListLetters(q api.ListLettersParams) store.ListLetters {
	return store.ListLetters{
		Page:       Page(q.Limit, q.StartingAfter, q.EndingBefore),
		ListFilter: Filter(q.CreatedAfter, q.CreatedBefore, nil, nil),
		Kind:       tenant.LetterKind(value(q.Kind)),
		Status:     store.LetterStatus(value(q.Status)),
		Customer:   value(q.Customer),
	}
}
