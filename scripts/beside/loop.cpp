// A plain event loop with one algorithm in it: what a simulation costs that is written
// for nothing else. Messages take one unit, or exponential times, critical sections none,
// and a node asks again when it has left. It checks exclusion and counts messages,
// nothing more.
//
//   loop ring NODES ENTRIES [exponential]             a token goes round, every hop is an entry
//   loop ricart-agrawala NODES ENTRIES [exponential]  all nodes ask while entries are left
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <queue>
#include <random>
#include <vector>

enum Kind : uint8_t { request, reply, token, leave };

struct Event {
	int64_t at;
	uint64_t sequence, clock;
	uint32_t from, to;
	Kind kind;
	bool operator<(const Event &e) const { return at != e.at ? at > e.at : sequence > e.sequence; } // the later one is less
};

struct Node {
	uint64_t clock = 0, asked = 0, entries = 0, left = 0;
	bool wants = false;
	uint32_t replies = 0;
	std::vector<uint32_t> deferred;
};

static std::deque<Event> flight; // if all delays are equal: in the order of sending
static std::priority_queue<Event> others;
static bool equal = true;
static std::mt19937_64 random_bits;
static std::exponential_distribution<double> delay(1e-6);
static std::vector<Node> nodes;
static int64_t now = 0;
static uint64_t sequence = 0, messages = 0, entries = 0;
static int inside = 0;

static void send(uint32_t from, uint32_t to, Kind kind, uint64_t clock) {
	messages++;
	if (equal) flight.push_back({now + 1, sequence++, clock, from, to, kind});
	else others.push({now + int64_t(delay(random_bits)), sequence++, clock, from, to, kind});
}

static void enter(uint32_t id) {
	if (inside++ != 0) { fprintf(stderr, "two inside\n"); exit(1); }
	others.push({now, sequence++, 0, id, id, leave});
}

static void ask(uint32_t id) {
	Node &n = nodes[id];
	if (n.left == 0) return;
	n.left--;
	n.wants = true, n.replies = 0, n.asked = ++n.clock;
	for (uint32_t to = 0; to < nodes.size(); to++)
		if (to != id) send(id, to, request, n.asked);
}

int main(int argc, char **argv) {
	if (argc < 4) { fprintf(stderr, "usage: loop ring|ricart-agrawala NODES ENTRIES [exponential]\n"); return 2; }
	bool ring = !strcmp(argv[1], "ring");
	equal = argc < 5 || strcmp(argv[4], "exponential");
	uint32_t count = atoi(argv[2]);
	uint64_t total = strtoull(argv[3], nullptr, 10);
	nodes.resize(count);
	for (uint32_t id = 0; id < count; id++) nodes[id].left = total / count + (id < total % count);
	if (ring) enter(0);
	else for (uint32_t id = 0; id < count; id++) ask(id);

	while (!flight.empty() || !others.empty()) {
		Event e;
		if (others.empty() || (!flight.empty() && others.top() < flight.front())) {
			e = flight.front();
			flight.pop_front();
		} else {
			e = others.top();
			others.pop();
		}
		now = e.at;
		Node &n = nodes[e.to];
		switch (e.kind) {
		case request:
			if (e.clock > n.clock) n.clock = e.clock;
			if (n.wants && (n.asked < e.clock || (n.asked == e.clock && e.to < e.from))) n.deferred.push_back(e.from);
			else send(e.to, e.from, reply, 0);
			break;
		case reply:
			if (++n.replies == nodes.size() - 1) enter(e.to);
			break;
		case token:
			enter(e.to);
			break;
		case leave:
			inside--, entries++, n.entries++;
			if (ring) {
				if (entries < total) send(e.to, (e.to + 1) % nodes.size(), token, 0);
				break;
			}
			n.wants = false;
			for (uint32_t to : n.deferred) send(e.to, to, reply, 0);
			n.deferred.clear();
			ask(e.to);
			break;
		}
	}
	if (entries != total) { fprintf(stderr, "%llu entries of %llu\n", (unsigned long long)entries, (unsigned long long)total); return 1; }
	printf("%llu\n", (unsigned long long)messages);
}
