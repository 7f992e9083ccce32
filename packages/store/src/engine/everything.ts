import type { KeyRange } from "../store.ts";

/** All keys there can be: what is above is longer than a key may be. */
export const everything: KeyRange = { from: "", to: "\u{10FFFF}".repeat(257) };
