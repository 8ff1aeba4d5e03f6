package result

// Axis is a quantity against which figures of an experiment are drawn, beside
// the number of nodes, as the experiment's author asks for it.
type Axis struct {
	// Name begins the names of the figures' files: letters, digits and «-».
	Name string `json:"name" yaml:"name"`

	// Over is what varies: a dimension of a [Key] (of algorithm, transport and
	// workload their labels in the experiment), or the name of an option.
	Over string `json:"over" yaml:"over"`

	// Title names the quantity for a reader, with its unit. It may be "".
	Title string `json:"title,omitempty" yaml:"title"`

	// Values says which number a text stands for, such as 3 for "radiating:3".
	// Texts that are numbers or durations need none; other texts stand side by
	// side in the order of the runs.
	Values map[string]float64 `json:"values,omitempty" yaml:"values"`
}
