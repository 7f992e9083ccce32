import { accessBreakages } from "./access.ts";
import { applyBreakages } from "./apply.ts";
import type { Breakage } from "./breakage.ts";
import { collectionBreakages } from "./collections.ts";
import { documentBreakages } from "./documents.ts";
import { garbageBreakages } from "./garbage.ts";
import { identityBreakages } from "./identity.ts";
import { pageBreakages, shardBreakages } from "./pages.ts";
import { representationBreakages } from "./representations.ts";
import { reviewBreakages } from "./reviews.ts";
import { versionBreakages } from "./versions.ts";
import { watchListBreakages } from "./watch-list.ts";
import { watchBreakages } from "./watches.ts";
import { writeBreakages } from "./writes.ts";

/** All breakages. */
export const breakages: readonly Breakage[] = [
  // The slowest come first: they wait for events that never arrive.
  ...garbageBreakages,
  ...watchBreakages,
  ...watchListBreakages,
  ...versionBreakages,
  ...pageBreakages,
  ...shardBreakages,
  ...representationBreakages,
  ...documentBreakages,
  ...accessBreakages,
  ...identityBreakages,
  ...reviewBreakages,
  ...writeBreakages,
  ...applyBreakages,
  ...collectionBreakages,
];
