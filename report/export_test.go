package report

// Files are those of a report, without writing them.
func (in Input) Files() ([]File, error) { return in.files() }
