import { randomUUID } from "node:crypto";
import { isJsonObject, quote } from "@virtual-workspaces/apimachinery";
import { parseJson, stringifyJson } from "@virtual-workspaces/apimachinery/json";
import type { ResourceDefinition } from "@virtual-workspaces/framework";
import type { Attributes } from "./attributes.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Returns `request` of an AdmissionReview. @param version in which the webhook gets the object */
export function reviewRequest(attributes: Attributes, version: ResourceDefinition, uid: string = randomUUID()): Fields {
  const { request, name, namespace, object, oldObject } = attributes;
  const { definition, operation, subresource, user, dryRun } = request;
  const { name: username, uid: userId, groups, extra } = user;
  const hasExtra = Object.keys(extra).length > 0;
  return {
    uid,
    ...{
      kind: kindOf(version),
      resource: resourceOf(version),
      ...(subresource !== "" && { subResource: subresource }),
    },
    ...{ requestKind: kindOf(definition), requestResource: resourceOf(definition) },
    ...(subresource !== "" && { requestSubResource: subresource }),
    ...(name !== "" && { name }),
    ...(namespace !== "" && { namespace }),
    operation,
    userInfo: { username, ...(userId !== "" && { uid: userId }), groups: [...groups], ...(hasExtra && { extra }) },
    object: attributes.as(object, version) ?? null,
    oldObject: attributes.as(oldObject, version) ?? null,
    dryRun,
    options: optionsOf(attributes),
  };
}

/** Returns the values of the variables of expressions: object, oldObject and request. Empty fields of the request are there. */
export function conditionValues(
  attributes: Attributes,
  version: ResourceDefinition,
): { readonly object: unknown; readonly oldObject: unknown; readonly request: Fields } {
  const { uid: _, object, oldObject, ...request } = reviewRequest(attributes, version, "");
  const { subResource = "", requestSubResource = "", name = "", namespace = "", ...others } = request;
  return { object, oldObject, request: { ...others, subResource, requestSubResource, name, namespace } };
}

const kindOf = ({ group, version, kind }: ResourceDefinition): Fields => ({ group, version, kind });
const resourceOf = ({ group, version, plural }: ResourceDefinition): Fields => ({ group, version, resource: plural });

const OPTIONS = { CREATE: "CreateOptions", UPDATE: "UpdateOptions", DELETE: "DeleteOptions" } as const;

function optionsOf({ request: { operation, deletion, dryRun, fieldManager } }: Attributes): Fields {
  const common = { kind: OPTIONS[operation], apiVersion: "meta.k8s.io/v1", ...(dryRun && { dryRun: ["All"] }) };
  if (operation !== "DELETE") return { ...common, ...(fieldManager !== "" && { fieldManager }) };
  const { gracePeriodSeconds, propagationPolicy, orphanDependents, preconditions } = deletion ?? {};
  return {
    ...common,
    ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
    ...(preconditions !== undefined && { preconditions }),
    ...(orphanDependents !== undefined && { orphanDependents }),
    ...(propagationPolicy !== undefined && { propagationPolicy }),
  };
}

/** Encodes an AdmissionReview. */
export function encodeReview(request: Fields, version: string): string {
  return stringifyJson({ kind: "AdmissionReview", apiVersion: `admission.k8s.io/${version}`, request });
}

/** Decision of a webhook. */
export interface ReviewResponse {
  readonly allowed: boolean;
  /** Status of a rejection, as sent. */
  readonly result: Fields;
  readonly warnings: readonly string[];
  readonly auditAnnotations: Readonly<Record<string, string>>;
  /** JSON patch of a mutating webhook, as sent. */
  readonly patch: unknown;
}

/** Rules for a response. */
export interface ExpectedResponse {
  readonly uid: string;
  readonly version: "v1" | "v1beta1";
  /** Whether it may have a patch. */
  readonly mutates: boolean;
}

/** Reads a response. @throws Error with Kubernetes' text for an invalid one */
export function readResponse(body: Buffer, { uid, version, mutates }: ExpectedResponse): ReviewResponse {
  const review = jsonOf(body);
  const { response } = review;
  if (!isJsonObject(response)) throw new Error("webhook response was absent");
  const fields: Fields = response;
  if (version === "v1") checkIdentity(review, fields, uid);
  const [patch, patchType] = [fields["patch"] ?? "", fields["patchType"] ?? undefined];
  if (version === "v1" && mutates) checkPatch(patch, patchType);
  if (version === "v1" && !mutates && patch !== "") throw new Error("validating webhook may not return response.patch");
  if (version === "v1" && !mutates && patchType !== undefined)
    throw new Error("validating webhook may not return response.patchType");
  const { status, warnings, auditAnnotations } = fields;
  const annotations = Object.entries(isJsonObject(auditAnnotations) ? auditAnnotations : {});
  return {
    allowed: fields["allowed"] === true,
    result: isJsonObject(status) ? status : {},
    warnings: Array.isArray(warnings) ? warnings.filter((one) => typeof one === "string") : [],
    auditAnnotations: Object.fromEntries(
      annotations.filter((one): one is [string, string] => typeof one[1] === "string"),
    ),
    patch: mutates && patch !== "" ? patchOf(patch) : undefined,
  };
}

function jsonOf(body: Buffer): Fields {
  try {
    const { value } = parseJson(body.toString("utf8"));
    if (isJsonObject(value)) return value;
  } catch {
    // Reported below, without the content.
  }
  throw new Error("the response is not a JSON object");
}

function checkIdentity({ apiVersion, kind }: Fields, response: Fields, uid: string): void {
  const given = typeof response["uid"] === "string" ? response["uid"] : "";
  if (given !== uid) throw new Error(`expected response.uid=${quote(uid)}, got ${quote(given)}`);
  if (apiVersion === "admission.k8s.io/v1" && kind === "AdmissionReview") return;
  const got = `${typeof apiVersion === "string" ? apiVersion : ""}, Kind=${typeof kind === "string" ? kind : ""}`;
  throw new Error(`expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got ${got}`);
}

function checkPatch(patch: unknown, patchType: unknown): void {
  if (patch !== "" && patchType === undefined)
    throw new Error("webhook returned response.patch but not response.patchType");
  if (patch === "" && patchType !== undefined)
    throw new Error("webhook returned response.patchType but not response.patch");
  if (patchType !== undefined && patchType !== "JSONPatch")
    throw new Error(`unsupported patch type ${quote(String(patchType))}`);
}

function patchOf(patch: unknown): unknown {
  try {
    if (typeof patch === "string") return parseJson(Buffer.from(patch, "base64").toString("utf8")).value;
  } catch {
    // Reported below.
  }
  throw new Error("received undecodable patch in webhook response");
}
