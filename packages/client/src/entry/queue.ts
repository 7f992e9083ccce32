/**
 * Work queue of a controller, and sources.
 *
 * @module
 */

export {
  type Keyed,
  keyText,
  type OwnerKeysOptions,
  type Source,
  type SourceHandlers,
  type SourceOptions,
  type SourceStore,
} from "../controller/source.ts";
export {
  type AddOptions,
  WorkQueue,
  type WorkQueueMetrics,
  type WorkQueueOptions,
} from "../controller/work-queue.ts";
