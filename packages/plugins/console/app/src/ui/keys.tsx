import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { accessHash } from "../route.ts";
import { texts } from "../texts.ts";
import { goToIsOpen } from "../workspaces/go-to.tsx";
import { Dialog } from "./dialog.tsx";

export const keysAreOpen = signal(false);

/** True while the user types a text: single keys are no commands then. */
const isTyping = ({ target }: KeyboardEvent): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

/** The last element with this attribute: that of the content comes after that of the tree. */
function focusLast(selector: string): boolean {
  const all = [...document.querySelectorAll<HTMLElement>(selector)].filter((one) => one.offsetParent !== null);
  const element = all.at(-1);
  element?.focus();
  return element !== undefined;
}

/** Keys that work everywhere. */
export function useGlobalKeys(showTree: () => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (isTyping(event) || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]"))
        return;
      const acts: Readonly<Record<string, () => void>> = {
        "/": () => focusLast("[data-search]"),
        t: () => {
          showTree();
          requestAnimationFrame(() => focusLast("[role=treeitem][tabindex='0']"));
        },
        g: () => {
          goToIsOpen.value = true;
        },
        a: () => {
          location.hash = accessHash();
        },
        "?": () => {
          keysAreOpen.value = true;
        },
      };
      const act = acts[event.key];
      if (act === undefined) return;
      event.preventDefault();
      act();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [showTree]);
}

export function KeysDialog() {
  if (!keysAreOpen.value) return null;
  const close = () => {
    keysAreOpen.value = false;
  };
  return (
    <Dialog heading={texts.keys.heading} onClose={close}>
      <dl class="keys">
        {texts.keys.list.map(([key, meaning]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
