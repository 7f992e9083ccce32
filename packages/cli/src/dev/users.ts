import type { Subject } from "../credentials/issue.ts";

/** Who may do everything, by the group that Kubernetes gives this meaning. */
export const ADMIN: Subject = { name: "admin", groups: ["system:masters"] };

/** Somebody with credentials and nothing else, to see what such a user sees. */
export const GUEST: Subject = { name: "guest", groups: [] };
