// Two algorithms as programs of SimGrid (S4U): an actor for each node, a mailbox for each,
// every message one unit on its way (network model Constant), critical sections of no length.
// It checks exclusion and counts messages, nothing more.
//
//   simgrid ring NODES ENTRIES               a token goes round, and every hop is an entry
//   simgrid ricart-agrawala NODES ENTRIES    all nodes ask for as long as entries are left
#include <cstdio>
#include <cstdlib>
#include <simgrid/s4u.hpp>
#include <string>
#include <vector>

namespace sg4 = simgrid::s4u;

enum Kind { request, reply, token };

struct Message {
	Kind kind;
	unsigned from;
	unsigned long clock;
};

static std::vector<sg4::Mailbox *> boxes;
static sg4::Mailbox *done;
static unsigned long messages = 0, entries = 0, total;
static int inside = 0;

static void send(unsigned to, const Message &m)
{
	messages++;
	boxes[to]->put_init(new Message(m), 0)->detach();
}

static void enter_and_leave()
{
	if (inside++ != 0) { fprintf(stderr, "two inside\n"); exit(1); }
	inside--;
	if (++entries == total) done->put_init(new int(0), 0)->detach();
}

static void ring(unsigned id)
{
	unsigned next = (id + 1) % boxes.size();
	if (id == 0) {
		enter_and_leave();
		send(next, {token, id, 0});
	}
	for (;;) {
		boxes[id]->get_unique<Message>();
		if (entries == total) continue;
		enter_and_leave();
		if (entries < total) send(next, {token, id, 0});
	}
}

struct Node {
	unsigned id;
	unsigned long left, clock = 0, asked = 0;
	bool wants = false;
	unsigned replies = 0;
	std::vector<unsigned> deferred;

	void ask()
	{
		if (left == 0) return;
		left--;
		wants = true, replies = 0, asked = ++clock;
		for (unsigned to = 0; to < boxes.size(); to++)
			if (to != id) send(to, {request, id, asked});
	}

	void run()
	{
		ask();
		for (;;) {
			auto m = boxes[id]->get_unique<Message>();
			if (m->kind == request) {
				if (m->clock > clock) clock = m->clock;
				if (wants && (asked < m->clock || (asked == m->clock && id < m->from))) deferred.push_back(m->from);
				else send(m->from, {reply, id, 0});
			} else if (++replies == boxes.size() - 1) {
				enter_and_leave();
				wants = false;
				for (unsigned to : deferred) send(to, {reply, id, 0});
				deferred.clear();
				ask();
			}
		}
	}
};

int main(int argc, char **argv)
{
	sg4::Engine e(&argc, argv);
	if (argc != 4) { fprintf(stderr, "usage: simgrid ring|ricart-agrawala NODES ENTRIES\n"); return 2; }
	std::string algorithm = argv[1];
	unsigned count = atoi(argv[2]);
	total = strtoul(argv[3], nullptr, 10);
	auto *zone = sg4::create_empty_zone("nodes");
	std::vector<sg4::Host *> hosts;
	for (unsigned id = 0; id < count; id++) {
		hosts.push_back(zone->create_host("node " + std::to_string(id), 1e9));
		boxes.push_back(sg4::Mailbox::by_name(std::to_string(id)));
	}
	zone->seal();
	done = sg4::Mailbox::by_name("done");
	for (unsigned id = 0; id < count; id++) {
		unsigned long left = total / count + (id < total % count);
		auto actor = sg4::Actor::create("node", hosts[id], [=] {
			if (algorithm == "ring") ring(id);
			else Node{id, left}.run();
		});
		actor->daemonize();
		boxes[id]->set_receiver(actor);
	}
	sg4::Actor::create("end", hosts[0], [] { done->get_unique<int>(); });
	e.run();
	if (entries != total) { fprintf(stderr, "%lu entries of %lu\n", entries, total); return 1; }
	printf("%lu\n", messages);
}
