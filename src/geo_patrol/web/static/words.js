export const SIDES = ["alpha", "bravo"];
export const COLORS = { alpha: "blue", bravo: "gold" };
// The words of the rules, on buttons, in orders and in results; verbs by how many do it: several, one.
export const MOVES = { prograde: "prograde", retrograde: "retrograde", radial_in: "radial in", radial_out: "radial out" };
export const DEEDS = { shoot: ["shoot", "shoots"], collide: ["collide with", "collides with"], guard: ["guard", "guards"] };
export const DIRECTIONS = "Prograde: the way everything drifts when a turn ends. Retrograde: the other way.";

/** Returns an element of the page. */
export function byId(id) {
  return document.getElementById(id);
}

/** Creates an element with attributes, a text or children. */
export function create(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

export function svgElement(name, attributes, text = "") {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.textContent = text;
  return element;
}

/** Changes a text only where it differs: screen readers read every change. */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Returns a satellite's number, or HVA, without its P. */
export function short(name) {
  return name.replace(/^P/, "");
}

export function capitalized(text) {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** Returns a satellite in words: "Patrol 3", "HVA". */
function satelliteText(name) {
  return name === "HVA" ? name : `Patrol ${short(name)}`;
}

/** Returns words with commas, and "and" before the last one. */
export function listed(words) {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}

export const COUNTS = ["Nobody", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten"];

/** Returns how many do something: "One guards", "Two guard". */
export function manyDo(count, verb) {
  return `${COUNTS[count] ?? count} ${verb}${count < 2 ? "s" : ""}`;
}

export function counted(count, noun) {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** The people of a game as somebody calls them. */
export class Cast {
  /**
   * @param {string[]} names of alpha and bravo.
   * @param {?string} you the side of who reads; null for those who watch.
   */
  constructor(names, you) {
    const known = names.map((name, i) => (name === "person" ? capitalized(COLORS[SIDES[i]]) : name)); // who gave no name
    Object.assign(this, { names: known, you });
    if (this.names[0] === this.names[1]) this.names = SIDES.map((side) => this.colored(side));
  }

  /** Returns a name with the color of its side, which some names say. */
  colored(side) {
    const name = this.names[SIDES.indexOf(side)];
    return new RegExp(`\\b${COLORS[side]}\\b`, "i").test(name) ? name : `${name} (${COLORS[side]})`;
  }

  is(side) {
    return side === this.you;
  }

  name(side) {
    return this.is(side) ? "You" : this.names[SIDES.indexOf(side)];
  }

  /** Returns whose something is, as "your" or "Telstar’s". */
  owner(side) {
    return this.is(side) ? "your" : `${this.names[SIDES.indexOf(side)]}’s`;
  }

  /** Returns a satellite, as in "alpha:P3", as a token with its number. */
  token(satellite) {
    const [side, name] = satellite.split(":");
    const owner = create("span", { class: "sr" }, `${this.owner(side)} `);
    return create("b", { class: `n ${side}` }, owner, short(name));
  }
}

/** Returns what one satellite or several are ordered to do, as in "shoots 3". */
export function orderText({ action, sector, target }, count = 1) {
  const isOne = Number(count === 1);
  if (action in MOVES) return `${["go", "goes"][isOne]} ${MOVES[action]} to ${sector}`;
  return `${DEEDS[action][isOne]} ${action === "guard" ? "your HVA" : satelliteText(target)}`;
}

/** Returns the same with its odds, as in "shoots 3, 40%". */
export function oddsText(option) {
  return `${orderText(option)}${option.action in MOVES ? "" : `, ${option.odds}%`}`;
}

/** Returns what an engagement did, by target: cards with a title, and lines of texts and tokens. */
function engagementCards(outcomes, cast) {
  const guards = outcomes.filter(({ action }) => action === "guard");
  const taken = new Map(guards.filter(({ success, attacker }) => success && attacker).map((one) => [one.attacker, one]));
  const attacks = outcomes.filter(({ action }) => action !== "guard");
  const aim = ({ attacker, target }) => taken.get(attacker)?.target ?? target;
  const targets = new Set([...guards.filter(({ attacker }) => attacker).map(({ target }) => target), ...attacks.map(aim)]);
  const lost = lostIn(outcomes);
  const cards = [...targets].map((target) => {
    const isLost = lost.has(target);
    const aimed = attacks.filter((one) => aim(one) === target);
    const lines = aimed.map((one) => attackLine(one, taken.get(one.attacker), cast));
    const failed = new Set(guards.filter((one) => one.target === target && one.attacker && !one.success).map(({ guardian }) => guardian));
    for (const { guardian } of taken.values()) failed.delete(guardian);
    if (failed.size > 0) lines.push([...tokens([...failed], cast), " guarded in vain."]);
    const own = attacks.find(({ action, success, attacker }) => action === "collide" && success && attacker === target);
    if (isLost && own && !attacks.some(({ success, target: hit }) => success && hit === target)) lines.push(["It collided with ", cast.token(own.target), "."]);
    const [side, name] = target.split(":");
    const title = name === "HVA" ? `${capitalized(cast.owner(side))} HVA is ${isLost ? "lost" : "safe"}` : null;
    return { target, title, isLost, lines, isHva: name === "HVA" };
  });
  return cards.sort((one, other) => other.isHva - one.isHva || other.isLost - one.isLost);
}

export function tokens(satellites, cast) {
  return satellites.flatMap((one, i) => [...(i > 0 ? [i === satellites.length - 1 ? " and " : ", "] : []), cast.token(one)]);
}

/** Returns an attack as tokens with its odds and what came of it; where a guard took it, with the guard. */
function attackLine({ action, attacker, target, odds, success }, guard, cast) {
  const at = guard === undefined ? [] : [" at guard ", cast.token(target)];
  return [cast.token(attacker), action === "shoot" ? " shot" : " collision", ...at, `, ${odds}%: `, create("b", {}, success ? "hit" : "missed")];
}

/** Returns the satellites that an engagement destroyed; a collision that succeeds destroys both. */
function lostIn(outcomes) {
  const hits = outcomes.filter(({ action, success }) => action !== "guard" && success);
  return new Set(hits.flatMap(({ action, attacker, target }) => (action === "collide" ? [attacker, target] : [target])));
}

/** Returns who lost which satellites, in a sentence each; "" if nobody did. */
export function lossText(outcomes, cast) {
  const sentences = SIDES.map((side) => {
    const names = [...lostIn(outcomes)].filter((one) => one.startsWith(side)).map((one) => short(one.split(":")[1]));
    return names.length ? `${cast.name(side)} ${cast.is(side) ? "lose" : "loses"} ${fleetText(names)}.` : "";
  });
  return sentences.filter(Boolean).join(" ");
}

/** Returns satellites of a side as in "Patrols 1 and 3, and the HVA". */
function fleetText(names) {
  const patrols = names.filter((name) => name !== "HVA").sort((one, other) => one - other);
  const parts = [...(patrols.length ? [`${patrols.length > 1 ? "Patrols" : "Patrol"} ${listed(patrols)}`] : []), ...(patrols.length < names.length ? ["the HVA"] : [])];
  return parts.join(", and ");
}

/** Returns what happens in the phase between two moments, in a sentence or two. */
export function phaseStory(before, moment) {
  const start = `Turn ${before.turn}:`;
  if (before.phase === "movement") return `${start} both sides move.`;
  const drift = moment.phase === "over" ? "" : " Then everything drifts one sector prograde, goals too.";
  return `${start} ${moment.engaged ? "guards act first, then all shots at once, then collisions one by one." : "nobody engages."}${drift}`;
}

/** Returns the cards of an engagement as elements, and one about the points. */
export function drawCards({ outcomes, changes, score }, cast) {
  const drawn = engagementCards(outcomes, cast).map(({ target, title, isLost, lines }) => {
    const heading = title ?? [cast.token(target), isLost ? " is lost" : " is safe"];
    const paragraphs = lines.map((line) => create("p", {}, ...line));
    const kind = !isLost ? "" : cast.you === null || cast.is(target.split(":")[0]) ? "lost" : "hit";
    return create("li", { class: `box ${kind}` }, create("h3", {}, ...[heading].flat()), ...paragraphs);
  });
  if (changes.length > 0) {
    const points = SIDES.map((side, i) => {
      const why = changeText(changes[i]);
      return create("p", {}, `${cast.name(side)} ${score[i] - changes[i].total} → `, create("b", {}, String(score[i])), why && create("span", { class: "soft" }, ` ${why}`));
    });
    drawn.push(create("li", { class: "box" }, create("h3", {}, "Points"), ...points));
  }
  return drawn;
}

/** Returns points that are added or lost: "+3", "−95". */
function signed(points) {
  return points < 0 ? `−${-points}` : `+${points}`;
}

/** Returns what changed a score in a turn: "HVA destroyed −95, fuel spent −4". */
function changeText(change) {
  const patrols = `${counted(change.patrol_count, "Patrol")} destroyed`;
  const parts = { hva_destroyed: "HVA destroyed", patrols_destroyed: patrols, goal: "goal", enemy_patrols: "enemy Patrols destroyed", fuel_spent: "fuel spent" };
  return Object.entries(parts).flatMap(([name, text]) => (change[name] ? [`${text} ${signed(change[name])}`] : [])).join(", ");
}

/** Returns how the score of a side came about in a game, as lines of a table. */
export function sumLines({ start, ...sums }, title) {
  const parts = { goal: "from the goal", enemy_patrols: "enemy Patrols destroyed", hva_destroyed: "HVA destroyed", patrols_destroyed: "Patrols destroyed", fuel_spent: "fuel spent", forfeit: "forfeit" };
  const total = Object.values(sums).reduce((sum, points) => sum + points, start);
  const lines = Object.entries(parts).flatMap(([name, text]) => (sums[name] ? [[text, signed(sums[name])]] : []));
  return [[`${title}: ${total} points`, ""], ["fuel at the start", String(start)], ...lines];
}

/** Returns how a game ended: "You won, 223 to 112: in turn 10 your 4 shot Telstar’s HVA." */
export function verdict(moment, cast) {
  const { winner, score, turn } = moment;
  const first = cast.you ?? (winner === "draw" ? "alpha" : winner);
  const own = SIDES.indexOf(first);
  const points = `${score[own]} to ${score[1 - own]}`;
  const result = winner === "draw" ? (cast.you ? "You drew" : "A draw") : `${cast.name(winner === first ? first : cast.you)} ${winner === first ? "won" : "lost"}`;
  return capitalized(`${result}, ${points}: in turn ${turn} ${endText(moment, cast)}.`);
}

/** Returns why a game ended. */
export function endText({ ends, outcomes }, cast) {
  if (ends.length === 2 && ends.every(({ reason }) => reason === "win_score")) return "both reached the score that wins";
  const texts = ends.map(({ reason, side }) => {
    if (reason === "hva_destroyed") return destroyedText(side, outcomes, cast);
    if (reason === "hva_out_of_fuel") return `${cast.owner(side)} HVA ran out of fuel`;
    if (reason === "win_score") return `${cast.is(side) ? "you" : cast.name(side)} reached the score that wins`;
    if (reason === "forfeit") return `${cast.is(side) ? "you" : cast.name(side)} forfeited`;
    if (reason === "resigned") return `${cast.is(side) ? "you" : cast.name(side)} resigned`;
    if (reason === "failed") return `${cast.name(side)} failed`;
    if (reason === "agreed") return "both agreed to a draw";
    return "the last turn was played";
  });
  return listed(texts);
}

function destroyedText(side, outcomes, cast) {
  const hit = outcomes.find(({ action, target, success }) => action !== "guard" && success && target === `${side}:HVA`);
  if (hit === undefined) return `${cast.owner(side)} HVA was hit`;
  const [enemy, name] = hit.attacker.split(":");
  return `${cast.owner(enemy)} ${satelliteText(name)} ${hit.action === "collide" ? "collided with" : "shot"} ${cast.owner(side)} HVA`;
}

/** Whether a game ended that the rules would have let go on. */
export function isSettled({ ends }) {
  return ends.some(({ reason }) => ["resigned", "failed", "agreed"].includes(reason));
}

/** Returns the last moment of a game with its end, which the server tells apart where it comes later. */
export function withEnd(moment, { winner, reasons }) {
  return { ...moment, phase: "over", winner: winner ?? "draw", ends: moment.ends.length ? moment.ends : reasons };
}

/** Returns why a game ended that an agent's failure ended; null for others. */
export function faultText(ending) {
  return ending?.fault ? `Tried three times: ${ending.fault}.` : null;
}

/** Returns turn and phase in words, or that the game is over. */
export function phaseText({ turn, phase }) {
  return phase === "over" ? `Over in turn ${turn}` : `Turn ${turn}, ${phase}`;
}

/** Returns lines ("left", "right") as a table; those without a right side are headings. */
export function lineTable(lines) {
  const rows = lines.map(([left, right]) => {
    if (right === "") return create("tr", {}, create("th", { colspan: 2, scope: "rowgroup" }, left));
    return create("tr", {}, create("th", { scope: "row" }, left), create("td", {}, right));
  });
  return create("table", { class: "lines" }, create("tbody", {}, ...rows));
}

/** Returns the rules of a game, as tabs of the server, as elements. */
export function rulesOf(tabs) {
  return tabs.flatMap(([title, lines]) => [create("h3", {}, title), lineTable(lines)]);
}

/** Draws a fleet as rows of tokens with fuel and rounds; texts for screen readers say all of it. */
export function fleetTokens(satellites) {
  return satellites.map(([name, sector, fuel, , ammo, state, lastSeen]) => {
    const sight = lastSeen === null ? "" : `, last seen in turn ${lastSeen}`;
    const label = (state === "" ? `${short(name)}, sector ${sector}, fuel ${fuel}, ${roundsText(ammo)}` : `${short(name)}, ${state}`) + sight;
    const classes = ["sat", ...(name === "HVA" ? ["hva"] : []), ...(ammo > 0 && state === "" ? ["round"] : []), ...(state ? ["lost"] : []), ...(sight ? ["unseen"] : [])];
    const token = create("i", { "aria-hidden": "true" }, name === "HVA" ? "H" : short(name));
    const fuelText = create("small", { "aria-hidden": "true" }, sight ? `T${lastSeen}` : state === "" ? String(fuel) : "✕");
    return { name, label, classes: classes.join(" "), parts: [token, fuelText], isActive: state === "" };
  });
}

export function roundsText(ammo) {
  return ammo === 0 ? "no round" : counted(ammo, "round");
}
