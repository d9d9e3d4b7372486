"use strict";
// Encodes as the tokenizer of this page does: the same merges, in the same order.
//
// The string of a token is held as its bytes, each as one character. A word's symbols are joined
// pair by pair: always the pair of the lowest rank, of equal ranks the leftmost.

class UnknownCharacter extends Error {}

class Encoder {
  constructor(data) {
    this.data = data;
    this.cache = new Map();
    this.readNumbers();
    this.symbols = new Map();
    for (let node = 0; node < data.numSymbols; node++) this.symbols.set(this.strings[node], node);
    this.wholeWords = data.wholeWords && new Map(data.wholeWords);
    this.wordPattern = data.pattern && new RegExp(expressionOf(data.pattern), "gu");
    this.specials = specialsOf(data.specials);
    this.late = specialsOf(data.lateSpecials);
    this.newer = data.assigned && new RegExp(`(?!${data.assigned})[^]`, "u");
  }

  readNumbers() {
    const { numSymbols, numMerges, symbols, numbers } = this.data;
    const next = reader(numbers);
    const numNodes = numSymbols + numMerges;
    this.left = new Int32Array(numNodes).fill(-1);
    this.right = new Int32Array(numNodes).fill(-1);
    this.rank = new Int32Array(numNodes).fill(-1);
    // From a pair, as one number, to the node that it becomes.
    this.pairs = new Map();
    this.numNodes = numNodes;
    let rank = 0;
    for (let node = numSymbols; node < numNodes; node++) {
      this.left[node] = next();
      this.right[node] = next();
      rank += next();
      this.rank[node] = rank;
      this.pairs.set(this.left[node] * numNodes + this.right[node], node);
    }
    this.ids = new Array(numNodes);
    this.uses = new Float64Array(numNodes);
    let id = 0;
    for (let node = 0; node < numNodes; node++) {
      const delta = next();
      id += delta % 2 ? -(delta + 1) / 2 : delta / 2;
      this.ids[node] = id - 1;
      this.uses[node] = next();
    }
    this.strings = new Array(numNodes);
    for (let node = 0; node < numSymbols; node++) {
      this.strings[node] = symbols ? symbols[node] : String.fromCharCode(node);
    }
    for (let node = numSymbols; node < numNodes; node++) this.stringOf(node);
  }

  // The parts of a merge may be made by a later one.
  stringOf(node) {
    const waiting = [node];
    while (waiting.length) {
      const top = waiting[waiting.length - 1];
      const parts = [this.left[top], this.right[top]];
      const missing = parts.filter((part) => this.strings[part] === undefined);
      if (missing.length) {
        waiting.push(...missing);
      } else {
        this.strings[top] = this.strings[parts[0]] + this.strings[parts[1]];
        waiting.pop();
      }
    }
    return this.strings[node];
  }

  // The tokens of a text: {id, node, bytes}; node is -1 for those that no merge makes.
  encode(text) {
    const tokens = [];
    const isOnce = this.data.prefixSpace === "once";
    this.cut(wellFormed(text), this.specials, tokens, (stretch) => {
      const start = isOnce && stretch ? ` ${stretch}` : stretch;
      this.cut(start, this.late, tokens, (part) => this.encodeStretch(part, tokens));
    });
    return tokens;
  }

  // Adds the special tokens of a text, and calls use with what is between them.
  cut(text, specials, tokens, use) {
    let from = 0;
    for (const found of specials.pattern ? text.matchAll(specials.pattern) : []) {
      use(text.slice(from, found.index));
      const id = specials.ids.get(found[0]);
      tokens.push({ id, node: -1, bytes: utf8(found[0]), isSpecial: true });
      from = found.index + found[0].length;
    }
    use(text.slice(from));
  }

  encodeStretch(stretch, tokens) {
    const { normalize, prefixSpace, markIsSpace } = this.data;
    if (!stretch) return;
    let text = normalize ? stretch.normalize(normalize.toUpperCase()) : stretch;
    if (markIsSpace) text = text.replaceAll("\u2581", " ");
    const needsSpace =
      prefixSpace === "always" || (prefixSpace === "unless_space" && !text.startsWith(" "));
    if (needsSpace && text) text = ` ${text}`;
    this.forEachWord(text, (word) => {
      for (const token of this.encodeWord(word)) tokens.push(token);
    });
  }

  forEachWord(text, use) {
    if (!this.wordPattern) {
      if (text) use(text);
      return;
    }
    let end = 0;
    for (const found of text.matchAll(this.wordPattern)) {
      if (!found[0]) continue;
      if (end < found.index && !this.data.dropsGaps) use(text.slice(end, found.index));
      use(found[0]);
      end = found.index + found[0].length;
    }
    if (end < text.length && !this.data.dropsGaps) use(text.slice(end));
  }

  encodeWord(word) {
    let tokens = this.cache.get(word);
    if (!tokens) {
      tokens = this.tokensOf(word);
      if (this.cache.size > 50000) this.cache.clear();
      this.cache.set(word, tokens);
    }
    return tokens;
  }

