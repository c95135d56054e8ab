package invoicepdf

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/tests/harness/effort"
	"github.com/tillwright/tillwright/tests/harness/pdf"
)

// invoice has every part, and names in four scripts.
func invoice() Document {
	rate, reduced := int64(1900), int64(725)
	return Document{
		Title: "Invoice", Number: "ADA-000042", Status: "Due", IssuedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		Facts:    []Fact{{"Due date", "16 January 2026"}, {"Order", "1042"}},
		Seller:   Party{Name: "Ελληνικές Εκδόσεις Ωμέγα Α.Ε.", Address: []string{"Οδός Ερμού 12", "105 63 Αθήνα", "GR"}, Email: "seller@shop.example", TaxID: "EL123456789"},
		Buyer:    Party{Name: "株式会社トーキョー出版", Address: []string{"東京都千代田区丸の内1-1-1", "서울특별시 강남구", "ООО «Издательство Ёж»", "简体中文公司 繁體中文"}, Email: "buyer@buyer.example", TaxID: "T1234567890123"},
		Currency: "eur", Memo: "As agreed.\n詳細は以下の通り。",
		Lines: []Line{
			{Description: "Straße, Łódź, Đặng, Ørsted: a course", Quantity: 2, Unit: 5000, Net: 10000, RateBps: &rate, Tax: 1900, Total: 11900},
			{Description: "日本語の教科書", Quantity: 1, Unit: 1000, Discount: 100, Net: 900, RateBps: &reduced, Tax: 65, Total: 965},
		},
		Subtotal: 11000, Discount: 100, Net: 10900,
		Taxes: []Tax{{Name: "VAT", RateBps: 1900, Taxable: 10000, Tax: 1900}, {Name: "Reduced", RateBps: 725, Taxable: 900, Tax: 65}},
		Tax:   1965, Total: 12865, Balances: []Balance{{"Paid", 2865}, {"Amount due", 10000}},
		Notes: []string{"Thank you.\nСпасибо. Ευχαριστώ. ありがとう。"},
	}
}

func written(t *testing.T, d Document) []byte {
	t.Helper()
	file, err := New().Write(t.Context(), d)
	require.NoError(t, err)
	return file
}

func TestWrite_SaysEverything(t *testing.T) {
	t.Parallel()
	pages := pdf.Pages(t, written(t, invoice()))
	require.Len(t, pages, 1)
	for _, text := range []string{
		"Invoice", "ADA-000042", "Due", "2 January 2026", "16 January 2026", "1042",
		"Ελληνικές Εκδόσεις Ωμέγα Α.Ε.", "105 63 Αθήνα", "EL123456789", "seller@shop.example",
		"株式会社トーキョー出版", "東京都千代田区丸の内1-1-1", "서울특별시 강남구", "ООО «Издательство Ёж»", "简体中文公司 繁體中文", "T1234567890123",
		"Straße, Łódź, Đặng, Ørsted", "日本語の教科書", "19%", "7.25%", "100.00", "-1.00", "119.00", "9.65",
		"VAT 19% on EUR 100.00", "Reduced 7.25% on EUR 9.00", "EUR 19.65", "EUR 128.65", "Amount due", "EUR 100.00",
		"Спасибо. Ευχαριστώ. ありがとう。", "Page 1 of 1",
	} {
		assert.Contains(t, pages[0], text)
	}
	assert.Regexp(t, `(?s)buyer@buyer.example.*As agreed\.\n+詳細は以下の通り。.*Unit price.*Thank you\.`, pages[0], "the memo stands above the lines, the notes below them")
}

// All that the document itself says is in its language, and every figure is written as there.
func TestWrite_SpeaksTheLanguageOfTheDocument(t *testing.T) {
	t.Parallel()
	d := invoice()
	d.Language = "de"
	page := pdf.Pages(t, written(t, d))[0]
	for _, text := range []string{
		"Ausgestellt am", "2. Januar 2026", "Von", "Rechnung an", "Steuernummer: EL123456789", "Beträge in EUR", "Position", "Menge", "Einzelpreis", "Rabatt", "Netto", "Satz",
		"119,00", "-1,00", "7,25\u00a0%", "VAT 19\u00a0% auf 100,00\u00a0€", "Gesamtbetrag", "128,65\u00a0€", "Seite 1 von 1",
	} {
		assert.Contains(t, strings.ReplaceAll(page, "\u00a0", " "), strings.ReplaceAll(text, "\u00a0", " "))
	}
	for _, english := range []string{"Date of issue", "From", "Bill to", "Tax ID", "Amounts in", "Quantity", "Unit price", "Subtotal", "Rate", "Page 1", "EUR 128"} {
		assert.NotContains(t, page, english)
	}
}

