package wire

import (
	"bytes"
	"cmp"
	"encoding/json"
)

// AdCampaignRef names a campaign by the network's id. Platform is needed only if two networks gave the same id.
type AdCampaignRef struct {
	ID       string
	Platform string
}

type adCampaignRef struct {
	ID                 string `json:"id,omitempty"`
	CampaignID         string `json:"campaign_id,omitempty"`
	PlatformCampaignID string `json:"platform_campaign_id,omitempty"`
	Platform           string `json:"platform,omitempty"`
}

// MarshalJSON writes the id as a text if there is no platform, and otherwise both as an object.
func (r AdCampaignRef) MarshalJSON() ([]byte, error) {
	if r.Platform == "" {
		return json.Marshal(r.ID)
	}
	return json.Marshal(adCampaignRef{ID: r.ID, Platform: r.Platform})
}

// UnmarshalJSON reads what MarshalJSON writes. Instead of id it also takes campaign_id or platform_campaign_id.
func (r *AdCampaignRef) UnmarshalJSON(data []byte) error {
	*r = AdCampaignRef{}
	if !bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		return json.Unmarshal(data, &r.ID)
	}
	var object adCampaignRef
	err := json.Unmarshal(data, &object)
	r.ID, r.Platform = cmp.Or(object.ID, object.CampaignID, object.PlatformCampaignID), object.Platform
	return err
}
