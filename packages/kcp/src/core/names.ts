/** What a workspace path is, as kcp's schemas say it: less strict than `isWorkspacePath`. */
const PATH_PATTERN = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(:[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";

/** The path of a workspace that something else is in. */
export const PATH = {
  type: "string",
  pattern: PATH_PATTERN,
  description: "The workspace that it is in, as a path: root:org:team. The own one if missing.",
} as const;

/** The names of workspaces and of their types, which become segments of paths. */
export const SEGMENT_NAME = {
  type: "string",
  minLength: 1,
  maxLength: 63,
  pattern: "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$",
} as const;
