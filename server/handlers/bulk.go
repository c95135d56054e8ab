package handlers

import (
	"context"
	"errors"

	"github.com/tillwright/tillwright/server/caller"
	"github.com/tillwright/tillwright/store/core"
)

// refusals returns what is wrong with items of the body, by their places. The others are as they should be.
func refusals(ctx context.Context) map[int]*core.Error {
	refused := map[int]*core.Error{}
	for at, item := range caller.Of(ctx).Refused {
		var e *core.Error
		if errors.As(item.Err, &e) {
			refused[at] = e
		}
	}
	return refused
}
