// Keys and names that Label Studio's page lacks. It acts on layouts of medqrels only and grades nothing by itself.
(() => {
  const visible = (css) => [...document.querySelectorAll(css)].filter((element) => element.checkVisibility());
  const dialog = () => visible(".lsf-modal-ls_visible, .ant-modal-wrap").at(-1);
  const keys = {
    m() {
      const comment = document.querySelector(".mq-comment");
      comment?.querySelector("input")?.focus();
      comment?.querySelector("[aria-label='Edit Region']")?.click(); // one that Enter has finished
    },
    v() {
      for (const veil of visible(".mq-veil")) veil.open = !veil.open;
    },
  };

  // Label Studio listens at the document, one step above: it never sees what is stopped here.
  document.documentElement.addEventListener("keydown", (event) => {
    const page = document.querySelector(".mq");
    const { key, target, ctrlKey, metaKey, altKey } = event;
    const own = !ctrlKey && !metaKey && !altKey && keys[key.toLowerCase()];
    if (!page || (key === "Escape" && dialog())) return;
    if (dialog()) {
      event.stopPropagation();
    } else if (page.contains(target) && target.matches("input:not([type=radio]), textarea")) {
      event.stopPropagation(); // the digits of a numeric keypad would grade
      const submits = key === "Enter" && (ctrlKey || metaKey);
      if (submits || key === "Escape") target.blur();
      if (!submits) return;
      event.preventDefault();
      const again = { key, ctrlKey, metaKey, keyCode: 13, bubbles: true };
      page.dispatchEvent(new KeyboardEvent("keydown", again));
    } else if (own) {
      event.preventDefault();
      event.stopPropagation();
      own();
    }
  });

  const tell = (element, role, name) => {
    for (const [key, value] of [["role", role], ["aria-label", name]])
      if (element && value && element.getAttribute(key) !== value) element.setAttribute(key, value);
  };
  let before = {};
  const look = () => {
    const page = document.querySelector(".mq");
    if (!page) return;
    document.documentElement.classList.add("mq-keys"); // the page tells of the keys that work here only
    tell(page.querySelector(":is(.mq-grades, .mq-options) .lsf-choices"), "radiogroup", "Grade");
    tell(page.querySelector(".mq-reasons .lsf-choices"), "radiogroup", "Reason");
    tell(page.querySelector(".mq-why input"), "", "Reason in words");
    tell(page.querySelector(".mq-comment input"), "", "Comment");

    const opened = dialog();
    const why = visible(".mq-why input")[0];
    if (why && !before.why) why.focus();
    if (opened?.matches(".lsf-modal-ls_visible")) {
      tell(opened, "dialog", opened.querySelector(".lsf-modal-ls__title")?.textContent);
      const body = opened.querySelector(".lsf-modal-ls__body");
      if (body && body !== before.body) {
        body.tabIndex = -1; // so that arrows scroll it
        body.focus();
      }
      before.body = body;
    }
    before.why = why;

    const count = document.querySelector(".lsf-current-task__task-count")?.textContent.trim();
    const title = `Task ${count}: ${page.querySelector("h2")?.textContent}`;
    if (count && document.title !== title) document.title = title;
  };
  new MutationObserver(look).observe(document.body, { subtree: true, childList: true, attributes: true });
})();
