package meta

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

const audienceFields = "id,name,description,subtype,rule,pixel_id,retention_days,lookalike_spec,approximate_count_lower_bound," +
	"approximate_count_upper_bound,operation_status,delivery_status,time_created"

// audienceNode is a CustomAudience of the Graph API.
type audienceNode struct {
	ID, Name, Description, Subtype, Rule string

	PixelID       string `json:"pixel_id"`
	RetentionDays int    `json:"retention_days"`
	Lookalike     struct {
		Country string
		Ratio   json.Number
	} `json:"lookalike_spec"`
	Lower     int64 `json:"approximate_count_lower_bound"`
	Upper     int64 `json:"approximate_count_upper_bound"`
	Operation struct {
		Code        int
		Description string
	} `json:"operation_status"`
	Delivery    struct{ Code int } `json:"delivery_status"`
	TimeCreated int64              `json:"time_created"`
}

// mark returns the end of a description that carries a token. Audiences have no labels, so the token is left there.
func mark(token string) string { return " [" + token + "]" }

var marked = regexp.MustCompile(` ?\[adact_[0-9a-z]+\]$`)

// subtypes are Meta's words for our types of audience. Any other word, such as that for an app's audience, is read as
// retargeting.
var subtypes = map[advert.AudienceType]string{
	advert.AudienceTypeCustomerList: "CUSTOM", advert.AudienceTypeRetargeting: "WEBSITE", advert.AudienceTypeLookalike: "LOOKALIKE",
}

func typeOf(subtype string) advert.AudienceType {
	for ours, word := range subtypes {
		if word == subtype {
			return ours
		}
	}
	return advert.AudienceTypeRetargeting
}

func (a audienceNode) audience() advert.Audience {
	ratio, _ := advert.ParseRatio(a.Lookalike.Ratio.String())
	audience := advert.Audience{PlatformID: &a.ID, Name: a.Name, Description: marked.ReplaceAllString(a.Description, ""), Type: typeOf(a.Subtype),
		Size: a.size(), Status: a.status(), PlatformStatus: a.word(), StatusReason: a.reason(), RetentionDays: a.retention(), PixelID: a.pixel(),
		Country: a.Lookalike.Country, Ratio: ratio}
	if a.TimeCreated > 0 {
		at := core.TimeOf(time.Unix(a.TimeCreated, 0))
		audience.PlatformCreatedAt = &at
	}
	return audience
}

// size returns the middle of the two bounds that Meta tells. For an audience that is too small or not counted yet it
// tells -1 or nothing, and size returns nil.
func (a audienceNode) size() *int64 {
	if a.Lower < 0 || a.Upper <= 0 {
		return nil
	}
	size := a.Lower + (a.Upper-a.Lower)/2
	return &size
}

// word returns the state in Meta's own codes: that of the operation and that of the delivery.
func (a audienceNode) word() string {
	return strconv.Itoa(a.Operation.Code) + "/" + strconv.Itoa(a.Delivery.Code)
}

// operations are the operation codes of an audience that can be used or is being made. Any other code is an error.
var operations = map[int]advert.AudienceStatus{
	200: advert.AudienceStatusReady,
	400: advert.AudienceStatusReady, 411: advert.AudienceStatusReady, 412: advert.AudienceStatusReady, // warnings: old, few matches, many invalid
	410: advert.AudienceStatusPending, // nothing uploaded
	414: advert.AudienceStatusProcessing, 434: advert.AudienceStatusProcessing, 441: advert.AudienceStatusProcessing,
}

// tooSmall is the delivery code of an audience with too few people.
const tooSmall = 300

func (a audienceNode) status() advert.AudienceStatus {
	status, known := operations[a.Operation.Code]
	switch {
	case !known:
		return advert.AudienceStatusError
	case status == advert.AudienceStatusReady && a.Delivery.Code == tooSmall:
		return advert.AudienceStatusTooSmall
	case status == advert.AudienceStatusReady && a.size() == nil:
		return advert.AudienceStatusProcessing
	}
	return status
}

// reason returns why an audience is an error, such as that it was flagged because it tells something about people's health or money.
func (a audienceNode) reason() string {
	if a.status() == advert.AudienceStatusError {
		return a.Operation.Description
	}
	return ""
}

// ruleText is the rule of a website audience, as far as this driver reads and writes it.
type ruleText struct {
	Inclusions ruleSet `json:"inclusions"`
}

type ruleSet struct {
	Operator string     `json:"operator"`
	Rules    []rulePart `json:"rules"`
}

type rulePart struct {
	Sources []eventSource `json:"event_sources"`
	Seconds int           `json:"retention_seconds"`
	Filter  ruleFilter    `json:"filter"`
}

type eventSource struct {
	ID   string `json:"id"`
	Type string `json:"type"`
}

type ruleFilter struct {
	Operator string          `json:"operator"`
	Filters  []ruleCondition `json:"filters"`
}

type ruleCondition struct {
	Field    string `json:"field"`
	Operator string `json:"operator"`
	Value    string `json:"value"`
}

