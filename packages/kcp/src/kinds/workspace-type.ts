import { CONDITIONS } from "../conditions.ts";
import { clusterOf } from "../names/names.ts";
import { kcpKind, type ObjectsOf } from "./kind.ts";
import { PATH, SEGMENT_NAME, TYPE_REFERENCE } from "./shared-schemas.ts";

/** Schema of RBAC rules (rbac.authorization.k8s.io PolicyRule). */
const POLICY_RULES = {
  type: "array",
  items: {
    type: "object",
    description: "RBAC rules.",
    required: ["verbs"],
    properties: {
      verbs: texts("Verbs, * for all."),
      apiGroups: texts('API groups of the resources, "" for the core group, * for all.'),
      resources: texts("Plural resource names, * for all, pods/log for a subresource."),
      resourceNames: texts("Names of the objects. All if missing."),
      nonResourceURLs: texts("Non-resource paths. A trailing * matches the rest."),
    },
  },
} as const;

function texts<const Description extends string>(description: Description) {
  return { type: "array", "x-kubernetes-list-type": "atomic", items: { type: "string" }, description } as const;
}

/** Schema of a selector for parent or child types. */
const TYPE_SELECTOR = {
  type: "object",
  oneOf: [{ required: ["none"] }, { required: ["types"] }],
  properties: {
    none: { type: "boolean", description: "Allows no type." },
    types: {
      type: "array",
      minItems: 1,
      items: TYPE_REFERENCE,
      description: "Allows these types and types that extend them.",
    },
  },
} as const;

/** Schema of the exports that new workspaces bind. */
const DEFAULT_BINDINGS = {
  type: "array",
  description: "Exports that workspaces of the type bind during initialization.",
  items: {
    type: "object",
    description: "APIExport to bind.",
    required: ["export"],
    properties: { path: PATH, export: { type: "string", description: "Name of the export." } },
  },
} as const;

/** Schema of a workspace type's spec. */
const WORKSPACE_TYPE_SPEC = {
  type: "object",
  description: "Initialization of workspaces of the type, and their allowed parents and children.",
  properties: {
    initializer: {
      type: "boolean",
      description: "Whether a controller of the type's author initializes workspaces before they are Ready.",
    },
    terminator: {
      type: "boolean",
      description: "Whether a controller of the type's author cleans up workspaces before they are deleted.",
    },
    extend: {
      type: "object",
      description: "Types that this type extends.",
      properties: {
        with: {
          type: "array",
          items: TYPE_REFERENCE,
          description: "Extended types: their initializers run too, and limits that allow one of them allow this type.",
        },
      },
    },
    additionalWorkspaceLabels: {
      type: "object",
      additionalProperties: { type: "string" },
      description: "Labels that the server adds to new workspaces of the type.",
    },
    defaultChildWorkspaceType: {
      ...TYPE_REFERENCE,
      default: { name: "universal", path: "root" },
      description: "Default type for workspaces below a workspace of this type.",
    },
    limitAllowedChildren: {
      ...TYPE_SELECTOR,
      description: "Allowed types of workspaces below a workspace of this type. Any if missing.",
    },
    limitAllowedParents: {
      ...TYPE_SELECTOR,
      description: "Allowed types of the parent of a workspace of this type. Any if missing.",
    },
    defaultAPIBindings: DEFAULT_BINDINGS,
    defaultAPIBindingLifecycle: {
      type: "string",
      enum: ["InitializeOnly", "Maintain"],
      description: "Whether the default bindings are created once, or follow later changes of the type.",
    },
    authenticationConfigurations: {
      type: "array",
      description: "Additional token issuers for workspaces of the type.",
      items: {
        type: "object",
        description: "WorkspaceAuthenticationConfiguration in the workspace of the type.",
        required: ["name"],
        properties: { name: { type: "string", description: "Name of the configuration." } },
      },
    },
    initializerPermissions: {
      ...POLICY_RULES,
      description: "Permissions of the initializer in the workspace. Those of the workspace's owner if missing.",
    },
    terminatorPermissions: {
      ...POLICY_RULES,
      description: "Permissions of the terminator in the workspace. Those of the workspace's owner if missing.",
    },
  },
} as const;

/** kcp's WorkspaceType (`tenancy.kcp.io/v1alpha1`): initialization of workspaces, and their allowed nesting. */
export const WorkspaceType = kcpKind({
  group: "tenancy.kcp.io",
  kind: "WorkspaceType",
  description: "Initialization of workspaces, and their allowed nesting.",
  names: { ...SEGMENT_NAME, not: { enum: ["system", "any"] } },
  required: [],
  spec: WORKSPACE_TYPE_SPEC,
  status: {
    type: "object",
    description: "Observed state of the type.",
    properties: {
      conditions: CONDITIONS,
      virtualWorkspaces: {
        type: "array",
        description: "Views for the type's initializer and terminator, one of each for each shard.",
        items: {
          type: "object",
          description: "Virtual workspace.",
          required: ["url"],
          properties: {
            url: { type: "string", minLength: 1, description: "URL of the virtual workspace." },
            type: {
              type: "string",
              enum: ["initializing", "terminating"],
              description: "Workspaces in the view: initializing or terminating.",
            },
          },
        },
      },
    },
  },
});

/** WorkspaceType as clients read it. */
export type WorkspaceType = ObjectsOf<typeof WorkspaceType>;

/** Initialization of workspaces of a type, and their allowed nesting. */
export type WorkspaceTypeSpec = NonNullable<WorkspaceType["spec"]>;

/** Observed state of a workspace type. */
export type WorkspaceTypeStatus = NonNullable<WorkspaceType["status"]>;

/** Selector for parent or child types. */
export type WorkspaceTypeSelector = NonNullable<WorkspaceTypeSpec["limitAllowedChildren"]>;

/** Returns the WorkspaceTypes of a key `<path or logical cluster>:<name>`. */
export type TypesOf = (key: string) => readonly WorkspaceType[];

/** Error for a type that is missing or exists twice. */
export class TypeFault extends Error {
  override readonly name: string = "TypeFault";
}

/**
 * Returns a WorkspaceType and all types that it extends, bases first, without duplicates.
 *
 * @param onFault receives the problem of a type, which is left out when this returns.
 * @default throws it
 * @throws TypeFault
 */
export function typesFrom(
  key: string,
  typesOf: TypesOf,
  onFault: (fault: TypeFault) => void = thrown,
): WorkspaceType[] {
  const found: WorkspaceType[] = [];
  const seen = new Set<string>();
  const visit = (each: string): void => {
    const [type, another] = typesOf(each);
    const named = `${each.slice(0, each.lastIndexOf(":"))}|${nameIn(each)}`;
    if (type === undefined || another !== undefined) {
      const why =
        another === undefined
          ? `workspacetypes.tenancy.kcp.io ${JSON.stringify(nameIn(each))} not found`
          : "multiple WorkspaceTypes found";
      onFault(new TypeFault(`error getting WorkspaceType ${named}: ${why}`));
      return;
    }
    const { uid = named } = type.metadata;
    if (seen.has(uid)) return;
    seen.add(uid);
    for (const { path = "", name } of type.spec?.extend?.with ?? [])
      visit(`${path === "" ? clusterOf(type) : path}:${name}`);
    found.push(type);
  };
  visit(key);
  return found;
}

function nameIn(key: string): string {
  return key.slice(key.lastIndexOf(":") + 1);
}

function thrown(fault: TypeFault): never {
  throw fault;
}
