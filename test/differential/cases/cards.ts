// Three cards with different selectable fields and labels.
import type { RequestStep } from "../step.ts";
import { card } from "./kinds.ts";

export const card1: RequestStep = card.make(
  "a",
  { metadata: { labels: { env: "dev", tier: "1" } }, spec: { text: "one", color: "red", size: 1, bold: true } },
  { as: "a" },
);
export const card2: RequestStep = card.make(
  "b",
  { metadata: { labels: { env: "prod", tier: "2" } }, spec: { text: "two", color: "blue", size: 10, bold: false } },
  { as: "b" },
);
export const card3: RequestStep = card.make(
  "c",
  { metadata: { labels: { env: "prod" } }, spec: { text: "three" } },
  { as: "c" },
);
