package tests

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What a sentence of a document may have, in words. Half of the sentences of each have no more than the first.
const (
	medianWords  = 18
	longestWords = 40
)

var (
	fencedBlock = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	inCode      = regexp.MustCompile("`[^`]*`")
	linkTo      = regexp.MustCompile(`!?\[([^\]]*)\]\([^)]*\)`)
	itemMark    = regexp.MustCompile(`^\s*(?:[-*]|\d+\.)\s+`)
	sentenceEnd = regexp.MustCompile(`[.!?]["')*]*(?:\s+|$)`)
	aWord       = regexp.MustCompile(`[\pL\pN]`)
)

// sentences returns what a text says, one by one. An item of a list, a heading and a cell of a table end one too; what stands in code is a word.
func sentences(text string) (all []string) {
	text = fencedBlock.ReplaceAllString(text, "")
	text = linkTo.ReplaceAllString(inCode.ReplaceAllString(text, "code"), "$1")
	var part strings.Builder
	flush := func() {
		for _, s := range sentenceEnd.Split(part.String(), -1) {
			if s = strings.Join(strings.Fields(s), " "); aWord.MatchString(s) {
				all = append(all, s)
			}
		}
		part.Reset()
	}
	for line := range strings.SplitSeq(text, "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case trimmed == "" || strings.HasPrefix(trimmed, "#"):
			flush()
			part.WriteString(strings.TrimLeft(trimmed, "#"))
			flush()
		case strings.HasPrefix(trimmed, "|"):
			flush()
			for cell := range strings.SplitSeq(trimmed, "|") {
				part.WriteString(cell)
				flush()
			}
		case itemMark.MatchString(line):
			flush()
			part.WriteString(itemMark.ReplaceAllString(line, "") + " ")
		default:
			part.WriteString(trimmed + " ")
		}
	}
	flush()
	return all
}

// wordsOf returns how many words a sentence has. A dash alone is none.
func wordsOf(sentence string) int {
	count := 0
	for word := range strings.FieldsSeq(sentence) {
		if aWord.MatchString(word) {
			count++
		}
	}
	return count
}

func guideFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../server/reference/guide/*.md")
	if err != nil || len(files) == 0 {
		t.Fatal("no guides are found", err)
	}
	return files
}

func TestSentences_AreShort(t *testing.T) {
	t.Parallel()
	for _, file := range append(guideFiles(t), "../README.md", "../.github/ARCHITECTURE.md", "../.github/CAPACITY.md", "../.github/CHANGELOG.md",
		"../.github/CONTRIBUTING.md") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var counts []int
		for _, s := range sentences(string(text)) {
			n := wordsOf(s)
			if n > longestWords {
				t.Errorf("%s: a sentence has %d words, and may have %d: %s", file, n, longestWords, s)
			}
			if n > 2 || strings.Contains(s, " ") { // a heading or a cell of one word says nothing about the others
				counts = append(counts, n)
			}
		}
		slices.Sort(counts)
		if median := counts[len(counts)/2]; median > medianWords {
			t.Errorf("%s: half of its sentences have more than %d words; they may have %d", file, median, medianWords)
		}
		t.Logf("%s: median %d, longest %d", filepath.Base(file), counts[len(counts)/2], counts[len(counts)-1])
	}
}

// The README is one page.
func TestReadme_IsShort(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(string(text), "\n"); lines > 150 {
		t.Errorf("the README has %d lines, and may have 150: what one person needs stands in a guide", lines)
	}
}

func TestSentences_AreCounted(t *testing.T) {
	t.Parallel()
	got := sentences("# A title\n\nOne `a b c` two. Is it\nthree? Yes, e.g.this.\n\n| cell one | [two words](x.md#y). And more |\n|---|---|\n- an item\n- another\n  line\n\n```sh\nno. sentence. here.\n```\n")
	want := []string{"A title", "One code two", "Is it three", "Yes, e.g.this", "cell one", "two words", "And more", "an item", "another line"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if n := wordsOf("one — two, three-four 5"); n != 4 {
		t.Errorf("it has %d words", n)
	}
}
