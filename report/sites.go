package report

import (
	"slices"

	"dmebench/report/page"
	"dmebench/runs"
	"dmebench/stats"
	"dmebench/units"
)

// siteTable says how long the nodes of each site waited, and whether the critical section stayed
// there more often than by chance.
func (p *paper) siteTable() []page.Table {
	t := page.Table{
		ID: "sites", Title: "Sites",
		Note: "Medians over the runs that ended well. Stays are entries whose entry before was at the same site; by chance, as many as " +
			"the site has of all entries: if they are more, the algorithm favours near nodes.",
		Columns: []page.Column{
			{Key: "label", Title: "algorithm", Type: page.Text}, {Key: "load", Title: "load", Type: page.Text},
			{Key: "nodes", Title: "N", Type: page.Number}, {Key: "site", Title: "site", Type: page.Text, Choose: true},
			{Key: "there", Title: "nodes there", Type: page.Number},
			{Key: "waiting_p50", Title: "waiting time p50", Type: page.Time, Better: "lower"},
			{Key: "waiting_p99", Title: "waiting time p99", Type: page.Time, Better: "lower"},
			{Key: "stays", Title: "stays, % of its entries", Type: page.Number}, {Key: "chance", Title: "by chance, %", Type: page.Number},
		},
	}
	for i, c := range p.cells {
		for _, site := range c.First.Result.Sites {
			var p50, p99, stays, chance []float64
			for _, r := range c.Good {
				k := slices.IndexFunc(r.Sites, func(s runs.Site) bool { return s.Name == site.Name })
				if k < 0 || r.Sites[k].Waiting == nil {
					continue // no entries there, or its file said something else
				}
				s := &r.Sites[k]
				p50, p99 = append(p50, float64(s.Waiting.P50)), append(p99, float64(s.Waiting.P99))
				stays = append(stays, 100*float64(s.Stays)/float64(s.Entries))
				chance = append(chance, 100*float64(s.Entries)/float64(r.Entries))
			}
			if site.Nodes > 0 {
				t.Rows = append(t.Rows, p.row(i, page.Word(site.Name), page.Num(float64(site.Nodes)), timeValue(stats.Median(p50)),
					timeValue(stats.Median(p99)), show(stats.Median(stays), units.Plain()), show(stats.Median(chance), units.Plain())))
			}
		}
	}
	return append(some(t), some(p.distances())...)
}

// distances says how long the ways between sites with nodes are: T, without what the network adds.
func (p *paper) distances() page.Table {
	t := page.Table{
		ID: "distances", Title: "Between sites",
		Note: "How long the links take on average from one site to another, one way: the T of a pair, without what the network adds.",
		Columns: []page.Column{
			{Key: "from", Title: "from", Type: page.Text, Choose: true}, {Key: "to", Title: "to", Type: page.Text, Choose: true},
			{Key: "delay", Title: "T", Type: page.Time},
		},
	}
	type way struct {
		from, to string
		ns       int64
	}
	seen := make(map[way]bool)
	for _, c := range p.cells {
		sites := c.First.Result.Sites
		for _, from := range sites {
			for k, ns := range from.DelayNS {
				w := way{from.Name, sites[k].Name, ns}
				if from.Nodes == 0 || sites[k].Nodes == 0 || w.from == w.to && ns == 0 || seen[w] {
					continue
				}
				seen[w] = true
				t.Rows = append(t.Rows, page.Row{Values: []page.Value{page.Word(w.from), page.Word(w.to), page.Num(float64(ns))}})
			}
		}
	}
	return t
}
