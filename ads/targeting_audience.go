package ads

import (
	"context"
	"fmt"
	"slices"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// resolveAudiences replaces the ids of a targeting's audiences by those of the network, and reports whether a lookalike is among them.
func (s *Service) resolveAudiences(ctx context.Context, l *line, adAccount string, w *wanted, p *core.Problems) (lookalike bool, err error) {
	if w.Audiences == nil {
		return false, nil
	}
	for word, ids := range map[string][]string{"audiences.include": w.Audiences.Include, "audiences.exclude": w.Audiences.Exclude} {
		known, err := s.store.AudiencesByID(ctx, l.channel.AccountID, ids)
		if err != nil {
			return false, err
		}
		for i, id := range ids {
			a := known[id]
			if a == nil {
				return false, core.Missing("audience", w.at(word), id)
			}
			usable := a.PlatformID != nil && !hasNobody(a) && a.Status != advert.AudienceStatusError
			p.Check(a.ChannelID == l.channel.ID && a.AdAccountID == adAccount, w.at(word), "The audience "+id+" is in another ad account.")
			p.Check(usable, w.at(word), fmt.Sprintf("The audience %s cannot be used: it is %s. Upload more people to it first.", id, a.Status))
			if usable {
				ids[i] = *a.PlatformID
			}
			lookalike = lookalike || a.Type == advert.AudienceTypeLookalike
		}
	}
	return lookalike, nil
}

// hasNobody reports whether an audience has too few people to be of use, or none yet.
func hasNobody(a *advert.Audience) bool {
	isEmpty := a.Status == advert.AudienceStatusPending && a.Type == advert.AudienceTypeCustomerList
	return isEmpty || a.Status == advert.AudienceStatusTooSmall
}

// nameAudiences puts the ids that audiences have here into whom ad groups are shown to, in place of those of the network. An audience
// that is not known here keeps its id. The ad groups are those of one network.
func (s *Service) nameAudiences(ctx context.Context, account string, groups []advert.Group) error {
	targetings := map[int]*Targeting{}
	var ids []string
	for i, g := range groups {
		var t Targeting
		if g.Targeting.Decode(&t) == nil && t.Audiences != nil {
			targetings[i] = &t
			ids = slices.Concat(ids, t.Audiences.Include, t.Audiences.Exclude)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	known, err := s.store.AudiencesByPlatformID(ctx, account, groups[0].Platform, ids)
	if err != nil {
		return err
	}
	for i, t := range targetings {
		for _, list := range [][]string{t.Audiences.Include, t.Audiences.Exclude} {
			for j, id := range list {
				if a := known[id]; a != nil {
					list[j] = a.ID
				}
			}
		}
		groups[i].Targeting = advert.NewObject(t)
	}
	return nil
}
