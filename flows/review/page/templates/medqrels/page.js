// Keys and names that Label Studio's page lacks. It acts on layouts of medqrels only and grades nothing by itself.
(() => {
  const visible = (css) => [...document.querySelectorAll(css)].filter((element) => element.checkVisibility());
  const dialog = () => visible(".lsf-modal-ls_visible, .ant-modal-wrap").at(-1);
  const isField = (element) => element.matches(".mq textarea, .mq input:not([type=radio])");
  const keys = {
    m() {
      const comment = document.querySelector(".mq-comment");
      comment?.querySelector("input")?.focus();
      comment?.querySelector("[aria-label='Edit Region']")?.click(); // a comment that Enter has finished
    },
    v() {
      for (const veil of visible(".mq-veil")) veil.open = !veil.open;
    },
  };

  // The letter of a reason answers "cannot judge" too, but never in place of a grade that is there.
  const reason = (event) => {
    const letters = [...document.querySelectorAll(".mq-reasons kbd")].map((hint) => hint.textContent.toLowerCase());
    if (!letters.includes(event.key.toLowerCase()) || visible(".mq-reasons kbd").length) return;
    if (document.querySelector(".mq input[type=radio]:checked")) event.stopPropagation();
    else document.querySelector(".mq input[name=cannot_judge]").click();
  };

  // Label Studio listens at the document, one step above: it never sees what is stopped here.
  document.documentElement.addEventListener("keydown", (event) => {
    const { key, target, ctrlKey, metaKey, altKey } = event;
    const alone = !ctrlKey && !metaKey && !altKey;
    if (!document.querySelector(".mq")) return;
    if (dialog()) {
      if (key !== "Escape") event.stopPropagation();
    } else if (isField(target)) {
      event.stopPropagation(); // the digits of a numeric keypad would grade
      if (key === "Escape") target.blur();
    } else if (alone && key === "Enter" && target.matches(".mq summary, .mq button")) {
      event.stopPropagation(); // it would not press them
    } else if (alone && keys[key.toLowerCase()]) {
      event.preventDefault();
      event.stopPropagation();
      keys[key.toLowerCase()]();
    } else if (alone) {
      reason(event);
    }
  });

  // On the way down: fields keep Enter to themselves, and Label Studio submits from outside of them only.
  document.documentElement.addEventListener(
    "keydown",
    (event) => {
      const { key, target, ctrlKey, metaKey } = event;
      if (key !== "Enter" || !(ctrlKey || metaKey) || !isField(target)) return;
      event.preventDefault();
      event.stopPropagation();
      target.blur();
      const again = { key, ctrlKey, metaKey, keyCode: 13, bubbles: true };
      document.body.dispatchEvent(new KeyboardEvent("keydown", again));
    },
    true,
  );

  const set = (element, values) => {
    for (const [name, value] of Object.entries(values))
      if (element && element.getAttribute(name) !== value) element.setAttribute(name, value);
  };
  let why, guidelines;
  const look = () => {
    const page = document.querySelector(".mq");
    if (!page) {
      const last = document.querySelector(".ant-result-title")?.firstChild;
      if (last?.data === "No More Tasks Left in Queue") document.title = last.data = "Done, thank you";
      return;
    }
    document.documentElement.classList.add("mq-keys"); // the page tells of keys where they work
    const grades = page.querySelector(".mq-grades .lsf-choices, .mq-options .lsf-choices");
    set(grades, { role: "radiogroup", "aria-label": "Grade" });
    set(page.querySelector(".mq-reasons .lsf-choices"), { role: "radiogroup", "aria-label": "Reason" });
    set(page.querySelector(".mq-why input"), { "aria-label": "Reason in words" });
    set(page.querySelector(".mq-comment input"), { "aria-label": "Comment" });
    for (const image of page.querySelectorAll(".mq-image img")) set(image, { alt: "" }); // named beside it

    const asked = visible(".mq-why input")[0];
    if (asked && asked !== why) asked.focus();
    why = asked;

    const shown = visible(".lsf-modal-ls_visible").at(-1);
    if (shown && shown !== guidelines) {
      const name = shown.querySelector(".lsf-modal-ls__title")?.textContent ?? "";
      set(shown, { role: "dialog", "aria-label": name });
      const body = shown.querySelector(".lsf-modal-ls__body");
      set(body, { tabindex: "-1" });
      body?.focus({ preventScroll: true }); // so that arrows scroll it
    }
    guidelines = shown;

    const count = document.querySelector(".lsf-current-task__task-count")?.textContent.trim();
    const title = `Task ${count}: ${page.querySelector("h2")?.textContent}`;
    if (count && document.title !== title) document.title = title;
  };
  const everything = { subtree: true, childList: true, attributes: true, characterData: true };
  new MutationObserver(look).observe(document.body, everything);
})();
