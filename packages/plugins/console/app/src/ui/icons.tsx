import type { JSX } from "preact";

const PATHS = {
  chevron: "M6 4l4 4-4 4",
  menu: "M2 4h12M2 8h12M2 12h12",
  sun: "M8 5.2a2.8 2.8 0 100 5.6 2.8 2.8 0 000-5.6M8 1v1.6M8 13.4V15M1 8h1.6M13.4 8H15M3 3l1.2 1.2M11.8 11.8L13 13M13 3l-1.2 1.2M4.2 11.8L3 13",
  moon: "M13 9.6A5.5 5.5 0 016.4 3a5.5 5.5 0 106.6 6.6z",
  auto: "M8 2a6 6 0 100 12A6 6 0 008 2v12",
  help: "M8 14A6 6 0 108 2a6 6 0 000 12M6.2 6.2C6.4 5 7.2 4.6 8 4.6c1 0 1.8.6 1.8 1.6C9.8 7.4 8 7.6 8 9M8 11.2v.2",
  plus: "M8 3v10M3 8h10",
  trash: "M3 4.5h10M6.5 4V2.8h3V4M4.5 4.5l.5 8.7h6l.5-8.7",
  close: "M4 4l8 8M12 4l-8 8",
  first: "M11 4L7 8l4 4M5 4v8",
  previous: "M10 4L6 8l4 4",
  next: "M6 4l4 4-4 4",
  last: "M5 4l4 4-4 4M11 4v8",
  up: "M8 12.5v-9M4.5 7L8 3.5 11.5 7",
  down: "M8 3.5v9M4.5 9L8 12.5 11.5 9",
  link: "M6.5 9.5l3-3M7 4.5l1-1a3 3 0 014.5 4.2L11.3 9M9 11.5l-1 1a3 3 0 01-4.5-4.2L4.7 7",
  search: "M7 11.5a4.5 4.5 0 100-9 4.5 4.5 0 000 9M10.3 10.3L14 14",
  folder: "M2 4h4l1.5 1.5H14V13H2z",
} as const;

/** A small picture beside a text or a label that names it: screen readers skip it. */
export function Icon({
  name,
  class: className = "",
}: {
  readonly name: keyof typeof PATHS;
  readonly class?: string;
}): JSX.Element {
  return (
    <svg class={`icon ${className}`} viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
