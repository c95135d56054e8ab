package ads

import (
	"maps"
	"slices"

	"github.com/tillwright/tillwright/store/advert"
)

// The words that every network has, and those of people in audiences.
var (
	commonWords   = []string{"countries", "regions", "interests", "audiences.include"}
	excludeWord   = "audiences.exclude"
	femaleAndMale = []string{"female", "male"}
	allDevices    = []string{"mobile", "desktop"}
)

// with returns the common words and more of them.
func with(words ...string) []string { return slices.Concat(commonWords, words) }

// metaTargeting is whom Meta can show an ad to. A position that only one of its platforms has is left out on the other.
func metaTargeting(p advert.Platform) TargetingRules {
	placements := []string{"feed", "stories", "reels", "search", "marketplace", "network"}
	if p == advert.PlatformInstagram {
		placements = []string{"feed", "stories", "reels", "search"}
	}
	return TargetingRules{
		Words:    with("cities", "zips", "metros", "excluded", "age_min", "age_max", "genders", "languages", "behaviors", excludeWord, "placements", "devices", "expand"),
		Excluded: []string{"countries", "regions", "cities", "zips", "metros"}, Genders: femaleAndMale, Placements: placements, Devices: allDevices,
		Youngest: YoungestAge, Languages: metaLanguages, Radius: true, MaxAudiences: 500, ExpandAges: true,
		Categories: []Category{
			{"housing", "HOUSING"}, {"employment", "EMPLOYMENT"}, {"credit", "CREDIT"}, {"financial_products", "FINANCIAL_PRODUCTS_SERVICES"},
			{categoryIssues, "ISSUES_ELECTIONS_POLITICS"}, {"gambling", "ONLINE_GAMBLING_AND_GAMING"},
		},
		DSA: true,
	}
}

// metaLanguages are Meta's ids of languages, by code. A language without a country is Meta's group of all its forms, where there is one.
var metaLanguages = map[string]string{
	"af": "36", "ar": "28", "az": "53", "be": "54", "bg": "37", "bn": "45", "bs": "55", "ca": "1", "cs": "2", "cy": "3", "da": "4", "de": "5",
	"el": "39", "en": "1001", "en-gb": "24", "en-us": "6", "es": "1002", "es-es": "7", "et": "58", "eu": "59", "fa": "60", "fi": "8", "fil": "26",
	"fr": "1003", "fr-ca": "44", "fr-fr": "9", "ga": "64", "gl": "65", "gu": "67", "he": "29", "hi": "46", "hr": "38", "hu": "30", "hy": "68",
	"id": "25", "is": "69", "it": "10", "ja": "11", "ka": "72", "kk": "73", "km": "74", "kn": "75", "ko": "12", "lt": "40", "lv": "78", "mk": "79",
	"ml": "50", "mn": "80", "mr": "81", "ms": "41", "nb": "13", "ne": "82", "nl": "14", "nn": "84", "pa": "47", "pl": "15", "ps": "85", "pt": "1005",
	"pt-br": "16", "pt-pt": "31", "ro": "32", "ru": "17", "si": "86", "sk": "33", "sl": "34", "sq": "87", "sr": "42", "sv": "18", "sw": "88", "ta": "48",
	"te": "49", "th": "35", "tr": "19", "uk": "52", "ur": "90", "uz": "91", "vi": "27", "zh": "1004", "zh-cn": "20", "zh-hk": "21", "zh-tw": "22",
}

// pinterestTargeting is whom Pinterest can show an ad to: its TargetingSpec, and the placement group and the automatic targeting of an ad
// group. It takes regions or postal codes, not both.
func pinterestTargeting() TargetingRules {
	return TargetingRules{
		Words: with("zips", "metros", "age_min", "age_max", "genders", "languages", excludeWord, "placements", "devices", "expand"),
		Apart: [][]string{{"regions", "zips"}}, Genders: []string{"female", "male", "unknown"}, Placements: []string{"feed", "search"}, Devices: allDevices,
		Youngest: 18, PlainLanguages: true,
	}
}

// tiktokTargeting is whom TikTok can show an ad to, all of them on phones.
func tiktokTargeting() TargetingRules {
	return TargetingRules{
		Words:   with("cities", "zips", "age_min", "age_max", "genders", "languages", "behaviors", excludeWord, "placements", "devices", "expand"),
		Genders: femaleAndMale, Placements: []string{"feed", "search", "network"}, Devices: []string{"mobile"},
		Youngest: YoungestAge, Bands: [][2]int{{13, 17}, {18, 24}, {25, 34}, {35, 44}, {45, 54}, {55, OldestAge}},
		Categories: []Category{{"housing", "HOUSING"}, {"employment", "EMPLOYMENT"}, {"credit", "CREDIT"}},
	}
}

// googleTargeting is whom Google can show an ad to.
func googleTargeting() TargetingRules {
	return TargetingRules{
		Words:    with("cities", "zips", "excluded", "age_min", "age_max", "genders", "languages", excludeWord, "devices"),
		Excluded: []string{"countries", "regions", "cities", "zips"}, Genders: []string{"female", "male", "unknown"}, Devices: allDevices,
		Youngest: 18, Bands: [][2]int{{18, 24}, {25, 34}, {35, 44}, {45, 54}, {55, 64}, {65, OldestAge}},
	}
}

// linkedInTargeting is whom LinkedIn can show an ad to.
func linkedInTargeting() TargetingRules {
	return TargetingRules{Words: with("excluded", "languages", excludeWord), Excluded: []string{"countries", "regions"}}
}

// twitterTargeting is whom X can show an ad to.
func twitterTargeting() TargetingRules {
	return TargetingRules{Words: with("zips", "devices"), Devices: allDevices}
}

// LanguageCodes lists the languages that the network is known to have, nil for any.
func (r *TargetingRules) LanguageCodes() []string { return slices.Sorted(maps.Keys(r.Languages)) }
