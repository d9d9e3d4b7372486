"use strict";
// One step at a time. Without this script, and on paper, the page shows all of them.
(() => {
  const steps = [...document.querySelectorAll(".step")];
  const slider = document.getElementById("slider");
  const where = document.getElementById("where");
  const isMerge = (index) =>
    index === 0 || index === steps.length - 1 || steps[index].dataset.kind === "choose";
  let current = 0;

  function nextMerge(direction) {
    let index = current + direction;
    while (index > 0 && index < steps.length - 1 && !isMerge(index)) index += direction;
    return index;
  }

  const targets = {
    first: () => 0,
    "merge-back": () => nextMerge(-1),
    back: () => current - 1,
    forward: () => current + 1,
    "merge-forward": () => nextMerge(1),
    last: () => steps.length - 1,
  };
  const keys = {
    Home: "first",
    PageUp: "merge-back",
    ArrowLeft: "back",
    ArrowRight: "forward",
    PageDown: "merge-forward",
    End: "last",
  };

  function show(index) {
    current = Math.min(Math.max(index, 0), steps.length - 1);
    steps.forEach((step, number) => step.classList.toggle("current", number === current));
    slider.value = String(current);
    where.textContent = `step ${current} of ${steps.length - 1}`;
    slider.setAttribute("aria-valuetext", steps[current].querySelector("h2").textContent.trim());
    for (const button of document.querySelectorAll("[data-go]")) {
      const isBackward = ["first", "merge-back", "back"].includes(button.dataset.go);
      const isStuck = isBackward ? current === 0 : current === steps.length - 1;
      // A disabled button would lose the focus, and with it the place of whoever uses the keyboard.
      button.setAttribute("aria-disabled", String(isStuck));
    }
    // A page inside a notebook has no address of its own.
    if (location.protocol !== "about:") history.replaceState(null, "", `#step=${current}`);
  }

  function fromAddress() {
    const found = /^#step=(\d+)$/.exec(location.hash);
    return found ? Number(found[1]) : 0;
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-go]");
    if (button) show(targets[button.dataset.go]());
  });
  document.addEventListener("keydown", (event) => {
    const target = keys[event.key];
    if (!target || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    show(targets[target]());
  });
  slider.addEventListener("input", () => show(Number(slider.value)));
  window.addEventListener("hashchange", () => show(fromAddress()));
  document.body.classList.add("stepping");
  document.querySelector(".controls").classList.remove("hidden");
  document.getElementById("steps").setAttribute("aria-live", "polite");
  show(fromAddress());
})();
