import type { JsonSchema } from "@virtual-workspaces/apimachinery";
import { LazyExpressions } from "@virtual-workspaces/framework/resource";

const TEXT = { type: "string" } as const;
const TEXTS = { type: "array", items: TEXT } as const;
const named = (third: string) =>
  ({ type: "object", properties: { group: TEXT, version: TEXT, [third]: TEXT } }) as const;

/** Fields of the variable `request`, as in an AdmissionReview. */
export const ADMISSION_REQUEST: Readonly<Record<string, JsonSchema>> = {
  kind: named("kind"),
  resource: named("resource"),
  subResource: TEXT,
  requestKind: named("kind"),
  requestResource: named("resource"),
  requestSubResource: TEXT,
  name: TEXT,
  namespace: TEXT,
  operation: TEXT,
  userInfo: {
    type: "object",
    properties: {
      username: TEXT,
      uid: TEXT,
      groups: TEXTS,
      extra: { type: "object", additionalProperties: TEXTS },
    },
  },
  dryRun: { type: "boolean" },
  // Of any type: the options differ by operation.
  options: { "x-kubernetes-int-or-string": true },
};

/**
 * Compiler of match conditions. Kubernetes' variable `authorizer` is missing: kcp never sets it, so that each expression with
 * it would fail.
 */
export const matchConditions: LazyExpressions = new LazyExpressions(
  { object: "any", oldObject: "any", request: ADMISSION_REQUEST },
  { wholeNumbers: "int" },
);
