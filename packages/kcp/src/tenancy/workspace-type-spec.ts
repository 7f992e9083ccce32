import { TYPE_REFERENCE } from "./type-reference.ts";
import { DEFAULT_BINDINGS, POLICY_RULES, TYPE_SELECTOR } from "./workspace-type-parts.ts";

/** How workspaces of a type are set up, and what may be around them. */
export const WORKSPACE_TYPE_SPEC = {
  type: "object",
  description: "How workspaces of the type are set up, and what may be around them.",
  properties: {
    initializer: {
      type: "boolean",
      description: "Whether a controller of the type's author sets workspaces up before they are Ready.",
    },
    terminator: {
      type: "boolean",
      description: "Whether a controller of the type's author cleans workspaces up before they are deleted.",
    },
    extend: {
      type: "object",
      description: "Types that this one is as well.",
      properties: {
        with: {
          type: "array",
          items: TYPE_REFERENCE,
          description:
            "The types: their initializers run too, and what is allowed for one of them is allowed for this.",
        },
      },
    },
    additionalWorkspaceLabels: {
      type: "object",
      additionalProperties: { type: "string" },
      description: "Labels that workspaces of the type are given when they are made.",
    },
    defaultChildWorkspaceType: {
      ...TYPE_REFERENCE,
      default: { name: "universal", path: "root" },
      description: "The type of workspaces that are made in one of this type without a type.",
    },
    limitAllowedChildren: {
      ...TYPE_SELECTOR,
      description: "The types of the workspaces in one of this type. Any if missing.",
    },
    limitAllowedParents: {
      ...TYPE_SELECTOR,
      description: "The types of the workspace that one of this type is in. Any if missing.",
    },
    defaultAPIBindings: DEFAULT_BINDINGS,
    defaultAPIBindingLifecycle: {
      type: "string",
      enum: ["InitializeOnly", "Maintain"],
      description:
        "Whether the default bindings are made once, or follow the type for as long as the workspace is there.",
    },
    authenticationConfigurations: {
      type: "array",
      description: "Further ways to log in to workspaces of the type.",
      items: {
        type: "object",
        description: "A WorkspaceAuthenticationConfiguration in the workspace of the type.",
        required: ["name"],
        properties: { name: { type: "string", description: "The configuration's name." } },
      },
    },
    initializerPermissions: {
      ...POLICY_RULES,
      description: "What the initializer may do in the workspace. All that the workspace's owner may, if missing.",
    },
    terminatorPermissions: {
      ...POLICY_RULES,
      description: "What the terminator may do in the workspace. All that the workspace's owner may, if missing.",
    },
  },
} as const;
