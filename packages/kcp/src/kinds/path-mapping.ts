import { CONDITIONS } from "../conditions.ts";
import { kcpKind, type ObjectsOf } from "./kind.ts";
import { SECRET_REFERENCE } from "./shared-schemas.ts";

/** Not of dots alone. */
const WORD = "[A-Za-z0-9._~-]*[A-Za-z0-9_~-][A-Za-z0-9._~-]*";
/** Where views are: the first segment says which, so that no object has all of them. */
const PATH = `^/services/${WORD}(/(${WORD}|\\{[A-Za-z_][A-Za-z0-9_]*\\}))*/?$`;

/** The condition of a {@link PathMapping} that says whether requests go where it says. */
export const ACCEPTED_CONDITION = "Accepted";

/**
 * Servers behind a path of a front proxy, as an entry of kcp's mapping file (`PathMapping`) says it; ours, in `root`. Whoever may write one
 * says where requests below its path go, and with them who asks, and the bearer tokens of those whom the front proxy does not know.
 */
export const PathMapping = kcpKind({
  group: "proxy.kcp.io",
  kind: "PathMapping",
  description: "Servers behind a path of the front proxy.",
  columns: {
    Path: { jsonPath: ".spec.path", description: "What the paths of requests begin with." },
    Accepted: {
      jsonPath: `.status.conditions[?(@.type=="${ACCEPTED_CONDITION}")].status`,
      type: "string",
      description: "Whether requests go there.",
    },
    Reason: {
      jsonPath: `.status.conditions[?(@.type=="${ACCEPTED_CONDITION}")].reason`,
      type: "string",
      description: "Why they do not.",
    },
  },
  required: ["spec"],
  spec: {
    type: "object",
    description: "Where requests go.",
    required: ["path", "backends"],
    properties: {
      path: {
        type: "string",
        maxLength: 512,
        pattern: PATH,
        "x-kubernetes-validations": [
          {
            rule: "self.startsWith('/services/')",
            message: "give a path below /services/: all others are for the mapping file of the front proxy",
          },
        ],
        description:
          "What the paths of requests begin with, whole segments, below /services/: /services/quotes. {name} stands for any segment but the first.",
      },
      backends: {
        type: "array",
        minItems: 1,
        maxItems: 16,
        "x-kubernetes-list-type": "set",
        description:
          "Where requests go, with their path behind that of the URL. Several are servers that are as good as each other: those that answer at /readyz are asked.",
        items: {
          type: "string",
          maxLength: 2048,
          pattern: "^https://[^/?#@\\s]+(/[^?#\\s]*)?$",
          description: "A URL that begins with https, without user, query and fragment.",
        },
      },
      caBundle: {
        type: "string",
        format: "byte",
        maxLength: 1_000_000,
        description:
          "Who must have certified these servers, PEM in base64. Those whom the front proxy's machine trusts if missing.",
      },
      secretRef: {
        ...SECRET_REFERENCE,
        description:
          "The Secret, of type kubernetes.io/tls and in this workspace, with the client certificate by which the servers know the front proxy. They are shown none if missing.",
      },
    },
  },
  status: {
    type: "object",
    description: "How the mapping is.",
    properties: { conditions: CONDITIONS },
  },
});

/** Servers behind a path, as they are read. */
export type PathMapping = ObjectsOf<typeof PathMapping>;

/** What is behind which path. */
export type PathMappingSpec = PathMapping["spec"];
