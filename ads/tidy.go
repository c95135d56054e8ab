package ads

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

const (
	tidyBatch = 100
	// tidyPause is how long it rests after a network did not change a name.
	tidyPause = 10 * time.Minute
	// maxUntidy is for how long the program tries to take the token off a name. Whoever has lost the access will not get it back by asking.
	maxUntidy = 7 * 24 * time.Hour
)

// TidyNames takes the token off the names of what actions made at networks that have no other place for it. People read these
// names, and nobody has to look for the token once the outcome is stored. Any number of replicas may do so at the same time.
func (s *Service) TidyNames(ctx context.Context) error {
	due, err := s.store.DueNames(ctx, tidyBatch)
	if err != nil {
		return err
	}
	return inTurns(s, due, func(one advert.DueAction) string { return one.AccountID }, func(one advert.DueAction) error {
		if err := s.tidyNames(ctx, one); err != nil {
			return fmt.Errorf("names of action %s: %w", one.ID, err)
		}
		return nil
	})
}

// tidyNames claims the names of one action, and takes the token off them. If that fails, they are due again later.
func (s *Service) tidyNames(ctx context.Context, due advert.DueAction) error {
	mine, err := s.store.ClaimNames(ctx, due.AccountID, due.ID)
	if err != nil || !mine {
		return err
	}
	action, err := s.store.GetAction(ctx, due.AccountID, due.ID)
	if err != nil {
		return err
	}
	made, err := namesOf(action)
	if err != nil {
		return err
	}
	line, err := s.activated(ctx, due.AccountID, due.ChannelID)
	if err == nil {
		if err = line.TidyNames(ctx, line.conn, action.AdAccountID, made); err != nil {
			err = s.fault(ctx, line, "names", err)
		}
	}
	var refused *core.Error
	isFinal := errors.As(err, &refused) && refused.Code == core.CodeInvalid || s.store.Now().Time().Sub(action.UpdatedAt.Time()) >= maxUntidy
	if err != nil && !isFinal {
		return errors.Join(ignoreAnswer(err), s.store.YieldNames(ctx, due.AccountID, due.ID, tidyPause))
	}
	return s.store.FinishNames(ctx, due.AccountID, due.ID)
}

// namesOf returns the names that an action gave to what it made.
func namesOf(action *advert.Action) ([]MadeName, error) {
	var r recipe
	if err := action.Plan.Decode(&r); err != nil {
		return nil, err
	}
	r.Plan.Token = action.ID
	var after struct {
		Campaign string   `json:"campaign_id"`
		Group    string   `json:"ad_group_id"`
		Ad       string   `json:"ad_id"`
		Ads      []string `json:"ad_ids"`
	}
	if err := action.After.Decode(&after); err != nil {
		return nil, err
	}
	if len(after.Ads) == 0 {
		after.Ads = []string{after.Ad}
	}
	var made []MadeName
	if after.Campaign != "" {
		made = []MadeName{{advert.LevelCampaign, after.Campaign, r.Plan.Name, r.Plan.Token}, {advert.LevelGroup, after.Group, r.Plan.Name, r.Plan.Token}}
	}
	for i, ad := range r.Plan.Ads() {
		if i < len(after.Ads) {
			made = append(made, MadeName{advert.LevelAd, after.Ads[i], ad.Name, ad.Token})
		}
	}
	return slices.DeleteFunc(made, func(one MadeName) bool { return one.ID == "" }), nil
}
