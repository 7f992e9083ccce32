// Why: a console listing shows commands after `$` and what they print. Its copy button copies the commands.

/** The commands of a console listing. @param {string} listing */
const commandsOf = (listing) => {
  const commands = [];
  let open = false;
  for (const line of listing.split("\n")) {
    if (line.startsWith("$ ")) commands.push(line.slice(2));
    else if (open) commands.push(line);
    open = (line.startsWith("$ ") || open) && line.endsWith("\\");
  }
  return commands.join("\n");
};

/** Takes the clicks on the copy buttons of console listings before VitePress does. */
export function copyCommands() {
  const copy = (/** @type {MouseEvent} */ event) => {
    const button = /** @type {HTMLElement} */ (event.target);
    const code = button.matches?.("div.language-console > button.copy") && button.parentElement?.querySelector("code");
    const commands = code ? commandsOf(code.textContent ?? "") : "";
    if (commands === "") return;
    event.stopPropagation();
    navigator.clipboard.writeText(commands).then(() => {
      button.classList.add("copied");
      setTimeout(() => button.classList.remove("copied"), 2000);
    });
  };
  window.addEventListener("click", copy, { capture: true });
}
