import type { EngineName } from "./bed.ts";

/** A requirement on one hop of a proxy for Kubernetes. */
export interface Row {
  /** Text as in the guide. */
  readonly what: string;
  /** Tests it. */
  readonly does: (engine: EngineName) => Promise<void>;
  /** Tests what an engine that cannot meet it does instead. */
  readonly instead?: { readonly [Name in EngineName]?: () => Promise<void> };
}
