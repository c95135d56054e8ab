package dashboard

import (
	"regexp"
	"strings"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/store/core"
)

// A course is typed as one text, because modules and lessons are moved about in it as lines are. "# " begins a module and "## " a lesson, whose video
// and file may stand in the lines below. A line of a lesson's text that looks like one of these two has a backslash before it. Markdown needs a
// backslash there for no other purpose.

// looksLikeTitle matches a line that begins a module or a lesson, with the backslashes by which it does not.
var looksLikeTitle = regexp.MustCompile(`^\\*##?(?: |$)`)

const videoLine, fileLine = "Video: ", "File: "

// courseText writes a course as it is typed.
func courseText(modules []sdk.ExperienceModule) string {
	var b strings.Builder
	for i := range modules {
		b.WriteString("# " + modules[i].Title + "\n\n")
		for _, lesson := range modules[i].Lessons {
			b.WriteString("## " + lesson.Title + "\n")
			if lesson.VideoURL != nil {
				b.WriteString(videoLine + *lesson.VideoURL + "\n")
			}
			if lesson.File != nil {
				b.WriteString(fileLine + *lesson.File + "\n")
			}
			b.WriteString("\n")
			for line := range strings.SplitSeq(core.Deref(lesson.Body), "\n") {
				if looksLikeTitle.MatchString(line) {
					line = `\` + line
				}
				b.WriteString(line + "\n")
			}
			b.WriteString("\n")
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// readCourse reads what courseText writes. A text that begins with no module, or a lesson's text that stands in no lesson, is CodeInvalid.
func readCourse(text string) (modules []sdk.ExperienceModule, err error) {
	var lesson *sdk.ExperienceLesson
	var body []string
	isHead := false
	// end ends a lesson.
	end := func() {
		if lesson != nil {
			if text := strings.Trim(strings.Join(body, "\n"), "\n"); text != "" {
				lesson.Body = &text
			}
		}
		lesson, body = nil, nil
	}
	for line := range strings.SplitSeq(text, "\n") {
		switch {
		case strings.HasPrefix(line, "# "):
			end()
			modules = append(modules, sdk.ExperienceModule{Title: strings.TrimSpace(line[2:])})
		case strings.HasPrefix(line, "## ") && len(modules) > 0:
			end()
			m := &modules[len(modules)-1]
			m.Lessons = append(m.Lessons, sdk.ExperienceLesson{Title: strings.TrimSpace(line[3:])})
			lesson, isHead = &m.Lessons[len(m.Lessons)-1], true
		case lesson == nil && strings.TrimSpace(line) == "":
		case len(modules) == 0:
			return nil, core.Invalid("content.modules", "Begin with a module: a line such as # Basics.")
		case lesson == nil:
			return nil, core.Invalid("content.modules", "Begin a lesson before its text: a line such as ## First steps.")
		case isHead && strings.HasPrefix(line, videoLine):
			lesson.VideoURL = new(strings.TrimSpace(line[len(videoLine):]))
		case isHead && strings.HasPrefix(line, fileLine):
			lesson.File = new(strings.TrimSpace(line[len(fileLine):]))
		default:
			isHead = false
			if strings.HasPrefix(line, `\`) && looksLikeTitle.MatchString(line) {
				line = line[1:]
			}
			body = append(body, line)
		}
	}
	end()
	return modules, nil
}

// courseBody returns the modules and lessons of a course as Markdown to be drawn, with their titles above the headings of the lessons' texts.
func courseBody(modules []sdk.ExperienceModule) string {
	var b strings.Builder
	for i := range modules {
		b.WriteString("## " + modules[i].Title + "\n\n")
		for _, lesson := range modules[i].Lessons {
			b.WriteString("### " + lesson.Title + "\n\n" + core.Deref(lesson.Body) + "\n\n")
		}
	}
	return b.String()
}
