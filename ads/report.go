package ads

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// Reported is a row of the mirror with the state and the figures of some days that its network reports now.
type Reported[T any] struct {
	Row      T
	Status   advert.Status   // of delivery, now
	Metrics  *advert.Metrics // nil if the network was not asked, or did not answer
	Days     Days            // the days of the metrics
	SyncedAt core.Time       // as of when figures and state are
	Warnings []string        // what was sent and the network has no use for
}

// ShownCampaign is a campaign as lists and reads show it.
type ShownCampaign = Reported[advert.Campaign]

// ShownAdGroup is an ad group as lists and reads show it.
type ShownAdGroup = Reported[advert.Group]

// ShownAd is an ad as lists and reads show it.
type ShownAd = Reported[advert.Ad]

// subject is a row that a network is asked about, with pointers to the fields that the answer changes.
type subject struct {
	account         string
	channel         string
	adAccountID     string
	adAccount       *advert.Account // nil if the mirror does not have it
	platform        advert.Platform
	id              string
	configured      *advert.Configured
	status          *advert.Status
	review          *advert.Review
	platformStatus  *string
	rejectionReason *string
	syncedAt        *core.Time
	statusAt        func(core.Time) advert.Status
}

// campaignSubject returns the subject for a campaign.
func campaignSubject(c *advert.Campaign) subject {
	return subject{
		c.AccountID, c.ChannelID, c.AdAccountID, c.AdAccount, c.Platform, c.PlatformID, &c.ConfiguredStatus, &c.Status, &c.ReviewStatus,
		&c.PlatformStatus, &c.RejectionReason, &c.SyncedAt, c.StatusAt,
	}
}

// groupSubject returns the subject for an ad group.
func groupSubject(g *advert.Group) subject {
	return subject{
		g.AccountID, g.ChannelID, g.AdAccountID, g.AdAccount, g.Platform, g.PlatformID, &g.ConfiguredStatus, &g.Status, &g.ReviewStatus,
		&g.PlatformStatus, &g.RejectionReason, &g.SyncedAt, g.StatusAt,
	}
}

// adSubject returns the subject for an ad.
func adSubject(a *advert.Ad) subject {
	return subject{
		a.AccountID, a.ChannelID, a.AdAccountID, a.AdAccount, a.Platform, a.PlatformID, &a.ConfiguredStatus, &a.Status, &a.ReviewStatus,
		&a.PlatformStatus, &a.RejectionReason, &a.SyncedAt, a.StatusAt,
	}
}

// place returns the ad account in which the row is: one call asks about all rows in it.
func (b *subject) place() reportPlace { return reportPlace{b.channel, b.adAccountID} }

// days returns the first and the last day of a window, where the network counts the days of the row.
func (b *subject) days(w window, now core.Time) (from, to Date) {
	return w.in(CapsOf(b.platform).Figures.zone(b.adAccount), now)
}

// state returns what a report says about the state of a thing. If its lifetime budget is used up, it is completed,
// whatever the network calls it.
func (r *Report) state(id string) advert.State {
	state := advert.State{
		PlatformID: id, Configured: r.Configured, Status: r.Status, Review: r.Review, PlatformStatus: r.PlatformStatus,
		RejectionReason: r.RejectionReason,
	}
	if r.BudgetSpent && !r.Status.IsTerminal() {
		state.Status = advert.StatusCompleted
	}
	return state
}

// apply writes a state that was heard at a time to the row, and reports whether anything in it is new.
func (b *subject) apply(state advert.State, as core.Time) (changed bool) {
	changed = set(b.configured, state.Configured)
	changed = set(b.status, state.Status) || changed
	changed = set(b.review, state.Review) || changed
	changed = set(b.platformStatus, state.PlatformStatus) || changed
	if *b.rejectionReason != state.RejectionReason {
		*b.rejectionReason, changed = state.RejectionReason, true
	}
	*b.syncedAt = max(as, *b.syncedAt)
	return changed
}

// set overwrites a value with one that is not empty.
func set[T ~string](value *T, heard T) (changed bool) {
	if heard == "" || heard == *value {
		return false
	}
	*value = heard
	return true
}

// maxReports is how many ad accounts are asked at once.
const maxReports = 4

// reportPlace is an ad account as a channel sees it.
type reportPlace struct{ channel, adAccount string }

// inquiry says what networks are asked about rows.
type inquiry struct {
	account string
	level   advert.Level
	window  window
	// apart says that the caller did not name a channel: if one network fails, the rows of the others are still shown.
	apart bool
}

// reportList does the work of report for a page of a list.
func reportList[T any](ctx context.Context, s *Service, q inquiry, rows *advert.List[T], of func(*T) subject) (*advert.List[Reported[T]], error) {
	shown, err := report(ctx, s, q, rows.Items, of)
	if err != nil {
		return nil, err
	}
	return &advert.List[Reported[T]]{Items: shown, HasMore: rows.HasMore, NextCursor: rows.NextCursor}, nil
}

// reportOne does the work of report for one row.
func reportOne[T any](ctx context.Context, s *Service, q inquiry, row *T, of func(*T) subject) (*Reported[T], error) {
	shown, err := report(ctx, s, q, []T{*row}, of)
	if err != nil {
		return nil, err
	}
	return &shown[0], nil
}

