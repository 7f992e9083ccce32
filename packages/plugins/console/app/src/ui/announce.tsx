import { signal } from "@preact/signals";

const said = signal("");

/** Has screen readers read a text. */
export function announce(text: string): void {
  said.value = "";
  // An equal text is read again only if the region changes in between.
  requestAnimationFrame(() => {
    said.value = text;
  });
}

export function Announcements() {
  return (
    <div class="visually-hidden" role="status" aria-live="polite">
      {said}
    </div>
  );
}
