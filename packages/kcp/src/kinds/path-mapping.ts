import { CONDITIONS } from "../conditions.ts";
import { kcpKind, type ObjectsOf } from "./kind.ts";
import { SECRET_REFERENCE } from "./shared-schemas.ts";

/** Path segment that does not consist of dots only. */
const WORD = "[A-Za-z0-9._~-]*[A-Za-z0-9_~-][A-Za-z0-9._~-]*";
/** Path of views. The first segment is fixed, so that no object captures all views. */
const PATH = `^/services/${WORD}(/(${WORD}|\\{[A-Za-z_][A-Za-z0-9_]*\\}))*/?$`;

/** Condition of a {@link PathMapping} that reports whether the front proxy forwards requests by it. */
export const ACCEPTED_CONDITION = "Accepted";

/**
 * Upstreams for a path of a front proxy, like an entry of kcp's mapping file (`PathMapping`). This kind is ours, in `root`.
 * Security: a user who may write one chooses the servers for requests below its path. These servers receive the caller's identity,
 * and the bearer tokens of callers that the front proxy cannot authenticate.
 */
export const PathMapping = kcpKind({
  group: "proxy.kcp.io",
  kind: "PathMapping",
  description: "Upstreams for a path of the front proxy.",
  columns: {
    Path: { jsonPath: ".spec.path", description: "Path prefix of the requests." },
    Accepted: {
      jsonPath: `.status.conditions[?(@.type=="${ACCEPTED_CONDITION}")].status`,
      type: "string",
      description: "Whether the front proxy forwards requests.",
    },
    Reason: {
      jsonPath: `.status.conditions[?(@.type=="${ACCEPTED_CONDITION}")].reason`,
      type: "string",
      description: "Reason why it does not.",
    },
  },
  required: ["spec"],
  spec: {
    type: "object",
    description: "Upstreams and their path.",
    required: ["path", "backends"],
    properties: {
      path: {
        type: "string",
        maxLength: 512,
        pattern: PATH,
        "x-kubernetes-validations": [
          {
            rule: "self.startsWith('/services/')",
            message: "path must be below /services/: use the mapping file of the front proxy for other paths",
          },
        ],
        description:
          "Path prefix of the requests, in whole segments, below /services/: /services/quotes. {name} matches any segment but the first.",
      },
      backends: {
        type: "array",
        minItems: 1,
        maxItems: 16,
        "x-kubernetes-list-type": "set",
        description:
          "URLs of the upstreams. The request's path is appended. All serve the same; those that answer at /readyz receive requests.",
        items: {
          type: "string",
          maxLength: 2048,
          pattern: "^https://[^/?#@\\s]+(/[^?#\\s]*)?$",
          description: "https URL without user, query and fragment.",
        },
      },
      caBundle: {
        type: "string",
        format: "byte",
        maxLength: 1_000_000,
        description:
          "CA certificates of the upstreams, PEM in base64. Defaults to the CAs that the front proxy's machine trusts.",
      },
      secretRef: {
        ...SECRET_REFERENCE,
        description:
          "Secret in this workspace, of type kubernetes.io/tls, with the client certificate that the front proxy presents to the upstreams. No certificate if missing.",
      },
    },
  },
  status: {
    type: "object",
    description: "Observed state of the mapping.",
    properties: { conditions: CONDITIONS },
  },
});

/** PathMapping as clients read it. */
export type PathMapping = ObjectsOf<typeof PathMapping>;

/** Upstreams and their path. */
export type PathMappingSpec = PathMapping["spec"];
