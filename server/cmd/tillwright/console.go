package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"
)

// console is where a command may ask somebody a question.
type console struct {
	in      io.Reader
	out     io.Writer
	answers bool // whether somebody is there
}

func newConsole(cmd *cobra.Command) *console {
	return &console{in: cmd.InOrStdin(), out: cmd.ErrOrStderr(), answers: isTerminal(cmd.InOrStdin())}
}

// isTerminal reports whether a stream is a terminal, with a person at it.
func isTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && isatty.IsTerminal(file.Fd())
}

// agrees asks a question, and reports whether the answer is yes. Anything else is no.
func (c *console) agrees(ctx context.Context, question string) (bool, error) {
	fmt.Fprintf(c.out, "%s [y/N] ", question)
	answer := make(chan string, 1)
	go func() { // a read of a terminal cannot be interrupted
		text, _ := bufio.NewReader(c.in).ReadString('\n')
		answer <- strings.ToLower(strings.TrimSpace(text))
	}()
	select {
	case <-ctx.Done():
		return false, errors.New("interrupted")
	case text := <-answer:
		return text == "y" || text == "yes", nil
	}
}
