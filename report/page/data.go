// Package page makes one HTML file of results: the data of [Data] as JSON, the scripts and the
// style that show it, and what a reader without scripts sees.
//
// Medians, intervals, tests, predictions and sentences are computed by the code that fills Data.
// The page sorts, filters, scales and draws. The file needs nothing but a browser and sends no
// request, except a page that a server fills while runs come in. Text is text: no name or label can
// become markup.
package page

// Kind says of what a page is. It chooses the words around the data, not their form.
type Kind string

// The kinds of pages.
const (
	Report     Kind = "report"
	Claims     Kind = "claims"
	Survival   Kind = "survival"
	Comparison Kind = "comparison"
)

// Data is what a page shows. Parts that a kind of page does not have are left empty.
type Data struct {
	Kind    Kind   `json:"kind"`
	Title   string `json:"title"`
	Started string `json:"started,omitempty"`
	Source  string `json:"source,omitempty"` // the folder or file that was read

	// Live is where a server sends events to a page that is open; "" for a file.
	Live string `json:"live,omitempty"`

	// The beginning and the end of a page stand in its HTML: its scripts do not need them.
	Answer   Answer    `json:"-"`
	Warnings []Warning `json:"warnings,omitempty"`
	Bad      []BadRun  `json:"-"`                  // runs that are left out of all medians
	LeftOut  []string  `json:"left_out,omitempty"` // what the page does not show, and why

	Labels  []Label  `json:"labels,omitempty"`
	Metrics []Metric `json:"metrics,omitempty"`
	Loads   []Load   `json:"loads,omitempty"`
	Axes    []Axis   `json:"axes,omitempty"` // against which cells can be drawn, besides N
	Cells   []Cell   `json:"cells,omitempty"`
	Legend  string   `json:"legend,omitempty"` // how cells are compared
	Curves  []Curve  `json:"curves,omitempty"`
	Runs    []Run    `json:"runs,omitempty"`
	Figures []Figure `json:"figures,omitempty"` // the figures asked for; the first is shown first

	Tables []Table `json:"tables,omitempty"`

	Environments []Facts `json:"environments,omitempty"` // distinct ones, to which runs refer
	Facts        Facts   `json:"-"`                      // of all runs together
	Notes        []Note  `json:"-"`                      // what the numbers mean
	File         string  `json:"-"`                      // the experiment as it was run

	// Stills are the figures of a page without scripts, as SVG that is safe to embed.
	Stills []Still `json:"-"`
}

// Answer is what a page begins with.
type Answer struct {
	Level       Level      `json:"level"`
	Status      []string   `json:"status,omitempty"` // the first stands out
	Description string     `json:"description,omitempty"`
	Asked       string     `json:"asked,omitempty"` // what was run
	Title       string     `json:"title,omitempty"` // above the sentences
	Sentences   []Sentence `json:"sentences,omitempty"`
}

// Level says how far results can be trusted.
type Level string

// The levels.
const (
	Sound   Level = "sound"
	Look    Level = "look" // a reader should look at the warnings
	Unsound Level = "unsound"
)

// Sentence is an answer in words.
type Sentence struct {
	Group  string   `json:"group,omitempty"` // what stands above it and others: the load
	About  string   `json:"about,omitempty"` // the number of nodes
	Text   string   `json:"text"`
	Notes  []string `json:"notes,omitempty"`
	Load   Ref      `json:"load,omitzero"`
	Nodes  int      `json:"n,omitempty"`
	Metric Ref      `json:"metric,omitzero"` // the metric to rank by
	Minor  bool     `json:"minor,omitempty"` // shown on request
}

// Warning is something that a reader should know, with its numbers.
type Warning struct {
	Text  string `json:"text"`
	Where string `json:"where,omitempty"` // in how many runs
	Cells []int  `json:"cells,omitempty"`
}

// BadRun is a run that did not end well.
type BadRun struct {
	Status  string   `json:"status"`
	Where   string   `json:"where"`
	Reason  string   `json:"reason"`
	Why     []string `json:"why,omitempty"`
	States  []string `json:"states,omitempty"`
	Picture string   `json:"picture,omitempty"` // the wait-for graph: SVG that is safe to embed
	Label   Ref      `json:"label,omitzero"`
	Nodes   int      `json:"n,omitempty"`
}

// Label is a series. Its place in the list chooses its mark.
type Label struct {
	Name      string `json:"name"`
	Algorithm string `json:"algorithm,omitempty"`
	Color     string `json:"color"` // as CSS writes it
}

// Measure says what kind of number something is, and so how it is written.
type Measure string

// The measures.
const (
	Number Measure = "number"
	Time   Measure = "time"  // nanoseconds
	Text   Measure = "text"  // words
	Share  Measure = "share" // a part of one, written in percent
)

