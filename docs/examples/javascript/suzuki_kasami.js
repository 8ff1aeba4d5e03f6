#!/usr/bin/env node
// Suzuki and Kasami's algorithm (ACM TOCS 3(4), 1985) as a node for
// 'dmebench run --exec'. It needs Node.js and nothing else.
//
//     dmebench run --exec ./suzuki_kasami.js --nodes 5
'use strict';
const readline = require('readline');

let self;            // our name
let client;          // that of our client
let others;          // all nodes but this one
let ids;             // all nodes, in their order
let latest = {};     // RN: the highest request number heard of each node
let token = null;    // {served, queue}: LN and Q of the paper; null where another node has it
let call = null;     // the msg_id of the request that waits
let inside = false;

function send(dest, body) {
  process.stdout.write(JSON.stringify({ src: self, dest, body }) + '\n');
}

function enter() {
  inside = true;
  send(client, { type: 'entered', in_reply_to: call });
  call = null;
}

const handlers = {
  init(src, body) {
    self = body.node_id;
    client = src;
    ids = body.node_ids;
    others = ids.filter((id) => id !== self);
    for (const id of ids) latest[id] = 0;
    if (self === ids[0]) { // the first node begins with the token
      token = { served: Object.fromEntries(ids.map((id) => [id, 0])), queue: [] };
    }
    send(src, { type: 'init_ok', in_reply_to: body.msg_id });
  },

  // Our client asks: whoever has the token enters, the others ask for it.
  request(src, body) {
    call = body.msg_id;
    if (token) return enter();
    latest[self]++;
    for (const id of others) send(id, { type: 'REQUEST', number: latest[self] });
  },

  // Our client leaves: the token goes to the first in its queue.
  release(src, body) {
    inside = false;
    token.served[self] = latest[self];
    for (const id of ids) {
      const waits = latest[id] === token.served[id] + 1;
      if (waits && !token.queue.includes(id)) token.queue.push(id);
    }
    if (token.queue.length > 0) pass(token.queue.shift());
    send(client, { type: 'released', in_reply_to: body.msg_id });
  },

  // Another node asks: an idle token goes there.
  REQUEST(src, body) {
    latest[src] = Math.max(latest[src], body.number);
    if (token && !inside && latest[src] === token.served[src] + 1) pass(src);
  },

  TOKEN(src, body) {
    token = body.token;
    enter();
  },
};

function pass(dest) {
  send(dest, { type: 'TOKEN', token });
  token = null;
}

readline.createInterface({ input: process.stdin }).on('line', (line) => {
  const { src, body } = JSON.parse(line);
  handlers[body.type](src, body);
});
