package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

	"dmebench/internal/experiment/live"
	"dmebench/internal/platform"
	"dmebench/runs"
)

// serveFlag has a page served while runs come in.
func serveFlag() cli.Flag {
	return &cli.StringFlag{Name: "serve", Usage: "serve the page at `[ADDR]` while runs come in", DefaultText: live.DefaultAddress}
}

// address is what --serve takes from the next word. No folder or file is called so.
var address = platform.Pattern(`^(\[[0-9a-fA-F:]+\]|[\w.-]*):\d+$`)

// mayLack says whether a flag may go without its value before such a word, and what that
// is then.
func mayLack(f cli.Flag, next []string) (value string, lacks bool) {
	if f.Names()[0] != "serve" || len(next) > 0 && address().MatchString(next[0]) {
		return "", false
	}
	return live.DefaultAddress, true
}

// serving serves a page while runs come in.
type serving struct {
	*live.Server
	p     *program
	board *live.Board
	set   *runs.Set // what the page is to show; of one goroutine at a time
}

// serve begins to serve, if --serve asks for it; else it returns nil.
func (p *program) serve(c *cli.Context, board *live.Board) (*serving, error) {
	if !c.IsSet("serve") {
		return nil, nil
	}
	at := c.String("serve")
	s := &serving{p: p, board: board}
	var err error
	if s.Server, err = live.Serve(at, board, s.page); err != nil {
		return nil, failWith(Unavailable, fmt.Errorf("--serve: %w", err))
	}
	fmt.Fprintf(p.stderr, "page: %s\n", s.URL)
	if !live.OnLoopback(at) {
		fmt.Fprintf(p.stderr, "dmebench: warning: --serve %s: everyone who can reach this host can read the results\n", at)
	}
	return s, nil
}

// show makes the page of a set, now or if it is time for that, and reports whether it did.
func (s *serving) show(set *runs.Set, now bool) bool {
	if s == nil {
		return false
	}
	s.set = set
	return s.Refresh(now)
}

// close ends the serving and says on open pages what it came to.
func (s *serving) close(what string) {
	if s != nil {
		s.board.End(what)
		s.Close()
	}
}

func (s *serving) page(version int) ([]byte, error) {
	d, err := s.p.reportInput(s.set).Page()
	if err != nil {
		return nil, err
	}
	d.Live = fmt.Sprintf("%s?%d", live.Events, version)
	return d.Render()
}

// lookAgain is how often a folder that is served is looked at.
const lookAgain = time.Second

// serveFolder serves the page of results that another process writes, until ctx ends.
func (p *program) serveFolder(c *cli.Context, dir string) error {
	seen, behind := traceOf(dir), false // before it is read: what comes meanwhile is a change
	set, err := p.readResults(dir)
	if err != nil {
		return err
	}
	board := live.NewBoard()
	board.Have(set)
	s, err := p.serve(c, board)
	if err != nil {
		return err
	}
	defer s.close("the program that served this page has ended")
	s.show(set, true)
	for {
		select {
		case <-c.Context.Done():
			return nil
		case <-time.After(lookAgain):
		}
		if now := traceOf(dir); now != seen {
			seen = now
			// Half a line may be there, or a folder half made: the next look shows.
			more, err := runs.Read(dir)
			if err != nil {
				fmt.Fprintf(p.stderr, "dmebench: warning: %v\n", err)
				continue
			}
			set, behind = more, true
			board.Have(set)
		}
		if behind {
			behind = !s.show(set, false)
		}
	}
}

// traceOf changes when results in a folder, or in the latest sweep of an experiment, do.
func traceOf(dir string) (text string) {
	for _, name := range []string{"", "latest", runs.StoreName, filepath.Join("latest", runs.StoreName)} {
		path, err := filepath.EvalSymlinks(filepath.Join(dir, name))
		if err != nil {
			continue // removed: a change, too
		}
		if info, err := os.Stat(path); err == nil {
			text += fmt.Sprintln(path, info.Size(), info.ModTime().UnixNano())
		}
	}
	return text
}