// Metric is a quantity that some cell has.
type Metric struct {
	Name   string  `json:"name"`
	Title  string  `json:"title"`
	Type   Measure `json:"type"`
	Better string  `json:"better,omitempty"` // "higher", "lower", or "" for a condition
	Minor  bool    `json:"minor,omitempty"`  // not in the table until it is chosen
}

// Load is a network and what nodes asked of it.
type Load struct {
	Title      string   `json:"title"`
	Brief      string   `json:"brief"` // what distinguishes it from the other loads
	Network    string   `json:"network"`
	Workload   string   `json:"workload"`
	Conditions []string `json:"conditions,omitempty"`
	Silent     []int    `json:"silent,omitempty"` // metrics that say nothing here
}

// Axis is something other than the number of nodes against which cells are drawn.
type Axis struct {
	Name  string  `json:"name"`
	Title string  `json:"title"`
	Type  Measure `json:"type"`
	Lines []Line  `json:"lines"`
}

// Line is cells along an axis, in a panel with others of the same title.
type Line struct {
	Title string  `json:"title,omitempty"`
	Name  string  `json:"name,omitempty"` // where the cells are of several labels
	Label int     `json:"label"`
	Nodes int     `json:"n"`
	Cells []int   `json:"cells"`
	At    []Value `json:"at"`
}

// Cell is the repetitions of one point.
type Cell struct {
	Label       int          `json:"label"`
	Load        int          `json:"load"`
	Nodes       int          `json:"n"`
	Runs        int          `json:"runs"` // runs counted
	Bad         int          `json:"bad,omitempty"`
	Values      []Estimate   `json:"values"` // by metric
	Predictions []Prediction `json:"predictions,omitempty"`
	Command     string       `json:"command,omitempty"` // the command to measure it again
	Spectra     []Spectrum   `json:"spectra,omitempty"` // of all repetitions together
	Warnings    []int        `json:"warnings,omitempty"`
	Notes       []string     `json:"notes,omitempty"`
}

// Estimate is a median over repetitions and how it stands to those of the other labels.
type Estimate struct {
	Count    int // repetitions that have the metric; 0: there is no value
	Median   float64
	Lo, Hi   float64 // 95% interval of the median; NaN if there are too few repetitions
	Min, Max float64
	Standing string  // "best", "level", "worse", "unknown", or "" if nothing is compared
	Against  string  // in words: "+12%, p = 0.01"
	Clocks   float64 // by which the interval reaches further since clocks of several hosts were compared
}

// Prediction is what a claim says of a metric of a cell.
type Prediction struct {
	Metric  int    `json:"metric"`
	Value   Real   `json:"value"`
	Formula string `json:"formula"`
	Source  string `json:"source,omitempty"`
	Kind    string `json:"kind"`              // "exact", "mean", "upper", "lower"
	Verdict string `json:"verdict,omitempty"` // "equal", "differs", "within", "exceeded", "below"
	False   string `json:"false,omitempty"`   // why it is known to be false
}

// Curve is a prediction at the sizes of a load, and between them.
type Curve struct {
	Label   int       `json:"label"`
	Load    int       `json:"load"`
	Metric  int       `json:"metric"`
	Formula string    `json:"formula"`
	Source  string    `json:"source,omitempty"`
	Kind    string    `json:"kind"`
	False   string    `json:"false,omitempty"`
	Points  [][2]Real `json:"points"`
}

// Run is one repetition.
type Run struct {
	Cell        int     `json:"cell"`
	Repetition  int     `json:"rep"`
	Seed        uint64  `json:"seed,string"`
	Status      string  `json:"status"`
	Values      []*Real `json:"values,omitempty"` // by metric
	Detail      *Detail `json:"detail,omitempty"` // nil if the page is too large for it
	Environment Ref     `json:"env,omitzero"`
	Warnings    []int   `json:"warnings,omitempty"`
}

// Detail is what a run was like inside.
type Detail struct {
	Spectra  []Spectrum `json:"spectra,omitempty"`
	Interval Real       `json:"interval,omitempty"` // of the course, in nanoseconds
	Entries  []Real     `json:"entries,omitempty"`  // in each interval
	P99      []*Real    `json:"p99,omitempty"`      // waiting time of those that entered
	Faults   []Event    `json:"faults,omitempty"`
	Sent     []Real     `json:"sent,omitempty"` // by node
	Handled  []Real     `json:"handled,omitempty"`
	Entered  []Real     `json:"entered,omitempty"`
}

// Spectrum is a distribution of times by percentile. Its values, in nanoseconds, are those
// at the shares 1 − 10^(−k/SpectrumSteps) for k = 0, 1, …; the last one is the longest time.
type Spectrum struct {
	Title  string `json:"title"`
	Count  Real   `json:"count"`
	Values []Real `json:"values"`
}

