package advert

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// hierarchy returns the mirror of campaigns, ad groups or ads. A row that was heard of later than the new one is not
// replaced. A row stays with its channel while that is activated. What was made through this service stays native and keeps its goal and its ad type.
// Where the network says nothing of a row's post, extra fields or creative, these stay.
func hierarchy[T any](table string, keep ...string) *mirror[T] {
	m := mirrorOf[T](table, "account_id, platform_id, platform", append(keep, "platform", "platform_id")...)
	m.guards = ` WHERE excluded.synced_at >= t.synced_at`
	m.takes = map[string]string{
		"channel_id": `CASE WHEN EXISTS (SELECT 1 FROM social_accounts AS c WHERE c.account_id = t.account_id AND c.id = t.channel_id AND c.ads_status = 'active')
			THEN t.channel_id ELSE excluded.channel_id END`,
		"source":              `CASE excluded.source WHEN 'native' THEN 'native' ELSE t.source END`,
		"goal":                `CASE WHEN excluded.goal = '' OR t.source = 'native' AND t.goal <> '' THEN t.goal ELSE excluded.goal END`,
		"ad_type":             `CASE t.source WHEN 'native' THEN t.ad_type ELSE excluded.ad_type END`,
		"deleted_at":          `CASE excluded.status WHEN 'cancelled' THEN COALESCE(excluded.deleted_at, t.deleted_at) ELSE excluded.deleted_at END`,
		"platform_created_at": `COALESCE(excluded.platform_created_at, t.platform_created_at)`,
		"off_since":           offSince(`excluded.configured_status`, `excluded.synced_at`),
	}
	for name, none := range map[string]string{"post_id": ``, "platform_post_id": ``, "extra": `{}`, "creative": `{}`} {
		m.takes[name] = `CASE excluded.` + name + ` WHEN '` + none + `' THEN t.` + name + ` ELSE excluded.` + name + ` END`
	}
	return m
}

// offSince returns an SQL expression for the column off_since of a row t that gets the state configured. Switched on, it
// is NULL; switched off by this, it is the time heard; otherwise it stays as it is.
func offSince(configured, heard string) string {
	return `CASE WHEN ` + configured + ` = 'active' THEN NULL WHEN t.configured_status = 'active' THEN ` + heard + ` ELSE t.off_since END`
}

// filter makes the filter that lists of campaigns and of ads share. It lets through only what is in activated
// channels. It also returns the words that describe the filter, which a cursor is bound to.
func (s *Store) filter(ctx context.Context, account, channel, adAccount string, platform Platform, source Source) (*db.Filter, []string, error) {
	f := &db.Filter{}
	if channel != "" {
		a, err := s.ActivatedChannel(ctx, account, channel)
		if err != nil {
			return nil, nil, err
		}
		channel = a.ID
		f.OrderedIfSet("channel_id", channel)
	} else {
		channels, err := s.ActivatedChannels(ctx, account)
		if err != nil {
			return nil, nil, err
		}
		ids := make([]string, 0, len(channels))
		for id := range channels {
			ids = append(ids, id)
		}
		slices.Sort(ids)
		f.And(s.db.In("channel_id", ids))
	}
	f.OrderedIfSet("ad_account_id", adAccount)
	f.OrderedIfSet("platform", string(platform))
	f.OrderedIfSet("source", string(source))
	return f, []string{channel, adAccount, string(platform), string(source)}, nil
}

// whereStatusIn adds a condition to a filter: the state that StatusAt would return now is one of the wanted ones. The SQL condition ended, with its
// arguments, is for being past the end; it may be NULL for what has no end. Without wanted states there is no condition.
func whereStatusIn(f *db.Filter, wanted []Status, ended string, args ...any) {
	if len(wanted) == 0 {
		return
	}
	var final, open []string
	for _, status := range wanted {
		if status.IsTerminal() {
			final = append(final, string(status))
		} else {
			open = append(open, string(status))
		}
	}
	const terminal = `status IN ('rejected', 'completed', 'cancelled')`
	var either []string
	var values []any
	if len(final) > 0 {
		either = append(either, oneOf(final))
	}
	if len(open) > 0 {
		either, values = append(either, oneOf(open)+` AND (`+ended+`) IS NOT TRUE`), append(values, args...)
	}
	if slices.Contains(wanted, StatusCompleted) {
		either, values = append(either, `NOT `+terminal+` AND `+ended), append(values, args...)
	}
	f.And(`(`+strings.Join(either, ` OR `)+`)`, values...)
}

// oneOf returns the SQL condition that status is one of the states. They are constants of this package, so they need no
// quoting.
func oneOf(states []string) string { return `status IN ('` + strings.Join(states, `', '`) + `')` }

// statusWords returns the wanted states sorted and without repetitions, so that the same filter gives the same cursor.
func statusWords(wanted []Status) []string {
	words := make([]string, len(wanted))
	for i, status := range wanted {
		words[i] = string(status)
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// mirrored is a pointer to a campaign, an ad group or an ad of a network, as it was read last.
type mirrored[T any] interface {
	*T
	key() entityKey
	channel() string // the id of the social account by which it is reached
}

func pointers[T any, P mirrored[T]](rows []T) []P {
	list := make([]P, len(rows))
	for i := range rows {
		list[i] = &rows[i]
	}
	return list
}

// findEntity returns a row of a mirror by platform id, if its channel is activated. The errors are those that
// GetCampaign names. An account without an activated channel learns nothing else: neither whether the id exists nor
// whose it is.
func findEntity[T any, P mirrored[T]](ctx context.Context, s *Store, m *mirror[T], object, account string, platform Platform, id string) (*T, error) {
	channels, err := s.ActivatedChannels(ctx, account)
	if err != nil {
		return nil, err
	}
	var f db.Filter
	f.OrderedIfSet("platform", string(platform))
	where, args := f.SQL()
	rows, err := db.Select[T](ctx, s.db, m.SelectSQL+` WHERE account_id = ? AND platform_id = ?`+where, append([]any{account, id}, args...)...)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", object, err)
	}
	reachable := slices.DeleteFunc(pointers[T, P](rows), func(row P) bool { return channels[row.channel()] == nil })
	switch {
	case len(reachable) == 1:
		return reachable[0], nil
	case len(reachable) > 1:
		return nil, &core.Error{Code: core.CodeParameterMissing, Param: "platform", Message: "Several networks have a " + object + " with this id. Send platform, too."}
	case len(rows) > 0:
		return nil, notActivated("The channel of this " + object + " is not activated for ads.")
	}
	return nil, core.Missing(object, "", id)
}

// entitiesByID returns the rows of a mirror with the platform ids. One that does not exist is not in the map.
func entitiesByID[T any, P mirrored[T]](ctx context.Context, r db.Reader, s *Store, m *mirror[T], account string, ids []string) (map[entityKey]*T, error) {
	found := map[entityKey]*T{}
	if len(ids) == 0 {
		return found, nil
	}
	condition, arg := s.db.In("platform_id", core.Distinct(ids))
	rows, err := db.Select[T](ctx, r, m.SelectSQL+` WHERE account_id = ? AND `+condition, account, arg)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", m.Table, err)
	}
	for i := range rows {
		found[P(&rows[i]).key()] = &rows[i]
	}
	return found, nil
}