func TestWrite_CarriesTheLogo(t *testing.T) {
	t.Parallel()
	assert.NotContains(t, string(written(t, invoice())), "/Subtype /Image")
	for _, size := range []image.Point{{480, 20}, {20, 160}, {1, 1}} {
		var file bytes.Buffer
		require.NoError(t, png.Encode(&file, image.NewNRGBA(image.Rectangle{Max: size})))
		d := invoice()
		d.Logo = file.Bytes()
		document := written(t, d)
		assert.Contains(t, string(document), "/Subtype /Image")
		assert.Contains(t, pdf.Pages(t, document)[0], "ADA-000042")
		assert.Equal(t, document, written(t, d))
	}
}

func TestWrite_IsAFunctionOfTheDocument(t *testing.T) {
	t.Parallel()
	w := New()
	first, err := w.Write(t.Context(), invoice())
	require.NoError(t, err)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			again, err := w.Write(t.Context(), invoice())
			assert.NoError(t, err)
			assert.True(t, bytes.Equal(first, again))
		})
	}
	group.Wait()
	other := invoice()
	other.Total++
	changed, err := w.Write(t.Context(), other)
	require.NoError(t, err)
	assert.NotEqual(t, first, changed)
}

// The library writes to the font that it is given, and all documents have the same ones.
func TestWrite_LeavesItsFontsAsTheyAre(t *testing.T) {
	t.Parallel()
	w := New()
	d := invoice()
	for from := rune(0x4e00); from < 0xd7a4; from += 500 {
		d.Notes = append(d.Notes, string([]rune{from, from + 1, from + 2, from + 3}))
	}
	_, err := w.Write(t.Context(), d)
	require.NoError(t, err)
	for _, f := range append(w.fallbacks, w.regular, w.bold, w.emoji) {
		used, err := f.load()
		require.NoError(t, err)
		fresh, err := newFace(f.family, f.style, f.file).load()
		require.NoError(t, err)
		assert.True(t, bytes.Equal(fresh.bytes, used.bytes), f.file)
	}
}

func TestWrite_CarriesOnlyTheGlyphsThatItShows(t *testing.T) {
	t.Parallel()
	assert.Less(t, len(written(t, invoice())), 100_000)
}

func TestWrite_CountsTheDigitsOfTheCurrency(t *testing.T) {
	t.Parallel()
	for currency, texts := range map[string][]string{
		"jpy": {"1,234,567", "JPY 1,234,567"},
		"kwd": {"1,234.567", "KWD 1,234.567"},
		"eur": {"12,345.67", "EUR 12,345.67"},
	} {
		t.Run(currency, func(t *testing.T) {
			t.Parallel()
			d := Document{Title: "Invoice", Currency: currency, Total: 1234567, Lines: []Line{{Description: "One", Quantity: 1, Unit: 1234567, Net: 1234567, Total: 1234567}}}
			page := pdf.Pages(t, written(t, d))[0]
			for _, text := range texts {
				assert.Contains(t, page, text)
			}
			assert.Contains(t, page, "Amounts in "+strings.ToUpper(currency))
		})
	}
}

func TestWrite_RepeatsTheHeadOnEveryPage(t *testing.T) {
	t.Parallel()
	d := invoice()
	for n := range 200 {
		d.Lines = append(d.Lines, Line{Description: fmt.Sprintf("Line number %d: %s", n, strings.Repeat("word ", n%40)), Quantity: 1, Unit: 100, Net: 100, Total: 100})
	}
	d.Notes = []string{strings.Repeat("A note of many words. ", 500)}
	pages := pdf.Pages(t, written(t, d))
	require.Greater(t, len(pages), 5)
	all := strings.Join(pages, "")
	for n := range 200 {
		assert.Contains(t, all, fmt.Sprintf("Line number %d:", n))
	}
	for n, page := range pages {
		assert.Contains(t, page, fmt.Sprintf("Page %d of %d", n+1, len(pages)))
		assert.Contains(t, page, "ADA-000042")
		if strings.Contains(page, "Line number") {
			assert.Contains(t, page, "Unit price")
		}
	}
}

