package conformance

import (
	"fmt"
	"net/http"
	"slices"
)

// advertise makes a channel of the sandbox, which plays a network and spends nothing, with an ad and an audience on it.
func (b *builder) advertise() {
	w := b.World
	channel := b.make("sacct", "/v1/socials", map[string]any{"platform": "facebook", "driver": "sandbox"})
	if channel == nil {
		return
	}
	if resp, err := b.Try(http.MethodPost, "/v1/socials/activate", map[string]any{"account_id": channel["id"]}); err != nil || resp.Status >= 300 {
		b.notes = append(b.notes, "the sandbox's channel could not be activated for ads")
		return
	}
	channelQuery := "?account_id=" + w.IDs["sacct"]
	w.IDs["ad_account"] = b.first("/v1/ads/ad-accounts"+channelQuery, func(a map[string]any) bool { return a["selectable"] == true && a["currency"] == "usd" })
	w.IDs["spost"] = b.first("/v1/socials/"+w.IDs["sacct"]+"/posts", func(p map[string]any) bool { return p["status"] == "published" })
	w.IDs["pixel"] = b.first("/v1/ads/pixels"+channelQuery+"&ad_account_id="+w.IDs["ad_account"], nil)
	create := slices.IndexFunc(b.Document.Operations, func(op *Operation) bool { return op.ID == "createAd" })
	if create < 0 || w.IDs["ad_account"] == "" {
		return
	}
	body, err := w.Body(b.Document.Operations[create])
	if err != nil {
		return
	}
	body.(map[string]any)["name"] = b.Mark()
	if ad := b.make("ad", "/v1/ads", body.(map[string]any)); ad != nil {
		w.IDs["campaign"], w.IDs["ad_group"] = fmt.Sprint(ad["campaign_id"]), fmt.Sprint(ad["ad_group_id"])
		w.Bidding = w.IDs["campaign"]
	}
	b.make("aud", "/v1/ads/audiences", map[string]any{"account_id": w.IDs["sacct"], "ad_account_id": w.IDs["ad_account"], "name": b.Mark(), "type": "customer_list"})
}

// first returns the id of the first item of a list that is wanted, "" if there is none.
func (b *builder) first(path string, wanted func(map[string]any) bool) string {
	resp, err := b.Try(http.MethodGet, path, nil)
	if err != nil || resp.Status != http.StatusOK {
		return ""
	}
	data, _ := resp.Object(b.t)["data"].([]any)
	for _, item := range data {
		if object, _ := item.(map[string]any); object["id"] != nil && (wanted == nil || wanted(object)) {
			return fmt.Sprint(object["id"])
		}
	}
	return ""
}
