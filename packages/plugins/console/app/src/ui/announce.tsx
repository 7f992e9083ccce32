import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

/** Time that a text stays, in milliseconds: screen readers do not find an old one when they read the page later. */
const LASTS = 8_000;

const read = signal("");
interface Shown {
  readonly text: string;
  /** Address of what the text is about, with the text of the link. */
  readonly link?: Link | undefined;
}

interface Link {
  readonly href: string;
  readonly text: string;
}

const NOTHING: Shown = { text: "" };
const shown = signal(NOTHING);
let timer: ReturnType<typeof setTimeout> | undefined;
/** Texts of this frame: a page that opens after an action does not replace its confirmation. */
const waiting = new Set<string>();

/** Has screen readers read a text. */
export function announce(text: string): void {
  clearTimeout(timer);
  read.value = "";
  waiting.add(text);
  // An equal text is read again only if the region changes in between.
  if (waiting.size === 1)
    requestAnimationFrame(() => {
      read.value = [...waiting].join(" ");
      waiting.clear();
    });
  timer = setTimeout(() => {
    read.value = "";
    shown.value = NOTHING;
  }, LASTS);
}

/** Confirms what the user has done: for some seconds it is shown over the page, and screen readers read it. */
export function confirmDone(text: string, link?: Link): void {
  shown.value = { text, link };
  announce(text);
}

export function Announcements() {
  return (
    <>
      <div class="visually-hidden" role="status" aria-live="polite">
        {read}
      </div>
      <Confirmation {...shown.value} />
    </>
  );
}

/** A popover, so that dialogs do not cover it. The other region is the one that is read. */
function Confirmation({ text, link }: Shown) {
  const ref = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    if (text === "") return undefined;
    const { current } = ref;
    current?.showPopover();
    return () => current?.hidePopover();
  }, [text]);
  return (
    <p class="confirmation" popover="manual" aria-hidden={link === undefined} ref={ref}>
      {text}
      {link !== undefined && (
        <>
          {" "}
          <a
            href={link.href}
            onClick={() => {
              shown.value = NOTHING;
            }}
          >
            {link.text}
          </a>
        </>
      )}
    </p>
  );
}
