package tests

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What a sentence of a document may have, in words. Half of the sentences of each have no more than the first.
const (
	medianWords  = 18
	longestWords = 25
)

var (
	fencedBlock = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	scope       = regexp.MustCompile(` ?\([a-z_]+:(read|write)\)`) // behind what may be expanded
	inCode      = regexp.MustCompile("`[^`]*`")
	linkTo      = regexp.MustCompile(`!?\[([^\]]*)\]\([^)]*\)`)
	itemMark    = regexp.MustCompile(`^\s*(?:[-*]|\d+\.)\s+`)
	sentenceEnd = regexp.MustCompile(`[.!?]["')*]*(?:\s+|$)`)
	aWord       = regexp.MustCompile(`[\pL\pN]`)
)

// sentences returns what a text says, one by one. An item of a list, a heading and a cell of a table end one too; what stands in code is a word.
func sentences(text string) (all []string) {
	text = scope.ReplaceAllString(fencedBlock.ReplaceAllString(text, ""), "")
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
	require.NoError(t, err, "no guides are found")
	require.NotEmpty(t, files, "no guides are found")
	return files
}

// holdShort fails for each sentence that is too long, and if half of them have too many words.
func holdShort(t *testing.T, where string, texts ...string) {
	t.Helper()
	var counts []int
	for _, text := range texts {
		for _, s := range sentences(text) {
			n := wordsOf(s)
			if n > longestWords {
				t.Errorf("%s: a sentence has %d words, and may have %d: %s", where, n, longestWords, s)
			}
			if n > 2 || strings.Contains(s, " ") { // a heading or a cell of one word says nothing about the others
				counts = append(counts, n)
			}
		}
	}
	if len(counts) == 0 {
		t.Fatalf("%s has no sentence: does the pattern still fit?", where)
	}
	slices.Sort(counts)
	if median := counts[len(counts)/2]; median > medianWords {
		t.Errorf("%s: half of its sentences have more than %d words; they may have %d", where, median, medianWords)
	}
	t.Logf("%s: median %d, longest %d", filepath.Base(where), counts[len(counts)/2], counts[len(counts)-1])
}

func TestSentences_AreShort(t *testing.T) {
	t.Parallel()
	for _, file := range append(guideFiles(t), "../README.md", "../.github/ARCHITECTURE.md", "../.github/CAPACITY.md", "../.github/CHANGELOG.md",
		"../.github/CONTRIBUTING.md") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		holdShort(t, file, string(text))
	}
}

// A sentence that begins like this names nothing: "What is over goes to the balance."
var riddle = regexp.MustCompile(`^(What|Whatever|Who|Whoever|Whom|Whose)\b`)

// The operations' descriptions are the reference, in the pages at /docs and in the SDK.
func TestOperations_AreDescribedInShortSentences(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../gen/spec/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Paths map[string]map[string]json.RawMessage
	}
	var whole any
	if err := errors.Join(json.Unmarshal(text, &document), json.Unmarshal(text, &whole)); err != nil {
		t.Fatal(err)
	}
	byTag := map[string][]string{}
	for _, item := range document.Paths {
		for _, method := range []string{"get", "post", "put", "patch", "delete"} {
			if item[method] == nil {
				continue
			}
			var operation struct {
				Tags        []string
				Description string
			}
			if err := json.Unmarshal(item[method], &operation); err != nil {
				t.Fatal(err)
			}
			byTag[operation.Tags[0]] = append(byTag[operation.Tags[0]], operation.Description)
		}
	}
	if len(byTag) < 20 {
		t.Errorf("only %d tags have operations", len(byTag))
	}
	for tag, texts := range byTag {
		holdShort(t, tag, texts...)
	}
	for _, description := range descriptions(whole) {
		for _, s := range sentences(description) {
			if n := wordsOf(s); n > longestWords {
				t.Errorf("the API's document: a sentence has %d words, and may have %d: %s", n, longestWords, s)
			}
			if riddle.MatchString(s) {
				t.Errorf("the API's document: begin with a noun, such as \"The customer\": %s", s)
			}
		}
	}
}

// descriptions returns every description and summary of a document, at any depth, but none of an example.
func descriptions(node any) (all []string) {
	switch node := node.(type) {
	case map[string]any:
		for key, value := range node {
			if text, isText := value.(string); isText && (key == "description" || key == "summary") {
				all = append(all, text)
			} else if !slices.Contains([]string{"example", "x-example", "examples"}, key) {
				all = append(all, descriptions(value)...)
			}
		}
	case []any:
		for _, value := range node {
			all = append(all, descriptions(value)...)
		}
	}
	return all
}

// sample is a line of code in a doc comment.
var sample = regexp.MustCompile(`(?m)^\t.*$`)

// What the SDK exports is documented by hand here; the rest of it comes from the API's document.
func TestSDK_IsDocumentedInShortSentences(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{"../sdk/*.go", "../sdk/wire/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		var texts []string
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") || strings.HasSuffix(file, ".gen.go") {
				continue
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			ast.FileExports(parsed)
			ast.Inspect(parsed, func(node ast.Node) bool {
				if comment, isComment := node.(*ast.CommentGroup); isComment {
					for _, s := range sentences(comment.Text()) {
						if riddle.MatchString(s) {
							t.Errorf("%s: begin with a noun: %s", file, s)
						}
					}
					texts = append(texts, sample.ReplaceAllString(comment.Text(), ""))
				}
				return true
			})
		}
		holdShort(t, filepath.Dir(pattern), texts...)
	}
}

// commentWords is how many words a sentence of a comment has at most.
const commentWords = 25

func TestComments_AreShortSentences(t *testing.T) {
	t.Parallel()
	all, err := packages()
	require.NoError(t, err)
	count := 0
	for _, p := range all {
		files, err := filepath.Glob(filepath.Join(p.Dir, "*.go"))
		require.NoError(t, err)
		for _, path := range files {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			if generated.Match(text) {
				continue
			}
			fset := token.NewFileSet()
			parsed, err := parser.ParseFile(fset, path, text, parser.ParseComments|parser.SkipObjectResolution)
			require.NoError(t, err)
			for _, comment := range parsed.Comments {
				for _, s := range sentences(sample.ReplaceAllString(comment.Text(), "")) {
					count++
					assert.LessOrEqual(t, wordsOf(s), commentWords, "%s: say it in two sentences: %s", fset.Position(comment.Pos()), s)
				}
			}
		}
	}
	assert.Greater(t, count, 5000, "sentences of comments")
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
