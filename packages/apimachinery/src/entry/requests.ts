/**
 * Options of requests as they stand in queries and bodies: list, watch, write, delete.
 *
 * @module
 */

export { type ContinueToken, decodeContinue, encodeContinue } from "../requests/continue-token.ts";
export {
  type DeleteQuery,
  type Preconditions,
  type PropagationPolicy,
  parseDeleteOptions,
} from "../requests/delete-options.ts";
export {
  type ListOptions,
  parseListOptions,
  type ResourceVersionMatch,
  validateListOptions,
  withListDefaults,
} from "../requests/list-options.ts";
export {
  type BookmarkOptions,
  bookmarkObject,
  compareResourceVersions,
  INITIAL_EVENTS_END,
  isResourceVersion,
  type WatchEvent,
  type WatchEventType,
} from "../requests/watch.ts";
export {
  type FieldValidation,
  managerOf,
  parseWriteOptions,
  type WriteQuery,
  type WriteQueryRules,
} from "../requests/write-options.ts";