// SpectrumSteps is how many values a spectrum has for each decade of 1/(1 − share).
const SpectrumSteps = 12

// Event is something that happened during a run.
type Event struct {
	At    Real   `json:"at"` // nanoseconds since its start
	Lasts Real   `json:"lasts,omitempty"`
	Text  string `json:"text"`
}

// ByPercentile is against what distributions are drawn.
const ByPercentile = "percentile"

// Figure is a view of the cells: a metric against N or an axis.
type Figure struct {
	Metric  int    `json:"metric"`
	Against string `json:"against,omitempty"` // the name of an axis, ByPercentile, or "" for N
	Nodes   int    `json:"n,omitempty"`
	Log     bool   `json:"log,omitempty"`
}

// Table is rows that can be sorted, filtered and copied.
type Table struct {
	ID      string   `json:"id"`
	Title   string   `json:"title"`
	Note    string   `json:"note,omitempty"`
	Columns []Column `json:"columns"`
	Rows    []Row    `json:"rows"` // in the order in which they are shown first
	Folded  bool     `json:"folded,omitempty"`
}

// Column is one of a table.
type Column struct {
	Key    string  `json:"key"`
	Title  string  `json:"title"`
	Type   Measure `json:"type"`
	Better string  `json:"better,omitempty"`
	Choose bool    `json:"choose,omitempty"` // readers filter by its values: verdict, load
	Hidden bool    `json:"hidden,omitempty"` // until it is chosen
	Wide   bool    `json:"wide,omitempty"`   // sentences
}

// Row is one of a table. A row that has a label, a load or a number of nodes follows
// what the reader has chosen of these.
type Row struct {
	Label  Ref     `json:"label,omitzero"`
	Load   Ref     `json:"load,omitzero"`
	Nodes  int     `json:"n,omitempty"`
	Values []Value `json:"values"`         // by column
	Weak   bool    `json:"weak,omitempty"` // some of its runs are missing
	Open   *More   `json:"open,omitempty"`
	Cell   Ref     `json:"cell,omitzero"` // opens the runs of a cell
}

// Value is one of a row: a number, a text, or a number with the text to be shown for it.
type Value struct {
	Number *Real  `json:"v,omitempty"`
	Text   string `json:"t,omitempty"` // "" if the number says all
	Small  string `json:"s,omitempty"` // below it, as an interval
	Hint   string `json:"h,omitempty"`
	Opens  string `json:"o,omitempty"` // the row that it opens: "TABLE.ROW"
	Class  string `json:"c,omitempty"` // a standing or a verdict: best, level, worse, unknown, good, bad, doubt, weak
}

// More is what opens below a row.
type More struct {
	Text     []string `json:"text,omitempty"`
	Commands []string `json:"commands,omitempty"` // the commands to reproduce it
	Pre      string   `json:"pre,omitempty"`      // lines as they are
	Plots    []Plot   `json:"plots,omitempty"`
}

// Plot is a figure of its own data.
type Plot struct {
	Name    string   `json:"name"` // of the files that it is saved as
	Title   string   `json:"title"`
	Caption string   `json:"caption,omitempty"`
	X       Scale    `json:"x"`
	Y       Scale    `json:"y"`
	Series  []Series `json:"series"`
	Events  []Event  `json:"events,omitempty"`
}

// Scale is an axis of a plot.
type Scale struct {
	Title string   `json:"title"`
	Type  Measure  `json:"type"`
	Log   bool     `json:"log,omitempty"`
	Names []string `json:"names,omitempty"` // of the places 0, 1, … if they are words
}

// Role says what a series of a plot is.
type Role string

// The roles.
const (
	Measured  Role = "measured" // a line with marks, and intervals if points have them
	Scattered Role = "points"   // marks alone
	Curved    Role = "curve"    // a line alone
	Band      Role = "band"     // the area between lo and hi
	Exact     Role = "exact"    // a prediction
	Bound     Role = "bound"    // a predicted bound
)

// Series is a part of a plot. A point is x, y, and lo and hi if it has an interval.
type Series struct {
	Name   string   `json:"name,omitempty"`
	Label  Ref      `json:"label,omitzero"`
	Role   Role     `json:"role"`
	Points [][]Real `json:"points"`
	Tips   []string `json:"tips,omitempty"` // by point
}

// Facts are names with their values.
type Facts [][2]string

// Note explains a word.
type Note struct {
	Term string `json:"term"`
	Text string `json:"text"`
}

// Still is a figure that is drawn already.
type Still struct {
	Name, Title, Caption string
	SVG                  string
}