// report asks the networks about rows of one level, once for each ad account. It returns the rows in their order with
// their state and figures. What is new about the states is stored in the mirror.
func report[T any](ctx context.Context, s *Service, q inquiry, rows []T, of func(*T) subject) ([]Reported[T], error) {
	places, order := map[reportPlace][]subject{}, []reportPlace(nil)
	subjects := make([]subject, len(rows))
	for i := range rows {
		b := of(&rows[i])
		subjects[i] = b
		if places[b.place()] == nil {
			order = append(order, b.place())
		}
		places[b.place()] = append(places[b.place()], b)
	}
	asked := s.store.Now()
	heard, err := s.reports(ctx, q, order, places)
	if err != nil {
		return nil, err
	}
	pasts, err := s.pasts(ctx, q, order, places, asked)
	if err != nil {
		return nil, err
	}
	below, err := s.below(ctx, q.account, q.level, subjects)
	if err != nil {
		return nil, err
	}
	shown := make([]Reported[T], len(rows))
	changed := map[advert.Platform][]advert.State{}
	for i, b := range subjects {
		said, answered := heard[b.place()]
		r, known := said[b.id]
		state := r.state(b.id)
		state.Seen = *b.syncedAt
		if decides, ok := below[b.platform][b.id]; ok && state.Status == advert.StatusActive {
			state.Status = decides
		}
		if known && b.apply(state, cmp.Or(r.SyncedAt, asked)) {
			changed[b.platform] = append(changed[b.platform], state)
		}
		shown[i] = shownAs(rows[i], &b, q.window, asked)
		if answered {
			shown[i].Metrics = &r.Metrics
		}
		if past := pasts[b.place()]; past != nil {
			shown[i].Metrics, shown[i].Days = past.with(b.id, shown[i].Metrics, shown[i].Days)
		}
	}
	for platform, states := range changed {
		if err := s.store.RecordStates(ctx, q.account, platform, q.level, states, asked); err != nil {
			return nil, err
		}
	}
	return shown, nil
}

// below returns the states that rows get from the ads below them, because networks call something active even when all
// of its ads were rejected.
func (s *Service) below(ctx context.Context, account string, level advert.Level, subjects []subject) (map[advert.Platform]map[string]advert.Status, error) {
	if level == advert.LevelAd || len(subjects) == 0 {
		return nil, nil
	}
	ids := make([]string, len(subjects))
	for i, b := range subjects {
		ids[i] = b.id
	}
	return s.store.StatusBelow(ctx, account, level, ids)
}

// shownAs returns a row as the mirror has it, without figures.
func shownAs[T any](row T, b *subject, w window, now core.Time) Reported[T] {
	from, to := b.days(w, now)
	return Reported[T]{Row: row, Status: b.statusAt(now), Days: CapsOf(b.platform).counted(from, to, now.Time()), SyncedAt: *b.syncedAt}
}

// reports asks about all places at once and returns what each says, by platform id. All of them share the time of one
// call. If a place fails, its error is returned. But if the inquiry is apart and there are several channels, the place is
// left out instead, and the error is logged.
func (s *Service) reports(ctx context.Context, q inquiry, order []reportPlace, places map[reportPlace][]subject) (map[reportPlace]map[string]Report, error) {
	if len(order) == 0 {
		return nil, nil
	}
	channels, err := s.store.ActivatedChannels(ctx, q.account)
	if err != nil {
		return nil, err
	}
	heard, errs := make([]map[string]Report, len(order)), make([]error, len(order))
	until := time.Now().Add(readTimeout)
	inParallel(len(order), maxReports, func(i int) {
		heard[i], errs[i] = s.reportPlace(ctx, until, channels[order[i].channel], q, places[order[i]])
	})
	byPlace := map[reportPlace]map[string]Report{}
	for i, at := range order {
		switch {
		case errs[i] == nil:
			byPlace[at] = heard[i]
		case !q.apart || len(channels) == 1:
			return nil, errs[i]
		default:
			s.log.LogAttrs(ctx, slog.LevelWarn, "ads are shown without figures", slog.String("channel", at.channel), slog.String("error", errs[i].Error()))
		}
	}
	return byPlace, nil
}

// inParallel calls do with each number from 0 to n-1, at most atOnce of them at the same time, and waits for all of
// them. If one panics, inParallel panics.
func inParallel(n, atOnce int, do func(int)) {
	free, panicked := make(chan struct{}, atOnce), make(chan any, n)
	var all sync.WaitGroup
	for i := range n {
		free <- struct{}{}
		all.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					panicked <- p
				}
				<-free
			}()
			do(i)
		})
	}
	all.Wait()
	if len(panicked) > 0 {
		panic(<-panicked)
	}
}

// reportPlace asks about the rows of one ad account. It returns nil if the channel was deactivated in the meantime.
func (s *Service) reportPlace(ctx context.Context, until time.Time, channel *advert.SocialAccount, q inquiry, subjects []subject) (map[string]Report, error) {
	if channel == nil {
		return nil, nil
	}
	line, err := s.line(channel)
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(subjects))
	for i, b := range subjects {
		ids[i] = b.id
	}
	from, to := subjects[0].days(q.window, s.store.Now())
	bounded, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	heard, err := line.Report(bounded, line.conn, subjects[0].adAccountID, q.level, ids, from, to)
	if err != nil {
		return nil, s.fault(ctx, line, "report of ad account "+subjects[0].adAccountID, err)
	}
	return heard, nil
}

// fault returns the answer to a read that a network has failed. If the network does not accept the channel's access any
// more, the channel is marked. It takes no part in ads until it is activated or connected again.
func (s *Service) fault(ctx context.Context, l *line, what string, err error) error {
	if errors.Is(err, ErrUnauthorized) {
		if failed := s.store.FailSocialAccount(ctx, l.channel, reason(err)); failed != nil {
			return failed
		}
	}
	return unanswered(l.channel.Platform, what, err)
}
