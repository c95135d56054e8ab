package pinterestfake

// options are what a targeting can name, by type: names by id, of which there may be several parts. The notation is that of the
// example in the description.
var options = map[string][]map[string]string{
	"LOCATION": {
		{"US": "United States", "GB": "United Kingdom", "CA": "Canada", "DE": "Germany", "GR": "Greece", "AU": "Australia", "NZ": "New Zealand"},
		{"501": "U.S.: New York", "811": "U.S.: Reno", "717": "U.S.: Quincy-Hannibal-Keokuk", "124735": "Canada: North Battleford",
			"36104": "Australia: Coffs Harbour - Grafton", "554014": "New Zealand: Tararua"},
	},
	"GEO":      {{"US-CA": "U.S.: California", "US-KS": "U.S.: Kansas", "CA-AB": "Canada: Alberta", "BE-VOV": "Belgium: East Flanders", "CA-QC": "Canada: Québec"}},
	"INTEREST": {{"945391946569": "Cosmetics", "925056443165": "Movies", "961238559656": "Rugby football"}},
	"LOCALE":   {{"en": "English", "de": "German", "pt": "Portuguese", "fr": "Français"}},
}

// listTargeting implements targeting_options/get.
func (c *call) listTargeting() answer {
	parts := options[c.path("targeting_type")]
	if parts == nil {
		return refuse(invalid("%s is not part of this fake.", c.path("targeting_type")))
	}
	return ok(parts)
}

// sizeAudience implements ad_groups/audience_sizing. Each word of a targeting halves the audience, unless ads are shown to others too; a
// place is needed, rule P1.
func (c *call) sizeAudience() answer {
	var asked struct {
		Spec    map[string]any `json:"targeting_spec"`
		Widened *bool          `json:"auto_targeting_enabled"`
		Group   string         `json:"placement_group"`
	}
	c.read(&asked)
	if asked.Spec["LOCATION"] == nil && asked.Spec["GEO"] == nil {
		return refuse(invalid("Invalid ad group audience sizing parameters."))
	}
	size := 64_000_000
	if asked.Widened != nil && !*asked.Widened {
		size >>= len(asked.Spec)
	}
	if asked.Group != "" && asked.Group != "ALL" {
		size /= 2
	}
	return ok(Object{"audience_size_lower_bound": size, "audience_size_upper_bound": size + size/5})
}
