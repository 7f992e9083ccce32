import { CONDITIONS } from "../conditions/schema.ts";
import { kcpKind, type ObjectsOf } from "../core/kind.ts";
import { SEGMENT_NAME } from "../core/names.ts";
import { WORKSPACE_TYPE_SPEC } from "./workspace-type-spec.ts";

/** kcp's WorkspaceType (`tenancy.kcp.io/v1alpha1`): how workspaces are set up, and which may be in which. */
export const WorkspaceType = kcpKind({
  group: "tenancy.kcp.io",
  kind: "WorkspaceType",
  description: "How workspaces are set up, and which may be in which.",
  names: { ...SEGMENT_NAME, not: { enum: ["system", "any"] } },
  required: [],
  spec: WORKSPACE_TYPE_SPEC,
  status: {
    type: "object",
    description: "What came of the type.",
    properties: {
      conditions: CONDITIONS,
      virtualWorkspaces: {
        type: "array",
        description: "Where the type's initializer and terminator find their workspaces, one of each for each shard.",
        items: {
          type: "object",
          description: "A virtual workspace.",
          required: ["url"],
          properties: {
            url: { type: "string", minLength: 1, description: "Where it is served." },
            type: {
              type: "string",
              enum: ["initializing", "terminating"],
              description: "Which workspaces are in it: those that are set up, or those that are cleaned up.",
            },
          },
        },
      },
    },
  },
});

/** A workspace type, as it is read. */
export type WorkspaceType = ObjectsOf<typeof WorkspaceType>;

/** How workspaces of a type are set up, and what may be around them. */
export type WorkspaceTypeSpec = NonNullable<WorkspaceType["spec"]>;

/** What came of a workspace type. */
export type WorkspaceTypeStatus = NonNullable<WorkspaceType["status"]>;

/** Which workspace types may stand above or below. */
export type WorkspaceTypeSelector = NonNullable<WorkspaceTypeSpec["limitAllowedChildren"]>;
