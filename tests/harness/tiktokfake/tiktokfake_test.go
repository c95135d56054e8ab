package tiktokfake

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// stand is a network with an ad account that has a campaign, an ad group and an ad.
type stand struct {
	*Network
	account           *Account
	who, post, pixel  string
	campaign, group   string
	list              string
	aCampaign, aGroup Object // what they are made of
	anAd, aLookalike  Object
	aReport           Object
}

// call sends a request and returns its code, the last refusal and the data.
func (s *stand) call(operation string, params Object) (int, string, Object) {
	method, path, _ := strings.Cut(operation, " ")
	target, body := Prefix+"/"+path+"/", []byte(nil)
	if method == http.MethodGet {
		query := url.Values{}
		for name, value := range params {
			text, plain := value.(string)
			if !plain {
				data, _ := json.Marshal(value)
				text = string(data)
			}
			query.Set(name, text)
		}
		target += "?" + query.Encode()
	} else {
		body, _ = json.Marshal(params)
	}
	r := httptest.NewRequest(method, target, bytes.NewReader(body))
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	r.Header.Set("Access-Token", "token")
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	var said struct {
		Code int
		Data json.RawMessage
	}
	_ = json.Unmarshal(w.Body.Bytes(), &said)
	var data Object
	_ = json.Unmarshal(said.Data, &data)
	refused := s.Refused()
	if said.Code == 0 || len(refused) == 0 {
		return said.Code, "", data
	}
	return said.Code, refused[len(refused)-1], data
}

func newStand(t *testing.T) *stand {
	t.Helper()
	n := New(func() time.Time { return noon })
	s := &stand{Network: n, account: n.AddAccount("token", "Shop", "USD", "US")}
	s.who = n.AddIdentity(s.account, "TT_USER", "northwind")
	s.post = n.AddPost(s.account, s.who, "Mug")
	s.pixel, _ = n.AddPixel(s.account, "Shop")
	s.account.videos = append(s.account.videos, &video{id: "v1", name: "a.mp4"}, &video{id: "v2", name: "b.mp4", looks: 9})
	s.account.images["i1"] = "a.jpg"
	s.account.files["p1"], s.account.files["p2"] = file{"EMAIL_SHA256", []string{"a"}}, file{"PHONE_SHA256", []string{"b"}}
	of := func(o Object) Object {
		o["advertiser_id"] = s.account.ID
		return o
	}
	s.aCampaign = of(Object{"campaign_name": "One", "objective_type": "TRAFFIC", "budget_mode": "BUDGET_MODE_INFINITE"})
	s.campaign = s.makes(t, "POST campaign/create", s.aCampaign, "campaign_id")
	s.aGroup = of(Object{
		"campaign_id": s.campaign, "adgroup_name": "One", "optimization_goal": "CLICK", "billing_event": "CPC", "promotion_type": "WEBSITE", "pacing": "PACING_MODE_SMOOTH",
		"budget_mode": "BUDGET_MODE_DYNAMIC_DAILY_BUDGET", "budget": 20, "schedule_type": "SCHEDULE_FROM_NOW", "schedule_start_time": "2026-11-21 12:00:00",
		"bid_type": "BID_TYPE_NO_BID", "placement_type": "PLACEMENT_TYPE_AUTOMATIC", "location_ids": []string{"6252001"},
	})
	s.group = s.makes(t, "POST adgroup/create", s.aGroup, "adgroup_id")
	s.anAd = Object{
		"ad_name": "One", "identity_id": s.who, "identity_type": "TT_USER", "ad_format": "SINGLE_VIDEO", "video_id": "v1", "image_ids": []string{"i1"},
		"ad_text": "It holds tea.", "call_to_action": "SHOP_NOW", "landing_page_url": "https://shop.example",
	}
	s.list = s.makes(t, "POST dmp/custom_audience/create", of(Object{"custom_audience_name": "Buyers", "calculate_type": "EMAIL_SHA256", "file_paths": []string{"p1"}}), "custom_audience_id")
	s.aLookalike = of(Object{"custom_audience_name": "Alike", "lookalike_spec": Object{
		"source_audience_id": s.list, "include_source": false, "mobile_os": "ALL", "placements": []string{"TikTok"}, "location_ids": []string{"6252001"}, "audience_size": "BROAD",
	}})
	s.aReport = of(Object{
		"report_type": "BASIC", "data_level": "AUCTION_AD", "dimensions": []string{"ad_id"}, "metrics": []string{"spend"}, "start_date": "2026-11-01", "end_date": "2026-11-21",
	})
	return s
}

func (s *stand) makes(t *testing.T, operation string, params Object, id string) string {
	t.Helper()
	code, refused, data := s.call(operation, params)
	require.Zero(t, code, refused)
	return data.Text(id)
}

