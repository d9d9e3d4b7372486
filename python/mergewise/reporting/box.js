"use strict";
// The box: a text is typed, and its tokens and their trees are shown.
(() => {
  const SHOWN_AT_ONCE = 2000;
  const MOST_LEAVES = 160;
  const SVG = "http://www.w3.org/2000/svg";
  const RIGHT_TO_LEFT = /[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFF\u{10800}-\u{10FFF}\u{1E800}-\u{1EFFF}]/u;
  const input = document.getElementById("text");
  if (!input) return;

  const views = [...document.querySelectorAll(".view")].map((element) => {
    const data = JSON.parse(document.getElementById(element.dataset.tokenizer).textContent);
    return new View(element, new Encoder(data));
  });
  window.mergewise = { encode: (text, which = 0) => views[which].encoder.encode(text) };

  let isWaiting = false;
  input.addEventListener("input", () => {
    // Keys may come faster than frames: only the last text counts.
    if (isWaiting) return;
    isWaiting = true;
    requestAnimationFrame(() => {
      isWaiting = false;
      for (const view of views) view.update(input.value);
    });
  });
  window.addEventListener("resize", () => views.forEach((view) => view.drawForest()));
  for (const button of document.querySelectorAll("[data-sample]")) {
    button.addEventListener("click", () => {
      input.value = button.dataset.sample;
      input.dispatchEvent(new Event("input"));
      input.focus();
    });
  }
  for (const view of views) view.update(input.value);

  function View(element, encoder) {
    const find = (name) => element.querySelector(`.${name}`);
    const [summary, output, more, forest, facts] = [
      "summary",
      "tokens",
      "more",
      "forest",
      "facts",
    ].map(find);
    let tokens = [];
    let lines = [];
    let chips = [];
    // How many lines end with the tokens shown.
    let numEnded = 0;
    let numShown = 0;
    let selected = 0;
    this.encoder = encoder;

    this.update = (text) => {
      try {
        tokens = encoder.encode(text);
      } catch (error) {
        if (!(error instanceof UnknownCharacter)) throw error;
        tokens = [];
        this.clear();
        summary.textContent = `“${error.message}” is no symbol of this tokenizer: encode refuses the text.`;
        return;
      }
      this.clear();
      lines = text.split("\n");
      summary.textContent = this.summarise(text);
      this.showMore();
      this.select(0);
    };

    this.clear = () => {
      output.replaceChildren();
      chips = [];
      numEnded = 0;
      forest.replaceChildren();
      facts.textContent = "";
      numShown = 0;
      selected = 0;
      more.hidden = true;
    };

    this.summarise = (text) => {
      const numBytes = toUtf8.encode(wellFormed(text)).length;
      const numCharacters = [...text].length;
      const parts = [
        counted(tokens.length, "token"),
        counted(numCharacters, "character"),
        counted(numBytes, "byte"),
      ];
      if (tokens.length) parts.push(`${(numBytes / tokens.length).toFixed(2)} bytes a token`);
      if (encoder.newer && encoder.newer.test(text)) {
        parts.push("newer characters than every browser knows: their normal forms may differ here");
      }
      return parts.join(" · ");
    };

    // Long texts: the first tokens at once, the next ones when they are asked for.
    this.showMore = () => {
      const end = Math.min(numShown + SHOWN_AT_ONCE, tokens.length);
      for (let index = numShown; index < end; index++) show(tokens[index], index);
      numShown = end;
      const rest = tokens.length - end;
      more.hidden = rest === 0;
      const next = Math.min(rest, SHOWN_AT_ONCE).toLocaleString("en");
      more.textContent = `show the next ${next} of ${rest.toLocaleString("en")} other tokens`;
    };
    more.addEventListener("click", () => this.showMore());
    output.addEventListener("scroll", () => {
      const below = output.scrollHeight - output.scrollTop - output.clientHeight;
      if (below < 200 && numShown < tokens.length) this.showMore();
    });

    this.select = (index) => {
      output.querySelector(".selected")?.classList.remove("selected");
      selected = Math.min(Math.max(index, 0), Math.max(numShown - 1, 0));
      const chosen = chips[selected];
      if (chosen) {
        chosen.classList.add("selected");
        output.setAttribute("aria-activedescendant", chosen.id);
        facts.textContent = this.describe(tokens[selected]);
      } else {
        output.removeAttribute("aria-activedescendant");
      }
      this.drawForest();
    };
    output.addEventListener("click", (event) => {
      const chosen = event.target.closest("[data-index]");
      if (chosen) this.select(Number(chosen.dataset.index));
    });
    output.addEventListener("keydown", (event) => {
      const right = chips[selected]?.parentElement.dir === "rtl" ? -1 : 1;
      const moves = { ArrowLeft: -right, ArrowRight: right, Home: -Infinity, End: Infinity };
      const move = moves[event.key];
      if (move === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      this.select(move === -Infinity ? 0 : move === Infinity ? numShown - 1 : selected + move);
      chips[selected]?.scrollIntoView({ block: "nearest" });
    });

    this.describe = (token) => {
      const parts = [`${shown(token.bytes)}`, `id ${token.id}`];
      if (token.isSpecial) parts.push("a special token");
      else if (token.isUnknown) parts.push("not in the alphabet");
      else if (token.node >= encoder.data.numSymbols) {
        parts.push(`merge ${(token.node - encoder.data.numSymbols + 1).toLocaleString("en")}`);
      } else if (token.node >= 0) parts.push("a symbol");
      if (token.node >= 0) {
        parts.push(`${encoder.uses[token.node].toLocaleString("en")} times in the corpus`);
      }
      return parts.join(" · ");
    };

    // Tokens are isolated from one another, so their order is that of the line that they are in.
    function show(token, index) {
      const last = chips.at(-1);
      let line = last?.parentElement;
      if (!last || last.textContent.endsWith("\n")) {
        line = document.createElement("div");
        line.dir = directionOf(lines[numEnded] ?? "");
        output.append(line);
      }
      const element = chip(token, index);
      line.append(element);
      chips.push(element);
      numEnded += element.textContent.split("\n").length - 1;
      // Brackets have no direction of their own: they open as those of the text around them.
      if (!/\p{L}/u.test(element.textContent)) element.dir = line.dir;
    }

    function chip(token, index) {
      const element = document.createElement("bdi");
      element.className = `chip c${index % 6}`;
      element.dataset.id = token.id;
      element.dataset.index = index;
      element.id = `${output.id}-${index}`;
      element.setAttribute("role", "option");
      element.title = `${shown(token.bytes)} = ${token.id}`;
      element.textContent = readable(token.bytes);
      return element;
    }

    // The trees of the tokens from the selected one on, side by side, in rows.
    this.drawForest = () => {
      forest.replaceChildren();
      if (!tokens.length) return;
      const width = forest.clientWidth || 600;
      const trees = [];
      let leaves = 0;
      for (let index = selected; index < tokens.length; index++) {
        const tree = treeOf(tokens[index]);
        leaves += tree.leaves;
        if (leaves > MOST_LEAVES && trees.length) break;
        trees.push({ tree, index });
      }
      const bands = [[]];
      let x = 0;
      for (const one of trees) {
        layOut(one.tree);
        if (x && x + one.tree.width > width) {
          bands.push([]);
          x = 0;
        }
        one.x = x;
        x += one.tree.width + 14;
        bands[bands.length - 1].push(one);
      }
      const svg = document.createElementNS(SVG, "svg");
      let y = 0;
      let right = width;
      for (const band of bands) {
        const height = Math.max(...band.map(({ tree }) => tree.depth)) * 24 + 48;
        for (const { tree, index, x: left } of band) {
          draw(svg, tree, left, y + height - 24, index % 6, true);
          right = Math.max(right, left + tree.width);
        }
        y += height + 8;
      }
      svg.setAttribute("viewBox", `0 0 ${right} ${y}`);
      svg.setAttribute("width", right);
      svg.setAttribute("height", y);
      svg.setAttribute("role", "img");
      const last = trees[trees.length - 1].index;
      const title = document.createElementNS(SVG, "title");
      title.textContent = `Merge trees of the tokens ${selected + 1} to ${last + 1} of ${tokens.length}`;
      svg.prepend(title);
      forest.append(svg);
    };

    function treeOf(token) {
      if (token.node < 0) return leaf(shown(token.bytes));
      return grown(token.node);
    }

    function leaf(label) {
      return { label, leaves: 1, depth: 0, parts: null };
    }

    // Trees may be deeper than calls: parts are made before they are joined.
    function grown(root) {
      const order = [];
      const waiting = [root];
      while (waiting.length) {
        const node = waiting.pop();
        order.push(node);
        if (encoder.left[node] >= 0) waiting.push(encoder.left[node], encoder.right[node]);
      }
      const made = [];
      for (const node of order.reverse()) {
        const label = shown(encoder.strings[node]);
        if (encoder.left[node] < 0) {
          made.push(leaf(label));
          continue;
        }
        const right = made.pop();
        const left = made.pop();
        made.push({
          label,
          leaves: left.leaves + right.leaves,
          depth: 1 + Math.max(left.depth, right.depth),
          parts: [left, right],
          rank: node - encoder.data.numSymbols + 1,
        });
      }
      return made[0];
    }

    function layOut(tree) {
      const order = [tree];
      for (let at = 0; at < order.length; at++) order.push(...(order[at].parts || []));
      for (const one of order.reverse()) {
        const own = columnsOf(one.label) * 8.2 + 8;
        if (!one.parts) {
          one.width = Math.max(own, 16);
          one.root = one.width / 2;
          continue;
        }
        const [left, right] = one.parts;
        const natural = left.width + right.width;
        one.root = (left.root + left.width + right.root) / 2;
        one.width = natural;
        one.shift = 0;
        if (one === tree) {
          // The name of the token stands above the root and must fit.
          const before = Math.max(0, own / 2 - one.root);
          one.shift = before;
          one.root += before;
          one.width = Math.max(natural + before, one.root + own / 2);
        }
      }
    }

    function draw(svg, tree, x, bottom, colour, isRoot) {
      const waiting = [{ one: tree, left: x, isRoot }];
      while (waiting.length) {
        const { one, left, isRoot: isTop } = waiting.pop();
        const top = bottom - one.depth * 24;
        if (!one.parts) {
          put(svg, "text", { x: left + one.root, y: bottom + 5, class: "leaf" }, one.label);
          if (isTop) mark(svg, left + one.root, bottom, one.label, colour, true);
          continue;
        }
        const start = left + (one.shift || 0);
        const [first, second] = one.parts;
        const ends = [start + first.root, start + first.width + second.root];
        const stops = one.parts.map((part) => bottom - part.depth * 24 - (part.parts ? 0 : 10));
        const path = put(svg, "path", {
          class: "branch",
          d: `M${ends[0]} ${stops[0]}V${top}H${ends[1]}V${stops[1]}`,
        });
        put(path, "title", {}, `${one.label} = ${first.label} + ${second.label}, merge ${one.rank}`);
        if (isTop) mark(svg, left + one.root, top, one.label, colour, false);
        waiting.push({ one: second, left: start + first.width }, { one: first, left: start });
      }
    }

    function mark(svg, x, y, label, colour, isLeaf) {
      const width = columnsOf(label) * 8.2 + 8;
      const top = isLeaf ? y - 9 : y - 24;
      const box = { x: x - width / 2, y: top, width, height: 19, rx: 4, class: `c${colour}` };
      put(svg, "rect", box);
      put(svg, "text", { x, y: top + 14, class: "root" }, label);
      if (!isLeaf) put(svg, "path", { class: "branch", d: `M${x} ${y - 5}V${y}` });
    }
  }

  function put(parent, name, attributes, text) {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
    parent.append(element);
    return element;
  }

  function counted(number, noun) {
    return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
  }

  // As of a line in the box: that of its first letter.
  function directionOf(line) {
    return RIGHT_TO_LEFT.test(line.match(/\p{L}/u)?.[0]) ? "rtl" : "ltr";
  }

  // A token among its neighbours: as text where it is text.
  function readable(bytes) {
    const text = textOf(bytes);
    if (text === null) return escaped(bytes);
    return text.replaceAll("\n", "↵\n").replaceAll("\t", "⇥\t");
  }

  // A token by itself: no character of it is invisible.
  function shown(bytes) {
    const text = textOf(bytes);
    if (text === null) return escaped(bytes);
    return Array.from(text, shownCharacter).join("");
  }

  function shownCharacter(character) {
    const known = { "\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\", " ": "▁" }[character];
    if (known) return known;
    const code = character.codePointAt(0);
    if (character !== "▁" && !/[\p{C}\p{Z}]/u.test(character)) return character;
    return code < 0x10000 ? `\\u${hex(code, 4)}` : `\\U${hex(code, 8)}`;
  }

  // Whole characters as they are, and bytes that are none as numbers.
  function escaped(bytes) {
    let written = "";
    for (let at = 0; at < bytes.length; ) {
      const lead = bytes.charCodeAt(at);
      const length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
      const text = textOf(bytes.slice(at, at + length));
      if (text !== null && text.length && at + length <= bytes.length) {
        written += Array.from(text, shownCharacter).join("");
        at += length;
      } else {
        written += `\\x${hex(lead, 2)}`;
        at++;
      }
    }
    return written;
  }

  function hex(number, length) {
    return number.toString(16).padStart(length, "0");
  }

  function columnsOf(label) {
    let columns = 0;
    for (const character of label) {
      if (/\p{Mn}|\p{Me}|\p{Cf}/u.test(character)) continue;
      columns += character.codePointAt(0) >= 0x1100 && /[\p{Extended_Pictographic}\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\u3000-\u303f\uff00-\uff60]/u.test(character) ? 2 : 1;
    }
    return Math.max(columns, 1);
  }
})();
