import { accessBreakages } from "./access.ts";
import type { Breakage } from "./breakage.ts";
import { documentBreakages } from "./documents.ts";
import { pageBreakages } from "./pages.ts";
import { representationBreakages } from "./representations.ts";
import { versionBreakages } from "./versions.ts";
import { watchListBreakages } from "./watch-list.ts";
import { watchBreakages } from "./watches.ts";

/** Every way in which a server is broken on purpose. */
export const breakages: readonly Breakage[] = [
  // First those that take longest: they wait for what does not come.
  ...watchBreakages,
  ...watchListBreakages,
  ...versionBreakages,
  ...pageBreakages,
  ...representationBreakages,
  ...documentBreakages,
  ...accessBreakages,
];
