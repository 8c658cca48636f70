const SVG = "http://www.w3.org/2000/svg";
export const NARROW = window.matchMedia("(max-width: 40rem), (max-height: 30rem)"); // the board gets larger satellites, in stacks where needed
export const screenKind = () => (NARROW.matches ? "narrow" : "wide"); // as the server calls it
const BASELINES = { top: 0.8, bottom: -0.2, mid: 0.36 };

/** Returns a color of dark pictures as the page's theme shows it. */
function themed(color) {
  return color?.startsWith("#") ? `var(--c-${color.slice(1)}, ${color})` : (color ?? "none");
}

/** Parses markup of SVG elements that the page came with. */
function parseMarkup(text) {
  const markup = text.replace(/(fill|stroke)="(#[0-9a-f]{6})"/g, (_, name, color) => `${name}="${themed(color)}"`);
  const parsed = new DOMParser().parseFromString(`<svg xmlns="${SVG}">${markup}</svg>`, "image/svg+xml");
  return [...document.importNode(parsed.documentElement, true).childNodes];
}

/** Returns a number between two, and an angle by the shorter way. */
function between(start, end, fraction) {
  return start + (end - start) * fraction;
}

function turned(start, end, fraction) {
  const change = ((((end - start + 180) % 360) + 360) % 360) - 180;
  return start + change * fraction;
}

/** Returns the shape between two that correspond; otherwise the nearer one. */
function interpolate(start, end, fraction) {
  if (start === end) return start;
  const corresponds =
    start[0] === end[0] &&
    start.length === end.length &&
    start.every((value, i) => typeof value === "number" || value === end[i]);
  if (!corresponds) return fraction < 0.5 ? start : end;
  const rotation = "TU".includes(start[0]) ? start.length - 1 : -1;
  return start.map((value, i) => {
    if (typeof value !== "number") return value;
    return (i === rotation ? turned : between)(value, end[i], fraction);
  });
}

/** How each class of shapes becomes an element of SVG; the arrays are those of ``browser/records.py``. */
const ELEMENTS = {
  P: {
    name: "polygon",
    attributes: ([, fill, stroke, width, opacity, ...points]) => ({
      ...paint(fill, stroke, width, opacity),
      points: points.join(" "),
    }),
  },
  L: {
    name: "polyline",
    attributes: ([, color, width, dashed, ...points]) => ({
      ...paint(null, color, width, 1),
      points: points.join(" "),
      "stroke-linecap": dashed ? "butt" : "round",
      "stroke-dasharray": dashed ? `${0.55 * (4 * width + 2)} ${0.45 * (4 * width + 2)}` : "none",
    }),
  },
  C: {
    name: "circle",
    attributes: ([, fill, stroke, width, opacity, cx, cy, r]) => ({ ...paint(fill, stroke, width, opacity), cx, cy, r }),
  },
  B: {
    name: "rect",
    attributes: ([, fill, stroke, strokeWidth, , left, top, width, height, rounding]) => {
      const inset = stroke ? strokeWidth / 2 : 0;
      return {
        ...paint(fill, stroke, strokeWidth, 1),
        x: left + inset,
        y: top + inset,
        width: Math.max(width - 2 * inset, 0),
        height: Math.max(height - 2 * inset, 0),
        rx: rounding,
      };
    },
  },
  T: {
    name: "text",
    attributes: ([, , fill, anchor, bold, size, x, y, rotation]) => ({
      fill: themed(fill),
      x,
      y: y + size * BASELINES[["top", "bottom"].find((edge) => anchor.includes(edge)) ?? "mid"],
      "font-size": size,
      "font-weight": bold ? "bold" : "normal",
      "text-anchor": anchor.includes("left") ? "start" : anchor.includes("right") ? "end" : "middle",
      transform: rotation ? `rotate(${-rotation} ${x} ${y})` : "",
    }),
  },
  U: {
    name: "use",
    attributes: ([, symbol, x, y, size, rotation]) => ({
      href: `#${symbol}`,
      x: x - size / 2,
      y: y - size / 2,
      width: size,
      height: size,
      transform: rotation ? `rotate(${-rotation} ${x} ${y})` : "",
    }),
  },
};

function paint(fill, stroke, width, opacity) {
  return { fill: themed(fill), stroke: themed(stroke), "stroke-width": width, opacity };
}

/** Returns a shape as an element. */
export function drawShape(shape) {
  return redraw(document.createElementNS(SVG, ELEMENTS[shape[0]].name), shape);
}

