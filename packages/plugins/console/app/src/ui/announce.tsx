import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

/** Time that a text stays, in milliseconds: screen readers do not find an old one when they read the page later. */
const LASTS = 8_000;

const read = signal("");
const shown = signal("");
let timer: ReturnType<typeof setTimeout> | undefined;

/** Has screen readers read a text. */
export function announce(text: string): void {
  clearTimeout(timer);
  read.value = "";
  // An equal text is read again only if the region changes in between.
  requestAnimationFrame(() => {
    read.value = text;
  });
  timer = setTimeout(() => {
    read.value = "";
    shown.value = "";
  }, LASTS);
}

/** Confirms what the user has done: for some seconds it is shown over the page, and screen readers read it. */
export function confirmDone(text: string): void {
  shown.value = text;
  announce(text);
}

export function Announcements() {
  return (
    <>
      <div class="visually-hidden" role="status" aria-live="polite">
        {read}
      </div>
      <Confirmation text={shown.value} />
    </>
  );
}

/** A popover, so that dialogs do not cover it. The other region is the one that is read. */
function Confirmation({ text }: { readonly text: string }) {
  const ref = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    if (text === "") return undefined;
    const { current } = ref;
    current?.showPopover();
    return () => current?.hidePopover();
  }, [text]);
  return (
    <p class="confirmation" popover="manual" aria-hidden="true" ref={ref}>
      {text}
    </p>
  );
}
