package ads

import (
	"errors"
	"fmt"
	"strconv"
	"time"
)

// What a network can answer besides *RateLimited and *Rejected. Drivers wrap them with what they know.
var (
	// ErrUnauthorized says that the channel's token is not accepted (any more).
	ErrUnauthorized = errors.New("the network does not accept the channel's access")
	// ErrForbidden says that the channel's access does not reach this: a permission, a role or a contract is missing. Nothing was
	// changed.
	ErrForbidden = errors.New("the channel's access does not reach this")
	// ErrOperator says that the network refuses the app of this installation, whatever is asked for. Nothing was changed.
	ErrOperator = errors.New("the network refuses this installation's app")
	// ErrNotFound says that the network has no such thing.
	ErrNotFound = errors.New("the network has no such thing")
	// ErrIndeterminate says that nobody knows whether a write took place. It must not be sent again before Find.
	ErrIndeterminate = errors.New("the network did not say whether it did what it was asked for")
	// ErrUnavailable says that the network is out of order and, of a write, that nothing was changed.
	ErrUnavailable = errors.New("the network is not available")
	// ErrUnsupported says that the network cannot do this at all.
	ErrUnsupported = errors.New("the network cannot do this")
)

// RateLimited says that the network takes no more requests for a while. Nothing was changed.
type RateLimited struct {
	After time.Duration // when to ask again, as Pause has it; 0 if the network did not say
}

// Error says how long to wait.
func (e *RateLimited) Error() string {
	return fmt.Sprintf("the network takes no more requests for %s", e.After)
}

// longestBlock is how long a network is taken to ask for at most.
const longestBlock = 24 * time.Hour

// Pause is a network's count of units as a time, from 0 to a day: what it sends may be any number.
func Pause(count int64, unit time.Duration) time.Duration {
	return time.Duration(min(max(0, count), int64(longestBlock/unit))) * unit
}

// PauseSeconds is Pause for a header that counts seconds. It is 0 if the text is no number.
func PauseSeconds(text string) time.Duration {
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0
	}
	return Pause(seconds, time.Second)
}

// Rejected says that the network refused a write because of what it asks for. Nothing was changed.
type Rejected struct {
	Field   string // our name of the field at fault, empty if the network did not say
	Message string // the network's words, without tokens
	Raw     string // its code or type, for the audit trail; without tokens
}

// Error returns the network's words.
func (e *Rejected) Error() string { return "the network refused: " + e.Message }
