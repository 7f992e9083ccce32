import type { CertifiedSubject } from "@virtual-workspaces/framework";

/** Who may do everything, by the group that Kubernetes gives this meaning. */
export const ADMIN: CertifiedSubject = { name: "admin", groups: ["system:masters"] };

/** Somebody with credentials and nothing else, to see what such a user sees. */
export const GUEST: CertifiedSubject = { name: "guest", groups: [] };