  tokensOf(word) {
    const bytes = utf8(word);
    const whole = this.wholeWords && this.wholeWords.get(bytes);
    if (whole !== null && whole !== undefined) return [{ id: whole, node: -1, bytes }];
    const tokens = [];
    let run = [];
    const finishRun = () => {
      for (const node of this.merged(run)) this.pushNode(node, tokens);
      run = [];
    };
    const units = this.data.alphabet === "bytes" ? [...bytes] : Array.from(word, utf8);
    const { endOfWord, endIsSymbol } = this.data;
    units.forEach((unit, index) => {
      const isLast = index === units.length - 1 && endOfWord && !endIsSymbol;
      const node = this.symbols.get(isLast ? unit + endOfWord : unit);
      if (node === undefined) {
        finishRun();
        this.pushUnknown(unit, tokens);
      } else {
        run.push(node);
      }
    });
    if (endOfWord && endIsSymbol) run.push(this.symbols.get(endOfWord));
    finishRun();
    return tokens;
  }

  pushNode(node, tokens) {
    const { endOfWord } = this.data;
    const string = this.strings[node];
    const isEnd = endOfWord && string.endsWith(endOfWord);
    const bytes = isEnd ? string.slice(0, -endOfWord.length) : string;
    if (this.ids[node] < 0) this.pushUnknown(bytes, tokens);
    else tokens.push({ id: this.ids[node], node, bytes });
  }

  pushUnknown(bytes, tokens) {
    const { byteTokens, unknown, fuseUnknown } = this.data;
    if (byteTokens) {
      for (const byte of bytes) {
        tokens.push({ id: byteTokens[byte.charCodeAt(0)], node: -1, bytes: byte });
      }
    } else if (unknown !== null) {
      const last = tokens[tokens.length - 1];
      if (fuseUnknown && last && last.id === unknown) last.bytes += bytes;
      else tokens.push({ id: unknown, node: -1, bytes, isUnknown: true });
    } else {
      throw new UnknownCharacter(textOf(bytes));
    }
  }

  // The nodes that a row of symbols becomes: a linked list, and a heap of places by rank.
  merged(symbols) {
    const length = symbols.length;
    if (length < 2) return symbols;
    const nodes = symbols.slice();
    const next = new Int32Array(length);
    const previous = new Int32Array(length);
    const heap = new Heap();
    for (let place = 0; place < length; place++) {
      next[place] = place + 1;
      previous[place] = place - 1;
    }
    const consider = (place) => {
      if (place < 0 || next[place] >= length) return;
      const product = this.pairs.get(nodes[place] * this.numNodes + nodes[next[place]]);
      if (product !== undefined) heap.push(this.rank[product] * PLACES + place);
    };
    for (let place = 0; place < length - 1; place++) consider(place);
    while (heap.size) {
      const key = heap.pop();
      const rank = Math.floor(key / PLACES);
      const place = key - rank * PLACES;
      // What was true when the place went into the heap may no longer be.
      if (nodes[place] < 0 || next[place] >= length) continue;
      const partner = next[place];
      const product = this.pairs.get(nodes[place] * this.numNodes + nodes[partner]);
      if (product === undefined || this.rank[product] !== rank) continue;
      nodes[place] = product;
      nodes[partner] = -1;
      next[place] = next[partner];
      if (next[place] < length) previous[next[place]] = place;
      consider(previous[place]);
      consider(place);
    }
    return nodes.filter((node) => node >= 0);
  }
}

const PLACES = 2 ** 32;

class Heap {
  constructor() {
    this.keys = [];
  }

  get size() {
    return this.keys.length;
  }

  push(key) {
    const keys = this.keys;
    let at = keys.push(key) - 1;
    while (at > 0) {
      const above = (at - 1) >> 1;
      if (keys[above] <= key) break;
      keys[at] = keys[above];
      at = above;
    }
    keys[at] = key;
  }

  pop() {
    const keys = this.keys;
    const top = keys[0];
    const key = keys.pop();
    if (!keys.length) return top;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      if (below >= keys.length) break;
      if (below + 1 < keys.length && keys[below + 1] < keys[below]) below++;
      if (keys[below] >= key) break;
      keys[at] = keys[below];
      at = below;
    }
    keys[at] = key;
    return top;
  }
}

function expressionOf({ source, classes }) {
  return source.replace(/[\ue000-\uf8ff]/g, (mark) => classes[mark.charCodeAt(0) - 0xe000]);
}

// Of special tokens that begin at one place the longest is found.
function specialsOf(specials) {
  if (!specials.length) return { pattern: null };
  const texts = specials.map(([text]) => text).sort((a, b) => b.length - a.length);
  const escaped = texts.map((text) => text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"));
  return { pattern: new RegExp(escaped.join("|"), "gu"), ids: new Map(specials) };
}

function reader(base64) {
  const bytes = atob(base64);
  let at = 0;
  return () => {
    let number = 0;
    let scale = 1;
    for (;;) {
      const byte = bytes.charCodeAt(at++);
      number += (byte & 0x7f) * scale;
      if (byte < 0x80) return number;
      scale *= 128;
    }
  };
}

const toUtf8 = new TextEncoder();
const fromUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

// The bytes of a text, each as one character.
function utf8(text) {
  const bytes = toUtf8.encode(text);
  let string = "";
  for (let start = 0; start < bytes.length; start += 8192) {
    string += String.fromCharCode(...bytes.subarray(start, start + 8192));
  }
  return string;
}

// The text of such bytes; null if they are not whole characters.
function textOf(string) {
  try {
    return fromUtf8.decode(Uint8Array.from(string, (c) => c.charCodeAt(0)));
  } catch {
    return null;
  }
}

// Half a surrogate pair is no character, and is typed by accident only.
function wellFormed(text) {
  return text.replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, "\ufffd");
}
