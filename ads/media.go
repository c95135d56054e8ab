package ads

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// NamedCreative is one of several ads that are made together.
type NamedCreative struct {
	Name     string          `json:"name"`
	Creative advert.Creative `json:"creative"`
}

// AdPlan is one ad of a plan, with the token that is left on it.
type AdPlan struct {
	NamedCreative
	Token string
}

// Ads returns the ads that a plan makes. The first one has the plan's own token, and is made last: if it is there, all are.
func (p *Plan) Ads() []AdPlan {
	if len(p.Creatives) == 0 {
		return []AdPlan{{NamedCreative{p.Name, p.Creative}, p.Token}}
	}
	all := make([]AdPlan, len(p.Creatives))
	for i, one := range p.Creatives {
		all[i] = AdPlan{one, AdToken(p.Token, i)}
	}
	return all
}

// MaxAds is how many ads one plan makes at most.
const MaxAds = 10

// AdToken returns the token of the ad at an index of a plan with a token.
func AdToken(token string, index int) string {
	if index == 0 {
		return token
	}
	sum := sha256.Sum256([]byte(token + " ad " + strconv.Itoa(index)))
	return core.KindAdAction.Prefix() + core.TokenEncoding.EncodeToString(sum[:16])
}

// AdTokens returns the tokens that the ads of a plan with a token can have, that of the first ad first.
func AdTokens(token string) []string {
	tokens := make([]string, MaxAds)
	for i := range tokens {
		tokens[i] = AdToken(token, i)
	}
	return tokens
}

// Videos returns the addresses of the videos that the ads of a plan show, each once.
func (p *Plan) Videos() []string {
	var addresses []string
	for _, ad := range p.Ads() {
		addresses = append(addresses, ad.Creative.Videos()...)
	}
	slices.Sort(addresses)
	return slices.Compact(addresses)
}

// Media are videos that were brought to a network, its id of each by the address that it came from.
type Media map[string]string

// uploads says how far an action has come that needs videos. It is a part of the action's plan.
type uploads struct {
	Media Media `json:"media,omitempty"`
	// Asked says that the videos were there and the network was asked for the rest, which it may have done.
	Asked bool `json:"asked,omitempty"`
}

const (
	// mediaTime is how long a call waits for a network to be through with videos. What follows needs its time, too.
	mediaTime = 3 * time.Second
	// mediaPause is for how long the reconciler leaves an action alone that waits for a video: the caller goes on with it.
	mediaPause = 30 * time.Minute
	// mediaRetry is how long a caller is told to wait for a video.
	mediaRetry = 5 * time.Second
)

// errMedia says that a network is not through with a video yet. Nothing that spends was asked for.
var errMedia = errors.New("the network is not through with the video")

// ready brings videos to the network of an action and returns once it can show all of them. If that takes longer than a call may, the error is
// errMedia. It stores each id as soon as it is known. In the end it stores that the network is going to be asked for the rest. The function plan
// returns the action's plan with what was done so far.
func (s *Service) ready(ctx context.Context, l *line, action *advert.Action, addresses []string, u *uploads, plan func() advert.Object) error {
	if len(addresses) == 0 || u.Asked {
		return nil
	}
	began := time.Now()
	for _, address := range addresses {
		if u.Media[address] != "" {
			continue
		}
		id, err := l.UploadVideo(ctx, l.conn, action.AdAccountID, address)
		if err != nil {
			return harmless(err)
		}
		if u.Media == nil {
			u.Media = Media{}
		}
		u.Media[address] = id
		if err := s.store.NotePlan(ctx, action.AccountID, action.ID, plan()); err != nil {
			return err
		}
	}
	if err := l.awaitVideos(ctx, action.AdAccountID, slices.Sorted(maps.Values(u.Media)), began.Add(mediaTime)); err != nil {
		return err
	}
	u.Asked = true
	return s.store.NotePlan(ctx, action.AccountID, action.ID, plan())
}

// awaitVideos waits until the network can show videos, or `until`, after which the error is errMedia.
func (l *line) awaitVideos(ctx context.Context, adAccount string, ids []string, until time.Time) error {
	for wait := 100 * time.Millisecond; ; wait *= 2 {
		for len(ids) > 0 {
			done, err := l.VideoReady(ctx, l.conn, adAccount, ids[0])
			if err != nil {
				return waiting(err)
			}
			if !done {
				break
			}
			ids = ids[1:]
		}
		switch {
		case time.Now().Add(wait).After(until): // whatever was uploaded just now took the time of the rest
			return errMedia
		case len(ids) == 0:
			return nil
		}
		time.Sleep(wait)
	}
}

// harmless returns the error of an upload as one after which nothing was changed: a video alone spends nothing.
func harmless(err error) error {
	if errors.Is(err, ErrIndeterminate) {
		return fmt.Errorf("upload a video: %w: %s", ErrUnavailable, err.Error())
	}
	return err
}

// waiting returns the error of a question about a video as errMedia, unless the network refuses the video for good.
func waiting(err error) error {
	var rejected *Rejected
	if errors.As(err, &rejected) || errors.Is(err, ErrUnauthorized) || errors.Is(err, ErrForbidden) || errors.Is(err, ErrNotFound) {
		return err
	}
	return fmt.Errorf("%w: %w", errMedia, err)
}

// processing leaves an action to the request that comes again with its Idempotency-Key, and returns the answer that says so. Without a
// key nobody can go on with it: it is over, and what was set aside for it is free again.
func (s *Service) processing(ctx context.Context, action *advert.Action, cause error) error {
	answer := &core.Error{
		Code: core.CodeMedia, Outcome: core.Unknown, After: mediaRetry,
		Message: fmt.Sprintf("%s is not through with the video. Nothing else was done yet: send the request again with the same Idempotency-Key after the time in Retry-After.", action.Platform),
	}
	var limited *RateLimited
	if errors.As(cause, &limited) {
		answer.After = max(limited.After, mediaRetry)
	}
	if !advert.HasKey(ctx) {
		answer.Outcome = core.Refused
		answer.Message = fmt.Sprintf("%s is not through with the video, and nothing else was done. Send the request with an Idempotency-Key: sent again with the same one, it goes on with the video.", action.Platform)
		_, err := s.store.SettleAction(ctx, action.AccountID, action.ID, advert.Outcome{State: advert.ActionRefused, Failure: failureOf(answer)})
		return cmp.Or(err, error(answer))
	}
	if err := s.store.YieldAction(ctx, action.AccountID, action.ID, mediaPause, failureOf(answer)); err != nil {
		return core.NewUnknownError("wait for the video of action "+action.ID, err)
	}
	return answer
}
