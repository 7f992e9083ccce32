/** Where a logical cluster, and the workspace that shows it, is in its life. */
export const PHASE = {
  type: "string",
  default: "Scheduling",
  enum: ["Scheduling", "Initializing", "Ready", "Unavailable", "Inactive", "Terminating", "Deleting"],
  description: "Where it is in its life: it can be used while Ready.",
} as const;

/** The name of an initializer or terminator: a workspace type by its path, or one of the system's own. */
const HOLDER_PATTERN =
  "^([a-z0-9]([-a-z0-9]*[a-z0-9])?(:[a-z0-9]([-a-z0-9]*[a-z0-9])?)*(:[a-z0-9][a-z0-9]([-a-z0-9]*[a-z0-9])?))|(system:.+)$";

/** Controllers that must have done their work before the phase Ready is reached. */
export const INITIALIZERS = {
  type: "array",
  items: { type: "string", pattern: HOLDER_PATTERN },
  description:
    "Who has yet to set it up: <path of a workspace type>, or system:<name>. Each takes itself off when done.",
} as const;

/** Controllers that must have done their work before the content is deleted. */
export const TERMINATORS = {
  type: "array",
  items: { type: "string", pattern: HOLDER_PATTERN },
  description:
    "Who has yet to clean it up before it is deleted: <path of a workspace type>, or system:<name>. Each takes itself off when done.",
} as const;