/** Lets an element show another shape of its kind; returns it. What stays is not touched: browsers would lay it out anew. */
function redraw(element, shape) {
  const attributes = ELEMENTS[shape[0]].attributes(shape);
  for (const [key, value] of Object.entries(attributes)) if (element.drawn?.[key] !== value) element.setAttribute(key, value);
  element.drawn = attributes;
  if (shape[0] === "T" && element.textContent !== shape[1]) element.textContent = shape[1];
  return element;
}

/** The board of a game as SVG: what stays, and frames of what moves. */
export class BoardView {
  /** @param {SVGSVGElement} svg where it is drawn; what is put into ``overlay`` lies on top, into ``lights`` beneath what moves. */
  constructor(svg) {
    this.svg = svg;
    this.definitions = this.#group(svg, "defs");
    this.resting = this.#group(svg, "g");
    this.resting.setAttribute("class", "resting");
    this.turning = this.#group(svg, "g");
    this.ground = this.#group(svg, "g");
    this.ground.setAttribute("class", "ground");
    this.lights = this.#group(svg, "g");
    this.moving = this.#group(svg, "g");
    this.overlay = this.#group(svg, "g");
    this.shapes = [];
    this.defined = new Set();
  }

  #group(svg, name) {
    return svg.appendChild(document.createElementNS(SVG, name));
  }

  /** Shows the board of a game, or of a message of the server. */
  load({ size, board, turning, sectors, unseen, symbols, shapes }) {
    this.resting.replaceChildren(...parseMarkup(board));
    this.turning.replaceChildren(...parseMarkup(turning));
    this.moving.replaceChildren();
    Object.assign(this, { size, sectors, unseen, occupied: null });
    this.shapes = shapes;
    this.define(symbols);
  }

  /** Adds symbols that shapes refer to. */
  define(symbols) {
    for (const [name, markup] of Object.entries(symbols)) {
      if (this.defined.has(name)) continue;
      this.defined.add(name);
      this.definitions.append(...parseMarkup(markup));
    }
  }

  /** Lights the sectors with satellites, which hides their numbers, and darkens those out of sight. */
  #occupy(occupied, unseen) {
    if (occupied === this.occupied) return;
    this.occupied = occupied;
    const lit = occupied.flatMap((sector) => this.sectors[sector]);
    const dark = unseen.flatMap((sector) => this.unseen[sector].slice(0, occupied.includes(sector) ? 1 : undefined));
    this.ground.replaceChildren(...[...lit, ...dark].map(drawShape));
  }

  /** Adds what a message of the server draws; returns its moment, whose frames then refer to the shapes of this board. */
  add({ moment, symbols, shapes }) {
    const first = this.shapes.length;
    this.shapes.push(...shapes);
    this.define(symbols);
    return { ...moment, frames: moment.frames.map((frame) => frame.map((index) => first + index)) };
  }

  /** Draws a phase ({frames, views, turning, occupied, unseen}) at a progress from 0 to 1. */
  draw({ frames, views, turning, occupied, unseen }, progress) {
    const at = progress * (frames.length - 1);
    const half = (turning === null ? progress < 0.5 : at < turning[0]) ? 0 : 1; // satellites change sectors as they move, or drift
    this.#occupy(occupied[half], unseen[half]);
    const index = Math.min(Math.floor(at), frames.length - 1);
    const next = Math.min(index + 1, frames.length - 1);
    const isTurning = turning !== null && at > turning[0] - 1 && at < turning[1] + 1;
    this.turning.style.display = isTurning ? "" : "none";
    this.resting.style.display = isTurning ? "none" : "";
    this.ground.style.display = isTurning ? "none" : "";
    this.#show(this.#between(frames[index], frames[next], at - index));
    const [left, top, width] = views ? views[index].map((value, i) => between(value, views[next][i], at - index)) : [0, 0, this.size];
    this.svg.setAttribute("viewBox", `${left} ${top} ${width} ${width}`);
  }

  #between(start, end, fraction) {
    const shapes = (frame) => frame.map((index) => this.shapes[index]);
    if (fraction === 0 || start.length !== end.length) return shapes(fraction < 0.5 ? start : end);
    return start.map((index, i) => interpolate(this.shapes[index], this.shapes[end[i]], fraction));
  }

  #show(shapes) {
    const elements = this.moving.children;
    shapes.forEach((shape, i) => {
      const element = elements[i];
      if (element?.shape === shape) return;
      if (element === undefined) this.moving.append(drawShape(shape));
      else if (element.localName === ELEMENTS[shape[0]].name) redraw(element, shape);
      else element.replaceWith(drawShape(shape));
      elements[i].shape = shape;
    });
    while (elements.length > shapes.length) elements[elements.length - 1].remove();
  }
}
