import { INITIALIZER_LABEL_PREFIX, TERMINATOR_LABEL_PREFIX } from "../well-known/labels.ts";
import type { Label } from "./label.ts";
import { sha224 } from "./sha.ts";

/** kcp counts the prefix to what a label's name may have, although Kubernetes does not. */
const LONGEST = 63;

/**
 * A label of a LogicalCluster that is about one of its types, by the hash of what the type's initializer is called: made as kcp makes its own.
 *
 * @param prefix begins the key, and ends with a slash
 */
export function lifecycleLabel(prefix: string, name: string): Label {
  const hash = sha224(name).toString("hex");
  return { key: prefix + hash.slice(0, LONGEST - prefix.length), value: hash };
}

/** The label of a LogicalCluster that still waits for this initializer (kcp's `InitializerToLabel`). */
export const initializerLabel = (initializer: string): Label => lifecycleLabel(INITIALIZER_LABEL_PREFIX, initializer);

/** The label of a LogicalCluster that still waits for this terminator (kcp's `TerminatorToLabel`). */
export const terminatorLabel = (terminator: string): Label => lifecycleLabel(TERMINATOR_LABEL_PREFIX, terminator);
