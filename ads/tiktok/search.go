package tiktok

import (
	"context"
	"slices"
	"strings"

	"github.com/tillwright/tillwright/ads"
)

// geoTypes are TikTok's words for places.
var geoTypes = map[string][]string{
	ads.SearchRegion: {"PROVINCE", "DMA"}, ads.SearchCity: {"CITY", "DISTRICT"}, ads.SearchZip: {"ZIP_CODE"},
}

// SearchTargeting implements ads.Network. TikTok searches places, and lists everything else.
func (d *Driver) SearchTargeting(ctx context.Context, c ads.Conn, q ads.Search) ([]ads.TargetingOption, error) {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	if q.Type == ads.SearchCountry {
		return countriesLike(q), nil
	}
	accounts, err := d.advertisers(ctx, c)
	if err != nil {
		return nil, err
	}
	if len(accounts) == 0 {
		return nil, notFound("ad account", "of the channel")
	}
	of := accounts[0].ID
	switch q.Type {
	case ads.SearchInterest:
		return d.interests(ctx, c, of, q)
	case ads.SearchBehavior:
		return d.behaviors(ctx, c, of, q)
	case ads.SearchLanguage:
		return d.languages(ctx, c, of, q)
	}
	return d.places(ctx, c, of, q)
}

// countriesLike returns the countries whose code the text begins with: TikTok has names only for those of one objective.
func countriesLike(q ads.Search) []ads.TargetingOption {
	var found []ads.TargetingOption
	for _, code := range everyCountry() {
		if strings.HasPrefix(code, strings.ToUpper(q.Text)) {
			found = append(found, ads.TargetingOption{ID: code, Name: code, Type: q.Type, Country: code})
		}
	}
	return found
}

// places searches for a place by its name.
func (d *Driver) places(ctx context.Context, c ads.Conn, adAccount string, q ads.Search) ([]ads.TargetingOption, error) {
	params := fields{
		"advertiser_id": adAccount, "objective_type": "REACH", "placements": []string{onTikTok}, "search_type": "FUZZY_SEARCH",
		"keywords": []string{q.Text}, "geo_types": geoTypes[q.Type],
	}
	if q.Country != "" {
		params["region_codes"] = []string{q.Country}
	}
	var answer struct {
		Tags []struct {
			Name   string `json:"name"`
			Status struct {
				Status string `json:"status"`
			} `json:"status_info"`
			Geo struct {
				ID          string `json:"geo_id"`
				Description string `json:"description"`
				Country     string `json:"region_code"`
			} `json:"geo"`
		} `json:"targeting_tag_list"`
	}
	if err := d.search(ctx, c, "tool/targeting/search", params, &answer); err != nil {
		return nil, err
	}
	var found []ads.TargetingOption
	for _, tag := range answer.Tags {
		if tag.Status.Status == "DISABLED" {
			continue
		}
		option := ads.TargetingOption{ID: tag.Geo.ID, Name: tag.Name, Type: q.Type, Country: tag.Geo.Country}
		if tag.Geo.Description != "" {
			option.Path = []string{tag.Geo.Description}
		}
		found = append(found, option)
	}
	return found, nil
}

// category is an interest or a behaviour: a node of a tree.
type category struct {
	id, name, scene string
	below           []string
}

// matching returns the categories whose name matches, with the names of those above them. The id of a behaviour has its scene before it.
func matching(q ads.Search, all []category) []ads.TargetingOption {
	above := map[string]category{}
	for _, one := range all {
		for _, id := range one.below {
			above[id] = one
		}
	}
	var found []ads.TargetingOption
	for _, one := range all {
		if !q.Matches(one.name) {
			continue
		}
		option := ads.TargetingOption{ID: one.id, Name: one.name, Type: q.Type}
		if one.scene != "" {
			option.ID = one.scene + ":" + one.id
		}
		for at, has := above[one.id]; has && len(option.Path) < len(all); at, has = above[at.id] {
			option.Path = slices.Insert(option.Path, 0, at.name)
		}
		found = append(found, option)
	}
	return found
}

func (d *Driver) interests(ctx context.Context, c ads.Conn, adAccount string, q ads.Search) ([]ads.TargetingOption, error) {
	var answer struct {
		List []struct {
			ID    string   `json:"interest_category_id"`
			Name  string   `json:"interest_category_name"`
			Below []string `json:"sub_category_ids"`
		} `json:"interest_categories"`
	}
	if err := d.read(ctx, c, "tool/interest_category", fields{"advertiser_id": adAccount, "version": 2}, &answer); err != nil {
		return nil, err
	}
	var all []category
	for _, one := range answer.List {
		all = append(all, category{one.ID, one.Name, "", one.Below})
	}
	return matching(q, all), nil
}

func (d *Driver) behaviors(ctx context.Context, c ads.Conn, adAccount string, q ads.Search) ([]ads.TargetingOption, error) {
	var answer struct {
		List []struct {
			ID    string   `json:"action_category_id"`
			Name  string   `json:"name"`
			Scene string   `json:"action_scene"`
			Below []string `json:"sub_category_ids"`
		} `json:"action_categories"`
	}
	if err := d.read(ctx, c, "tool/action_category", fields{"advertiser_id": adAccount}, &answer); err != nil {
		return nil, err
	}
	var all []category
	for _, one := range answer.List {
		all = append(all, category{one.ID, one.Name, one.Scene, one.Below})
	}
	return matching(q, all), nil
}

func (d *Driver) languages(ctx context.Context, c ads.Conn, adAccount string, q ads.Search) ([]ads.TargetingOption, error) {
	var answer struct {
		List []struct {
			Code string `json:"code"`
			Name string `json:"name"`
		} `json:"languages"`
	}
	if err := d.read(ctx, c, "tool/language", fields{"advertiser_id": adAccount}, &answer); err != nil {
		return nil, err
	}
	var all []category
	for _, one := range answer.List {
		all = append(all, category{id: one.Code, name: one.Name})
	}
	return matching(q, all), nil
}
