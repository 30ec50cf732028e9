// A drawing that changes from position to position. A shape that stays keeps its element, so it slides to its new place.
import { s } from "./dom.js";

const LAYERS = ["ground", "marks", "pieces", "over", "targets"];

export class Scene {
  constructor(svg) {
    this.layers = Object.fromEntries(LAYERS.map((name) => [name, svg.appendChild(s("g", { class: `layer-${name}` }))]));
    this.nodes = new Map();
    this.used = new Set();
    this.animate = false;
  }

  begin(animate) {
    this.used = new Set();
    this.animate = animate;
  }

  // Draw one element. `at` is its place. If it is new and animation is on, it moves there from the place `from`.
  put(layer, key, tag, { at = null, from = null, text = null, ...attributes }) {
    const name = `${layer} ${key}`;
    let node = this.nodes.get(name);
    const fresh = !node || node.tagName !== tag;
    if (fresh) {
      node?.remove();
      node = this.layers[layer].appendChild(s(tag));
      this.nodes.set(name, node);
    }
    this.used.add(name);
    for (const [attribute, value] of Object.entries(attributes)) {
      if (node.getAttribute(attribute) !== String(value)) node.setAttribute(attribute, value);
    }
    if (text !== null && node.textContent !== text) node.textContent = text;
    if (fresh && from && this.animate) {
      move(node, from);
      node.getBoundingClientRect(); // so that the browser shows it at its old place before it moves
    }
    if (at) move(node, at);
    return node;
  }

  // Remove the elements that were not drawn again.
  end() {
    for (const [name, node] of this.nodes) {
      if (!this.used.has(name)) {
        node.remove();
        this.nodes.delete(name);
      }
    }
  }
}

function move(node, [x, y]) {
  node.style.transform = `translate(${x}px, ${y}px)`;
}
