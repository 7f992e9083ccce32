import type { EngineName } from "./bed.ts";

/** Something that one hop of a proxy for Kubernetes has to do. */
export interface Row {
  /** As the guide has it. */
  readonly what: string;
  /** Shows it. */
  readonly does: (engine: EngineName) => Promise<void>;
  /** Where an engine cannot: shows what it does instead. */
  readonly instead?: { readonly [Name in EngineName]?: () => Promise<void> };
}
