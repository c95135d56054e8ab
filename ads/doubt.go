package ads

import (
	"context"
	"time"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// maxLooks is how often a request asks how something is that others keep changing. After that the store takes the safer reading,
// and the mirror is brought up to date soon.
const maxLooks = 2

// lookTime is how long these looks take together at most. With the other calls of an action that is less than its lease.
const lookTime = 8 * time.Second

// seen returns when the row was written last, for an action that is about to switch it. It is 0 if the row is off and is to be switched off. Whoever
// is about to switch it on has not written that yet.
func seen(b subject, to advert.Configured) core.Time {
	if to == advert.ConfiguredPaused && *b.configured == to {
		return 0
	}
	return *b.syncedAt
}

// doubt is an answer of a network to some actions, while nobody knows yet whether the network did something else after it.
type doubt struct {
	account  string
	platform advert.Platform
	heard    advert.Heard // as the rows were when the network was asked
	places   []advert.Place
	batches  []*advert.Batch
}

// confirm asks the network how things are whose rows somebody has written since it was asked, and corrects the answer by
// that. It returns how the rows were when the answer, as it is then, was asked for.
func (s *Service) confirm(ctx context.Context, l *line, a *advert.Account, d doubt) advert.Heard {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	for range maxLooks {
		now, err := s.store.Heard(ctx, d.account, d.platform, d.places)
		if err != nil {
			return d.heard
		}
		changed := map[advert.Level][]string{}
		for place, at := range now {
			if at != d.heard[place] {
				changed[place.Level] = append(changed[place.Level], place.ID)
			}
		}
		if len(changed) == 0 {
			return d.heard
		}
		from, to := window{}.in(locationOf(a.Timezone), s.store.Now())
		for level, ids := range changed {
			said, err := l.Report(ctx, l.conn, a.PlatformID, level, ids, from, to)
			if err != nil {
				return d.heard
			}
			for _, id := range ids {
				if report, known := said[id]; known {
					place := advert.Place{Level: level, ID: id}
					d.restate(place, report)
					d.heard[place] = now[place]
				}
			}
		}
	}
	return d.heard
}

// restate corrects the state of a place by what the network said afterwards.
func (d *doubt) restate(of advert.Place, said Report) {
	for _, b := range d.batches {
		for i := range b.Campaigns {
			if c := &b.Campaigns[i]; of == (advert.Place{Level: advert.LevelCampaign, ID: c.PlatformID}) {
				set(&c.ConfiguredStatus, said.Configured)
				set(&c.Status, said.Status)
			}
		}
		for i := range b.Groups {
			if g := &b.Groups[i]; of == (advert.Place{Level: advert.LevelGroup, ID: g.PlatformID}) {
				set(&g.ConfiguredStatus, said.Configured)
				set(&g.Status, said.Status)
			}
		}
		for i := range b.Ads {
			if ad := &b.Ads[i]; of == (advert.Place{Level: advert.LevelAd, ID: ad.PlatformID}) {
				set(&ad.ConfiguredStatus, said.Configured)
				set(&ad.Status, said.Status)
			}
		}
	}
}

// confirmPause confirms the results of pauses in one ad account. A resume is not confirmed: it counts in any case, because too
// much is safer than too little.
func (s *Service) confirmPause(ctx context.Context, l *line, a *advert.Account, to advert.Configured, actions []*advert.Action, results []*ItemResult) advert.Heard {
	if to != advert.ConfiguredPaused {
		return nil
	}
	d := doubt{account: a.AccountID, platform: a.Platform, heard: advert.Heard{}}
	for i, action := range actions {
		if results[i].Err != nil {
			continue
		}
		results[i].turned(to)
		d.heard[action.Target()] = action.Seen
		d.places, d.batches = append(d.places, action.Target()), append(d.batches, &results[i].State)
	}
	return s.confirm(ctx, l, a, d)
}

// confirmChange confirms what was made or changed, except by a switch.
func (s *Service) confirmChange(ctx context.Context, l *line, a *advert.Account, action *advert.Action, out *advert.Outcome) {
	d := doubt{account: a.AccountID, platform: a.Platform, heard: advert.Heard{action.Target(): action.Seen}, batches: []*advert.Batch{&out.Made, &out.Changed}}
	for _, b := range d.batches {
		for i := range b.Campaigns {
			d.places = append(d.places, advert.Place{Level: advert.LevelCampaign, ID: b.Campaigns[i].PlatformID})
		}
		for i := range b.Groups {
			d.places = append(d.places, advert.Place{Level: advert.LevelGroup, ID: b.Groups[i].PlatformID})
		}
	}
	if len(d.places) > 0 {
		out.Heard = s.confirm(ctx, l, a, d)
	}
}
