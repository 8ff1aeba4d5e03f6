// What the page shows is described anew after each change, and the browser is told only what differs:
// making elements takes it longer than comparing descriptions.
class Description {
  constructor(space, name, attributes, text) {
    this.space = space;
    this.name = name; // "" of text
    this.attributes = attributes;
    this.text = text;
    this.children = [];
  }

  append(...children) {
    for (const c of children) if (c !== null && c !== undefined) this.children.push(c instanceof Description ? c : new Description("", "", {}, String(c)));
    return this;
  }

  // create makes the element. An attribute that begins with "on" is what listens to an event.
  create() {
    if (!this.name) return this.dom = document.createTextNode(this.text);
    this.dom = document.createElementNS(this.space, this.name);
    for (const name in this.attributes) this.set(name);
    this.dom.append(...this.children.map(c => c.create()));
    return this.dom;
  }

  set(name) {
    const value = this.attributes[name];
    if (name.startsWith("on")) this.dom[name] = value ?? null;
    else if (value === undefined || value === false) this.dom.removeAttribute(name);
    else if (name !== "key") this.dom.setAttribute(name, value === true ? "" : value);
  }

  // replace makes the element of an earlier description, of the same name, what this one says.
  replace(old) {
    if (old === this) return;
    this.dom = old.dom;
    if (!this.name) { if (this.text !== old.text) this.dom.data = this.text; return; }
    for (const name in this.attributes) if (this.attributes[name] !== old.attributes[name]) this.set(name);
    for (const name in old.attributes) if (!(name in this.attributes)) this.set(name);
    renewChildren(this.dom, old.children, this.children);
  }
}

const make = (name, attributes = {}, ...children) => new Description("http://www.w3.org/1999/xhtml", name, attributes).append(...children);
const svg = (name, attributes = {}, ...children) => new Description("http://www.w3.org/2000/svg", name, attributes).append(...children);

// renew gives an element of the page new children.
function renew(box, children) {
  children = children.filter(Boolean);
  if (!box.described) box.replaceChildren();
  renewChildren(box, box.described ?? [], children);
  box.described = children;
}

// renewChildren keeps a child for one of the same name: that with the same key, or else the next one
// without a key.
function renewChildren(box, old, children) {
  const fits = (c, was) => was !== undefined && c.name === was.name && c.attributes.key === was.attributes.key;
  if (old.length === children.length && children.every((c, i) => fits(c, old[i]))) {
    children.forEach((c, i) => c.replace(old[i]));
    return;
  }
  const keyed = new Map(), others = [];
  for (const c of old) {
    if (c.attributes.key === undefined) others.push(c);
    else keyed.set(c.attributes.key, c);
  }
  const kept = children.map(c => c.attributes.key === undefined ? others.shift() : keyed.get(c.attributes.key));
  const stay = new Set(kept.filter((was, i) => fits(children[i], was)));
  for (const c of old) if (!stay.has(c)) c.dom.remove();
  let next = box.firstChild;
  children.forEach((c, i) => {
    if (stay.has(kept[i])) c.replace(kept[i]);
    else c.create();
    if (c.dom === next) next = next.nextSibling;
    else box.insertBefore(c.dom, next);
  });
}
