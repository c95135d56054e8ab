package platform

import (
	"encoding/csv"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"github.com/tillwright/tillwright/store/core"
)

// joined returns what is there of several cells, with a text between them.
func joined(between string) conversion {
	return func(cells []string, _ string) (string, string) {
		return strings.Join(slices.DeleteFunc(slices.Clone(cells), func(cell string) bool { return cell == "" }), between), ""
	}
}

// marked returns a text behind a mark that says whose it is: shopify:4711.
func marked(mark string) conversion {
	return func(cells []string, _ string) (string, string) {
		text, _ := unquoted(cells, "")
		if text == "" {
			return "", ""
		}
		return mark + ":" + text, ""
	}
}

// unquoted takes away the apostrophe in front of what a spreadsheet would make a number of, or a formula.
func unquoted(cells []string, _ string) (string, string) {
	if rest, ok := strings.CutPrefix(cells[0], "'"); ok && rest != "" && strings.ContainsRune("0123456789=+-@(", rune(rest[0])) {
		return rest, ""
	}
	return cells[0], ""
}

// when returns a text if the cell says one of some words, in any case, and nothing otherwise.
func when(text string, words ...string) conversion {
	return func(cells []string, _ string) (string, string) {
		if slices.ContainsFunc(words, func(word string) bool { return strings.EqualFold(word, cells[0]) }) {
			return text, ""
		}
		return "", ""
	}
}

// oneOf returns what stands for the word in a cell, and refuses a word for which nothing stands. An empty cell says nothing.
func oneOf(words map[string]string) conversion {
	return func(cells []string, _ string) (string, string) {
		text, known := words[strings.ToLower(cells[0])]
		if !known && cells[0] != "" {
			return "", "This word is not known here: " + cells[0] + "."
		}
		return text, ""
	}
}

// yes are the words of those who agree.
var yes = []string{"yes", "true", "1"}

// truth reads yes and no.
var truth = oneOf(map[string]string{"yes": "true", "true": "true", "1": "true", "no": "false", "false": "false", "0": "false"})

// moments are the forms in which platforms write a time. Without a zone it is UTC.
var moments = []string{time.RFC3339Nano, "2006-01-02 15:04:05 -0700", "2006-01-02 15:04:05 UTC", "2006-01-02 15:04:05.999999", "2006-01-02 15:04", "2006-01-02"}

func moment(cells []string, _ string) (string, string) {
	if cells[0] == "" {
		return "", ""
	}
	for _, form := range moments {
		if at, err := time.Parse(form, cells[0]); err == nil {
			return at.UTC().Format(time.RFC3339Nano), ""
		}
	}
	return "", "This is no time that can be read: " + cells[0] + "."
}

// provided returns the first cell, read as the conversion says. It does so if the second one says one of some words, in any case, and those after it
// are empty.
func provided(read conversion, words ...string) conversion {
	return func(cells []string, currency string) (string, string) {
		if text, _ := unless(when("yes", words...))(cells[1:], currency); text == "" {
			return "", ""
		}
		return read(cells, currency)
	}
}

// given is provided of a column that says who agrees.
func given(read conversion) conversion { return provided(read, yes...) }

// refused is provided of a column that says who does not agree.
func refused(read conversion) conversion { return provided(read, "no", "false") }

// unless returns the first cell, read as the conversion says, if the others are empty.
func unless(read conversion) conversion {
	return func(cells []string, currency string) (string, string) {
		if slices.ContainsFunc(cells[1:], func(cell string) bool { return cell != "" }) {
			return "", ""
		}
		return read(cells[:1], currency)
	}
}

// whether returns a text if there is something in the first cell.
func whether(text string) conversion {
	return func(cells []string, _ string) (string, string) {
		if cells[0] == "" {
			return "", ""
		}
		return text, ""
	}
}

// words reads a list whose items are separated by commas, those with a comma between quotes.
func words(cells []string, _ string) (string, string) {
	r := csv.NewReader(strings.NewReader(cells[0]))
	r.TrimLeadingSpace = true
	items, err := r.Read()
	if err != nil && cells[0] != "" {
		items = strings.Split(cells[0], ",")
	}
	var list []string
	for _, item := range items {
		if item = strings.TrimSpace(item); item != "" && !slices.Contains(list, item) {
			list = append(list, item)
		}
	}
	return listText(list), ""
}

// addresses reads a list whose items are separated by spaces or lines.
func addresses(cells []string, _ string) (string, string) {
	return listText(strings.Fields(cells[0])), ""
}

