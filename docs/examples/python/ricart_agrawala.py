#!/usr/bin/env python3
"""Ricart and Agrawala's algorithm (Communications of the ACM 24(1), 1981) as a node
for 'dmebench run --exec'. It needs Python 3 and its standard library only.

    dmebench run --exec ./ricart_agrawala.py --nodes 5
"""
import json
import sys


class Node:
    def __init__(self, node_id, node_ids):
        self.id = node_id
        self.ids = node_ids  # their order decides between equal sequence numbers
        self.others = [n for n in node_ids if n != node_id]
        self.client = "c" + node_id[1:]
        self.highest = 0  # the highest sequence number seen
        self.request = None  # our pending request: (sequence number, node number)
        self.call = None  # the msg_id of the client's request
        self.outstanding = 0  # replies that we still wait for
        self.deferred = []  # nodes whose reply waits until we leave

    def send(self, dest, **body):
        line = {"src": self.id, "dest": dest, "body": body}
        print(json.dumps(line), flush=True)  # without flush, nothing would leave the pipe

    def want(self, msg_id):
        """Our client asks for the critical section."""
        self.call = msg_id
        self.request = (self.highest + 1, self.ids.index(self.id))
        self.outstanding = len(self.others)
        for other in self.others:
            self.send(other, type="REQUEST", number=self.request[0])
        self.enter_if_allowed()

    def leave(self, msg_id):
        """Our client leaves: whoever waited for us gets the reply now."""
        self.request = None
        for other in self.deferred:
            self.send(other, type="REPLY")
        self.deferred = []
        self.send(self.client, type="released", in_reply_to=msg_id)

    def asked(self, src, number):
        """Another node asks. We defer it if we have asked before it did."""
        self.highest = max(self.highest, number)
        theirs = (number, self.ids.index(src))
        if self.request is not None and self.request < theirs:
            self.deferred.append(src)
        else:
            self.send(src, type="REPLY")

    def replied(self):
        self.outstanding -= 1
        self.enter_if_allowed()

    def enter_if_allowed(self):
        if self.outstanding == 0:
            self.send(self.client, type="entered", in_reply_to=self.call, clock=self.request[0])


def main():
    node = None
    for line in sys.stdin:
        message = json.loads(line)
        src, body = message["src"], message["body"]
        if body["type"] == "init":
            node = Node(body["node_id"], body["node_ids"])
            node.send(src, type="init_ok", in_reply_to=body["msg_id"])
        elif body["type"] == "request":
            node.want(body["msg_id"])
        elif body["type"] == "release":
            node.leave(body["msg_id"])
        elif body["type"] == "REQUEST":
            node.asked(src, body["number"])
        elif body["type"] == "REPLY":
            node.replied()


if __name__ == "__main__":
    main()