func TestWrite_TakesAnyText(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"empty": "", "emoji": "🎉 party", "joined": "a\u200db", "invalid": "\xff\xfe", "control": "a\x00b\x1b", "one word": strings.Repeat("x", 5000),
		"hindi": "हिन्दी", "decomposed": "e\u0301", "lines": strings.Repeat("\n", 200), "brackets": `(\)((`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := invoice()
			d.Number, d.Seller.Name, d.Buyer.Address, d.Notes = text, text, []string{text}, []string{text}
			d.Lines[0].Description = text
			assert.Contains(t, strings.Join(pdf.Pages(t, written(t, d)), ""), "EUR 128.65")
		})
	}
	d := invoice()
	d.Seller.Name = "cafe\u0301 🎉 (x)"
	assert.Contains(t, pdf.Pages(t, written(t, d))[0], "café 🎉 (x)", "an outline says which character it stands for")
}

// A bird in the name of a product is a bird, and no number in a box.
func TestWrite_DrawsEmoji(t *testing.T) {
	t.Parallel()
	p := newPrinter(t.Context(), nil, time.Time{})
	p.emoji = New().emoji
	p.pdf.AddPage()
	for _, r := range "🐦🎉❤☀🇩👍🏽" {
		assert.True(t, p.printEmoji(20, 20, r, textSize), string(r))
	}
	for _, r := range "A𝐀\U0010FFFD" {
		assert.False(t, p.printEmoji(20, 20, r, textSize), string(r))
	}
}

// Copied, text reads as it was written, whatever is drawn for it.
func TestWrite_ShapesScriptsThatNeedIt(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"arabic": "شركة النشر العربية", "hebrew": "הוצאת ספרים בע״מ", "thai": "บริษัทสำนักพิมพ์", "devanagari": "हिन्दी प्रकाशन क्षेत्र", "bengali": "বাংলা প্রকাশনী", "tamil": "தமிழ் பதிப்பகம்",
		"persian": "می\u200cخواهم", "armenian": "Հրատարակչություն", "georgian": "გამომცემლობა",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := invoice()
			d.Seller.Name, d.Notes = text, []string{text}
			page := pdf.Pages(t, written(t, d))[0]
			assert.Contains(t, page, strings.Fields(text)[0])
			assert.NotContains(t, page, "?")
		})
	}
}

func TestShape_JoinsAndReorders(t *testing.T) {
	t.Parallel()
	w := New()
	p := newPrinter(t.Context(), w.fallbacks, time.Time{})
	one := func(text string) run {
		pieces := p.runs(text, w.regular)
		require.Len(t, pieces, 1)
		pieces[0].right = isRightToLeft(text)
		return pieces[0]
	}
	alone, joined := p.shapedUnits(one("ب")), p.shapedUnits(one("ببب"))
	assert.Less(t, joined, 3*alone, "letters in the middle are narrower than alone")
	glyphs := p.shape(one("कि")).Glyphs
	require.Len(t, glyphs, 2)
	assert.Less(t, glyphs[0].Advance, glyphs[1].Advance, "the sign for i stands before its consonant")
	assert.Len(t, p.shape(one("क्ष")).Glyphs, 1, "a conjunct is one glyph")
	assert.Equal(t, p.shapedUnits(one("ก")), p.shapedUnits(one("กี้")), "marks take no place")
	assert.Greater(t, len(p.shape(one("می\u200cخ")).Glyphs), 2)
}

func TestSpans_StandAsReadersExpect(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		line  string
		right bool
		want  string
	}{
		{"abc", false, "abc"},
		{"abc אבג def", false, "abc |<אבג|> def"},
		{"אבג abc", true, "abc|<אבג "},
		{"אבג 123 דה", true, "< דה|>123|<אבג "},
		{"x אבג 123 דה y", false, "x |< דה|>123|<אבג |> y"},
		{"אבג x דהו y זחט", false, "<אבג|> x |<דהו|> y |<זחט"},
		{"אבג x דהו y זחט", true, "< זחט|>y|< דהו |>x|<אבג "},
	} {
		var parts []string
		for i, s := range spans(c.line, c.right) {
			part := s.text
			if s.right {
				part = "<" + part
			} else if i > 0 {
				part = ">" + part
			}
			parts = append(parts, part)
		}
		assert.Equal(t, c.want, strings.Join(parts, "|"), "%q", c.line)
	}
}

