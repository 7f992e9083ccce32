import { X509Certificate } from "node:crypto";
import {
  dnsLabelProblems,
  fieldDuplicate,
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  fieldTooLong,
  type KubeObject,
  nameProblems,
  type StatusCause,
} from "@virtual-workspaces/apimachinery";
import { equalJson } from "@virtual-workspaces/apimachinery/json";
import { pemBlocks } from "./pem.ts";
import { parseCertificateRequest } from "./pkcs10.ts";
import { finalizerProblems, itemsOf, membersOf, specOf, textOf } from "./problems.ts";

/** Usages that a request may name, sorted. */
const USAGES: readonly string[] = [
  ...["any", "cert sign", "client auth", "code signing", "content commitment", "crl sign", "data encipherment"],
  ...["decipher only", "digital signature", "email protection", "encipher only", "ipsec end system", "ipsec tunnel"],
  ...["ipsec user", "key agreement", "key encipherment", "microsoft sgc", "netscape sgc", "ocsp signing", "s/mime"],
  ...["server auth", "signing", "timestamping"],
];
/** Signer of the group's first version, which `v1` does not have. */
const LEGACY_SIGNER = "kubernetes.io/legacy-unknown";
const MIN_SECONDS = 600;
const MAX_DOMAIN = 253;
/** Room for a domain, and for a label and a domain after it. */
const MAX_SIGNER = 571;
const CONDITIONS = "status.conditions";
const CERTIFICATE = "status.certificate";
/** Conditions that `/approval` alone sets. */
export const APPROVALS: readonly string[] = ["Approved", "Denied"];
/** Conditions that can only be `True`, and are never removed. */
const FINAL: readonly string[] = [...APPROVALS, "Failed"];

/** Condition of a CertificateSigningRequest. */
export interface CertificateCondition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  /** RFC 3339 time of the last write. */
  lastUpdateTime?: string | null;
  /** RFC 3339 time of the last change of the status. */
  lastTransitionTime?: string | null;
}

/** Returns the conditions of a request. */
export function conditionsOf(request: KubeObject): readonly CertificateCondition[] {
  return itemsOf(membersOf(request["status"])["conditions"]) as unknown as readonly CertificateCondition[];
}

/** Validates a CertificateSigningRequest; `before` is the object that a write replaces. */
export function certificateProblems(
  request: KubeObject,
  before: KubeObject | undefined,
  subresource: string,
): StatusCause[] {
  return [
    ...finalizerProblems(request.metadata),
    ...specProblems(request),
    ...conditionProblems(request),
    ...certificateDataProblems(textOf(membersOf(request["status"])["certificate"])),
    ...(before === undefined ? [] : changeProblems(request, before, subresource)),
  ];
}

function specProblems(object: KubeObject): StatusCause[] {
  const { request, usages, signerName, expirationSeconds: seconds } = specOf(object);
  const few = "may not specify a duration less than 600 seconds (10 minutes)";
  return [
    ...requestProblems(textOf(request)),
    ...usageProblems(Array.isArray(usages) ? usages.map(textOf) : []),
    ...signerProblems(textOf(signerName)),
    ...(typeof seconds === "number" && seconds < MIN_SECONDS
      ? [fieldInvalid("spec.expirationSeconds", seconds, few)]
      : []),
  ];
}

function requestProblems(request: string): StatusCause[] {
  const invalid = (why: string): StatusCause[] => [fieldInvalid("spec.request", request, why)];
  try {
    const { isSigned } = parseCertificateRequest(Buffer.from(request, "base64"));
    return isSigned ? [] : invalid("x509: the signature does not match the public key");
  } catch (error) {
    return invalid((error as Error).message);
  }
}

function usageProblems(usages: readonly string[]): StatusCause[] {
  if (usages.length === 0) return [fieldRequired("spec.usages")];
  const at = (index: number): string => `spec.usages[${index}]`;
  return [
    ...usages.flatMap((usage, index) => (USAGES.includes(usage) ? [] : [fieldNotSupported(at(index), usage, USAGES)])),
    ...usages.flatMap((usage, index) => (usages.indexOf(usage) < index ? [fieldDuplicate(at(index), usage)] : [])),
  ];
}

