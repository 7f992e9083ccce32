import type { CheckInfo } from "../conformance/check.ts";
import type { ProviderProbe } from "./probe.ts";

/** A check of a space provider. */
export interface ProviderCheck extends CheckInfo {
  /** Makes and deletes a space: run only where that is allowed, one after the other. @default false */
  readonly writes?: boolean;
  /** @throws CheckFailure, CheckSkipped */
  run(probe: ProviderProbe): Promise<void>;
}
