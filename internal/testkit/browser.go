package testkit

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// A Browser is a headless Chromium in which a test opens pages. Everything that the console
// says, every exception and every request other than for the page itself fails the test.
type Browser struct {
	t         testing.TB
	ctx       context.Context
	downloads string

	mu       sync.Mutex
	said     []string // by the console
	asked    []string // requests
	finished []string // downloads
	page     string   // the address of the page
}

// patience bounds an action in the browser, such as a click on what is not there.
const patience = 2 * time.Minute

// NewBrowser starts a browser, and skips the test if there is none.
func NewBrowser(t testing.TB) *Browser {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Skip("needs Chromium: install the package chromium")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.WSURLReadTimeout(time.Minute))
	allocator, stopAllocator := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stopAllocator)
	ctx, stopBrowser := chromedp.NewContext(allocator)
	t.Cleanup(stopBrowser)
	b := &Browser{t: t, ctx: ctx, downloads: t.TempDir()}
	b.check(chromedp.Listen(ctx, b.listen)) // starts the browser
	for _, err := range []error{
		chromedp.ListenBrowser(ctx, b.listen),
		called(chromedp.Call(ctx, runtime.Enable, cdp.Empty{})), called(chromedp.Call(ctx, log.Enable, cdp.Empty{})),
		called(chromedp.Call(ctx, network.Enable, network.EnableParams{})),
		called(chromedp.Call(ctx, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})),
		called(chromedp.CallBrowser(ctx, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{
			Behavior: browser.SetDownloadBehaviorBehaviorAllow, DownloadPath: b.downloads, EventsEnabled: new(true),
		})),
		called(chromedp.CallBrowser(ctx, browser.SetPermission, browser.SetPermissionParams{
			Permission: &browser.PermissionDescriptor{Name: "clipboard-read"}, Setting: browser.PermissionSettingGranted,
		})),
	} {
		b.check(err)
	}
	t.Cleanup(b.quiet)
	return b
}

func called[R any](_ R, err error) error { return err }

func (b *Browser) check(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatalf("browser: %v", err)
	}
}

// do carries out an action.
func do[R any](b *Browser, action chromedp.Action[R]) R {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	result, err := chromedp.Run(ctx, action)
	b.check(err)
	return result
}

func (b *Browser) listen(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		var words []string
		for _, arg := range e.Args {
			words = append(words, string(arg.Value)+arg.Description)
		}
		b.said = append(b.said, strings.Join(words, " "))
	case *runtime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			text += " " + e.ExceptionDetails.Exception.Description
		}
		b.said = append(b.said, text)
	case *log.EventEntryAdded:
		b.said = append(b.said, e.Entry.Text)
	case *network.EventRequestWillBeSent:
		address := e.Request.URL
		served := strings.HasPrefix(b.page, "http") && strings.HasPrefix(address, b.page) // by the server of the page
		own := address == b.page || served || strings.HasPrefix(address, "data:") || strings.HasPrefix(address, "blob:")
		if !own {
			b.asked = append(b.asked, address)
		}
	case *browser.EventDownloadProgress:
		if e.State == browser.DownloadProgressStateCompleted {
			b.finished = append(b.finished, e.GUID)
		}
	}
}

// quiet fails the test if the console said something, or a page asked for anything.
func (b *Browser) quiet() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, text := range b.said {
		b.t.Errorf("the console says: %s", text)
	}
	for _, address := range b.asked {
		b.t.Errorf("the page asks for %.200s", address)
	}
}

// Open opens a page, with a fragment that may be "".
func (b *Browser) Open(html []byte, fragment string) {
	b.t.Helper()
	file := filepath.Join(b.t.TempDir(), "page.html")
	if err := os.WriteFile(file, html, 0o644); err != nil {
		b.t.Fatal(err)
	}
	b.Visit((&url.URL{Scheme: "file", Path: file}).String(), fragment)
}

// Visit opens an address.
func (b *Browser) Visit(address, fragment string) {
	b.t.Helper()
	b.mu.Lock()
	b.page = address
	b.mu.Unlock()
	if fragment != "" {
		address += "#" + fragment
	}
	do(b, chromedp.Navigate(address))
}

// Size sets the size of the window, and whether pages are dark.
func (b *Browser) Size(width, height int64, dark bool) {
	b.t.Helper()
	scheme := map[bool]string{true: "dark", false: "light"}[dark]
	do(b, chromedp.EmulateViewport(width, height))
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	})
	b.check(err)
}

// Eval returns what an expression of JavaScript is, as text: strings as they are, other
// values as JSON. It waits for a promise.
func (b *Browser) Eval(expression string) string {
	b.t.Helper()
	asText := "(async () => { const x = await (%s) ?? null; return typeof x === 'string' ? x : JSON.stringify(x); })()"
	return do(b, chromedp.Evaluate[string](fmt.Sprintf(asText, expression), chromedp.EvalAwaitPromise,
		func(p *runtime.EvaluateParams) { p.UserGesture = new(true) }))
}

// Click clicks on the first element that a CSS selector finds; times is 2 for a double click.
func (b *Browser) Click(selector string, times int) {
	b.t.Helper()
	x, y := b.middle(selector)
	for k := range times { // as a hand does: the second one counts as such
		do(b, chromedp.MouseClickXY(x, y, chromedp.ClickCount(k+1)))
	}
}

// Hover moves the pointer onto an element.
func (b *Browser) Hover(selector string) {
	b.t.Helper()
	x, y := b.middle(selector)
	do(b, chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x, y))
}

// middle is where an element is, once it is there and in sight. A page may put another one in
// its place at any time, so that nothing is kept of it.
func (b *Browser) middle(selector string) (x, y float64) {
	b.t.Helper()
	text := b.Eval(fmt.Sprintf(`(async () => {
		let e;
		for (let i = 0; !(e = document.querySelector(%q)); i++) {
			if (i === 1000) return "nowhere";
			await new Promise((again) => setTimeout(again, 10));
		}
		e.scrollIntoView({block: "center"});
		const r = e.getBoundingClientRect();
		return (r.x + r.width / 2) + " " + (r.y + r.height / 2);
	})()`, selector))
	if _, err := fmt.Sscan(text, &x, &y); err != nil {
		b.t.Fatalf("browser: %s is %s", selector, text)
	}
	return x, y
}

// Choose sets a menu or a field and tells the page of it.
func (b *Browser) Choose(selector, value string) {
	b.t.Helper()
	b.Eval(fmt.Sprintf(`(() => { const e = document.querySelector(%q); e.value = %q;
		e.dispatchEvent(new Event("input", {bubbles: true})); e.dispatchEvent(new Event("change", {bubbles: true})); })()`, selector, value))
}

// Downloaded carries out what begins a download, waits for its end and returns the file.
func (b *Browser) Downloaded(begin func()) (name string, data []byte) {
	b.t.Helper()
	before := len(b.ended())
	begin()
	for until := time.Now().Add(patience); len(b.ended()) == before; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(until) {
			b.t.Fatal("browser: nothing was downloaded")
		}
	}
	files, err := os.ReadDir(b.downloads)
	if err != nil || len(files) == 0 {
		b.t.Fatal("browser: the download left no file", err)
	}
	name = files[0].Name()
	path := filepath.Join(b.downloads, name)
	if data, err = os.ReadFile(path); err != nil {
		b.t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		b.t.Fatal(err)
	}
	return name, data
}

func (b *Browser) ended() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.finished
}

// Press presses a key, as chromedp's package kb names it, where the focus is.
func (b *Browser) Press(keys string) {
	b.t.Helper()
	do(b, chromedp.KeyEvent(keys))
}
