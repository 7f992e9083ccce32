import { PATH } from "../core/names.ts";

/** Which workspace type (kcp's WorkspaceTypeReference). The pattern has no end: kcp's has none either. */
export const TYPE_REFERENCE = {
  type: "object",
  description: "A workspace type.",
  required: ["name"],
  properties: {
    name: { type: "string", pattern: "^[a-z]([a-z0-9-]{0,61}[a-z0-9])?", description: "The type's name." },
    path: PATH,
  },
} as const;
