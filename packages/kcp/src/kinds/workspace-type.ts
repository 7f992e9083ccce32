import { CONDITIONS } from "../conditions.ts";
import { clusterOf } from "../names/names.ts";
import { kcpKind, type ObjectsOf } from "./kind.ts";
import { PATH, SEGMENT_NAME, TYPE_REFERENCE } from "./shared-schemas.ts";

/** A list of RBAC rules (rbac.authorization.k8s.io PolicyRule). */
const POLICY_RULES = {
  type: "array",
  items: {
    type: "object",
    description: "What may be done with what.",
    required: ["verbs"],
    properties: {
      verbs: texts("What may be done; * is everything."),
      apiGroups: texts('The groups of the resources; "" is the core group, * all.'),
      resources: texts("The resources, in the plural; * is all, pods/log a subresource."),
      resourceNames: texts("The names of the objects. All if missing."),
      nonResourceURLs: texts("Paths that are no resources; * stands for the rest of one."),
    },
  },
} as const;

function texts<const Description extends string>(description: Description) {
  return { type: "array", "x-kubernetes-list-type": "atomic", items: { type: "string" }, description } as const;
}

/** Which workspace types may stand above or below. */
const TYPE_SELECTOR = {
  type: "object",
  oneOf: [{ required: ["none"] }, { required: ["types"] }],
  properties: {
    none: { type: "boolean", description: "No type at all." },
    types: {
      type: "array",
      minItems: 1,
      items: TYPE_REFERENCE,
      description: "These types, and those that extend them.",
    },
  },
} as const;

/** The exports that are bound in new workspaces. */
const DEFAULT_BINDINGS = {
  type: "array",
  description: "The exports that are bound in workspaces of the type while they are set up.",
  items: {
    type: "object",
    description: "An APIExport.",
    required: ["export"],
    properties: { path: PATH, export: { type: "string", description: "The export's name." } },
  },
} as const;

/** How workspaces of a type are set up, and what may be around them. */
const WORKSPACE_TYPE_SPEC = {
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

/** Finds the WorkspaceTypes of a key `<path or logical cluster>:<name>`. */
export type TypesOf = (key: string) => readonly WorkspaceType[];

/** A type cannot be found, or is there twice. */
export class TypeFault extends Error {
  override readonly name: string = "TypeFault";
}

/**
 * A WorkspaceType and all that it extends, bases first, each once.
 *
 * @param onFault what is wrong with one, which is left out if this returns. @default it throws
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