function signerProblems(signer: string): StatusCause[] {
  const field = "spec.signerName";
  const invalid = (value: string, why: string): StatusCause => fieldInvalid(field, value, why);
  if (signer === LEGACY_SIGNER) return [invalid(signer, "the legacy signerName is not allowed via this API version")];
  if (signer === "") return [fieldRequired(field)];
  const [domain = "", path = "", ...more] = signer.split("/");
  if (!signer.includes("/") || more.length > 0)
    return [invalid(signer, "must be a fully qualified domain and path of the form 'example.com/signer-name'")];
  const labels = (segment: string, rule: (text: string) => string[]): StatusCause[] => {
    const label = segment.split(".").find((text) => rule(text).length > 0);
    return label === undefined
      ? []
      : rule(label).map((why) => invalid(segment, `validating label ${JSON.stringify(label)}: ${why}`));
  };
  return [
    ...(domain.length > MAX_DOMAIN ? [fieldTooLong(field, MAX_DOMAIN)] : []),
    ...labels(domain, dnsLabelProblems),
    ...(domain.includes(".")
      ? []
      : [invalid(domain, "should be a domain with at least two segments separated by dots")]),
    ...labels(path, nameProblems),
    ...(signer.length > MAX_SIGNER ? [fieldTooLong(field, MAX_SIGNER)] : []),
  ];
}

function conditionProblems(request: KubeObject): StatusCause[] {
  const conditions = conditionsOf(request);
  const types = new Set(conditions.map(({ type }) => type));
  const second = conditions.filter(({ type }) => APPROVALS.includes(type))[1]?.type;
  const both = APPROVALS.every((type) => types.has(type));
  return [
    ...conditions.flatMap(({ type, status = "" }, at) => {
      const field = `${CONDITIONS}[${at}].status`;
      if (status === "") return [fieldRequired(field)];
      const allowed = FINAL.includes(type) ? ["True"] : ["False", "True", "Unknown"];
      return allowed.includes(status) ? [] : [fieldNotSupported(field, status, allowed)];
    }),
    ...(both ? [fieldInvalid(CONDITIONS, second, "Approved and Denied conditions are mutually exclusive")] : []),
  ];
}

function certificateDataProblems(data: string): StatusCause[] {
  if (data === "") return [];
  const blocks = pemBlocks(Buffer.from(data, "base64").toString("latin1"));
  const other = blocks.find(({ type }) => type !== "CERTIFICATE");
  const invalid = (why: string): StatusCause[] => [fieldInvalid(CERTIFICATE, "<certificate data>", why)];
  if (blocks.length === 0) return invalid("must contain at least one CERTIFICATE PEM block");
  if (other !== undefined)
    return invalid(`only CERTIFICATE PEM blocks are allowed, found ${JSON.stringify(other.type)}`);
  if (blocks.some(({ hasHeaders }) => hasHeaders)) return invalid("no PEM block headers are permitted");
  return blocks.every(({ der }) => isCertificate(der)) ? [] : invalid("x509: malformed certificate");
}

function isCertificate(der: Buffer): boolean {
  try {
    return new X509Certificate(der).raw.equals(der);
  } catch {
    return false;
  }
}

/** Validates which fields a write of a subresource changes. */
function changeProblems(request: KubeObject, before: KubeObject, subresource: string): StatusCause[] {
  const of = (object: KubeObject, type: string) => conditionsOf(object).filter((condition) => condition.type === type);
  const forbidden = (verb: string, type: string): StatusCause =>
    fieldForbidden(CONDITIONS, `updates may not ${verb} a condition of type ${JSON.stringify(type)}`);
  const removed = FINAL.filter((type) => of(request, type).length < of(before, type).length);
  const kept = subresource === "approval" ? [] : APPROVALS.filter((type) => !removed.includes(type));
  const changed = kept.filter((type) => !equalJson(of(request, type), of(before, type)));
  return [
    ...removed.map((type) => forbidden("remove", type)),
    ...changed.map((type) => forbidden(of(before, type).length === 0 ? "add" : "modify", type)),
    ...certificateChangeProblems(request, before),
  ];
}

/** Validates that a certificate is not replaced. Writes other than of the status never get here with another one. */
function certificateChangeProblems(request: KubeObject, before: KubeObject): StatusCause[] {
  const [next, last] = [request, before].map((object) => textOf(membersOf(object["status"])["certificate"]));
  if (last === next || last === "") return [];
  return [fieldForbidden(CERTIFICATE, "updates may not modify existing certificate content")];
}
