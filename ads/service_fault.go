package ads

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// retryAfter is how long a caller is told to wait if the network did not say how long.
const retryAfter = 30 * time.Second

// refusal returns the answer to a request that the network refused. It returns nil for an error that is no answer: the
// network is out of order, or nobody knows what it did. The argument object names what was asked for.
func refusal(platform advert.Platform, object string, err error) *core.Error {
	var limited *RateLimited
	var rejected *Rejected
	switch {
	case errors.As(err, &limited):
		return &core.Error{
			Code: core.CodeRateLimit, Param: "platform", After: cmp.Or(limited.After, retryAfter),
			Message: fmt.Sprintf("%s takes no more requests for now. Send the request again later.", platform),
		}
	case errors.As(err, &rejected):
		return rejection(platform, rejected)
	case errors.Is(err, ErrUnauthorized):
		return notActivated(fmt.Sprintf("%s does not accept the channel's access any more. Send a new token to PATCH /socials/{id}, or connect it again with POST /socials; it stays the same channel.", platform))
	case errors.Is(err, ErrForbidden):
		return &core.Error{Code: core.CodePermission, Param: "account_id", Message: fmt.Sprintf(
			"The channel's access to %s does not reach this (%s). Give it the permission there, or connect the channel again with POST /socials.", platform, err)}
	case errors.Is(err, ErrOperator):
		return &core.Error{Code: codeUnavailable, Message: fmt.Sprintf(
			"%s refuses the app of this installation. Nothing was changed; whoever runs the server has to look at its log and at tillwright doctor.", platform)}
	case errors.Is(err, ErrNotFound):
		return &core.Error{Code: core.CodeMissing, Message: fmt.Sprintf("%s has no such %s any more.", platform, object)}
	case errors.Is(err, ErrUnsupported):
		return core.Invalid("platform", fmt.Sprintf("%s cannot do this.", platform))
	}
	return nil
}

// rejection returns the network's own words as an answer. The fault is with the field that the network names, and with
// the platform, because another one might take it.
func rejection(platform advert.Platform, r *Rejected) *core.Error {
	message := fmt.Sprintf("%s refused: %s", platform, r.Message)
	refused := &core.Error{
		Code: core.CodeInvalid, Param: "platform", Message: message, Fields: map[string][]string{"platform": {message}},
	}
	if r.Field != "" {
		refused.Param, refused.Fields[r.Field] = r.Field, []string{message}
	}
	return refused
}

// notActivated returns the error for a channel that cannot be used for ads.
func notActivated(message string) *core.Error {
	return &core.Error{Code: core.CodeNotActivated, Param: "account_id", Message: message}
}

// unanswered returns the answer to a request that the network refused. Any other error it wraps so that its kind is
// hidden, because a failure of the network must not free a request's key. The message says that it is the network which
// does not answer.
func unanswered(platform advert.Platform, what string, err error) error {
	if refused := refusal(platform, what, err); refused != nil {
		return refused
	}
	if errors.Is(err, ErrUnavailable) || errors.Is(err, ErrIndeterminate) || errors.Is(err, context.DeadlineExceeded) {
		silent := &core.Error{Code: codeUnavailable, Outcome: core.Unknown, Message: fmt.Sprintf("%s did not answer. Send the request again later.", platform)}
		return fmt.Errorf("%w (%w)", core.NewUnknownError(what, err), silent)
	}
	return core.NewUnknownError(fmt.Sprintf("%s: %s", platform, what), err)
}

// isTransient reports whether the same request may succeed later.
func isTransient(err error) bool {
	var limited *RateLimited
	return errors.As(err, &limited) || errors.Is(err, ErrUnavailable) || errors.Is(err, ErrIndeterminate) || errors.Is(err, errNotAsked)
}

// longestReason is how many characters of a network's words are kept as a channel's last error.
const longestReason = 500

// reason returns what is kept of a network's refusal as the last error of a channel. Drivers leave tokens out of their errors.
func reason(err error) string {
	text := []rune(strings.ToValidUTF8(err.Error(), ""))
	return string(text[:min(len(text), longestReason)])
}