// with returns an object with changes. A nil takes a field away.
func with(o Object, changes Object) Object {
	changed := maps.Clone(o)
	maps.Copy(changed, changes)
	maps.DeleteFunc(changed, func(_ string, value any) bool { return value == nil })
	return changed
}

// ads returns a request for an ad that has changes.
func (s *stand) ads(changes Object) Object {
	return Object{"advertiser_id": s.account.ID, "adgroup_id": s.group, "creatives": []Object{with(s.anAd, changes)}}
}

func TestFake_TakesWhatTheDocumentsSay(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	for operation, params := range map[string]Object{
		"POST campaign/create": with(s.aCampaign, Object{"campaign_name": "Two"}), "POST adgroup/create": with(s.aGroup, Object{"adgroup_name": "Two"}),
		"POST ad/create": s.ads(nil), "POST dmp/custom_audience/lookalike/create": s.aLookalike, "GET report/integrated/get": s.aReport,
	} {
		code, refused, _ := s.call(operation, params)
		assert.Zero(t, code, refused)
	}
}

func TestFake_RefusesWhatBreaksARule(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	of := func(o Object) Object { return with(o, Object{"advertiser_id": s.account.ID}) }
	second := func(changes Object) Object { return with(with(s.aCampaign, Object{"campaign_name": "Two"}), changes) }
	group := func(changes Object) Object { return with(with(s.aGroup, Object{"adgroup_name": "Two"}), changes) }
	gone := s.makes(t, "POST campaign/create", second(Object{"campaign_name": "Gone"}), "campaign_id")
	code, refused, _ := s.call("POST campaign/status/update", of(Object{"campaign_ids": []string{gone}, "operation_status": "DELETE"}))
	require.Zero(t, code, refused)
	s.makes(t, "POST campaign/create", second(Object{"campaign_name": "Asked", "request_id": "7"}), "campaign_id")
	pixels := s.makes(t, "POST campaign/create", second(Object{"campaign_name": "Sales", "objective_type": "WEB_CONVERSIONS"}), "campaign_id")
	reach := s.makes(t, "POST campaign/create", second(Object{"campaign_name": "Reach", "objective_type": "REACH"}), "campaign_id")
	for _, c := range []struct {
		rule, operation string
		params          Object
	}{
		{"T1", "POST campaign/create", second(Object{"campaign_name": strings.Repeat("茶", 257)})},
		{"T1", "POST campaign/create", second(Object{"campaign_name": "Party 🎉"})},
		{"T1", "POST ad/create", s.ads(Object{"ad_text": strings.Repeat("a", 101)})},
		{"T2", "POST campaign/create", s.aCampaign},
		{"T2", "POST adgroup/create", s.aGroup},
		{"T3", "POST campaign/create", second(Object{"campaign_name": "Asked", "request_id": "7"})},
		{"T4", "POST campaign/update", of(Object{"campaign_id": gone, "campaign_name": "Back"})},
		{"T4", "POST adgroup/create", group(Object{"campaign_id": gone})},
		{"T5", "POST adgroup/create", group(Object{"budget_mode": "BUDGET_MODE_DAY"})},
		{"T5", "POST adgroup/create", group(Object{"budget_mode": "BUDGET_MODE_INFINITE"})},
		{"T5", "POST campaign/create", second(Object{"budget": 60})},
		{"T6", "POST campaign/create", second(Object{"budget_mode": "BUDGET_MODE_DYNAMIC_DAILY_BUDGET", "budget": json.Number("49.99")})},
		{"T6", "POST adgroup/create", group(Object{"budget": json.Number("19.99")})},
		{"T6", "POST adgroup/create", group(Object{
			"budget_mode": "BUDGET_MODE_TOTAL", "budget": 199, "schedule_type": "SCHEDULE_START_END", "schedule_end_time": "2026-12-01 12:00:00",
		})},
		{"T7", "POST adgroup/create", group(Object{"bid_price": 2})},
		{"T7", "POST adgroup/create", group(Object{"bid_type": "BID_TYPE_CUSTOM"})},
		{"T7", "POST adgroup/create", group(Object{"bid_type": "BID_TYPE_CUSTOM", "conversion_bid_price": 2})},
		{"T7", "POST adgroup/create", group(Object{
			"campaign_id": pixels, "pixel_id": s.pixel, "optimization_event": "SHOPPING", "optimization_goal": "VALUE", "billing_event": "OCPM", "deep_bid_type": "VO_MIN_ROAS",
		})},
		{"T8", "POST ad/create", s.ads(Object{"identity_id": "nobody"})},
		{"T8", "POST ad/create", s.ads(Object{"identity_type": "CUSTOMIZED_USER"})},
		{"T9", "POST ad/create", s.ads(Object{"tiktok_item_id": s.post, "video_id": nil, "image_ids": nil})},
		{"T9", "POST adgroup/create", group(Object{"zipcode_ids": []string{"10001"}})},
		{"T9", "POST adgroup/create", group(Object{"placements": []string{"PLACEMENT_TIKTOK"}})},
		{"T9", "POST adgroup/create", group(Object{
			"campaign_id": reach, "optimization_goal": "REACH", "billing_event": "CPM", "promotion_type": nil, "budget_mode": "BUDGET_MODE_DAY", "search_result_enabled": true,
		})},
		{"T10", "GET report/integrated/get", with(s.aReport, Object{"start_date": "2025-11-01"})},
		{"T10", "GET report/integrated/get", with(s.aReport, Object{"start_date": "2026-10-01", "dimensions": []string{"ad_id", "stat_time_day"}})},
		{"T10", "GET report/integrated/get", with(s.aReport, Object{"dimensions": []string{"campaign_id"}})},
		{"T10", "GET report/integrated/get", with(s.aReport, Object{"dimensions": []string{"ad_id", "age"}})},
		{"T12", "POST ad/create", s.ads(Object{"video_id": "v2"})},
		{"T12", "POST ad/create", s.ads(Object{"video_id": nil})},
		{"T12", "POST ad/create", s.ads(Object{"image_ids": nil})},
		{"T12", "POST ad/create", s.ads(Object{"call_to_action": nil})},
		{"T12", "POST ad/create", s.ads(Object{"landing_page_url": nil})},
		{"T13", "GET campaign/get", of(Object{"page_size": 1001})},
		{"T13", "POST file/video/ad/upload", of(Object{"upload_type": "UPLOAD_BY_URL", "video_url": "https://shop.example/a.mp4", "file_name": "a.mp4"})},
		{"T14", "POST campaign/status/update", of(Object{"campaign_ids": strings.Split(strings.Repeat(s.campaign+" ", 20)+s.campaign, " "), "operation_status": "DISABLE"})},
		{"T15", "POST adgroup/create", group(Object{"optimization_goal": "REACH"})},
		{"T15", "POST adgroup/create", group(Object{"campaign_id": pixels, "optimization_goal": "CONVERT", "billing_event": "OCPM"})},
		{"T15", "POST campaign/create", second(Object{"objective_type": "CATALOG_SALES"})},
		{"T16", "POST adgroup/create", group(Object{"location_ids": nil})},
		{"T16", "POST adgroup/create", group(Object{"location_ids": []string{"6252001", "5332921"}})},
		{"T17", "POST adgroup/create", group(Object{"budget_mode": "BUDGET_MODE_TOTAL", "budget": 400})},
		{"T17", "POST adgroup/create", group(Object{"schedule_type": "SCHEDULE_START_END", "schedule_end_time": "2026-11-21 11:00:00"})},
		{"T17", "POST adgroup/create", group(Object{"schedule_start_time": "2026-11-20 12:00:00"})},
		{"T18", "POST dmp/custom_audience/update", of(Object{"custom_audience_id": s.list, "action": "APPEND", "file_paths": []string{"p2"}})},
	} {
		code, refused, _ := s.call(c.operation, c.params)
		assert.Equal(t, codeParameter, code, "%s %s %v", c.rule, c.operation, c.params)
		assert.Contains(t, refused, fmt.Sprintf("%s: 40002 %s ", c.operation, c.rule))
	}
}