const secondsPerDay = 24 * 60 * 60

// everyVisitor returns the rule for everybody who opened any page with a pixel in the last days.
func everyVisitor(pixel string, days int) string {
	return jsonText(ruleText{ruleSet{"or", []rulePart{{[]eventSource{{pixel, "pixel"}}, days * secondsPerDay,
		ruleFilter{"and", []ruleCondition{{"url", "i_contains", ""}}}}}}})
}

// retention returns for how many days a visitor stays in the audience, 0 if that is not known. Newer audiences say it only inside their
// rule.
func (a audienceNode) retention() int {
	var rule ruleText
	if a.RetentionDays != 0 || json.Unmarshal([]byte(a.Rule), &rule) != nil || len(rule.Inclusions.Rules) == 0 {
		return a.RetentionDays
	}
	return rule.Inclusions.Rules[0].Seconds / secondsPerDay
}

// pixel returns the pixel whose visitors are in the audience, or "". Newer audiences name it only inside their rule.
func (a audienceNode) pixel() string {
	var rule ruleText
	if a.PixelID != "" || json.Unmarshal([]byte(a.Rule), &rule) != nil {
		return a.PixelID
	}
	for _, part := range rule.Inclusions.Rules {
		for _, source := range part.Sources {
			if source.Type == "pixel" {
				return source.ID
			}
		}
	}
	return ""
}

// CreateAudience implements ads.Network.
func (n *Network) CreateAudience(ctx context.Context, c ads.Conn, plan ads.AudiencePlan) (advert.Audience, error) {
	ctx, cancel := n.bounded(ctx)
	defer cancel()
	params := url.Values{"name": {plan.Name}, "description": {strings.TrimSpace(plan.Description + mark(plan.Token))}}
	if plan.Type != advert.AudienceTypeRetargeting { // whose rule says what it is
		params.Set("subtype", subtypes[plan.Type])
	}
	switch plan.Type {
	case advert.AudienceTypeCustomerList:
		params.Set("customer_file_source", "USER_PROVIDED_ONLY")
	case advert.AudienceTypeRetargeting:
		params.Set("rule", everyVisitor(plan.PixelID, plan.RetentionDays))
		params.Set("prefill", "true")
	case advert.AudienceTypeLookalike:
		params.Set("origin_audience_id", plan.SourceID)
		params.Set("lookalike_spec", jsonText(map[string]any{"type": "custom_ratio", "country": plan.Country, "ratio": json.Number(plan.Ratio.String())}))
	}
	var answer made
	if err := n.graph.post(ctx, c.Token, place{plan.AdAccount.PlatformID, "customaudiences"}, params, &answer); err != nil {
		return advert.Audience{}, signedTerms(ofSource(err, plan.Type), plan.AdAccount.PlatformID)
	}
	if answer.ID == "" {
		return advert.Audience{}, ads.ErrIndeterminate
	}
	now := core.TimeOf(c.Now())
	return advert.Audience{PlatformID: &answer.ID, Name: plan.Name, Description: plan.Description, Type: plan.Type, Status: advert.AudienceStatusPending,
		RetentionDays: plan.RetentionDays, PixelID: plan.PixelID, Country: plan.Country, Ratio: plan.Ratio, PlatformCreatedAt: &now}, nil
}

// ofSource puts a refusal that blames nothing down to the source of a lookalike: nothing else of it is not checked before.
func ofSource(err error, t advert.AudienceType) error {
	var refused *ads.Rejected
	if errors.As(err, &refused) && refused.Field == "" && t == advert.AudienceTypeLookalike {
		refused.Field = "source_audience_id"
	}
	return err
}

func (n *Network) audiences(ctx context.Context, c ads.Conn, adAccount string) ([]audienceNode, error) {
	return list[audienceNode](ctx, n.graph, c.Token, place{adAccount, "customaudiences"}, url.Values{"fields": {audienceFields}})
}

// Audiences implements ads.Network.
func (n *Network) Audiences(ctx context.Context, c ads.Conn, adAccount string) ([]advert.Audience, error) {
	ctx, cancel := n.bounded(ctx)
	defer cancel()
	nodes, err := n.audiences(ctx, c, adAccount)
	rows := make([]advert.Audience, len(nodes))
	for i, node := range nodes {
		rows[i] = node.audience()
	}
	return rows, err
}

// Audience implements ads.Network.
func (n *Network) Audience(ctx context.Context, c ads.Conn, _, id string) (advert.Audience, error) {
	ctx, cancel := n.bounded(ctx)
	defer cancel()
	var node audienceNode
	if err := n.graph.get(ctx, c.Token, place{id: id}, url.Values{"fields": {audienceFields}}, &node); err != nil {
		return advert.Audience{}, err
	}
	return node.audience(), nil
}

// DeleteAudience implements ads.Network.
func (n *Network) DeleteAudience(ctx context.Context, c ads.Conn, _, id string) error {
	ctx, cancel := n.bounded(ctx)
	defer cancel()
	return n.graph.delete(ctx, c.Token, place{id: id})
}
