import {
  formatTime,
  humanDuration,
  type JsonObject,
  type JsonSchema,
  type KubeObject,
} from "@virtual-workspaces/apimachinery";
import { Resource } from "@virtual-workspaces/framework";
import { AGE, type BuiltInKind, type Columns, STANDARD_VERBS } from "./built-in-kind.ts";
import { APPROVALS, type CertificateCondition, certificateProblems, conditionsOf } from "./certificate-problems.ts";
import { checkBase64 } from "./data.ts";
import { int32, object, text, texts, time } from "./descriptions.ts";
import { membersOf, specOf, textOf } from "./problems.ts";

/** Fields of a CertificateSigningRequest. */
export interface CertificateSigningRequestContent {
  spec: {
    /** PEM block `CERTIFICATE REQUEST`, base64-encoded. */
    request: string;
    /** `example.com/serving`. */
    signerName: string;
    expirationSeconds?: number;
    usages?: string[];
    /** User who created the request; the server sets it, as the three below. */
    username?: string;
    uid?: string;
    groups?: string[];
    extra?: Record<string, string[]>;
  };
  status?: { conditions?: CertificateCondition[]; certificate?: string };
}

function defaults(request: KubeObject): void {
  checkBase64(request, "spec", ["request"]);
  checkBase64(request, "status", ["certificate"]);
}

/** Resets fields that clients cannot write. Admission sets the user of a new request. */
function prepare(request: KubeObject, before: KubeObject | undefined, subresource: string): void {
  if (before === undefined) request["status"] = {};
  else if (subresource === "") request["spec"] = before["spec"];
  else request["status"] = statusOf(request, before, subresource);
}

/** Returns the status of a write of the status: `/status` keeps approvals, `/approval` the certificate. */
function statusOf(request: KubeObject, before: KubeObject, subresource: string): JsonObject {
  const { certificate, conditions: _, ...status } = membersOf(request["status"]);
  const kept = subresource === "approval" ? membersOf(before["status"])["certificate"] : certificate;
  const conditions = conditionsOf(request).map((condition) => {
    const last = conditionsOf(before).find(({ type }) => type === condition.type);
    if (subresource === "status" && APPROVALS.includes(condition.type) && last !== undefined) return last;
    return dated(condition, last);
  });
  return {
    ...status,
    ...(conditions.length > 0 && { conditions }),
    ...(kept !== undefined && { certificate: kept }),
  } as unknown as JsonObject;
}

function dated(condition: CertificateCondition, last: CertificateCondition | undefined): CertificateCondition {
  const now = formatTime(new Date());
  const since = (last?.status === condition.status ? last?.lastTransitionTime : undefined) ?? now;
  const { lastUpdateTime, lastTransitionTime } = condition;
  return { ...condition, lastUpdateTime: lastUpdateTime ?? now, lastTransitionTime: lastTransitionTime ?? since };
}

function state(request: KubeObject): string {
  const types = conditionsOf(request).map(({ type }) => type);
  const has = (type: string): boolean => types.includes(type);
  const approval = has("Denied") ? "Denied" : has("Approved") ? "Approved" : "Pending";
  const issued = textOf(membersOf(request["status"])["certificate"]) === "" ? "" : ",Issued";
  return approval + (has("Failed") ? ",Failed" : "") + issued;
}

const condition: JsonSchema = {
  ...object("A condition.", {
    type: text("Approved, Denied, Failed, or one of the signer's own."),
    status: text("True, False or Unknown."),
    reason: text("Reason, as one CamelCase word."),
    message: text("Details for people."),
    lastUpdateTime: time("Time of the last write of the condition."),
    lastTransitionTime: time("Time of the last change of the status."),
  }),
  required: ["type"],
};

const columns: Columns = {
  Age: AGE,
  SignerName: { type: "string", jsonPath: ".spec.signerName", description: "Signer that is to issue the certificate." },
  Requestor: { type: "string", jsonPath: ".spec.username", description: "User who created the request." },
  RequestedDuration: {
    type: "string",
    description: "Requested validity of the certificate.",
    value: (request) => {
      const { expirationSeconds } = specOf(request as KubeObject);
      return typeof expirationSeconds === "number" ? humanDuration(expirationSeconds * 1000) : "<none>";
    },
  },
  Condition: {
    type: "string",
    description: "Whether the request is pending, approved, denied, failed or issued.",
    value: (request) => state(request as KubeObject),
  },
};

/** `certificates.k8s.io/v1` CertificateSigningRequest. As in kcp, no controller of the server approves, signs or removes one. */
export const CertificateSigningRequest: Resource<CertificateSigningRequestContent> =
  new Resource<CertificateSigningRequestContent>({
    group: "certificates.k8s.io",
    version: "v1",
    kind: "CertificateSigningRequest",
    scope: "Cluster",
    shortNames: ["csr"],
    description: "CertificateSigningRequest asks a signer for a certificate.",
    schema: {
      type: "object",
      required: ["spec"],
      properties: {
        spec: object("Requested certificate. Immutable.", {
          request: { ...text("PEM block CERTIFICATE REQUEST, base64-encoded."), format: "byte" },
          signerName: text("Signer that is to issue the certificate, such as example.com/serving."),
          expirationSeconds: int32("Requested validity of the certificate, 600 or more."),
          usages: texts("Requested usages of the key, such as client auth."),
          username: text("Name of the user who created the request. The server sets it."),
          uid: text("UID of that user. The server sets it."),
          groups: texts("Groups of that user. The server sets them."),
          extra: {
            type: "object",
            description: "Further attributes of that user. The server sets them.",
            additionalProperties: { type: "array", items: { type: "string" } },
          },
        }),
        status: object("Approval, and the certificate.", {
          conditions: {
            type: "array",
            description: "Approved and Denied are set through /approval, Failed through /status.",
            items: condition,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["type"],
          },
          certificate: {
            ...text("PEM blocks CERTIFICATE, base64-encoded. Set through /status, once."),
            format: "byte",
          },
        }),
      },
    },
    columns: columns as never,
    selectableFields: [".spec.signerName"],
    subresources: { status: true, statusParts: ["approval"] },
    strategy: {
      names: "segment",
      generation: false,
      unconditionalUpdate: true,
      defaults,
      prepare,
      problems: certificateProblems,
      resetFields: { "": [["spec"]], status: [["status", "conditions"]], approval: [["status", "certificate"]] },
    },
  });

export const certificateSigningRequests: BuiltInKind = {
  resource: CertificateSigningRequest as unknown as Resource,
  verbs: STANDARD_VERBS,
};