// money reads the first amount that is there.
func money(cells []string, currency string) (string, string) {
	for _, cell := range cells {
		if cell != "" {
			amount, problem := core.ReadAmount(cell, currency)
			return strconv.FormatInt(amount, 10), problem
		}
	}
	return "", ""
}

// inCurrency returns the currency of an amount, if there is one.
func inCurrency(cells []string, currency string) (string, string) {
	if text, problem := money(cells, currency); text == "" || problem != "" {
		return "", "" // the amount says what is wrong
	}
	return currency, ""
}

// forFree says of a price that is nothing that it is free.
func forFree(cells []string, currency string) (string, string) {
	text, problem := money(cells, currency)
	if problem != "" || text != "0" {
		return "", ""
	}
	return "free", ""
}

// formerly reads the first amount if it is more than the second one, which is the price.
func formerly(cells []string, currency string) (string, string) {
	if cells[0] == "" || cells[1] == "" {
		return "", ""
	}
	before, problem := core.ReadAmount(cells[0], currency)
	now, wrong := core.ReadAmount(cells[1], currency)
	if problem != "" || wrong != "" || before <= now {
		return "", problem
	}
	return strconv.FormatInt(before, 10), ""
}

// onSale reads the price, which is the one of a sale that has no end, of the four that the columns name.
func onSale(read conversion) conversion {
	return func(cells []string, currency string) (string, string) {
		if cells[2] != "" || cells[3] != "" {
			return read(cells[1:2], currency)
		}
		return read(cells[:2], currency)
	}
}

// unlessDated reads what holds as long as no dates are given in the last two cells.
func unlessDated(read conversion) conversion {
	return func(cells []string, currency string) (string, string) {
		if cells[2] != "" || cells[3] != "" {
			return "", ""
		}
		return read(cells[:2], currency)
	}
}

// markedDown reads the sale price and the price, the first two cells, if the third one says that it is on sale. Otherwise it reads the price alone,
// so that a sale price that is kept for later says nothing.
func markedDown(read conversion) conversion {
	return func(cells []string, currency string) (string, string) {
		if text, _ := when("yes", yes...)(cells[2:], currency); text == "" {
			return read(cells[1:2], currency)
		}
		return read(cells[:2], currency)
	}
}

// beforeSale is formerly of a price and a sale price, if the third cell says that it is on sale.
func beforeSale(cells []string, currency string) (string, string) {
	if text, _ := when("yes", yes...)(cells[2:], currency); text == "" {
		return "", ""
	}
	return formerly(cells[:2], currency)
}

// options returns what tells a variant from the others, if the last cell is not empty. A product without a choice has the one that is called Default
// Title.
func options(cells []string, _ string) (string, string) {
	choices, last := cells[:len(cells)-1], cells[len(cells)-1]
	if last == "" || choices[0] == "Default Title" {
		return "", ""
	}
	return joined(" / ")(choices, "")
}

// beside returns the first cell, if there is something in the second one.
func beside(cells []string, _ string) (string, string) {
	if cells[1] == "" {
		return "", ""
	}
	return unquoted(cells, "")
}

func withoutEmpty(texts ...string) []string {
	return slices.DeleteFunc(texts, func(text string) bool { return text == "" })
}

// firstMarkdown reads the first description that there is.
func firstMarkdown(cells []string, _ string) (string, string) {
	return markdown(append(withoutEmpty(slices.Clone(cells)...), ""), "")
}

// country returns the code of a country that is given by its code or its English name; nothing for another.
func country(cells []string, _ string) (string, string) {
	if code, err := language.ParseRegion(cells[0]); err == nil && len(cells[0]) == 2 && code.IsCountry() {
		return code.String(), ""
	}
	for a := 'A'; a <= 'Z' && cells[0] != ""; a++ {
		for b := 'A'; b <= 'Z'; b++ {
			code, err := language.ParseRegion(string([]rune{a, b}))
			if err == nil && code.IsCountry() && code.Canonicalize() == code && strings.EqualFold(display.English.Regions().Name(code), cells[0]) {
				return code.String(), ""
			}
		}
	}
	return "", ""
}

// unknownCountry returns a country for which there is no code.
func unknownCountry(cells []string, _ string) (string, string) {
	if code, _ := country(cells, ""); code != "" {
		return "", ""
	}
	return cells[0], ""
}

// slugged is a text that can be a slug. One is made of the name instead of any other.
func slugged(cells []string, _ string) (string, string) {
	if !slugForm.MatchString(cells[0]) || len(cells[0]) > 120 {
		return "", ""
	}
	return cells[0], ""
}

var slugForm = regexp.MustCompile(`^[a-z0-9](-?[a-z0-9])*$`)