func TestWrite_FitsTheLargestAmounts(t *testing.T) {
	t.Parallel()
	d := invoice()
	d.Lines[0].Unit, d.Lines[0].Net, d.Lines[0].Total, d.Total = 999_999_999_999, 999_999_999_999, 999_999_999_999, 999_999_999_999
	assert.Contains(t, pdf.Pages(t, written(t, d))[0], "EUR 9,999,999,999.99")
}

func TestWrap_BreaksWhereTheScriptAllows(t *testing.T) {
	t.Parallel()
	w := New()
	p := newPrinter(t.Context(), w.fallbacks, time.Time{})
	assert.Equal(t, []string{"one two", "three"}, p.wrap("one two three", w.regular, 10, p.width("one two ", w.regular, 10)))
	assert.Equal(t, []string{"日本", "語。"}, p.wrap("日本語。", w.regular, 10, p.width("日本語", w.regular, 10)), "no line begins with a full stop")
	assert.Equal(t, []string{"aa", "aa", "a"}, p.wrap("aaaaa", w.regular, 10, p.width("aa", w.regular, 10)))
	assert.Equal(t, []string{"a", "", "b"}, p.wrap("a\n\nb", w.regular, 10, 50))
}

// hostile are texts that cost more than their length where characters are measured or described one against the other.
func hostile() map[string]string {
	var row strings.Builder
	for r := rune(0x4e00); r < 0x4e00+20_000; r++ {
		row.WriteRune(r)
	}
	return map[string]string{
		"arabic": strings.Repeat("مرحبا", 4_000), "arabic words": strings.Repeat("مرحبا ", 4_000), "directions": strings.Repeat("aب", 10_000), "brackets": strings.Repeat("(ب", 10_000),
		"devanagari": strings.Repeat("क्ष्मि", 3_000), "viramas": strings.Repeat("क्", 10_000), "thai": strings.Repeat("กี้", 6_000), "boxes": strings.Repeat("🎉", 10_000), "joiners": "ب" + strings.Repeat("\u200d", 20_000),
		"without width": strings.Repeat("\u302a", 20_000), "in a row": row.String(), "two fonts": strings.Repeat("a日", 10_000),
		"lines": strings.Repeat("\n", 20_000), "spaces": strings.Repeat(" ", 20_000), "marks": strings.Repeat("a\u0301", 10_000),
	}
}

func TestWrite_TakesALongTextInLittleTime(t *testing.T) {
	t.Parallel()
	for name, text := range hostile() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := invoice()
			d.Notes = []string{text}
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
			defer cancel()
			took := effort.Of(func() {
				file, err := New().Write(ctx, d)
				require.NoError(t, err)
				assert.Less(t, len(file), 5_000_000)
			})
			assert.Less(t, took, 20*time.Second) // it takes about a second without the race detector
		})
	}
}

func TestWrite_ShowsEveryCharacterOfALongRow(t *testing.T) {
	t.Parallel()
	d := invoice()
	var row strings.Builder
	for r := rune(0x4e00); r < 0x4e00+300; r++ {
		row.WriteRune(r)
	}
	d.Notes = []string{row.String()}
	page := strings.Join(strings.Fields(strings.Join(pdf.Pages(t, written(t, d)), "")), "")
	assert.Contains(t, page, row.String())
}

func TestWrite_StopsWhenNobodyWaits(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := New().Write(ctx, invoice())
	require.ErrorIs(t, err, context.Canceled)
	_, err = New().Write(stopping{t.Context(), new(atomic.Int64)}, invoice())
	assert.ErrorIs(t, err, context.Canceled, "on the way, too")
}

// stopping is a context that ends after it was asked ten times.
type stopping struct {
	context.Context
	asked *atomic.Int64
}

func (s stopping) Err() error {
	if s.asked.Add(1) > 10 {
		return context.Canceled
	}
	return nil
}
