package locale

// renamed are the names of countries in CLDR 48 that differ from those of golang.org/x/text, which has CLDR 32, by language.
var renamed = map[string]map[string]string{
	"en": {
		"MK": "North Macedonia",
		"MO": "Macao SAR China",
		"SZ": "Eswatini",
		"TR": "Türkiye",
	},
	"de": {
		"BQ": "Karibische Niederlande",
		"MK": "Nordmazedonien",
		"SZ": "Eswatini",
	},
	"fr": {
		"BN": "Brunei",
		"FM": "Micronésie",
		"GS": "Géorgie du Sud-et-les Îles Sandwich du Sud",
		"HM": "Îles Heard-et-MacDonald",
		"KG": "Kirghizstan",
		"LR": "Liberia",
		"MK": "Macédoine du Nord",
		"NG": "Nigeria",
		"SZ": "Eswatini",
		"TK": "Tokelau",
		"VC": "Saint-Vincent-et-les Grenadines",
		"VN": "Viêt Nam",
	},
	"es": {
		"AX": "Islas Aland",
		"CG": "Congo",
		"GG": "Guernesey",
		"MK": "Macedonia del Norte",
		"SZ": "Esuatini",
	},
	"pt-BR": {
		"AI": "Anguila",
		"BH": "Barein",
		"CG": "República do Congo",
		"FO": "Ilhas Faroé",
		"MK": "Macedônia do Norte",
		"NL": "Países Baixos",
		"SZ": "Essuatíni",
		"TC": "Ilhas Turcas e Caicos",
	},
	"ja": {
		"MK": "北マケドニア",
		"SZ": "エスワティニ",
	},
}