func TestFake_RefusesWhatIsNotInTheTable(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	for what, changes := range map[string]Object{
		"an unknown parameter": {"campaign_nam": "x"}, "a text for a number": {"budget_mode": "BUDGET_MODE_TOTAL", "budget": "60"}, "no name": {"campaign_name": nil},
		"another word": {"objective_type": "SALES"}, "a text for a list": {"special_industries": "HOUSING"}, "a text for a truth": {"budget_optimize_on": "true"},
		"no number": {"request_id": "x"}, "a switch": {"operation_status": "PAUSED"},
	} {
		code, _, _ := s.call("POST campaign/create", with(with(s.aCampaign, Object{"campaign_name": "Two"}), changes))
		assert.Equal(t, codeParameter, code, what)
	}
	code, _, _ := s.call("POST campaign/copy", Object{})
	assert.Equal(t, 40000, code)
	code, _, _ = s.call("POST campaign/create", with(s.aCampaign, Object{"advertiser_id": "1"}))
	assert.Equal(t, codeNoPermission, code)
	patch := Object{"advertiser_id": s.account.ID, "adgroup_id": s.group, "patch_update": true}
	made := s.makes(t, "POST ad/create", s.ads(nil), "none")
	assert.Empty(t, made)
	patch["creatives"] = []Object{{"ad_id": s.Ads(s.account)[0].Text("ad_id"), "landing_page_url": "https://shop.example"}}
	code, refused, _ := s.call("POST ad/update", patch)
	assert.Equal(t, codeParameter, code)
	assert.Contains(t, refused, " T11 ")
}
